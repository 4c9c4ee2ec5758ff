/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ssdprobe report RUNDIR`: what people read, once more from the samples. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/json.h"
#include "cmd/ssdprobe/console/commands.h"
#include "cmd/ssdprobe/pages/known_read.h"
#include "cmd/ssdprobe/pages/pages.h"
#include "cmd/ssdprobe/pages/run_read.h"
#include "cmd/ssdprobe/twin/twin_made.h"
#include "lib/infer/csv/sample_csv.h"
#include "probes/probes.h"

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

/* Of a run that had one. */
static int make_twin(struct run_read *run, const struct csv_rows *rows,
                     struct twin_made *made, struct fault *why)
{
    struct report_store *store = &run->store;
    int error = twin_make(rows, &store->findings, made, why);

    if (!error)
        error = twin_made_keep(made, &run->dir, why);
    if (error)
        return error;
    twin_join(&made->twin, &made->check, &store->findings);
    store->report.twin = &made->shown;
    return 0;
}

/* A run that was killed left no document: what its samples say makes one. */
static int make_document(const struct options_given *given,
                         const struct csv_rows *rows, struct run_read *run,
                         struct fault *why)
{
    static const char program[] = "ssdprobe";
    struct report_store *store = &run->store;

    run->document = common_json_begin(program, given->argc, given->argv);
    if (!run->document)
        return fault_set(why, FAULT_OPEN, -ENOMEM,
                         "no memory for the document");
    store->device = infer_device(rows);
    store->cost = infer_cost(rows);
    store->report = (struct report){.device = &store->device,
                                    .cost = &store->cost,
                                    .findings = &store->findings,
                                    .warnings = &store->warnings,
                                    .probes = probes_all};
    report_json(run->document, &store->report);
    for (size_t i = 0; i < store->warnings.count; i++)
        common_json_message(run->document, program, "warning",
                            store->warnings.texts[i]);
    common_json_status(run->document, program, 0);
    return 0;
}

static int make_again(struct invocation *invocation, struct run_read *run,
                      struct twin_made *made, struct fault *why)
{
    struct report_store *store = &run->store;
    struct fault missing = {FAULT_NONE, ""};
    struct csv_rows rows;
    char samples[PATH_MAX];
    int error;

    memset(&rows, 0, sizeof(rows));
    store->findings.count = 0;
    store->report.probes = probes_all;
    error = infer_conclude(run_dir_samples(run->dir.path, samples), &rows,
                           &store->findings, why);
    if (!error)
        infer_say_cut(&invocation->output, samples, &rows, &store->warnings);
    if (!error && !run->document)
        error = make_document(invocation->given, &rows, run, why);
    if (!error && run_dir_has(&run->dir, TWIN_FILE))
        error = make_twin(run, &rows, made, why);
    csv_rows_free(&rows);
    if (!error)
        error = known_join(invocation->settings.known_path, &store->report,
                           &invocation->known, why);
    if (!error && invocation->known.models_count)
        store->report.known = &invocation->known;
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
    struct twin_made *made = calloc(1, sizeof(*made));
    int status;
    int error = invocation_begin(&invocation, given, &why);

    if ((!run || !made) && !error)
        error = -ENOMEM;
    if (!error)
        error = run_read_begun(given->operands[0], run, &why);
    if (!error)
        error = make_again(&invocation, run, made, &why);
    status =
        error ? invocation_fail(&invocation, error, &why)
              : invocation_end(&invocation,
                               invocation_status(0, &why, &run->store.findings,
                                                 invocation.settings.strict
                                                     ? DEMAND_TRIED
                                                     : DEMAND_NONE));
    if (run)
        run_read_close(run);
    if (made)
        twin_made_free(made);
    free(made);
    free(run);
    return status;
}
