/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ssdprobe twin RUNDIR`: an emulated drive that behaves as the probed one
 * did. */
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/replace.h"
#include "cmd/ssdprobe/console/commands.h"
#include "cmd/ssdprobe/twin/twin_made.h"
#include "lib/infer/csv/sample_csv.h"
#include "lib/session/keep/run_dir.h"

struct job {
    struct invocation invocation;
    struct csv_rows rows;
    struct findings findings;
    struct twin_made made;
};

static int read_run(struct job *job, const char *path, struct fault *why)
{
    char samples[PATH_MAX];
    struct run_dir dir;
    int error = run_dir_open(path, &dir, why);

    if (error)
        return error;
    error = infer_conclude(run_dir_samples(dir.path, samples), &job->rows,
                           &job->findings, why);
    if (!error)
        infer_say_cut(&job->invocation.output, samples, &job->rows, NULL);
    run_dir_close(&dir);
    return error;
}

/* The drive file: in FILE, in the document, or on stdout. */
static int put_drive(struct job *job, struct fault *why)
{
    struct output *output = &job->invocation.output;
    const char *path = job->invocation.settings.output;
    char *text = NULL;
    size_t length = 0;
    int error = twin_made_file(
        &job->made, (enum twin_format)job->invocation.settings.format, &text,
        &length);

    if (error)
        fault_set(why, FAULT_OPEN, error, "no memory for the drive file");
    else if (path)
        error = replace_whole(path, text, length, why);
    else if (output->text && fwrite(text, 1, length, output->text) != length)
        error = fault_set(why, FAULT_OPEN, -EIO,
                          "the drive file cannot be written to stdout");
    free(text);
    return error;
}

static int put(struct job *job, struct fault *why)
{
    struct output *output = &job->invocation.output;
    const struct report_twin *shown = &job->made.shown;
    char text[320];

    json_object_object_add(output->document, "twin", report_twin_json(shown));
    if (job->invocation.settings.check)
        return output->text &&
                       report_twin_text(output->text, shown, &output->style)
                   ? fault_set(why, FAULT_OPEN, -EIO,
                               "the check cannot be written to stdout")
                   : 0;
    if (!shown->explains) {
        snprintf(text, sizeof(text), "the twin does not explain this drive: %s",
                 shown->reason);
        output_message(output, "warning", text);
    }
    return put_drive(job, why);
}

int command_twin(const struct options_given *given)
{
    struct job *job = calloc(1, sizeof(*job));
    struct fault why = {FAULT_NONE, ""};
    int status, error;

    if (!job)
        return 2;
    error = invocation_begin(&job->invocation, given, &why);
    job->invocation.output.text_done = true;
    if (!error)
        error = read_run(job, given->operands[0], &why);
    if (!error)
        error = twin_make(&job->rows, &job->findings, &job->made, &why);
    if (!error)
        error = put(job, &why);
    /* A twin that does not explain the drive is no answer. */
    status = error ? invocation_fail(&job->invocation, error, &why)
                   : invocation_end(&job->invocation,
                                    job->made.shown.explains ||
                                            !job->invocation.settings.strict
                                        ? 0
                                        : 5);
    twin_made_free(&job->made);
    csv_rows_free(&job->rows);
    free(job);
    return status;
}
