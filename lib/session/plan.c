/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/plan.h"

#include <assert.h>

#include "lib/base/units.h"

/* Before anything was measured: a request of a slow drive, and its rate. */
static double guess_seconds(const struct probe_plan *plan)
{
    const double request_seconds = 0.5e-3, bytes_per_second = 100e6;

    return (double)plan->requests * request_seconds +
           (double)(plan->bytes_written + plan->bytes_read) / bytes_per_second;
}

static struct session_part *new_part(struct session_plan *plan,
                                     const struct probe *probe,
                                     const struct setting *setting)
{
    assert(plan->parts_count < SESSION_PARTS_MAX);
    struct session_part *part = &plan->parts[plan->parts_count++];

    *part = (struct session_part){.probe = probe};
    probe->plan(setting, &part->plan);
    part->seconds = guess_seconds(&part->plan);
    part->expected =
        (struct session_expectation){.bytes_written = part->plan.bytes_written,
                                     .bytes_read = part->plan.bytes_read,
                                     .requests = part->plan.requests,
                                     .seconds = part->seconds};
    part->foreseen = part->expected;
    return part;
}

const struct session_part *plan_add(struct session_plan *plan,
                                    const struct probe *probe,
                                    const struct setting *setting,
                                    uint64_t tries)
{
    struct session_part *part = new_part(plan, probe, setting);
    const struct probe_plan *one = &part->plan;

    part->fits = one->bytes_written <= plan->budget_bytes - plan->bytes_written;
    if (!part->fits)
        return part;
    plan->bytes_written += one->bytes_written;
    plan->bytes_written_max += tries * one->bytes_written_max;
    plan->bytes_read += one->bytes_read;
    plan->bytes_read_max += tries * one->bytes_read_max;
    plan->requests += one->requests;
    plan->requests_max += tries * one->requests_max;
    plan->seconds += part->seconds;
    return part;
}

void plan_end(struct session_plan *plan)
{
    if (plan->bytes_written_max > plan->budget_bytes)
        plan->bytes_written_max = plan->budget_bytes;
}

struct session_part *plan_find(struct session_plan *plan,
                               const struct probe *probe,
                               const struct setting *setting)
{
    for (size_t i = 0; i < plan->parts_count; i++)
        if (plan->parts[i].probe == probe)
            return &plan->parts[i];
    return new_part(plan, probe, setting);
}

void plan_pass(struct session_plan *plan, const struct probe *probe)
{
    for (size_t i = 0; i < plan->parts_count; i++)
        if (plan->parts[i].probe == probe)
            plan->parts[i].passed = true;
}

/* What the probes that are still to come may need: twice what is expected of each,
 * or of its usual need. */
static uint64_t others_need(const struct session_plan *plan,
                            const struct session_part *running)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < plan->parts_count; i++) {
        const struct session_part *part = &plan->parts[i];
        if (part != running && !part->passed && part->fits)
            bytes += 2 * larger_of(part->expected.bytes_written,
                                   part->plan.bytes_written);
    }
    return bytes;
}

uint64_t plan_allowance(const struct session_plan *plan,
                        const struct session_part *running, uint64_t left_bytes)
{
    bool last = true;

    for (size_t i = 0; i < plan->parts_count && last; i++) {
        const struct session_part *part = &plan->parts[i];
        last = part == running || part->passed || !part->plan.bytes_written;
    }
    /* Half of what is left, or what the others leave of it. */
    const uint64_t others_bytes = others_need(plan, running);
    uint64_t share_bytes = last ? left_bytes : left_bytes / 2;
    if (left_bytes > others_bytes)
        share_bytes = larger_of(share_bytes, left_bytes - others_bytes);
    /* What it expects is there for each that fits, and a quarter more, since it
     * is no more than expected. */
    const uint64_t wanted_bytes = running->expected.bytes_written / 4 * 5;
    if (running->fits && share_bytes < wanted_bytes)
        share_bytes = smaller_of(left_bytes, wanted_bytes);
    return smaller_of(running->plan.bytes_written_max, share_bytes);
}
