/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block, where the page is not known. Pieces that are parts of a page
 * are written across places that may be page boundaries. If all of these are,
 * each piece uses up two pages, and twice as many pieces are slow:
 *
 *   pieces     |==|  |==|  |==|  |==|        one page each
 *   pages      |     |     |     |     |
 *   across    |==|  |==|  |==|  |==|         two of them
 *
 * If only every second place is a page boundary, half as many come on top. Slow
 * pieces are counted where they would be too close for a period to be seen.
 */
#include "probes/clustered_block/clustered_block.h"

#include <math.h>

#include "lib/base/line.h"
#include "lib/infer/statistics/stats.h"

enum {
    /* Numbers of sweeps: pieces within a page that are counted; pieces
     * across. */
    COUNTED_NUMBER = 39,
    ACROSS_NUMBER = 40,
    INSIDE_NUMBER = 60, /* this and up, one for each prime part of the page */
    COUNTED_CHUNKS = 8,
    /* periods in a sweep */
    WALK_PERIODS = 32,
    WALK_WRITES_MAX = 65536
};

static const uint64_t page_most_bytes = 4 * MIB;
/* Candidates for the page, in multiples of the longest known part of a page. */
static const uint64_t page_parts[] = {1,  2,  3,  4,  5,  6, 8,
                                      10, 12, 16, 20, 24, 32};
/* Slow pieces beyond those within a page, as a share of these. All pieces
 * straddle two pages from 0.8 to 1.2, and half of them at most up to 0.65. */
static const double all_least = 0.8, all_most = 1.2, half_most = 0.65;
/* Log costs. Lower quartiles are the same if they differ by less than 0.1. Some
 * pieces are dearer if the upper quartile is higher by 0.2624 (30 %). */
static const double same_most = 0.1, dearer_least = 0.2624;
/* A piece is slow from half of the excess of slow ones on. */
static const double slow_share = 0.5;

size_t block_enough_writes(size_t length)
{
    return (size_t)smaller_of(WALK_PERIODS * length, WALK_WRITES_MAX);
}

/* Pieces whose middle lies `middle_bytes` behind multiples of `pitch_bytes`. */
static struct block_course across(const struct block_piece *piece, int number,
                                  uint64_t pitch_bytes, uint64_t middle_bytes)
{
    return (struct block_course){.number = number,
                                 .write_bytes = piece->bytes,
                                 .scattered = true,
                                 .pitch_bytes = pitch_bytes,
                                 .shift_bytes = middle_bytes - piece->bytes / 2,
                                 .most_bytes = block_pieces_bytes};
}

/* Are slow pieces `length` apart? OPEN: they come at no distance. */
static enum claim walk_middles(struct block_probe *state,
                               struct block_course course, size_t length)
{
    struct block_spikes spikes;

    course.most_writes = block_enough_writes(length);
    if (!block_walk(state, &course, &spikes))
        return CLAIM_OPEN;
    return spikes.period.length == length ? CLAIM_HOLDS : CLAIM_FALLS;
}

/* ---- counted ------------------------------------------------------------- */

static void quartiles_of(const double values[], struct block_counted *counted)
{
    enum { STEP = COUNTED_CHUNKS * BLOCK_CHUNK_WRITES / STATS_MAX };
    double sample[STATS_MAX];

    for (size_t i = 0; i < STATS_MAX; i++)
        sample[i] = values[i * STEP];
    stats_sort(sample, STATS_MAX);
    counted->low = sample[STATS_MAX / 4];
    counted->high = sample[STATS_MAX * 3 / 4];
}

static struct block_counted count_slow(struct block_probe *state,
                                       const struct block_piece *piece,
                                       const struct block_course *course)
{
    const struct period_rule *rule = &piece->spikes->rule;
    const double least =
        fmax(rule->threshold, slow_share * piece->spikes->period.excess);
    const struct block_costs costs =
        block_walk_costs(state, course, COUNTED_CHUNKS, rule);
    struct block_counted counted = {0};

    quartiles_of(costs.values, &counted);
    for (size_t i = 0; i < costs.count; i++)
        counted.slow_count += costs.residuals[i] > least;
    return counted;
}

