/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block: are there logs behind a cache of flash that takes all writes
 * first? What it copies to make room comes there as it was written. Pages from
 * anywhere belong to as many blocks, and each of those must be merged, which
 * copies all of a block; those of a run in order belong to one or two. Where
 * pages are mapped, it is all the same to the copying where they belong.
 *
 *   logs behind   |       |       |          no logs   |   |   |
 *   |   |   |     |       |       |          |   |   | |   |   |
 *   ..................................      ........................
 *   in order      anywhere                   in order  anywhere
 *
 * Assumes: what is copied was written since the pause, that is: the cache was
 * emptied, which shows where a pause twice as long lets it take no more; no
 * page is written twice while the cache has it.
 */
#include "probes/clustered_block/clustered_block.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"

enum {
    WALK_NUMBER = 39,
    CHUNKS_MAX = 256,
    COPIES_LEAST = 16 /* and from the middle of a walk on the cache is full */
};

/* Eight pages or more are copied at once. Are each of them merged with 32
 * others, which is the least of a block, while of those in order a block of 32
 * is merged for all, that takes 8 * 32 / (8 + 32) times as long. Pages from
 * anywhere may take longer without logs as well, for blocks that are cleaned
 * for them have more pages left to copy. */
static const double merges_least = 5;
/* One copy that takes so many times as long as those in order is enough. */
static const double merged_for_sure = 20;
/* What it takes is as much after either pause, if it was emptied in both. */
static const double alike_most = 1.25;
/* A copy takes at least this share of what they took when they were found: to
 * begin another block may take some time before the cache is full as well. So
 * the first copy comes later than with the first block. */
static const double copy_least = 0.5;

/* What a write took beyond its neighbours, in ns. */
static double beyond(const struct block_costs *costs, size_t i)
{
    return exp(costs->values[i]) - exp(costs->values[i] - costs->residuals[i]);
}

bool block_judge_copies(const struct block_costs *costs,
                        const struct block_spikes *spikes,
                        struct block_copying *copying)
{
    const double least = log1p(copy_least * expm1(spikes->period.excess));
    const struct block_copies copies =
        block_copies_of(costs->residuals, costs->count, spikes->period.length,
                        fmax(least, spikes->rule.threshold));
    double sample[STATS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < copies.count && n < STATS_MAX; i++)
        sample[n++] = beyond(costs, copies.first + i * copies.length);
    stats_sort(sample, n);
    copying->ns = n ? stats_median(sample, n) : 0;
    copying->quiet_writes = copies.first;
    return n >= COPIES_LEAST && copies.first >= copies.length &&
           2 * copies.first <= costs->count;
}

bool block_merges_for_sure(const struct block_costs *costs,
                           const struct block_copying *in_order)
{
    for (size_t i = 0; i < costs->count; i++)
        if (beyond(costs, i) > merged_for_sure * in_order->ns)
            return true;
    return false;
}

/* Give or take a block of the cache. */
static bool is_alike(size_t a, size_t b, size_t length)
{
    return (double)a <= alike_most * (double)b + (double)length;
}

bool block_judge_hidden(const struct block_copying *in_order,
                        const struct block_copying *anywhere, size_t length)
{
    const size_t a = in_order->quiet_writes, b = anywhere->quiet_writes;

    return anywhere->ns >= merges_least * in_order->ns ||
           !is_alike(a, b, length) || !is_alike(b, a, length);
}

/* ---- the walks ----------------------------------------------------------- */

/* As many writes of a walk as show what copies take: of one in order, or
 * anywhere, beside `in_order`. False: none do, or one of them shows a merge
 * already. */
static bool walk(struct block_probe *state, const struct block_spikes *spikes,
                 const struct block_copying *in_order,
                 struct block_copying *copying)
{
    const bool scattered = in_order != NULL;
    const struct block_course course = {
        .number = WALK_NUMBER,
        .write_bytes = spikes->write_bytes,
        .scattered = scattered,
        .evenly = scattered,
        .leg_chunks = CHUNKS_MAX,
        .pause_ns = scattered ? 2 * block_pause_ns : block_pause_ns,
        .begins_paused = true};
    const size_t room =
        (size_t)(state->room_bytes / spikes->write_bytes) / BLOCK_CHUNK_WRITES;
    size_t *chunks = &state->hidden_chunks[scattered];

    for (; *chunks <= CHUNKS_MAX && *chunks <= room;
         *chunks += *chunks / 4 + 1) {
        const struct block_costs costs =
            block_walk_costs(state, &course, *chunks, &spikes->rule);
        if (block_judge_copies(&costs, spikes, copying))
            return true;
        if (in_order && block_merges_for_sure(&costs, in_order))
            return false;
    }
    return false;
}

bool block_may_hide_logs(struct block_probe *state,
                         const struct block_spikes *spikes)
{
    struct block_copying in_order, anywhere;

    return !walk(state, spikes, NULL, &in_order) ||
           !walk(state, spikes, &in_order, &anywhere) ||
           block_judge_hidden(&in_order, &anywhere, spikes->period.length);
}
