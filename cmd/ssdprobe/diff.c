/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ssdprobe diff`: what two runs found, side by side. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/ssdprobe/console/commands.h"
#include "cmd/ssdprobe/console/signals.h"
#include "cmd/ssdprobe/pages/figures.h"
#include "cmd/ssdprobe/pages/run_read.h"
#include "lib/base/replace.h"
#include "lib/infer/csv/sample_csv.h"
#include "lib/report/compare.h"

/* 1, as of diff(1), is taken by wrong command lines. */
enum { STATUS_INCONCLUSIVE = 5, STATUS_DIFFERENT = 8 };

struct diff {
    struct invocation invocation;
    struct run_read first, second;
    struct comparison comparison;
    struct figures figures;
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

/* What results of other tools do not tell. What a document warns of was said
 * when it was made. */
static void say_notes(struct diff *diff)
{
    const struct run_read *const runs[] = {&diff->first, &diff->second};

    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0;
             !runs[i]->document && j < runs[i]->store.warnings.count; j++)
            output_message(&diff->invocation.output, "note",
                           runs[i]->store.warnings.texts[j]);
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

/* Scripts draw what they find: only samples that are whole may reach them. */
static int check_samples(const char *path, struct fault *why)
{
    struct csv_rows rows;

    memset(&rows, 0, sizeof(rows));
    signals_begin_wait();
    const int error = signals_end_wait(csv_read(path, &rows, why), why);
    csv_rows_free(&rows);
    return error;
}

/* Documents alone can be compared, but have nothing to draw. */
static int draw(struct diff *diff, char *const operands[], struct fault *why)
{
    const bool is_result[] = {!diff->first.document, !diff->second.document};
    struct fault *missing = &diff->figures.missing;
    char names[2][COMPARE_NAME_BYTES], samples[2][PATH_MAX];
    struct findings *findings = calloc(1, sizeof(*findings));
    FILE *matrix[2] = {NULL, NULL};
    int error = findings ? 0 : -ENOMEM;

    compare_names(&diff->comparison, names);
    for (size_t i = 0; i < 2 && !error; i++)
        if (is_result[i])
            error = run_read_matrix(operands[i], findings, &matrix[i],
                                    samples[i], why);
        else if (access(run_dir_samples(operands[i], samples[i]), F_OK) != 0)
            fault_set(missing, FAULT_OPEN, -ENOENT,
                      "There are no figures: %.200s is no run directory with "
                      "samples",
                      operands[i]);
        else
            error = check_samples(samples[i], why);
    if (!error && missing->kind == FAULT_NONE)
        figures_draw_both(&diff->figures, samples,
                          (const char *const[]){names[0], names[1]});
    for (size_t i = 0; i < 2; i++)
        if (matrix[i])
            fclose(matrix[i]);
    free(findings);
    return error;
}

static int write_page(struct diff *diff, const char *path, struct fault *why)
{
    const struct figures *figures = &diff->figures;
    const struct report_page page = {
        .report = &diff->first.store.report,
        .figures = figures->items,
        .figures_count = figures->count,
        .figures_missing =
            figures->missing.kind != FAULT_NONE ? figures->missing.text
            : figures->count == 0 ? "There are no figures: the runs share no "
                                    "probe that has one for both."
                                  : NULL,
        .version = SSDPROBE_VERSION};
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    int error = memory ? report_compare_html(memory, &diff->comparison, &page)
                       : -ENOMEM;

    if (memory && fclose(memory) != 0 && !error)
        error = -ENOMEM;
    if (error)
        fault_set(why, FAULT_OPEN, error, "no memory for the page");
    else
        error = replace_whole(path, text, length, why);
    free(text);
    return error;
}

static int put_page(struct diff *diff, char *const operands[],
                    struct fault *why)
{
    const char *path = diff->invocation.settings.output;
    int error = path ? replace_check(path, why) : 0;

    if (!path || error)
        return error;
    error = draw(diff, operands, why);
    if (!error && diff->figures.missing.kind != FAULT_NONE)
        output_message(&diff->invocation.output, "note",
                       diff->figures.missing.text);
    if (!error)
        error = write_page(diff, path, why);
    figures_free(&diff->figures);
    return error;
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
        say_notes(diff);
        compare_reports(&diff->first.store.report, &diff->second.store.report,
                        &diff->comparison);
        error = put_comparison(diff, &why);
    }
    if (!error)
        error = put_page(diff, given->operands, &why);
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
