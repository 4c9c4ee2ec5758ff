/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block, where an SLC cache in front has the slow writes. Each of
 * them copies out one block of the cache. With one bit a cell, that holds only
 * a part of an erase block. A copy-out that begins a new erase block waits for
 * it as well: the drive cleans a block or merges a log. So some copies are much
 * slower than the others, and what is copied from one of them to the next fills
 * a block:
 *
 *   cost            |           |               |
 *      cache full   |   |   |   |   |   |   |   |   |
 *    .......................................................  in order ->
 *
 * A block need not be a whole number of copies. Then some blocks take one copy
 * more, and enough copies are measured that only one length, to the page,
 * explains them all.
 *
 * Assumes: a cleaned block has valid pages left to copy. That may need a
 * used-up spare area and random writes. Logs are merged by copying, which needs
 * writes that are not quite in order.
 */
#include "probes/clustered_block/clustered_block.h"

#include <math.h>
#include <string.h>

#include "lib/infer/statistics/clusters.h"
#include "lib/infer/statistics/stats.h"

enum {
    WALK_NUMBER = 37,
    FILLED_NUMBER = 38,
    ANYWHERE_NUMBER = 40,
    FIRST_CHUNKS = 4,
    CHUNKS_MAX = 256,
    COPIES_LEAST = 2, /* copies for one block, at least */
    TRIALS_LEAST = 16,
    /* classes: most copies, those on one chip, those that begin a block */
    KINDS_MAX = 3
};

/* Shares of the copies that begin a block and are slower. A cleaned block may
 * have next to nothing left to copy, but not as a rule. If every second block
 * did not show, a length and its double could not be told apart. Another length
 * is ruled out below 0.4. */
static const double hits_least = 0.55, other_hits_least = 0.4;
/* Noise makes some copies slower that begin no block. Per slower copy that
 * begins one, there are at most so many; above 0.2 another length is ruled
 * out. */
static const double elsewhere_most = 0.125, other_elsewhere_most = 0.2;
/* Log costs. Copies within one chip take longer too, in several ways. The class
 * that begins blocks must be slower than the next class by 0.2 and by twice
 * what that class spreads. */
static const double excess_least = 0.2, spread_most = 0.5;

/* ---- which are slower ---------------------------------------------------- */

/* The copies of a sweep, and which of them are slower. */
struct copies {
    struct block_copies all;
    double slower_least; /* slower from this residual on */
};

static double copy_at(const struct block_copies *copies, size_t i)
{
    return copies->residuals[copies->first + i * copies->length];
}

/* The residuals of the copies, sorted; every n-th one where there are too many.
 * Returns how many. */
static size_t sample_of(const struct block_copies *copies,
                        double sample[STATS_MAX])
{
    const size_t stride = copies->count / STATS_MAX + 1;
    size_t n = 0;

    for (size_t i = 0; i < copies->count; i += stride)
        sample[n++] = copy_at(copies, i);
    stats_sort(sample, n);
    return n;
}

struct block_copies block_copies_of(const double residuals[], size_t count,
                                    size_t length, double threshold)
{
    struct block_copies copies = {.residuals = residuals, .length = length};
    double sample[STATS_MAX], most = threshold;
    size_t place = length;

    for (size_t first = count / 2; first < count / 2 + length && first < count;
         first++) {
        const struct block_copies later = {
            .residuals = residuals,
            .first = first,
            .length = length,
            .count = (count - first + length - 1) / length};
        const double middle = stats_median(sample, sample_of(&later, sample));
        if (middle > most) {
            most = middle;
            place = first % length;
        }
    }
    if (place == length)
        return copies;
    while (place + length < count && (residuals[place] < most / 2 ||
                                      residuals[place + length] < most / 2))
        place += length;
    copies.first = place;
    copies.count = (count - place + length - 1) / length;
    return copies;
}

/* Splits the copies into `kinds` classes by time. True if the slowest class
 * stands out from the next one. `*excess`: by how much, as log cost. */
static bool split(struct copies *copies, size_t kinds, double *excess)
{
    double sample[STATS_MAX];
    /* The slowest 5 % are taken for noise. */
    const size_t count = sample_of(&copies->all, sample) * 19 / 20;
    size_t begins[KINDS_MAX];

    if (count < TRIALS_LEAST ||
        clusters_split(sample, count, kinds, begins, NULL))
        return false;
    const size_t cut = begins[kinds - 1], before = begins[kinds - 2];
    copies->slower_least = (sample[cut - 1] + sample[cut]) / 2;
    *excess = stats_median(sample + cut, count - cut) -
              stats_median(sample + before, cut - before);
    return *excess > excess_least &&
           sample[before + (cut - before) * 9 / 10] -
                   sample[before + (cut - before) / 10] <
               spread_most * *excess;
}

/* ---- what explains them -------------------------------------------------- */

/*
 * Counts what a block of `units` explains, where a copy takes `copied` units. A
 * block begins within each copy whose place in the block lies in one window of
 * `copied` places. The offset of that window is not known: the one with most
 * slower copies is taken. `counts`: slower copies, and all, for each place.
 */
