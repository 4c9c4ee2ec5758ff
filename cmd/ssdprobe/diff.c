/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ssdprobe diff`: what two runs found, side by side. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>

#include "cmd/ssdprobe/console/commands.h"
#include "cmd/ssdprobe/pages/run_read.h"
#include "lib/report/compare.h"

/* 1, as of diff(1), is taken by wrong command lines. */
enum { STATUS_INCONCLUSIVE = 5, STATUS_DIFFERENT = 8 };

struct diff {
    struct invocation invocation;
    struct run_read first, second;
    struct comparison comparison;
};

static int read_both(struct diff *diff, char *const operands[],
                     struct fault *why)
{
    int error = run_read_any(operands[0], &diff->first, why);

    /* A run may be compared with itself. */
    run_dir_close(&diff->first.dir);
    if (!error)
        error = run_read_any(operands[1], &diff->second, why);
    run_dir_close(&diff->second.dir);
    return error;
}

static int put_comparison(struct diff *diff, struct fault *why)
{
    struct output *output = &diff->invocation.output;
    int error = 0;

    if (output->text)
        error = compare_text(output->text, &diff->comparison, &output->style);
    json_object_object_add(output->document, "diff",
                           compare_json(&diff->comparison));
    return error ? fault_set(why, FAULT_OPEN, error,
                             "the comparison cannot be written to stdout")
                 : 0;
}

/* What nothing was compared of neither agrees nor differs. */
static int status_of(const struct comparison *comparison)
{
    size_t same_count = 0;

    for (size_t i = 0; i < comparison->rows_count; i++) {
        if (comparison->rows[i].kind == COMPARE_DIFFERENT)
            return STATUS_DIFFERENT;
        same_count += comparison->rows[i].kind == COMPARE_SAME;
    }
    return same_count ? 0 : STATUS_INCONCLUSIVE;
}

int command_diff(const struct options_given *given)
{
    struct diff *diff = calloc(1, sizeof(*diff));
    struct fault why = {FAULT_NONE, ""};
    int status, error;

    if (!diff)
        return 2;
    run_dir_none(&diff->first.dir);
    run_dir_none(&diff->second.dir);
    error = invocation_begin(&diff->invocation, given, &why);
    diff->invocation.output.text_done = true;
    if (!error)
        error = read_both(diff, given->operands, &why);
    if (!error) {
        compare_reports(&diff->first.store.report, &diff->second.store.report,
                        &diff->comparison);
        error = put_comparison(diff, &why);
    }
    status = error ? invocation_fail(&diff->invocation, error, &why)
                   : invocation_end(&diff->invocation,
                                    diff->invocation.settings.exit_code
                                        ? status_of(&diff->comparison)
                                        : 0);
    run_read_close(&diff->first);
    run_read_close(&diff->second);
    free(diff);
    return status;
}
