/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/infer/csv/sample_csv.h"
#include "lib/infer/evidence.h"
#include "lib/infer/flushing.h"
#include "lib/session/run/session.h"
#include "lib/session/run/skip.h"
#include "lib/session/run/state.h"
#include "lib/session/state/baseline.h"
#include "lib/session/state/written.h"

static int take_assumed(const char *text, struct findings *findings,
                        struct fault *why)
{
    char copy[sizeof(((struct csv_header *)0)->assume)];
    char *rest = copy, *item;

    snprintf(copy, sizeof(copy), "%s", text);
    while ((item = strsep(&rest, " ")) != NULL) {
        char *value = strchr(item, '=');
        if (!*item)
            continue;
        if (!value)
            return fault_set(why, FAULT_OPEN, -EINVAL,
                             "the recording assumes '%s', which is not "
                             "PARAMETER=VALUE",
                             item);
        *value++ = '\0';
        int error = skip_assume(findings, item, value, why);
        if (error)
            return error;
    }
    return 0;
}

/* Was the probe part of the run, by the header's list of names? Without a list,
 * any probe may have been. */
static bool asked_for(const struct csv_rows *rows, const char *name)
{
    const char *at = rows->header.probes;
    size_t length = strlen(name);

    if (!*at)
        return true;
    while ((at = strstr(at, name)) != NULL) {
        bool begins = at == rows->header.probes || at[-1] == ' ';
        if (begins && (at[length] == ' ' || at[length] == '\0'))
            return true;
        at += length;
    }
    return false;
}

int infer_check(const struct csv_rows *rows, const struct probe *const all[],
                struct fault *why)
{
    for (size_t i = 0; i < rows->count; i++) {
        const char *name = rows->items[i].probe;
        bool known = false;
        for (int j = 0; all[j] && !known; j++)
            known = strcmp(all[j]->name, name) == 0;
        if (!known || !asked_for(rows, name))
            return fault_set(
                why, FAULT_OPEN, -EINVAL,
                "row %zu belongs to the probe '%s', which this recording does "
                "not name or this program does not know",
                i, name);
    }
    return 0;
}

static bool has_rows(const struct csv_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->items[i].probe, name) == 0)
            return true;
    return false;
}

static uint64_t written_by(const struct csv_rows *rows, const char *name)
{
    uint64_t written_bytes = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct sample *sample = &rows->items[i].sample;
        if (strcmp(rows->items[i].probe, name) == 0 &&
            (sample->operation == OPERATION_WRITE ||
             sample->operation == OPERATION_DISCARD))
            written_bytes += sample->length_bytes;
    }
    return written_bytes;
}

/* Is the row the answer to this step? */
static bool is_asked(const struct step *step, const struct sample *row)
{
    return step->operation == row->operation &&
           step->offset_bytes == row->offset_bytes &&
           step->length_bytes == row->length_bytes &&
           step->label.round == row->label.round &&
           strcmp(step->label.phase, row->label.phase) == 0 &&
           strcmp(step->label.cell, row->label.cell) == 0 &&
           (step->depth > 1 ? step->depth : 1) == row->depth &&
           step->fua == row->fua && row->complete_ns >= row->submit_ns;
}

/* Completion times of requests that may still be under way. */
struct under_way {
    uint64_t complete_ns[SAMPLE_DEPTH_MAX];
    uint32_t count;
    uint64_t submit_ns; /* submission of the latest request */
};

/* Was the row sent while at most depth - 1 requests were under way? */
static bool was_in_turn(struct under_way *under_way, const struct sample *row)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < under_way->count; i++)
        if (under_way->complete_ns[i] > row->submit_ns)
            under_way->complete_ns[left++] = under_way->complete_ns[i];
    under_way->count = left;
    if (left >= row->depth || row->submit_ns < under_way->submit_ns)
        return false;
    under_way->complete_ns[under_way->count++] = row->complete_ns;
    under_way->submit_ns = row->submit_ns;
    return true;
}

int infer_feed(const struct csv_rows *rows, const struct probe *probe,
               void *state, uint64_t *strange)
{
    struct under_way under_way = {.count = 0};
    uint64_t count = 0;

    *strange = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct sample *row = &rows->items[i].sample;
        struct step step;
        if (strcmp(rows->items[i].probe, probe->name) != 0)
            continue;
        count++;
        if (probe->next(state, &step) != PROBE_STEP || !is_asked(&step, row) ||
            !(probe->surveys || was_in_turn(&under_way, row))) {
            *strange = count;
            return 0;
        }
        int error = probe->feed(state, row);
        /* the run ended at this row, or should have */
        if (error ||
            (row->error && !probe_endures(probe, row->operation, row->error)))
            return error;
    }
    return 0;
}

