/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block: do slow writes at a distance come after idle time as well?
 * If each new block needs an erase or a merge, they do. But a full SLC cache,
 * which takes all writes first, is slow whenever it copies out one of its
 * blocks. That is a half, a third or a quarter of an erase block. Such a drive
 * makes room when it is idle, so slow writes stay away for a while. (So does a
 * drive that cleans when idle.)
 *
 *   kept busy       |    |    |    |
 *                                      pause
 *   the same             |    |    |   .....   |    |    |
 *   room was made        |    |    |   .....                   |    |
 *
 * Assumes: the drive begins within five seconds (drives wait for tenths of a
 * second to a few), and copies a block out in five more.
 */
#include "probes/clustered_block/clustered_block.h"

#include <assert.h>
#include <math.h>

#include "lib/infer/statistics/stats.h"

enum {
    WALK_NUMBER = 36,
    PAUSES = BLOCK_PAUSES_COUNT,
    LEG_PERIODS = 3,   /* periods between pauses, at least */
    PLACES_A_PAUSE = 2 /* places right behind a pause that should be slow */
};

/* A place is slow from half of the excess of slow ones on. */
static const double slow_share = 0.5;
/* Slow writes are as slow as this ratio at least, or as their excess. They may
 * be slower or faster than before: what is copied or cleaned now may be more of
 * a block, or less. */
static const double slow_ratio = 4;
/* Into a cache, a write takes less than this share of the time past it, request
 * overhead included. Drives drift by less. */
static const double faster_most = 0.85;

/* Every `step`th value, sorted; the count. */
static size_t pick(const double values[], size_t count, size_t step,
                   double sample[STATS_MAX])
{
    size_t picked = 0;

    for (size_t i = 0; i < count && picked < STATS_MAX; i += step)
        sample[picked++] = values[i];
    stats_sort(sample, picked);
    return picked;
}

/* The lower quartile of the values at one place of the period. A minority of
 * slow values does not raise it: among many places, noise makes some slow
 * twice. */
static double low_of(const double values[], size_t count, size_t length)
{
    double sample[STATS_MAX];

    return sample[(pick(values, count, length, sample) - 1) / 4];
}

/* The place of the period at which the first leg is slowest. Returns how far
 * that is above the neighbours. */
static double slowest_place(const double residuals[], size_t count,
                            size_t length, size_t *place)
{
    double most = 0;

    *place = 0;
    for (size_t i = 0; i < length; i++) {
        double above = low_of(residuals + i, count - i, length);
        if (above > most) {
            most = above;
            *place = i;
        }
    }
    return most;
}

/* The slow writes of one leg. */
struct leg {
    uint32_t slow_count; /* of the first PLACES_A_PAUSE places */
    size_t quiet_writes; /* writes before the first slow one */
    /* Places after these and after a slow one; how many of them are slow. */
    size_t busy_count, busy_slow_count;
};

static struct leg leg_of(const double residuals[], size_t first, size_t end,
                         size_t place, size_t length, double least)
{
    assert(length > 0);
    size_t at = first + (place + length - first % length) % length;
    struct leg leg = {.quiet_writes = end - first};

    for (size_t i = 0; at < end; i++, at += length) {
        const bool slow = residuals[at] > least;
        const bool busy = i >= PLACES_A_PAUSE && leg.quiet_writes < end - first;
        leg.busy_count += busy;
        leg.busy_slow_count += busy && slow;
        leg.slow_count += i < PLACES_A_PAUSE && slow;
        if (slow && leg.quiet_writes == end - first)
            leg.quiet_writes = at - first;
    }
    return leg;
}

/* The median time of so many writes in a row. */
static double median_part(const double values[], size_t count, size_t part)
{
    double sample[STATS_MAX];
    size_t picked = 0;

    for (size_t first = 0; first + part <= count && picked < STATS_MAX;
         first += count / part / STATS_MAX * part + part) {
        sample[picked] = 0;
        for (size_t i = first; i < first + part; i++)
            sample[picked] += exp(values[i]);
        picked++;
    }
    stats_sort(sample, picked);
    return stats_median(sample, picked);
}

/* Are writes faster behind each pause than in the first leg? Of those that
 * recur in parts, parts are. */
static bool is_faster(const double values[], size_t leg_writes,
                      size_t legs_count, const struct block_spikes *spikes)
{
    const size_t part = (size_t)larger_of(spikes->recurrence.part, 1);
    const double most = faster_most * median_part(values, leg_writes, part);

    for (size_t leg = 1; leg < legs_count; leg++)
        if (median_part(values + leg * leg_writes, spikes->period.length / 2,
                        part) >= most)
            return false;
    return true;
}

/* Do slow writes come and go without pauses as well? True: they are more than
 * half as frequent right behind pauses as further on. So their absence after a
 * pause proves no cache; the drive may clean blocks that have nothing left to
 * copy. */
static bool come_and_go(size_t slow_count, size_t busy_count,
                        size_t busy_slow_count)
{
    return slow_count * 2 * busy_count >
           busy_slow_count * PAUSES * PLACES_A_PAUSE;
}