/* Do some pieces cost as much as within a page, and others more? Then only the
 * dearer ones straddle two pages. They look slow beside the cheap ones, so a
 * count of slow pieces says nothing. */
static bool some_touch_one(const struct block_counted *within,
                           const struct block_counted *across)
{
    return across->low - within->low < same_most &&
           across->high - within->high > dearer_least;
}

enum claim block_judge_counts(const struct block_counted *within,
                              const struct block_counted *across, size_t count,
                              size_t length)
{
    const double within_count = (double)within->slow_count;
    /* The slow pieces within pages that are due to block changes; others are
     * noise. */
    const double due = fmin(within_count, (double)count / (double)length);
    const double more = ((double)across->slow_count - within_count) / due;

    if (some_touch_one(within, across))
        return CLAIM_FALLS;
    if (due <= 0 || more > all_most)
        return CLAIM_OPEN;
    if (more >= all_least)
        return CLAIM_HOLDS;
    return more <= half_most ? CLAIM_FALLS : CLAIM_OPEN;
}

/* Are twice as many pieces slow as within a page? OPEN: undecided. */
static enum claim count_middles(struct block_probe *state,
                                const struct block_piece *piece,
                                const struct block_course *course)
{
    const struct block_course within =
        across(piece, COUNTED_NUMBER, piece->bytes, piece->bytes / 2);
    const struct block_counted one = count_slow(state, piece, &within);
    const struct block_counted two = count_slow(state, piece, course);

    return block_judge_counts(&one, &two, COUNTED_CHUNKS * BLOCK_CHUNK_WRITES,
                              piece->spikes->period.length);
}

/* ---- the page ------------------------------------------------------------ */

/* Does each piece straddle two pages? FALLS or OPEN: that does not show. */
static enum claim touch_two(struct block_probe *state,
                            const struct block_piece *piece, int number,
                            uint64_t page_bytes)
{
    const struct block_course course =
        across(piece, number, page_bytes, page_bytes);
    const size_t length = piece->spikes->period.length;

    /* Half the distance is too short for a period: count instead. */
    return length / 2 < PERIOD_SHORTEST
               ? count_middles(state, piece, &course)
               : walk_middles(state, course, length / 2);
}

/* Is `page_bytes` one page, and not a multiple of one? HOLDS: pieces at its
 * prime parts (page / q) straddle no boundary. */
static enum claim no_part_is(struct block_probe *state,
                             const struct block_piece *piece,
                             uint64_t page_bytes, uint64_t parts)
{
    int number = INSIDE_NUMBER;

    for (uint64_t q = 2; parts > 1; q++) {
        if (parts % q)
            continue;
        while (parts % q == 0)
            parts /= q;
        enum claim claim = walk_middles(
            state, across(piece, number++, page_bytes, page_bytes / q),
            piece->spikes->period.length);
        if (claim != CLAIM_HOLDS)
            return claim;
    }
    return CLAIM_HOLDS;
}

enum claim block_find_page(struct block_probe *state,
                           struct block_pieces *pieces,
                           const struct block_piece *piece, uint64_t part_bytes)
{
    for (size_t i = 0; i < sizeof(page_parts) / sizeof(*page_parts); i++) {
        const uint64_t page = page_parts[i] * part_bytes;
        if (page > page_most_bytes)
            break;
        if (touch_two(state, piece, ACROSS_NUMBER + (int)i, page) !=
            CLAIM_HOLDS)
            continue;
        pieces->crossed = true;
        pieces->page_bytes = page;
        pieces->block_bytes = piece->spikes->period.length * page;
        return no_part_is(state, piece, page, page_parts[i]);
    }
    return CLAIM_OPEN;
}
