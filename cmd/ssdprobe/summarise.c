/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ssdprobe summarise`: many runs, grouped into models. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>

#include "cmd/ssdprobe/console/commands.h"
#include "cmd/ssdprobe/pages/run_read.h"
#include "lib/report/models.h"

struct fleet {
    struct invocation invocation;
    struct run_read *reads;
    struct models_run *runs;
    size_t count; /* those that were read */
    struct models models;
};

static int read_all(struct fleet *fleet, const struct options_given *given,
                    struct fault *why)
{
    const size_t wanted = (size_t)given->operands_count;
    int error = 0;

    fleet->reads = calloc(wanted, sizeof(*fleet->reads));
    fleet->runs = calloc(wanted, sizeof(*fleet->runs));
    if (!fleet->reads || !fleet->runs)
        return -ENOMEM;
    for (size_t i = 0; i < wanted && !error; i++) {
        struct run_read *read = &fleet->reads[fleet->count++];
        error = run_read_any(given->operands[i], read, why);
        run_dir_close(&read->dir); /* a thousand of them need not stay open */
        fleet->runs[i].name = given->operands[i];
        fleet->runs[i].report = &read->store.report;
    }
    return error;
}

static int put_models(struct fleet *fleet, struct fault *why)
{
    struct output *output = &fleet->invocation.output;
    int error = 0;

    if (output->text)
        error = models_text(output->text, &fleet->models, &output->style);
    models_json(output->document, &fleet->models);
    return error ? fault_set(why, FAULT_OPEN, error,
                             "the models cannot be written to stdout")
                 : 0;
}

int command_summarise(const struct options_given *given)
{
    struct fleet *fleet = calloc(1, sizeof(*fleet));
    struct fault why = {FAULT_NONE, ""};
    int status, error;

    if (!fleet)
        return 2;
    error = invocation_begin(&fleet->invocation, given, &why);
    fleet->invocation.output.text_done = true;
    if (!error)
        error = read_all(fleet, given, &why);
    if (!error)
        error = models_group(fleet->runs, fleet->count, &fleet->models);
    if (!error)
        error = put_models(fleet, &why);
    status = error ? invocation_fail(&fleet->invocation, error, &why)
                   : invocation_end(&fleet->invocation, 0);
    models_free(&fleet->models);
    for (size_t i = 0; fleet->reads && i < fleet->count; i++)
        run_read_close(&fleet->reads[i]);
    free(fleet->reads);
    free(fleet->runs);
    free(fleet);
    return status;
}