enum block_pauses block_judge_pauses(const double values[],
                                     const double residuals[],
                                     size_t leg_writes, size_t legs_count,
                                     const struct block_spikes *spikes,
                                     size_t *quiet)
{
    const size_t length = spikes->period.length;
    const double least =
        fmax(slow_share * fmin(spikes->period.excess, log(slow_ratio)),
             spikes->rule.threshold);
    uint32_t slow_count = 0;
    size_t busy_count = 0, busy_slow_count = 0, place;

    if (slowest_place(residuals, leg_writes, length, &place) < least)
        return BLOCK_PAUSES_UNTOLD;
    *quiet = 0;
    for (size_t leg = 0; leg < legs_count; leg++) {
        const size_t first = leg * leg_writes;
        const struct leg shown =
            leg_of(residuals, first, first + leg_writes, place, length, least);
        busy_count += shown.busy_count;
        busy_slow_count += shown.busy_slow_count;
        if (leg == 0)
            continue;
        slow_count += shown.slow_count;
        if (shown.quiet_writes > *quiet)
            *quiet = shown.quiet_writes;
        /* One pause is enough if all its places are slow. */
        if (leg == 1 && slow_count == PLACES_A_PAUSE)
            return BLOCK_PAUSES_SAME;
    }
    if (legs_count == 2)
        return BLOCK_PAUSES_MORE;
    if (2 * slow_count > PAUSES * PLACES_A_PAUSE)
        return BLOCK_PAUSES_SAME;
    if (come_and_go(slow_count, busy_count, busy_slow_count))
        return BLOCK_PAUSES_UNTOLD;
    return is_faster(values, leg_writes, legs_count, spikes)
               ? BLOCK_PAUSES_PASSED
               : BLOCK_PAUSES_ROOM;
}

/* Measures and judges the first `legs` legs. */
static enum block_pauses
judge_legs(struct block_probe *state, const struct block_course *course,
           size_t legs, const struct block_spikes *spikes, size_t *quiet)
{
    const struct block_costs costs = block_walk_costs(
        state, course, legs * course->leg_chunks, &spikes->rule);

    return block_judge_pauses(costs.values, costs.residuals,
                              course->leg_chunks * BLOCK_CHUNK_WRITES, legs,
                              spikes, quiet);
}

static enum block_pauses after_pauses(struct block_probe *state,
                                      const struct block_spikes *spikes,
                                      size_t *quiet)
{
    const size_t leg_chunks =
        LEG_PERIODS * spikes->period.length / BLOCK_CHUNK_WRITES + 1;
    const size_t leg_writes = leg_chunks * BLOCK_CHUNK_WRITES;
    const uint64_t write = spikes->write_bytes, room = state->room_bytes;
    const uint64_t round = spikes->round_bytes;
    const struct block_course course = {
        .number = WALK_NUMBER,
        .write_bytes = write,
        .scattered = spikes->scattered,
        .round_bytes = round,
        .skip_bytes = round ? 0 : room / 2 / write * write,
        .leg_chunks = leg_chunks,
        .pause_ns = block_pause_ns};
    enum block_pauses pauses;

    *quiet = 0;
    if (!course.scattered && !round &&
        (PAUSES + 1) * leg_writes > room / 2 / write)
        return BLOCK_PAUSES_UNTOLD;
    pauses = judge_legs(state, &course, 2, spikes, quiet);
    if (pauses == BLOCK_PAUSES_MORE)
        pauses = judge_legs(state, &course, PAUSES + 1, spikes, quiet);
    return pauses;
}

/* Where a cache is copied out, that takes longer than to write to it: more bits
 * a cell take longer to program. And it takes longer than any erase. */
static const double copied_least = 0.5, erase_most_ns = 12e6;

double block_pause_of(const struct block_spikes *spikes)
{
    return expm1(spikes->period.excess) * spikes->write_ns;
}

double block_held_up(const struct block_spikes *spikes)
{
    const double pause_ns = block_pause_of(spikes);

    if (spikes->recurrence.length)
        return pause_ns / spikes->recurrence.course;
    return pause_ns /
           (pause_ns + (double)spikes->period.length * spikes->write_ns);
}

bool block_copies(const struct block_spikes *spikes)
{
    return block_held_up(spikes) >= copied_least;
}

struct block_cache block_look_at_cache(struct block_probe *state,
                                       const struct block_spikes *spikes)
{
    struct block_cache cache = {.claim = CLAIM_OPEN};
    size_t quiet;
    const enum block_pauses pauses = after_pauses(state, spikes, &quiet);

    if (pauses == BLOCK_PAUSES_ROOM) {
        cache.claim = CLAIM_HOLDS;
        cache.quiet_bytes = quiet * spikes->write_bytes;
    } else if (state->cache_bytes && block_copies(spikes) &&
               block_pause_of(spikes) > erase_most_ns) {
        cache.claim = CLAIM_HOLDS;
    } else if (pauses == BLOCK_PAUSES_SAME) {
        cache.claim = CLAIM_FALLS;
    }
    return cache;
}
