/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/run/cost.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/ssdprobe/console/confirm.h"
#include "lib/base/units.h"

/* ---- as reports have it ------------------------------------------------ */

void run_read_plan(struct run *run)
{
    session_plan(run->session, run->choice.asked, &run->plan);
    run->invocation.report.plan = &run->plan;
}

void run_read_cost(struct run *run, uint64_t wall_ns)
{
    struct cost_plan plan;

    session_parts(run->session, &plan);
    run->plan.parts_count = plan.parts_count;
    memcpy(run->plan.parts, plan.parts, sizeof(plan.parts));
    session_cost(run->session, &run->cost);
    run->cost.wall_seconds =
        device_info(run->device)->virtual_clock ? -1.0 : (double)wall_ns / 1e9;
    run->invocation.report.cost = &run->cost;
}

/* ---- as people are told ------------------------------------------------ */

int run_check_budget(struct run *run)
{
    const struct cost_plan *plan = &run->plan;
    const struct cost_part *least = plan->parts;
    char needed[32], allowed[32];

    for (size_t i = 0; i < plan->parts_count; i++) {
        if (plan->parts[i].fits)
            return 0;
        if (plan->parts[i].plan.bytes_written < least->plan.bytes_written)
            least = &plan->parts[i];
    }
    if (plan->parts_count == 0)
        return 0;
    return fault_set(
        &run->why, FAULT_REFUSED, -EDQUOT,
        "no probe fits in the write budget of %s: %s needs to write %s; allow "
        "more with --write-budget",
        format_bytes(plan->budget_bytes, allowed, sizeof(allowed)), least->name,
        format_bytes(least->plan.bytes_written, needed, sizeof(needed)));
}

/* A forecast after the pilot is within this factor of most runs. */
static const uint64_t foreseen_factor = 2;

static void format_low_high(const struct run *run, uint64_t bytes,
                            uint64_t most_bytes, char *text, size_t size)
{
    const struct settings *settings = &run->invocation.settings;
    char low[32], high[32];

    snprintf(
        text, size, "%s to %s",
        confirm_size(settings, smaller_of(bytes, most_bytes) / foreseen_factor,
                     low, sizeof(low)),
        confirm_size(settings, smaller_of(foreseen_factor * bytes, most_bytes),
                     high, sizeof(high)));
}

void run_say_foreseen(const struct run *run)
{
    struct cost_plan plan;
    char bytes[80], time[64];
    struct cost_total cost;
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
    format_low_high(run, sum, plan.budget_bytes, bytes, sizeof(bytes));
    confirm_seconds(seconds, (double)foreseen_factor,
                    run->invocation.settings.time_limit_ns, time, sizeof(time));
    fprintf(stderr, "After the pilot: %s to write, in %s of device time.\n",
            bytes, time);
}