static void say_strange(const struct probe *probe, uint64_t number,
                        struct findings *findings)
{
    for (int i = 0; i < PROBE_NEEDS_MAX && probe->answers[i]; i++)
        finding_why(findings_add(findings, probe->name, probe->answers[i]),
                    "row %" PRIu64
                    " of this probe is not the request that it would have "
                    "made: rows are missing, moved, duplicated, or come from "
                    "another drive or another version of ssdprobe",
                    number);
}

const char *infer_flushes(const struct csv_rows *rows, bool *hide)
{
    for (size_t i = 0; i < rows->disturbed_count; i++) {
        const char *what = rows->disturbed[i].probe;
        *hide = strcmp(what, flushing_absences) == 0;
        if (*hide || strcmp(what, flushing_times) == 0)
            return rows->disturbed[i].cause;
    }
    return NULL;
}

static int conclude_again(const struct csv_rows *rows,
                          const struct probe *probe, uint64_t *written_bytes,
                          struct findings *findings, struct fault *why)
{
    struct setting setting = skip_lost(&rows->header.setting, findings);
    bool hide = false;
    const char *cause = infer_flushes(rows, &hide);
    char reason[200];
    uint64_t strange = 0;
    void *state = NULL;

    setting.flush_untrue = cause && !hide;
    if (skip_reason(probe, &setting, findings, reason, sizeof(reason))) {
        skip_probe(probe, reason, findings);
        return 0;
    }
    if (!has_rows(rows, probe->name) &&
        !skip_needs_no_row(probe, &setting, findings)) {
        const bool fits = !skip_budget(probe, &setting, *written_bytes, reason,
                                       sizeof(reason));
        skip_probe(probe, fits ? skip_not_begun : reason, findings);
        return 0;
    }
    *written_bytes += written_by(rows, probe->name);
    int error = probe_start(probe, &setting, findings, &state);
    if (!error)
        error = infer_feed(rows, probe, state, &strange);
    if (error) {
        if (state)
            probe->finish(state);
        return fault_set(why, FAULT_OPEN, error, "no memory for the samples");
    }
    const size_t first = findings->count;
    if (strange)
        say_strange(probe, strange, findings);
    else
        evidence_conclude(probe, state, &setting, findings);
    if (cause)
        skip_flushes(probe, first, cause, hide, findings);
    probe->finish(state);
    for (size_t i = 0; !strange && i < rows->disturbed_count; i++)
        if (strcmp(rows->disturbed[i].probe, probe->name) == 0)
            skip_disturbed(findings, first, rows->disturbed[i].cause);
    return 0;
}

/* Concludes every probe, in the order of the run; without a recorded order,
 * those that have rows. */
static int conclude_all(const struct csv_rows *rows,
                        const struct probe *const all[],
                        struct findings *findings, struct fault *why)
{
    char names[sizeof(rows->header.probes)];
    char *rest = names, *name;
    uint64_t written_bytes = 0;
    int error = 0;

    snprintf(names, sizeof(names), "%s", rows->header.probes);
    for (int i = 0; !*names && !error && all[i]; i++)
        if (has_rows(rows, all[i]->name))
            error = conclude_again(rows, all[i], &written_bytes, findings, why);
    while (!error && (name = strsep(&rest, " ")) != NULL) {
        skip_unkept(findings, all, &rows->header.setting);
        for (int i = 0; !error && all[i]; i++)
            if (strcmp(all[i]->name, name) == 0)
                error =
                    conclude_again(rows, all[i], &written_bytes, findings, why);
    }
    return error;
}

int session_infer(const struct csv_rows *rows, const struct probe *const all[],
                  struct findings *findings, struct fault *why)
{
    const int error = infer_check(rows, all, why);

    return error ? error : infer_finished(rows, all, findings, why);
}

int infer_finished(const struct csv_rows *rows, const struct probe *const all[],
                   struct findings *findings, struct fault *why)
{
    const size_t times = strlen(baseline_times);
    int error = 0;

    if (!error)
        error = take_assumed(rows->header.assume, findings, why);
    if (!error)
        error = conclude_all(rows, all, findings, why);
    if (!error)
        skip_unkept(findings, all, &rows->header.setting);
    for (size_t i = 0; !error && i < rows->disturbed_count; i++)
        if (strncmp(rows->disturbed[i].probe, baseline_times, times) == 0)
            skip_times(findings,
                       rows->disturbed[i].probe[times] == '-'
                           ? &rows->disturbed[i].probe[times + 1]
                           : NULL,
                       rows->disturbed[i].cause);
        else if (strcmp(rows->disturbed[i].probe, written_places) == 0)
            skip_unwritten(findings, all, &rows->header.setting,
                           rows->disturbed[i].cause);
    return error;
}
