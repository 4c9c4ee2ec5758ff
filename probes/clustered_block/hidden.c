/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block: do log blocks sit behind an SLC cache that takes all writes
 * first? To make room, the cache copies pages out in the order of their writes.
 * Pages of random writes belong to as many blocks, and each needs a merge,
 * which copies a whole block. Pages of a sequential run belong to one block or
 * two. On a page-mapped drive it does not matter where pages belong.
 *
 *   logs behind   |       |       |          no logs   |   |   |
 *   |   |   |     |       |       |          |   |   | |   |   |
 *   ..................................      ........................
 *   in order      anywhere                   in order  anywhere
 *
 * Assumes: all that is copied out was written since the pause, for the cache
 * was emptied. It was if the cache takes no more after a pause twice as long.
 * No page is written twice while the cache holds it.
 */
#include "probes/clustered_block/clustered_block.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"

enum {
    WALK_NUMBER = 39,
    CHUNKS_MAX = 256,
    COPIES_LEAST = 16 /* copies for a median, at least */
};

/* Copy-outs this many times as long show merges. A copy-out has eight pages or
 * more. At random, each is merged with a block, of 32 pages at least: 8 * 32.
 * In order, 8 pages and one merge: 8 + 32. The ratio is 6.4. A lower one need
 * not be a merge: a block cleaned for random pages has more valid pages to
 * copy. */
static const double merges_least = 5;
/* One copy-out this many times as long as those in order is a merge for
 * sure. */
static const double merged_for_sure = 20;
/* If both pauses emptied the cache, it takes as many writes after either,
 * within this ratio. */
static const double alike_most = 1.25;
/* A copy-out takes at least this share of the excess with which its distance
 * was found. To begin another block takes some time too, before the cache is
 * full, and must not pass for the first copy-out. */
static const double copy_least = 0.5;

double block_beyond_ns(const struct block_costs *costs, size_t i)
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
        sample[n++] = block_beyond_ns(costs, copies.first + i * copies.length);
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
        if (block_beyond_ns(costs, i) > merged_for_sure * in_order->ns)
            return true;
    return false;
}

/* Is `a` at most `b`, within the ratio and one copy-out? */
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

/* Lengthens a sweep until it shows how long copy-outs take. Sequential where
 * `in_order` is NULL, else random. False: it never does, or one write of the
 * random sweep shows a merge already. */
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