static struct block_folds explain(const struct copies *copies, size_t copied,
                                  size_t units, uint32_t counts[][2])
{
    struct block_folds folds = {.units = units};
    size_t hits = 0, trials = 0, at = 0, slower_count = 0;

    memset(counts, 0, units * sizeof(*counts));
    for (size_t i = 0; i < copies->all.count; i++, at = (at + copied) % units) {
        const bool slower = copy_at(&copies->all, i) > copies->slower_least;
        counts[at][0] += slower;
        counts[at][1]++;
        slower_count += slower;
    }
    for (size_t end = 0; end < units + copied; end++) {
        hits += counts[end % units][0];
        trials += counts[end % units][1];
        if (end < copied)
            continue;
        hits -= counts[(end - copied) % units][0];
        trials -= counts[(end - copied) % units][1];
        if (hits > folds.hits ||
            (hits == folds.hits && trials < folds.trials)) {
            folds.hits = hits;
            folds.trials = trials;
        }
    }
    folds.elsewhere = slower_count - folds.hits;
    return folds;
}

static bool explains(const struct block_folds *folds, double least, double most)
{
    return (double)folds->hits >= least * (double)folds->trials &&
           (double)folds->elsewhere <= most * (double)folds->hits;
}

/* HOLDS: exactly one length explains which copies are slower. OPEN: none does,
 * or several do. */
static enum claim find_alone(const struct copies *copies, size_t copied,
                             uint32_t counts[][2], struct block_folds *folds)
{
    size_t likely = 0;

    for (size_t units = COPIES_LEAST * copied;
         units <= BLOCK_COPIES_MAX * copied; units++) {
        const struct block_folds one = explain(copies, copied, units, counts);
        if (!explains(&one, other_hits_least, other_elsewhere_most))
            continue;
        likely++;
        *folds = one;
    }
    return likely == 1 && folds->trials >= TRIALS_LEAST &&
                   explains(folds, hits_least, elsewhere_most)
               ? CLAIM_HOLDS
               : CLAIM_OPEN;
}

enum claim block_judge_folds(const double residuals[], size_t count,
                             size_t length, size_t copied, double threshold,
                             uint32_t scratch[][2], struct block_folds *folds)
{
    struct copies copies = {
        .all = block_copies_of(residuals, count, length, threshold)};
    const size_t blocks_least = copied > TRIALS_LEAST ? copied : TRIALS_LEAST;
    enum claim claim = CLAIM_OPEN;

    /* With fewer copies, a length one unit longer or shorter explains the
     * same. */
    if (copies.all.count < COPIES_LEAST * blocks_least)
        return CLAIM_OPEN;
    for (size_t kinds = 2; claim == CLAIM_OPEN && kinds <= KINDS_MAX; kinds++) {
        double excess;
        if (!split(&copies, kinds, &excess))
            continue;
        claim = find_alone(&copies, copied, scratch, folds);
        folds->excess = excess;
    }
    return claim;
}

/* ---- the walks ----------------------------------------------------------- */

static bool walk(struct block_probe *state,
                 const struct block_distance *distance, int number,
                 bool scattered, struct block_folds *folds)
{
    const struct block_spikes *spikes = distance->spikes;
    const struct block_course course = {.number = number,
                                        .write_bytes = spikes->write_bytes,
                                        .scattered = scattered,
                                        .evenly = scattered,
                                        .by_twos = !scattered,
                                        .pitch_bytes = distance->pitch_bytes};
    const size_t copied =
        (size_t)(distance->block_bytes / distance->pitch_bytes);
    const size_t room =
        scattered ? SIZE_MAX
                  : (size_t)(state->room_bytes / distance->pitch_bytes);
    uint32_t(*scratch)[2] = study_alloc(
        &state->study, BLOCK_COPIES_MAX * copied * sizeof(*scratch));

    for (size_t chunks = FIRST_CHUNKS;
         chunks <= CHUNKS_MAX && chunks * BLOCK_CHUNK_WRITES <= room;
         chunks *= 2) {
        const struct block_costs costs =
            block_walk_costs(state, &course, chunks, &spikes->rule);
        if (block_judge_folds(
                costs.residuals, costs.count, spikes->period.length, copied,
                spikes->rule.threshold, scratch, folds) == CLAIM_HOLDS)
            return true;
    }
    return false;
}

/*
 * First without a fill, since merges of logs do not need one. Then with a fill,
 * unless there was one before slow writes were found (in random writes).
 */
bool block_find_folds(struct block_probe *state,
                      const struct block_distance *distance,
                      struct block_folds *folds)
{
    if (walk(state, distance, WALK_NUMBER, false, folds))
        return true;
    if (distance->spikes->scattered)
        return false;
    block_fill(state, distance->spikes->write_bytes);
    return walk(state, distance, FILLED_NUMBER, false, folds);
}

bool block_find_folds_anywhere(struct block_probe *state,
                               const struct block_distance *distance,
                               struct block_folds *folds)
{
    block_fill(state, distance->spikes->write_bytes);
    return walk(state, distance, ANYWHERE_NUMBER, true, folds);
}
