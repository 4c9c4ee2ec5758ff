/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <json-c/json.h>

#include "cmd/ssdprobe/console/commands.h"
#include "cmd/ssdprobe/pages/known_read.h"
#include "lib/report/summary.h"
#include "probes/probes.h"

static void print_words(const char *label, const char *const words[])
{
    if (!words[0])
        return;
    printf("    %s", label);
    for (size_t i = 0; i < PROBE_NEEDS_MAX && words[i]; i++)
        printf("%s %s", i ? "," : "", words[i]);
    putchar('\n');
}

static void print_probe(const struct probe *probe, bool verbose,
                        unsigned columns)
{
    columns = columns ? columns : 80;
    printf("%s (%s)\n", probe->name, probe->writes ? "writes" : "only reads");
    report_wrap(stdout, probe->question, 4, columns);
    print_words("answers", probe->answers);
    print_words("needs", probe->needs);
    if (verbose)
        report_wrap(stdout, probe->idea, 4, columns);
}

static struct json_object *json_words(const char *const words[])
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; i < PROBE_NEEDS_MAX && words[i]; i++)
        json_object_array_add(array, json_object_new_string(words[i]));
    return array;
}

static void add_text(struct json_object *object, const char *key,
                     const char *text)
{
    json_object_object_add(object, key, json_object_new_string(text));
}

static struct json_object *json_probe(const struct probe *probe)
{
    struct json_object *object = json_object_new_object();

    add_text(object, "name", probe->name);
    add_text(object, "question", probe->question);
    add_text(object, "idea", probe->idea);
    json_object_object_add(object, "writes",
                           json_object_new_boolean(probe->writes));
    json_object_object_add(object, "answers", json_words(probe->answers));
    json_object_object_add(object, "needs", json_words(probe->needs));
    return object;
}

/* The models that a report is compared with, in place of the probes. */
static int list_known(const struct settings *settings, struct output *output,
                      struct fault *why)
{
    const unsigned columns_count =
        output->style.columns_count ? output->style.columns_count : 80;
    struct json_object *array = json_object_new_array();
    char line[REPORT_SUMMARY_BYTES];
    struct known_set set;
    const int error = known_set_read(settings->known_path, &set, why);

    for (size_t i = 0; i < set.count && !error; i++) {
        struct json_object *object = json_object_new_object();
        report_summary(set.models[i].report, false, line);
        add_text(object, "model", set.names[i]);
        add_text(object, "summary", line);
        json_object_array_add(array, object);
        if (!output->text)
            continue;
        report_wrap(output->text, set.names[i], 0, columns_count);
        report_wrap(output->text, line, 4, columns_count);
    }
    known_set_close(&set);
    json_object_object_add(output->document, "known", array);
    return error;
}

int command_list(const struct options_given *given)
{
    struct invocation invocation;
    struct output *output = &invocation.output;
    struct fault why = {FAULT_NONE, ""};

    int error = invocation_begin(&invocation, given, &why);

    if (error)
        return invocation_fail(&invocation, error, &why);
    output->text_done = true;
    if (invocation.settings.known) {
        error = list_known(&invocation.settings, output, &why);
        return error ? invocation_fail(&invocation, error, &why)
                     : invocation_end(&invocation, 0);
    }
    if (output->text)
        for (size_t i = 0; probes_all[i]; i++)
            print_probe(probes_all[i], invocation.settings.verbose,
                        output->style.columns_count);
    if (output->document) {
        struct json_object *array = json_object_new_array();
        for (size_t i = 0; probes_all[i]; i++)
            json_object_array_add(array, json_probe(probes_all[i]));
        json_object_object_add(output->document, "probes", array);
    }
    return invocation_end(&invocation, 0);
}
