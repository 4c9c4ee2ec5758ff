/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The twin of the run that has just ended. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/ssdprobe/console/output.h"
#include "cmd/ssdprobe/run/run.h"
#include "cmd/ssdprobe/twin/twin_made.h"
#include "lib/infer/csv/sample_csv.h"

/* A fit takes some ten seconds: at most a tenth of the run. */
static const double run_least_seconds = 100;

static bool wants_twin(const struct run *run, int error)
{
    const struct settings *settings = &run->invocation.settings;
    const bool ended = !error || invocation_is_limit(error);

    if (!run_dir_is_open(&run->keep.dir) || !ended || settings->twin == TWIN_NO)
        return false;
    return settings->twin == TWIN_YES ||
           (!device_info(run->device)->virtual_clock &&
            run->cost.device_seconds >= run_least_seconds);
}

static int make_twin(struct run *run, struct fault *why)
{
    struct csv_rows rows;
    char samples[PATH_MAX];

    memset(&rows, 0, sizeof(rows));
    run->joined = *run->invocation.report.findings;
    int error =
        csv_read(run_dir_samples(run->keep.dir.path, samples), &rows, why);
    if (!error)
        error = twin_make(&rows, &run->joined, run->made, why);
    csv_rows_free(&rows);
    if (!error)
        error = twin_made_keep(run->made, &run->keep.dir, why);
    return error;
}

void run_make_twin(struct run *run, int error)
{
    struct report *report = &run->invocation.report;
    struct fault why = {FAULT_NONE, ""};
    char text[sizeof(why.text) + 40];

    if (!report->findings || !wants_twin(run, error))
        return;
    run->made = calloc(1, sizeof(*run->made));
    progress_say(&run->progress, "fitting the twin");
    error = run->made ? make_twin(run, &why) : -ENOMEM;
    progress_end(&run->progress);
    if (error) {
        snprintf(text, sizeof(text), "no twin was made: %s",
                 why.kind != FAULT_NONE ? why.text : strerror(-error));
        output_message(&run->invocation.output, "warning", text);
        return;
    }
    twin_join(&run->made->twin, &run->made->check, &run->joined);
    report->findings = &run->joined;
    report->twin = &run->made->shown;
}

void run_drop_twin(struct run *run)
{
    if (run->made)
        twin_made_free(run->made);
    free(run->made);
    run->made = NULL;
}
