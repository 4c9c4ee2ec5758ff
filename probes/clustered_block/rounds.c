/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block: writes in order, without flushes, round and round in a
 * narrow part of the drive. What the last round wrote is all stale, so cleaning
 * copies nothing. Once the spare area is used up, each unit that is erased
 * costs one pause, whatever else lies on the drive.
 *
 * A buffer may spread that pause over many writes, and programs may pause as
 * well. Then no write stands out, but the course of all of them recurs at the
 * distance of the unit.
 *
 *   round 1 |========|
 *   round 2 |========|      pause ... pause ... pause: one for each unit
 *   round 3 |========|
 *
 * An SLC cache in front pauses as well when it copies out one of its blocks,
 * after each write of as much; not for a while after a rest, which made room. A
 * block of the cache holds one bit a cell, so what it is copied to holds as
 * many of them as a cell has bits.
 *
 * Shorter writes must pause after as many bytes: then it is bytes that fill the
 * unit, and not requests.
 *
 * Assumes: the cache and the spare area are used up, and what is copied in
 * cleaning does not share blocks with what is written: so the drive should not
 * have been written at random before.
 */
#include "probes/clustered_block/clustered_block.h"

#include <math.h>

#include "lib/base/units.h"
#include "lib/infer/method/rounds.h"
#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"
#include "probes/read_kinds.h"

enum {
    NUMBER = 1,
    SHORT_NUMBER = 101,   /* no sweep to be drawn */
    SHORT_WRITES = 65536, /* of shorter writes, so many at most, */
    AGREE_PERIODS = 16,   /* in so many periods */
    ROUND_PARTS = 4,      /* a round is such a part of the region, at most, */
    USUAL_PARTS = 16,     /* and such a part where no cache asks for more */
    ROUNDS_MAX = 8,       /* of a search; certificates need two more */
    SPARE_PARTS = 4,      /* the spare area is such a part, at most */
    WRITES_LEAST = 16,    /* to fill a unit */
    FIRST_WRITES = 1024
};
static const uint64_t write_bytes = ROUNDS_WRITE_BYTES,
                      round_usual_bytes = 256 * MIB, most_bytes = 3 * GIB;
static const double usual_patience_ns = 300e9;
/* What a shorter distance hides comes with pauses that are longer by this. */
static const double longer_least = 1.25;

/* Do shorter writes pause after as many bytes? Not where each of them, or a
 * part that the host or a buffer cuts off, uses up a page; nor where the drive
 * stops every so many requests. */
static bool shorter_agree(struct block_probe *state,
                          const struct block_spikes *spikes)
{
    uint64_t short_bytes = placing_small_bytes(&state->study.setting);

    while (AGREE_PERIODS * spikes->block_bytes / short_bytes > SHORT_WRITES)
        short_bytes *= 2;
    if (short_bytes >= write_bytes)
        return false;
    const struct block_course course = {.number = SHORT_NUMBER,
                                        .write_bytes = short_bytes,
                                        .round_bytes = spikes->round_bytes};
    const size_t length = (size_t)(spikes->block_bytes / short_bytes);
    const struct block_costs costs = block_walk_costs(
        state, &course, AGREE_PERIODS * length / BLOCK_CHUNK_WRITES + 1,
        &spikes->rule);
    return recurrence_is_at(costs.values, costs.count, length);
}

/* What the pauses of a sweep say. False: nothing, and more writes may. */
static bool conclude(struct block_probe *state,
                     const struct block_spikes *spikes,
                     struct findings *findings)
{
    struct read_kinds kinds = {.bits = 0};
    const double pause_ns = block_pause_of(spikes);
    const bool copies = block_copies(spikes);
    /* Programs recur in a part of the unit, so the pause is none of them. */
    const bool in_parts = spikes->recurrence.part > 1;

    if (pause_ns < ROUNDS_ERASE_LEAST_NS ||
        spikes->period.length < WRITES_LEAST ||
        spikes->block_bytes == spikes->round_bytes ||
        (!copies && !in_parts &&
         block_held_up(spikes) >= ROUNDS_ERASE_MOST_SHARE) ||
        !shorter_agree(state, spikes))
        return false;
    const bool has_cache =
        block_look_at_cache(state, spikes).claim == CLAIM_HOLDS;
    if (copies && has_cache)
        read_kinds_find(&state->study, &kinds);
    /* What it copies is no block of its own; and which of two it erases is not
     * known where a cache is in front. Without one, cleaning copies. */
    if ((has_cache || (copies && !in_parts)) && kinds.bits < 2)
        return false;
    const unsigned bits = kinds.bits ? kinds.bits : 1;
    block_say_rounds(&state->study, spikes, bits, pause_ns, findings);
    return true;
}

bool block_conclude_rounds(struct block_probe *state, struct findings *findings)
{
    const struct setting *setting = &state->study.setting;
    /* A course recurs over more than a round, so a round is short. It is larger
     * than a cache, whose data would be stale before it is copied out. The
     * number of writes is odd: what comes with addresses is elsewhere in the
     * next round. */
    const uint64_t usual_bytes = smaller_of(
        round_usual_bytes, setting->region_length_bytes / USUAL_PARTS);
    const uint64_t round_writes =
        smaller_of(larger_of(usual_bytes, 2 * state->cache_bytes),
                   setting->region_length_bytes / ROUND_PARTS) /
            write_bytes / 2 * 2 -
        1;
    struct block_course course = {
        .number = NUMBER,
        .write_bytes = write_bytes,
        .round_bytes = round_writes * write_bytes,
        .certify_writes = 2 * round_writes,
        .least_ns = ROUNDS_ERASE_LEAST_NS,
        .most_bytes = smaller_of(
            most_bytes, larger_of(ROUNDS_MAX * round_writes * write_bytes,
                                  setting->region_length_bytes / SPARE_PARTS)),
        .most_ns = setting->patience_ns ? (double)setting->patience_ns
                                        : usual_patience_ns,
        .most_writes = SIZE_MAX,
        .first_writes = (size_t)larger_of(FIRST_WRITES, 2 * state->cache_bytes /
                                                            write_bytes)};
    struct block_spikes spikes;

    while (block_walk(state, &course, &spikes)) {
        if (conclude(state, &spikes, findings))
            return true;
        course.first_writes = 2 * spikes.count;
        if (spikes.recurrence.length)
            continue;
        /* What else comes must be longer. */
        course.least_ns =
            fmax(course.least_ns, longer_least * block_pause_of(&spikes));
    }
    return false;
}
