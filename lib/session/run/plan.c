/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/run/plan.h"

#include <assert.h>

#include "lib/base/units.h"

/* Duration before anything was measured, from the time per request, pauses
 * included, and the data rate that make the middle of runs on the drive
 * files. */
static double guess_seconds(const struct probe_plan *plan)
{
    const double request_seconds = 2e-3, bytes_per_second = 50e6;

    return (double)plan->requests * request_seconds +
           (double)(plan->bytes_written + plan->bytes_read) / bytes_per_second;
}

/* Limits on what one probe may write: 4 times the region, but at least 4 GiB,
 * which takes any drive minutes. A search that found nothing by then will not
 * find it later. */
static const uint64_t search_turns_most = 4, search_most_bytes = 4 * GIB;

static void limit_search(const struct probe *probe,
                         const struct setting *setting, struct probe_plan *plan)
{
    const uint64_t most_bytes = larger_of(
        search_turns_most * setting->region_length_bytes, search_most_bytes);

    if (setting->method == METHOD_ADAPTIVE && !probe->prepares)
        plan->bytes_written_max =
            smaller_of(plan->bytes_written_max,
                       larger_of(most_bytes, plan->bytes_written));
}

static struct cost_part *new_part(struct cost_plan *plan,
                                  const struct probe *probe,
                                  const struct setting *setting)
{
    assert(plan->parts_count < COST_PARTS_MAX);
    struct cost_part *part = &plan->parts[plan->parts_count++];
    const struct setting own = setting_for(probe, setting);

    *part = (struct cost_part){.name = probe->name, .probe = probe};
    part->plan = probe_planned(probe, setting);
    limit_search(probe, &own, &part->plan);
    part->seconds = guess_seconds(&part->plan);
    part->expected =
        (struct cost_expectation){.bytes_written = part->plan.bytes_written,
                                  .bytes_read = part->plan.bytes_read,
                                  .requests = part->plan.requests,
                                  .seconds = part->seconds};
    part->foreseen = part->expected;
    return part;
}

const struct cost_part *plan_add(struct cost_plan *plan,
                                 const struct probe *probe,
                                 const struct setting *setting, uint64_t tries)
{
    struct cost_part *part = new_part(plan, probe, setting);
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

void plan_end(struct cost_plan *plan)
{
    if (plan->bytes_written_max > plan->budget_bytes)
        plan->bytes_written_max = plan->budget_bytes;
}

struct cost_part *plan_find(struct cost_plan *plan, const struct probe *probe,
                            const struct setting *setting)
{
    for (size_t i = 0; i < plan->parts_count; i++)
        if (plan->parts[i].probe == probe)
            return &plan->parts[i];
    return new_part(plan, probe, setting);
}

void plan_pass(struct cost_plan *plan, const struct probe *probe)
{
    for (size_t i = 0; i < plan->parts_count; i++)
        if (plan->parts[i].probe == probe)
            plan->parts[i].passed = true;
}

/* Parts of the budget: 0 of what writes nothing. */
static uint64_t share_of(const struct cost_part *part)
{
    const unsigned share = part->probe->budget_share;

    if (part->passed || !part->fits || !part->plan.bytes_written_max)
        return 0;
    return share > 0 ? share : 1;
}

uint64_t plan_allowance(const struct cost_plan *plan,
                        const struct cost_part *running, uint64_t left_bytes)
{
    const struct probe_plan *own = &running->plan;
    const bool takes_all = running->probe->prepares || running->probe->surveys;
    const uint64_t share = larger_of(share_of(running), 1);
    uint64_t shares = share, needed_bytes = own->bytes_written;

    for (size_t i = 0; !takes_all && i < plan->parts_count; i++) {
        const uint64_t other = share_of(&plan->parts[i]);
        if (&plan->parts[i] == running || !other)
            continue;
        shares += other;
        needed_bytes += plan->parts[i].plan.bytes_written;
    }
    const double beyond =
        left_bytes > needed_bytes ? (double)(left_bytes - needed_bytes) : 0;
    const uint64_t part_bytes =
        own->bytes_written +
        (uint64_t)(beyond * (double)share / (double)shares);
    return smaller_of(own->bytes_written_max,
                      smaller_of(part_bytes, left_bytes));
}
