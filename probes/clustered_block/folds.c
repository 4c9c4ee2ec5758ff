/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block, where a cache of flash in front has the slow writes: each is
 * the copying of one of its blocks, which with one bit a cell holds but a part
 * of the block behind. A copy with which a block behind begins waits for that
 * as well: one must be cleaned, or a log be merged. So some copies are much
 * slower than the others, and what comes from one of them to the next fills a
 * block:
 *
 *   cost            |           |               |
 *      cache full   |   |   |   |   |   |   |   |   |
 *    .......................................................  in order ->
 *
 * It need not be a number of copies. Then some blocks begin with one copy more,
 * and so many are looked at that one length alone explains all of them, to the
 * page.
 *
 * Assumes: a cleaned block has pages left to copy, for which the spare area may
 * have to be used up first, and writes come from anywhere; logs are merged by
 * copying, for which writes are not quite in order.
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
    COPIES_LEAST = 2, /* of a block */
    TRIALS_LEAST = 16,
    /* Copies take longer as well where both blocks lie on one chip. */
    KINDS_MAX = 3
};

/* What is cleaned may have next to nothing left to copy, but not as a rule: nor
 * may every second block, or half a block explains as much. */
static const double hits_least = 0.55, other_hits_least = 0.4;
/* Of those that are slow, so many may begin no block, for noise. Where another
 * length has fewer than this share, it is not ruled out. */
static const double elsewhere_most = 0.125, other_elsewhere_most = 0.2;
/* Copies take longer as well where both blocks lie on one chip, but in several
 * ways: what begins a block stands out from all of them. */
static const double excess_least = 0.2, spread_most = 0.5;

/* ---- which are slower ---------------------------------------------------- */

/* Those of them that are slower still. */
struct copies {
    struct block_copies all;
    double slower_least; /* from this residual on */
};

static double copy_at(const struct block_copies *copies, size_t i)
{
    return copies->residuals[copies->first + i * copies->length];
}

/* Sorted; those of them that a stride leaves, where there are too many. */
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

/* Of `kinds`, does the slowest stand out from the one before it? `*excess`: by
 * so much. */
static bool split(struct copies *copies, size_t kinds, double *excess)
{
    double sample[STATS_MAX];
    /* What is slower still than one in twenty is noise. */
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
 * What a block of `units` explains, where a copy has `copied` of them: one
 * begins with each copy that lies in a run of so many, wherever in a block that
 * is. `counts`: of slower copies and of all, at each place of a block.
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

/* HOLDS: one length alone explains which are slower. OPEN: none is sure. */
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

    /* In fewer blocks, a unit more or less need not change what is slower. */
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
 * Without the spare area used up first, for logs need not; and then with, if it
 * was not for the distance.
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
