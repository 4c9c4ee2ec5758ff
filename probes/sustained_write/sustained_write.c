/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sustained-write: how long does it write fast, and how fast then?
 *
 * Idea: write in order from a rest on, until the rate has fallen and stays. A
 * cache of flash that is written with one bit a cell is full then, and a rest
 * brings it back, because the drive copies it out when it has nothing to do:
 *
 *   rate |-----------.            rest  ----------.
 *        |           |                            |
 *        |           '---------                   '-------
 *        +-------------------------------------------------> written
 *                    ^ fast_cache
 *
 * Others fall as well, so more is asked before a cache is stated:
 *  - memory in the drive is emptied by a flush, and a drive that ran out of
 *    clean blocks is quick again where it writes again in order what it has
 *    just written: so is no cache of flash, behind a flush and without a rest;
 *  - a drive that is hot is slow to read, too: reads are made before and after;
 *  - the second fall, after the rest, comes where the first one came.
 * Where a flush may not empty the memory, what is as small as that is left
 * open. Shorter and longer rests tell how long the cache takes to come back.
 *
 * Assumes: the drive has been written, so that its cache is the spare part of
 * its flash only; see cache_parts.
 */
#include "probes/sustained_write/sustained_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/infer/method/pace.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/times.h"

/* Something else may hold up so many blocks, and for each request of a block
 * one in a hundred more. */
static const double held_up_least = 0.04, held_up_request = 0.01;
/* Memory of drives for writes that wait: more than in most. */
static const uint64_t memory_most_blocks = 64;
/* Blocks of the first look, each look at twice as many; and behind a change,
 * where copying out is to be evened out. */
enum { FIRST_BLOCKS = 64, BEHIND_BLOCKS = 256 };
/* Passes take this part of the write budget and of the region at most, and all
 * together that. One rate without pauses is followed for twice as long: there
 * may be a larger cache. */
static const uint64_t pass_parts = 16, all_parts = 3, region_parts = 4;
enum { FOLLOWED = 2 };
/* No look at twice as many blocks that would take longer. */
static const double longest_ns = 120e9;
/* Where reads are held up as well, some of the pauses may still be what writes
 * cost. */
static const double any_pauses_confidence = 0.9;

/* ---- the first pass ----------------------------------------------------- */

/* Writes until the rate has fallen beyond what memory takes in, and then as
 * long again; or up to so many blocks. */
static const double *write_on(struct sustained_probe *state, size_t most,
                              size_t *count)
{
    for (size_t blocks = FIRST_BLOCKS < most ? FIRST_BLOCKS : most;;) {
        const double *ns = sustained_blocks(state, &sustained_first, blocks);
        const struct rate_change change =
            rate_change(ns, state->memory_blocks, blocks, state->held_up_share);
        const size_t behind = blocks - change.at;
        *count = blocks;
        if (blocks == most ||
            2 * rate_mean(ns, blocks, INFINITY) * (double)blocks > longest_ns)
            return ns;
        if (change.found && behind >= BEHIND_BLOCKS && behind >= change.at &&
            rate_narrow(&change.slow))
            return ns;
        blocks = 2 * blocks < most ? 2 * blocks : most;
    }
}

/* The fall beyond what memory takes in; without one, any. */
static struct rate_change change_of(const struct sustained_probe *state,
                                    const double ns[], size_t count)
{
    const struct rate_change change =
        rate_change(ns, state->memory_blocks, count, state->held_up_share);

    return change.found ? change
                        : rate_change(ns, 0, count, state->held_up_share);
}

/* ---- the reasoning ------------------------------------------------------ */

/* One rate, and nothing hides in it. */
static bool is_flat(const struct sustained_probe *state, const double ns[],
                    size_t count, const struct rate_change *change)
{
    const struct rate_level level = rate_level(ns, count, state->held_up_share);

    return change->flat && rate_narrow(&level) &&
           !sustained_hides(ns, count, &level);
}

static double held_up_share(const struct sustained_probe *state)
{
    return held_up_least + held_up_request * sustained_pieces(state);
}

