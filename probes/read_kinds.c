/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/read_kinds.h"

#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/method/kinds.h"
#include "lib/infer/statistics/clusters.h"
#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"
#include "probes/trial.h"

enum {
    SWEEPS = READ_KINDS_SWEEPS,
    SWEEPS_MAX = READ_KINDS_SWEEPS_MAX,
    PLACES = READ_KINDS_PLACES
};
static const char phase[] = "kinds";
static const uint64_t span_most_bytes = 64 * MIB;

/* This share is left out at both ends: a cache keeps the quickest places at
 * hand, and outliers hit the slowest more often than not. */
static const double trimmed_share = 0.0625;
/* Two kinds are apart by so many times their spreads together, and in log time;
 * in the middle third between them lie next to no places. */
static const double spreads_apart = 2.25, between_most = 0.04;
/* Shares are equal within this and three standard deviations. The slowest kind
 * takes at most so many times as long as the quickest: two, or four, thresholds
 * beside one. */
static const double share_slack = 0.02, ratio_most = 3;
/* Of the places, so many are of the same kind behind either neighbour. A disk
 * takes the time of the way from the neighbour, and it has two of them. */
static const double stays_least = 0.93;
static const double rounding = 0.003; /* of the clock, in log time */

struct split {
    size_t begins[READ_KINDS_MAX];
    double centers[READ_KINDS_MAX], spreads[READ_KINDS_MAX];
};

static size_t end_of(const struct split *split, size_t k, size_t i,
                     size_t count)
{
    return i + 1 < k ? split->begins[i + 1] : count;
}

/* False: one of the kinds has next to no places. `scratch`: room for count. */
static bool split_of(const double sorted[], size_t count, size_t k,
                     double scratch[], struct split *split)
{
    if (clusters_split(sorted, count, k, split->begins, NULL))
        return false;
    for (size_t i = 0; i < k; i++) {
        const size_t begin = split->begins[i];
        const size_t n = end_of(split, k, i, count) - begin;
        if (n < count / 20 + 1)
            return false;
        memcpy(scratch, sorted + begin, n * sizeof(*scratch));
        split->centers[i] = stats_median(scratch, n);
        split->spreads[i] = stats_spread(scratch, n) + rounding;
    }
    return true;
}

static bool is_clear(const double sorted[], size_t count, size_t k,
                     const struct split *split)
{
    for (size_t i = 0; i + 1 < k; i++) {
        const double low = split->centers[i];
        const double gap = split->centers[i + 1] - low;
        size_t between = 0;
        for (size_t j = 0; j < count; j++)
            between +=
                sorted[j] > low + gap / 3 && sorted[j] < low + gap * 2 / 3;
        if (gap < log1p(KINDS_APART_LEAST) ||
            gap < spreads_apart * (split->spreads[i] + split->spreads[i + 1]) ||
            (double)between > between_most * (double)count)
            return false;
    }
    return true;
}

/* Which kind a time is of. */
static size_t kind_of(double value, size_t k, const struct split *split)
{
    size_t kind = 0;

    while (kind + 1 < k &&
           value > (split->centers[kind] + split->centers[kind + 1]) / 2)
        kind++;
    return kind;
}

/* The median log time of a place in every `pitch`th of the sweeps. */
static double place_of(const double ns[], size_t count, size_t place,
                       size_t first, size_t pitch, size_t sweeps)
{
    double sample[STATS_MAX];
    size_t n = 0;

    for (size_t i = first; i < sweeps; i += pitch)
        sample[n++] = log(ns[i * count + place]);
    stats_sort(sample, n);
    return stats_median(sample, n);
}

