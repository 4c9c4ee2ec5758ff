/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/run/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/csv/sample_csv.h"
#include "lib/session/run/plan.h"
#include "lib/session/run/skip.h"

static struct cost_part *part_before(struct session *session,
                                     const struct probe *const probes[],
                                     const char *name)
{
    while (*probes && strcmp((*probes)->name, name) != 0)
        probes++;
    if (!*probes)
        return NULL;
    return plan_find(&session->plan, *probes, &session->setting);
}

void resume_count(struct session *session, const struct probe *const probes[])
{
    const struct csv_rows *rows = session->rows_before;
    struct cost_total *cost = &session->cost;
    struct cost_part *part = NULL;

    for (size_t i = 0; rows && i < rows->count; i++) {
        const struct sample *sample = &rows->items[i].sample;
        if (!part || strcmp(part->probe->name, rows->items[i].probe) != 0)
            part = part_before(session, probes, rows->items[i].probe);
        if (!part)
            continue;
        const double seconds =
            (double)(sample->complete_ns - sample->submit_ns) / 1e9;
        part->began = part->fits = true;
        part->requests_count++;
        part->device_seconds += seconds;
        cost->device_seconds += seconds;
        if (sample->operation == OPERATION_IDLE)
            continue;
        cost->requests_count++;
        cost->split_count += sample->parts_count > 1;
        if (sample->operation == OPERATION_READ) {
            part->bytes_read += sample->length_bytes;
            cost->bytes_read += sample->error ? 0 : sample->length_bytes;
        } else if (sample->operation != OPERATION_FLUSH) {
            part->bytes_written += sample->length_bytes;
            cost->bytes_written += sample->error ? 0 : sample->length_bytes;
        }
    }
}

bool resume_missed(struct session *session, const struct probe *probe)
{
    const struct setting *setting = &session->setting;

    if (!probe->answers[0]) /* it only prepares */
        return false;
    const struct finding *answer =
        findings_get(&session->findings, probe->answers[0]);
    if (answer && answer->verdict != VERDICT_SKIPPED)
        return false;
    return !skip_reason(probe, setting, &session->findings, NULL, 0) &&
           !plan_find(&session->plan, probe, setting)->began;
}

static uint64_t rows_written(const struct csv_rows *rows)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct sample *sample = &rows->items[i].sample;
        if (sample->operation == OPERATION_WRITE ||
            sample->operation == OPERATION_DISCARD)
            bytes += sample->length_bytes;
    }
    return bytes;
}

/* Takes over the flush check of the interrupted run. */
static void take_flushes(struct session *session, const struct csv_rows *rows)
{
    bool hide = false;

    session->flushes_cause[0] = '\0';
    const char *cause = infer_flushes(rows, &hide);
    if (cause)
        snprintf(session->flushes_cause, sizeof(session->flushes_cause), "%s",
                 cause);
    session->flushes_told = session->flushes_cause[0] != '\0';
    session->setting.flush_untrue = cause && !hide;
}

int session_resume(struct session *session, const struct csv_rows *rows,
                   const struct probe *const all[], size_t count,
                   struct fault *why)
{
    const struct probe *done[COST_PARTS_MAX + 1] = {NULL};
    const struct setting *then = &rows->header.setting;
    const struct setting *now = &session->setting;

    if (count > COST_PARTS_MAX || now->capacity_bytes != then->capacity_bytes ||
        now->region_length_bytes != then->region_length_bytes ||
        now->logical_block_bytes != then->logical_block_bytes ||
        now->request_limit_bytes != then->request_limit_bytes)
        return fault_set(
            why, FAULT_REFUSED, -EINVAL,
            "%s has changed since that run began (its size, or its largest "
            "request), so the run cannot be continued: start a new one",
            device_info(session->device)->path);
    for (size_t i = 0; i < count && all[i]; i++)
        done[i] = all[i];
    session->findings.count = 0;
    int error = infer_check(rows, all, why);
    if (!error)
        error = infer_finished(rows, done, &session->findings, why);
    if (error)
        return error;
    session->rows_before = rows;
    take_flushes(session, rows);
    session->setting.clock_step_ns = then->clock_step_ns;
    session->setting.part_length_bytes = then->part_length_bytes;
    const struct setting setting = setting_measured(&session->setting);
    written_begin(&session->written, setting.region_offset_bytes,
                  setting.region_length_bytes, setting.seed);
    session->written.looked = true; /* else at what that run has written */
    session->turns_before_count = count;
    const uint64_t written_bytes = rows_written(rows);
    if (written_bytes < session->options.written_before_bytes)
        session->cost.bytes_written +=
            session->options.written_before_bytes - written_bytes;
    session->written_before_bytes = smaller_of(
        larger_of(written_bytes, session->options.written_before_bytes),
        session->options.write_budget_bytes);
    return 0;
}
