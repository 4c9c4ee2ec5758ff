/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe_run_cost.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "cmd/ssdprobe_confirm.h"
#include "lib/base/units.h"

/* ---- as reports have it ------------------------------------------------ */

static struct report_expectation
expectation_of(const struct session_expectation *expected)
{
    return (struct report_expectation){.bytes_written = expected->bytes_written,
                                       .bytes_read = expected->bytes_read,
                                       .requests = expected->requests,
                                       .seconds = expected->seconds};
}

static struct report_part part_of(const struct session_part *part)
{
    return (struct report_part){.probe = part->probe->name,
                                .bytes_written = part->plan.bytes_written,
                                .bytes_written_max =
                                    part->plan.bytes_written_max,
                                .bytes_read = part->plan.bytes_read,
                                .bytes_read_max = part->plan.bytes_read_max,
                                .requests = part->plan.requests,
                                .requests_max = part->plan.requests_max,
                                .seconds = part->seconds,
                                .fits = part->fits,
                                .began = part->began,
                                .done_bytes_written = part->bytes_written,
                                .done_bytes_read = part->bytes_read,
                                .done_requests = part->requests_count,
                                .done_seconds = part->device_seconds,
                                .foreseen = expectation_of(&part->foreseen),
                                .expected = expectation_of(&part->expected),
                                .by_stage = expectation_of(&part->by_stage)};
}

static_assert((int)SESSION_PARTS_MAX == (int)REPORT_PARTS_MAX,
              "a report holds every part of a plan");

static void read_parts(struct run *run, const struct session_plan *plan)
{
    run->plan.parts_count = plan->parts_count;
    for (size_t i = 0; i < plan->parts_count; i++)
        run->plan.parts[i] = part_of(&plan->parts[i]);
}

void run_read_plan(struct run *run)
{
    struct session_plan plan;
    struct setting setting;

    session_plan(run->session, run->choice.asked, &plan);
    session_setting(run->session, run->choice.asked[0], &setting);
    run->plan =
        (struct report_plan){.bytes_written = plan.bytes_written,
                             .bytes_written_max = plan.bytes_written_max,
                             .bytes_read = plan.bytes_read,
                             .bytes_read_max = plan.bytes_read_max,
                             .requests = plan.requests,
                             .requests_max = plan.requests_max,
                             .region_offset_bytes = setting.region_offset_bytes,
                             .region_length_bytes = setting.region_length_bytes,
                             .seconds = plan.seconds,
                             .budget_bytes = plan.budget_bytes};
    read_parts(run, &plan);
    run->invocation.report.plan = &run->plan;
}

void run_read_cost(struct run *run, uint64_t wall_ns)
{
    struct session_plan plan;
    struct session_cost cost;

    session_parts(run->session, &plan);
    read_parts(run, &plan);
    session_cost(run->session, &cost);
    run->cost = (struct report_cost){.bytes_written = cost.bytes_written,
                                     .bytes_read = cost.bytes_read,
                                     .requests_count = cost.requests_count,
                                     .split_count = cost.split_count,
                                     .device_seconds = cost.device_seconds,
                                     .pilot = expectation_of(&cost.pilot),
                                     .wall_seconds =
                                         device_info(run->device)->virtual_clock
                                             ? -1.0
                                             : (double)wall_ns / 1e9};
    run->invocation.report.cost = &run->cost;
}

/* ---- as people are told ------------------------------------------------ */

int run_check_budget(struct run *run)
{
    const struct report_plan *plan = &run->plan;
    const struct report_part *least = plan->parts;
    char needed[32], allowed[32];

    for (size_t i = 0; i < plan->parts_count; i++) {
        if (plan->parts[i].fits)
            return 0;
        if (plan->parts[i].bytes_written < least->bytes_written)
            least = &plan->parts[i];
    }
    if (plan->parts_count == 0)
        return 0;
    return fault_set(
        &run->why, FAULT_REFUSED, -EDQUOT,
        "no probe fits in the write budget of %s: %s is to write %s; allow "
        "more with --write-budget",
        format_bytes(plan->budget_bytes, allowed, sizeof(allowed)),
        least->probe,
        format_bytes(least->bytes_written, needed, sizeof(needed)));
}

void run_say_foreseen(const struct run *run)
{
    struct session_plan plan;
    char bytes[32], time[32];
    struct session_cost cost;
    double seconds = 0;
    uint64_t sum = 0;

    session_cost(run->session, &cost);
    session_parts(run->session, &plan);
    for (size_t i = 0; i < plan.parts_count; i++) {
        sum += plan.parts[i].fits ? plan.parts[i].foreseen.bytes_written : 0;
        seconds += plan.parts[i].fits ? plan.parts[i].foreseen.seconds : 0;
    }
    if (cost.pilot.requests == 0 || plan.parts_count == 0 ||
        run->invocation.settings.quiet)
        return;
    sum = sum < plan.budget_bytes ? sum : plan.budget_bytes;
    confirm_size(&run->invocation.settings, sum, bytes, sizeof(bytes));
    format_ns((uint64_t)(seconds * 1e9), time, sizeof(time));
    fprintf(stderr,
            "After a pilot: about %s to write, in about %s of the device's "
            "time.\n",
            bytes, time);
}
