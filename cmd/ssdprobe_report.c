/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ssdprobe report RUNDIR`: what people read, once more from the samples. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common_json.h"
#include "cmd/ssdprobe_commands.h"
#include "cmd/ssdprobe_pages.h"
#include "cmd/ssdprobe_run_read.h"
#include "lib/infer/sample_csv.h"

/* The findings in the kept document, which a newer program may have changed.
 * What the document tells of the run itself stays as it is. */
static int keep_findings(const struct run_read *run, struct fault *why)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    int error = memory ? 0 : -ENOMEM;

    report_json_conclusions(run->document, &run->store.report);
    if (memory) {
        error = common_json_print(run->document, memory);
        error = fclose(memory) == 0 ? error : -ENOMEM;
    }
    if (error)
        fault_set(why, FAULT_OPEN, error, "no memory for the document");
    else
        error = run_dir_replace(&run->dir, RUN_DIR_REPORT, text, length, why);
    free(text);
    return error;
}

static int make_again(struct invocation *invocation, struct run_read *run,
                      struct fault *why)
{
    struct report_store *store = &run->store;
    struct fault missing = {FAULT_NONE, ""};
    struct csv_rows rows;
    char samples[PATH_MAX];
    int error;

    memset(&rows, 0, sizeof(rows));
    store->findings.count = 0;
    error = infer_conclude(run_dir_path(&run->dir, RUN_DIR_SAMPLES, samples),
                           &rows, &store->findings, why);
    csv_rows_free(&rows);
    if (!error)
        error = keep_findings(run, why);
    if (!error)
        error = pages_write(&run->dir, &store->report, true, &missing, why);
    if (!error && missing.kind != FAULT_NONE)
        output_message(&invocation->output, "note", missing.text);
    invocation->report = store->report;
    return error;
}

int command_report(const struct options_given *given)
{
    struct invocation invocation;
    struct fault why = {FAULT_NONE, ""};
    struct run_read *run = calloc(1, sizeof(*run));
    int status;
    int error = invocation_begin(&invocation, given, &why);

    if (!run && !error)
        error = -ENOMEM;
    if (!error)
        error = run_read_open(given->operands[0], run, &why);
    if (!error)
        error = make_again(&invocation, run, &why);
    status = error ? invocation_fail(&invocation, error, &why)
                   : invocation_end(&invocation,
                                    invocation_status(
                                        0, &why, &run->store.findings, false));
    if (run)
        run_read_close(run);
    free(run);
    return status;
}