void read_kinds_judge(const double ns[], size_t count, size_t sweeps,
                      double scratch[], struct read_kinds *kinds)
{
    double *sorted = scratch + count;
    struct split split = {{0}, {0}, {0}};
    size_t k = 0, stay = 0;

    memset(kinds, 0, sizeof(*kinds));
    for (size_t i = 0; i < count; i++)
        sorted[i] = place_of(ns, count, i, 0, 1, sweeps);
    stats_sort(sorted, count);
    const size_t trimmed = (size_t)(trimmed_share * (double)count);
    const size_t n = count - 2 * trimmed;
    sorted += trimmed;
    for (size_t tried = READ_KINDS_MAX; k == 0 && tried > 1; tried--)
        if (split_of(sorted, n, tried, scratch, &split) &&
            is_clear(sorted, n, tried, &split))
            k = tried;
    if (k == 0)
        return;
    for (size_t i = 0; i < count; i++)
        stay += kind_of(place_of(ns, count, i, 0, 2, sweeps), k, &split) ==
                kind_of(place_of(ns, count, i, 1, 2, sweeps), k, &split);
    bool equal = (double)stay >= stays_least * (double)count &&
                 split.centers[k - 1] - split.centers[0] < log(ratio_most);
    for (size_t i = 0; i < k; i++) {
        const double due = 1 / (double)k;
        kinds->ns[i] = exp(split.centers[i]);
        const double share =
            (double)(end_of(&split, k, i, n) - split.begins[i]) / (double)n;
        equal = equal &&
                fabs(share - due) < share_slack + 3 * sqrt(due / (double)n);
    }
    kinds->bits = equal ? (unsigned)k : 0;
}

/* One sweep of all places, in its own order: each behind the neighbour that
 * brings its mapping, in every other sweep behind that and the one opposite. */
static void ask_sweep(struct study *study, uint64_t first_bytes,
                      const uint64_t spots[], uint32_t sweep,
                      const size_t order[])
{
    const struct trial trial = {.study = study, .phase = phase, .round = sweep};
    struct step step = {
        .operation = OPERATION_READ,
        .length_bytes = placing_small_bytes(&study->setting),
        .label = {.phase = "kinds", .cell = "read", .round = sweep}};

    for (size_t i = 0; i < PLACES; i++) {
        const uint64_t at = first_bytes + spots[order[i]] * step.length_bytes;
        step.offset_bytes = at;
        trial_bring_mapping(&trial, at);
        if (sweep & 1)
            trial_bring_mapping(&trial, at & (256 * KIB) ? at + 512 * KIB
                                                         : at - 512 * KIB);
        study_ask(study, &step);
    }
}

/* The times of the first `sweeps` sweeps: ns[sweep * PLACES + place]. */
static void take_sweeps(struct study *study, uint32_t sweeps, double ns[])
{
    const uint64_t small = placing_small_bytes(&study->setting);
    const uint64_t spots_count =
        smaller_of(span_most_bytes, study->setting.region_length_bytes / 2) /
        small;
    /* At the end, where the fewest probes have just written. */
    const uint64_t first = (study->setting.region_offset_bytes +
                            study->setting.region_length_bytes) /
                               small * small -
                           spots_count * small;
    uint64_t spots[PLACES];
    size_t order[PLACES];
    struct random random;
    bool all = true;

    study_random(study, phase, "places", 0, &random);
    for (size_t i = 0; i < PLACES; i++)
        spots[i] = i * spots_count / PLACES +
                   random_below(&random, larger_of(spots_count / PLACES, 1));
    for (uint32_t sweep = 0; sweep < sweeps; sweep++) {
        const struct timing *rows =
            study_rows(study, phase, "read", sweep, PLACES);
        study_random(study, phase, "order", sweep, &random);
        random_order(&random, order, PLACES);
        if (!rows)
            ask_sweep(study, first, spots, sweep, order);
        all = all && rows;
        for (size_t i = 0; rows && i < PLACES; i++)
            ns[sweep * PLACES + order[i]] = (double)rows[i].ns;
    }
    if (!all)
        study_leave(study);
}

void read_kinds_find(struct study *study, struct read_kinds *kinds)
{
    double *ns = study_alloc(study, SWEEPS_MAX * PLACES * sizeof(*ns));
    double *scratch = study_alloc(study, 3 * PLACES * sizeof(*scratch));

    kinds->bits = 0;
    for (uint32_t sweeps = SWEEPS; !kinds->bits && sweeps <= SWEEPS_MAX;
         sweeps += SWEEPS) {
        take_sweeps(study, sweeps, ns);
        read_kinds_judge(ns, PLACES, sweeps, scratch, kinds);
    }
}