static void think(struct study *study, struct findings *findings)
{
    struct sustained_probe *state = (struct sustained_probe *)study;
    size_t count;

    if (state->first_blocks_most < FIRST_BLOCKS / 2) {
        sustained_say_open(
            findings,
            "the region or the write budget is too small for this probe");
        return;
    }
    state->held_up_share = held_up_share(state);
    state->most_confidence = 1;
    const struct rate_change all = {.at = 0};
    const double *ns = write_on(state, state->first_blocks_most, &count);
    const enum sustained_pauses pauses = sustained_pauses(state, ns, count);
    if (pauses == SUSTAINED_ANY_PAUSES)
        state->most_confidence = any_pauses_confidence;
    if (pauses == SUSTAINED_OWN_PAUSES) {
        state->held_up_share = 0; /* and with that it may have to go on */
        ns = write_on(state, state->first_blocks_most, &count);
    }
    if (pauses == SUSTAINED_LONG_PAUSES) {
        if (sustained_find_stacked(state, ns, count, count, findings))
            return;
        sustained_say_unexplained(
            state, ns, count, &all,
            "most of the time passes in a few long pauses, and "
            "reads of the idle drive are delayed as well, so "
            "the cost of writes is not known",
            findings);
        return;
    }
    struct rate_change change = change_of(state, ns, count);
    if (count == state->first_blocks_most &&
        is_flat(state, ns, count, &change)) {
        ns = write_on(state, FOLLOWED * count, &count);
        change = change_of(state, ns, count);
    }
    if (change.flat) {
        const struct rate_level level =
            rate_level(ns, count, state->held_up_share);
        if (sustained_hides(ns, count, &level) &&
            sustained_find_stacked(state, ns, count, count, findings))
            return;
        sustained_say_none(state, &level, ns, count, 0, findings);
    } else if (!change.found) {
        if (sustained_find_stacked(state, ns, count, count, findings))
            return;
        sustained_say_unexplained(
            state, ns, count, &all,
            "the rate of sequential writes changes, but too little, or too "
            "near the end of the measurement, to rule out chance",
            findings);
    } else
        sustained_conclude_fall(state, ns, count, &change, findings);
}

/* ---- the probe ---------------------------------------------------------- */

static uint64_t first_blocks_of(const struct setting *setting)
{
    const uint64_t chunk_bytes = SUSTAINED_CHUNK_BLOCKS * SUSTAINED_BLOCK_BYTES;
    const uint64_t bytes =
        smaller_of(setting->write_budget_bytes / pass_parts,
                   setting->region_length_bytes / region_parts);

    return bytes / chunk_bytes * SUSTAINED_CHUNK_BLOCKS;
}

static uint64_t piece_bytes_of(const struct setting *setting)
{
    uint64_t bytes = SUSTAINED_BLOCK_BYTES;

    while (setting->request_limit_bytes &&
           bytes > setting->request_limit_bytes &&
           bytes > setting->logical_block_bytes)
        bytes /= 2;
    return bytes;
}

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    const uint64_t first = first_blocks_of(setting);
    const uint64_t all =
        larger_of(FOLLOWED * first, setting->write_budget_bytes / all_parts /
                                        SUSTAINED_BLOCK_BYTES);
    const uint64_t pieces = SUSTAINED_BLOCK_BYTES / piece_bytes_of(setting);
    const uint64_t others =
        SUSTAINED_FIRST_READS + SUSTAINED_READS +
        2 * (SUSTAINED_RESTS + 3); /* reads, flushes and rests */

    plan->bytes_written = first * SUSTAINED_BLOCK_BYTES;
    plan->bytes_written_max = all * SUSTAINED_BLOCK_BYTES;
    plan->bytes_read = (SUSTAINED_FIRST_READS + SUSTAINED_READS) *
                       placing_small_bytes(setting);
    plan->requests = first * pieces + others;
    plan->requests_max = all * pieces + others;
}

static bool flush_empties(const struct findings *known)
{
    const struct finding *honesty = findings_found(known, "flush_honesty");

    return honesty && strcmp(honesty->value.text, "free") != 0;
}

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct sustained_probe *state = memory;

    state->piece_bytes = piece_bytes_of(setting);
    state->depth = (uint32_t)smaller_of(PACE_LONG_BYTES / state->piece_bytes,
                                        SAMPLE_DEPTH_MAX);
    state->first_blocks_most = first_blocks_of(setting);
    state->blocks_most =
        setting->write_budget_bytes / all_parts / SUSTAINED_BLOCK_BYTES;
    state->memory_blocks =
        smaller_of(memory_most_blocks, state->first_blocks_most / 4);
    state->window_chunks = (uint32_t)(FOLLOWED * state->first_blocks_most /
                                      SUSTAINED_CHUNK_BLOCKS);
    state->window_first_bytes = placing_base(
        setting, state->study.seed,
        FOLLOWED * state->first_blocks_most * SUSTAINED_BLOCK_BYTES);
    state->flush_empties = flush_empties(known);
}

const struct probe probe_sustained_write = {
    .name = "sustained-write",
    .question = "How long does the drive write fast, how fast afterwards, and "
                "when is it fast again?",
    .idea =
        "Sequential writes until the rate falls and stays low, and again after "
        "a rest. An SLC cache is empty again once the drive has copied it out.",
    .writes = true,
    .budget_share = 16,
    .region_min_bytes = 128 * MIB,
    .answers = {"fast_cache", "fast_write_rate", "sustained_write_rate",
                "fast_cache_recovery"},
    .plan = plan,
    .begin = begin,
    STUDY_PROBE(struct sustained_probe, .think = think),
};
