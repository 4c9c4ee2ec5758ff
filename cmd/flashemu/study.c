/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flashemu study: published experiments, done again on the emulated drives. */
#include "cmd/flashemu/study.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/replace.h"
#include "lib/base/units.h"
#include "cmd/common/json.h"
#include "cmd/flashemu/flashemu.h"

enum { EXIT_MISSED = 5, NAME_COLUMNS = 20 };

/* ---- which there are --------------------------------------------------- */

static void list_one(const struct experiment *experiment,
                     struct json_object *list)
{
    if (!list) {
        printf("%-*s", NAME_COLUMNS, experiment->name);
        options_print_wrapped(stdout, NAME_COLUMNS, NAME_COLUMNS,
                              experiment->question);
        options_print_wrapped(stdout, 0, NAME_COLUMNS, experiment->source);
        return;
    }
    struct json_object *object = json_object_new_object();
    json_object_object_add(object, "name",
                           json_object_new_string(experiment->name));
    json_object_object_add(object, "question",
                           json_object_new_string(experiment->question));
    json_object_object_add(object, "source",
                           json_object_new_string(experiment->source));
    json_object_array_add(list, object);
}

static int list(const struct options_given *given)
{
    struct json_object *document = NULL, *studies = NULL;
    if (options_find(given, OPTION_JSON)) {
        document = flashemu_json(given);
        studies = json_object_new_array();
        json_object_object_add(document, "studies", studies);
    }
    for (size_t i = 0; experiments[i]; i++)
        list_one(experiments[i], studies);
    return document ? flashemu_print(given, document) : flashemu_finish_text();
}

/* ---- options ----------------------------------------------------------- */

static int read_scale(const struct options_given *given,
                      struct experiment_settings *settings, struct fault *why)
{
    const struct option_given *scale = options_find(given, OPTION_SCALE);
    settings->scale = 1;
    if (scale && (parse_real(scale->value, &settings->scale) ||
                  settings->scale <= 0 || settings->scale > 1))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--scale=%.40s: expected a number above 0 and at "
                         "most 1",
                         scale->value);
    return 0;
}

static int read_seed(const struct options_given *given,
                     struct experiment_settings *settings, struct fault *why)
{
    const struct option_given *seed = options_find(given, OPTION_SEED);
    settings->seed = 1;
    if (seed && parse_integer(seed->value, &settings->seed))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--seed=%.40s: expected a whole number", seed->value);
    return 0;
}

static int read_outputs(const struct options_given *given,
                        struct study_job *job, struct fault *why)
{
    const struct option_given *csv = options_find(given, OPTION_CSV);
    const struct option_given *plot = options_find(given, OPTION_PLOT);
    int used = 0;
    if (csv)
        job->rows_path = csv->value ? csv->value : "-";
    const struct option_given *json = options_find(given, OPTION_JSON);
    if (csv && strcmp(job->rows_path, "-") == 0 && json && !json->value)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--csv and --json both want standard output: give one "
                         "of them a file with --csv=FILE");
    if (plot && plot->value)
        used =
            snprintf(job->plot_path, sizeof(job->plot_path), "%s", plot->value);
    else if (plot)
        used = snprintf(job->plot_path, sizeof(job->plot_path), "study-%s.png",
                        job->experiment->name);
    if (plot && (used <= 0 || (size_t)used >= sizeof(job->plot_path)))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--plot: the file's name is empty or too long");
    return 0;
}

static int read_options(const struct options_given *given,
                        struct study_job *job, struct fault *why)
{
    job->experiment = experiment_find(given->operands[0]);
    if (!job->experiment)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "there is no study '%.40s': 'flashemu study' without "
                         "a name lists them",
                         given->operands[0]);
    job->settings.full = options_find(given, OPTION_FULL) != NULL;
    const struct option_given *trace = options_find(given, OPTION_TRACE);
    job->settings.trace_path = trace ? trace->value : NULL;
    int error = read_scale(given, &job->settings, why);
    if (!error)
        error = read_seed(given, &job->settings, why);
    return error ? error : read_outputs(given, job, why);
}

/* ---- the study --------------------------------------------------------- */

static int write_rows(const struct study_job *job, struct fault *why)
{
    if (!job->rows_path)
        return 0;
    if (strcmp(job->rows_path, "-") == 0) {
        study_rows(job, stdout); /* the end of the program sees what fails */
        return 0;
    }
    struct replace file;
    int error = replace_begin(&file, job->rows_path, why);
    if (error)
        return error;
    study_rows(job, file.file);
    error = replace_end(&file, true);
    return error ? fault_set(why, FAULT_IO, error, "cannot write %.200s: %s",
                             job->rows_path, strerror(-error))
                 : 0;
}

static int carry_out(const struct options_given *given, struct study_job *job,
                     struct fault *why)
{
    int error = read_options(given, job, why);
    if (!error)
        error =
            experiment_run(job->experiment, &job->settings, &job->table, why);
    if (!error)
        error = write_rows(job, why);
    if (error || !job->plot_path[0])
        return error;
    error = study_plot(job, why);
    if (error != -ENOENT)
        return error;
    fprintf(stderr, "flashemu: %s\n", why->text);
    return 0;
}

/* Is anything outside of its bound without a stated reason? */
static int verdict(const struct experiment_table *table)
{
    for (size_t i = 0; i < table->trends_count; i++)
        if (experiment_judge(&table->trends[i]) == EXPERIMENT_MISSED)
            return EXIT_MISSED;
    return 0;
}

static int print(const struct options_given *given, const struct study_job *job)
{
    int status = verdict(&job->table), failed;
    if (options_find(given, OPTION_JSON)) {
        struct json_object *document = flashemu_json(given);
        if (document)
            common_json_status(document, "flashemu", status);
        failed = flashemu_print(given, study_json(document, job));
    } else {
        if (!job->rows_path || strcmp(job->rows_path, "-") != 0)
            study_print(job);
        failed = flashemu_finish_text();
    }
    return failed ? failed : status;
}

int flashemu_study(const struct options_given *given)
{
    struct fault why = {.kind = FAULT_NONE};
    if (given->operands_count == 0 || strcmp(given->operands[0], "list") == 0)
        return list(given);
    struct study_job *job = calloc(1, sizeof(*job));
    if (!job) {
        fault_set(&why, FAULT_OPEN, -ENOMEM, "no memory for a study");
        return flashemu_fail(given, &why);
    }
    int status = carry_out(given, job, &why) ? flashemu_fail(given, &why)
                                             : print(given, job);
    free(job);
    return status;
}
