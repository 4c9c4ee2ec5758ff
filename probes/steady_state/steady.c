/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steady-state: does the rate last, and how long do the longest writes take? */
#include "probes/steady_state/steady_state.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/units.h"

/* Where cleaning begins, it first meets the blocks that hold least, or most:
 * so much of what was written since the fall does not count. */
static const double settling_share = 1.0 / 3;
/* A fall is more than chance, and drift of a minute, make of it. */
static const double fall_least = 1.08;
/* Fewer blocks tell no rate. */
static const size_t blocks_least = 16;
/* Flash that a drive has beyond its capacity, as a share of that: more than in
 * most; where so much was written, cleaning goes on. With less than the least
 * it may not; and what falls sooner than in any drive was memory. */
static const double spare_most = 0.3, spare_least = 0.1, spare_none = 0.03;

/* So many blocks take this share of the capacity. */
static size_t blocks_of(const struct steady_probe *state, double share)
{
    return (size_t)ceil(share * (double)state->study.setting.capacity_bytes /
                        (double)(LOAD_BLOCK_WRITES * state->unit_bytes));
}

size_t steady_blocks_of_spare(const struct steady_probe *state)
{
    return blocks_of(state, spare_most);
}

static bool has_fallen(const struct rate_change *change)
{
    return change->fast.ns > 0 &&
           change->slow.interval.low > fall_least * change->fast.interval.high;
}

static enum steady_reason reason_of(const struct steady_probe *state,
                                    const struct rate_change *change,
                                    size_t count)
{
    if (state->merges)
        return STEADY_MERGES;
    if (has_fallen(change) && count - change->at < change->at)
        return STEADY_NOT_YET;
    if (count >= blocks_of(state, spare_most))
        return STEADY_ALL_OF_IT;
    return has_fallen(change) && count >= blocks_of(state, spare_least)
               ? STEADY_FELL
               : STEADY_UNUSED;
}

struct steady_rate steady_rate(const struct steady_probe *state,
                               const double block_ns[], size_t count)
{
    const struct rate_change change = rate_change(
        block_ns, larger_of(blocks_of(state, spare_none), state->memory_blocks),
        count, 0);
    struct steady_rate rate = {
        .reason = reason_of(state, &change, count),
        .fell_at = has_fallen(&change) ? change.at : 0,
        .to = count,
        .fresh_ns =
            has_fallen(&change) ? change.fast.mean_ns / LOAD_BLOCK_WRITES : 0};

    rate.from = rate.fell_at +
                (size_t)(settling_share * (double)(count - rate.fell_at));
    if (rate.reason == STEADY_NOT_YET || rate.reason == STEADY_UNUSED)
        return rate;
    if (rate.to - rate.from < blocks_least ||
        !load_lasts(block_ns, rate.from, rate.to, &rate.load))
        rate.reason = STEADY_NOT_YET;
    return rate;
}

/* ---- the longest -------------------------------------------------------- */

/* Of the thirds, at most so many times as long. */
enum { PARTS = 3 };
static const double stalls_differ_most = 1.15;
/* Standard errors to each side of a rank. */
static const double errors = 2.6;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of sorted times, the one that the stall's share of them does not pass; that
 * many standard errors of the rank away. */
static double at_rank(const double sorted_ns[], size_t count, double away)
{
    const double share = STEADY_STALL_PERMILLE / 1e3;
    const double rank = share * (double)count +
                        away * sqrt(share * (1 - share) * (double)count);

    return sorted_ns[(size_t)fmin(fmax(rank, 0), (double)(count - 1))];
}

struct steady_stall steady_stall(double latency_ns[], size_t count)
{
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < PARTS; i++) {
        double *part_ns = &latency_ns[i * count / PARTS];
        const size_t part = (i + 1) * count / PARTS - i * count / PARTS;
        qsort(part_ns, part, sizeof(*part_ns), compare);
        least = fmin(least, at_rank(part_ns, part, 0));
        most = fmax(most, at_rank(part_ns, part, 0));
    }
    qsort(latency_ns, count, sizeof(*latency_ns), compare);
    return (struct steady_stall){
        .ns = at_rank(latency_ns, count, 0),
        .low = fmin(at_rank(latency_ns, count, -errors), least),
        .high = fmax(at_rank(latency_ns, count, errors), most),
        .agrees = most <= stalls_differ_most * least};
}
