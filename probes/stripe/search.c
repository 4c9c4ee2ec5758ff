/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stripe: the search. A scan over distances shows at which of them pairs take
 * longer. Pairs of random places that lie d apart are on one unit with a chance
 * of 1 - |d - kP| / u: a triangle of half width u about each multiple of the
 * period P. The first triangle behind the one at 0 is looked at closely; the
 * stripes that explain it differ far out, at multiples of their periods.
 */
#include "probes/stripe/stripe.h"

#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/rounds.h"
#include "probes/times.h"

/* Passes over all distances, and rounds where one distance is looked at. */
enum {
    SCAN_PASSES = 4,
    TOP = 16,
    LOOK_ROUNDS = 2,
    LEVEL_ROUNDS = 8,
    CENTRINGS = 2
};
enum { DISTANCES_MAX = STRIPE_LEVELS_MAX * STRIPE_SCAN_MAX };
/* Of the triangle about the period: so many places, and stripes that explain
 * it. Far out, of at most so many periods. */
enum { LOBE_PLACES = 17, STRIPES_MAX = 64, PERIODS_MAX = 12 };

/* Pairs that collide take at least this much longer than those that do not: a
 * page sensed beside another takes twice as long, less what the host's side of
 * a request and a shared bus take anyway. */
static const double effect_least = 1.25;
/* Where between the two a pair is taken to have collided. Pages that are slow
 * to read make some pairs longer that do not collide, and quick ones make some
 * shorter that do; by as much a page, of which the latter have two. */
static const double between = 0.42;
/* Such a share of pairs collides inside of a triangle, and outside of it. */
static const double share_inside = 0.5, share_outside = 0.25;
/* Of pairs exactly a period apart all collide, but for what the host holds up:
 * chances are kept from 0 and 1. */
static const double chance_least = 0.03;
/* Reads that a buffer answers the second time take less than others. */
static const double own_least = 0.9;
/* Pairs that take less than the longest by more than this do not collide in
 * full: the middle of so many pairs is known within some hundredths. */
static const double full_least = 0.97;
/* Where so many standard errors are more than that, they may not, either: of
 * the difference of two, with an error rate of 0.5 %. */
static const double full_errors = 3.64;
/* The scan shows the triangle so many times as wide as it is, or only so small
 * a part of it. */
static const uint64_t narrower_most = 3, wider_most = 16;
static const uint32_t units_most = 256;
/* At a multiple of the true period nearly all pairs collide; where even at the
 * best multiple fewer do, the stripe does not reach so far. */
static const double share_reached = 0.9;

/* What the scan says of one distance. */
struct seen {
    uint64_t distance_bytes;
    double ratio;  /* the middle of its pairs */
    double share;  /* of its pairs, those that collided; and of its */
    double smooth; /* neighbours' as well */
};

struct scan {
    struct seen seen[DISTANCES_MAX];
    size_t count;
    double quick, slow; /* pairs that do not collide, and that do */
};

struct hypothesis {
    uint64_t period_bytes;
    uint32_t units;
    double log_likelihood;
};

/* ---- the scan ----------------------------------------------------------- */

/* A round of the scan of a level. */
static struct contrast scan_of(const struct stripe_probe *state, size_t level)
{
    return pairs_contrast(PAIRS_SCAN, state->levels[level].first_bytes, 0);
}

static void scan_measure(struct stripe_probe *state)
{
    struct contrast cells[STRIPE_LEVELS_MAX] = {{.name = ""}};

    for (size_t i = 0; i < state->levels_count; i++)
        cells[i] = scan_of(state, i);
    rounds_measure(&state->study, "scan", cells, state->levels_count,
                   SCAN_PASSES);
}

/* The passes over a level; its distances follow those seen so far. */
static void take_level(struct stripe_probe *state, size_t index,
                       struct scan *scan)
{
    const struct stripe_level *level = &state->levels[index];
    const struct contrast cell = scan_of(state, index);
    double ratios[SCAN_PASSES][STRIPE_SCAN_MAX];

    for (uint32_t round = 0; round < SCAN_PASSES; round++) {
        const struct trial trial =
            trial_round(&state->study, "scan", &cell, round);
        pairs_take(&trial, ratios[round]);
    }
    for (size_t i = 0; i < level->count; i++) {
        struct seen *seen = &scan->seen[scan->count++];
        double values[SCAN_PASSES];
        size_t slow = 0;
        for (int k = 0; k < SCAN_PASSES; k++) {
            values[k] = ratios[k][i];
            slow += values[k] > state->slow_least;
        }
        seen->distance_bytes = level->first_bytes + i * level->step_bytes;
        stats_sort(values, SCAN_PASSES);
        seen->ratio = values[1];
        seen->share = (double)slow / SCAN_PASSES;
    }
}

static void take_scan(struct stripe_probe *state, struct scan *scan)
{
    scan->count = 0;
    for (size_t i = 0; i < state->levels_count; i++)
        take_level(state, i, scan);
}

/* ---- how long pairs take that collide ----------------------------------- */

static void measure_at(struct stripe_probe *state, const char *phase,
                       const uint64_t distances[], size_t count)
{
    struct contrast cells[ROUNDS_CELLS_MAX] = {{.name = ""}};

    for (size_t i = 0; i < count; i++)
        cells[i] = pairs_contrast(PAIRS_DISTANCE, distances[i], 0);
    rounds_measure(&state->study, phase, cells, count, LOOK_ROUNDS);
}

/* The pairs of so many rounds of a cell. */
static size_t take_all(struct stripe_probe *state, const char *phase,
                       const struct contrast *cell, uint32_t rounds,
                       double all[])
{
    double ratios[STRIPE_SCAN_MAX];
    size_t count = 0;

    for (uint32_t round = 0; round < rounds; round++) {
        const struct trial trial =
            trial_round(&state->study, phase, cell, round);
        const size_t taken = pairs_take(&trial, ratios);
        memcpy(&all[count], ratios, taken * sizeof(*all));
        count += taken;
    }
    return count;
}

/* The middle pair of these rounds of one distance. */
static double ratio_at(struct stripe_probe *state, const char *phase,
                       uint64_t distance_bytes)
{
    const struct contrast cell =
        pairs_contrast(PAIRS_DISTANCE, distance_bytes, 0);
    double all[LOOK_ROUNDS * STRIPE_PAIRS];
    const size_t count = take_all(state, phase, &cell, LOOK_ROUNDS, all);

    return count ? times_middle(all, count) : 0;
}

/* The middle of the rounds of the scan. */
static double scan_middle(struct stripe_probe *state,
                          double (*take)(const struct trial *trial))
{
    double ns[STRIPE_LEVELS_MAX * SCAN_PASSES];
    size_t rounds = 0;

    for (size_t i = 0; i < state->levels_count; i++) {
        const struct contrast cell = scan_of(state, i);
        for (uint32_t round = 0; round < SCAN_PASSES; round++) {
            const struct trial trial =
                trial_round(&state->study, "scan", &cell, round);
            ns[rounds++] = take(&trial);
        }
    }
    return stats_median(ns, rounds);
}

/* The share of pairs that something else holds up for as long as those wait
 * that collide: such a share of the reads of pairs is, when they are alone; or
 * twice that of single reads, for a pair has two. */
static double scan_held_up(struct stripe_probe *state)
{
    const double own = 2 - state->slow_least;
    double ratios[STRIPE_SCAN_MAX];
    size_t slow = 0, count = 0;

    for (size_t i = 0; i < state->levels_count; i++) {
        const struct contrast cell = scan_of(state, i);
        for (uint32_t round = 0; round < SCAN_PASSES; round++) {
            const struct trial trial =
                trial_round(&state->study, "scan", &cell, round);
            const size_t taken = state->own_counts
                                     ? pairs_take(&trial, ratios)
                                     : pairs_take_alone(&trial, ratios);
            for (size_t k = 0; k < taken; k++)
                slow += state->own_counts ? ratios[k] < own
                                          : ratios[k] > state->slow_least;
            count += taken;
        }
    }
    const double share = count ? (double)slow / (double)count : 0.5;
    return state->own_counts ? share : 2 * share;
}

/* The distances whose pairs took longest are looked at again, because the
 * longest of a thousand are long by chance as well. */
static void learn_levels(struct stripe_probe *state, struct scan *scan)
{
    double ratios[STATS_MAX];
    uint64_t top[TOP];
    size_t count = 0;

    for (size_t i = 0; i < scan->count && i < STATS_MAX; i++)
        ratios[i] = scan->seen[i].ratio;
    const size_t known = smaller_of(scan->count, STATS_MAX);
    stats_sort(ratios, known);
    scan->quick = ratios[known / 10];
    const double least = ratios[known - smaller_of(TOP, known)];
    for (size_t i = 0; i < known && count < TOP; i++)
        if (scan->seen[i].ratio >= least)
            top[count++] = scan->seen[i].distance_bytes;
    measure_at(state, "top", top, count);
    scan->slow = 0;
    for (size_t i = 0; i < count; i++)
        scan->slow = fmax(scan->slow, ratio_at(state, "top", top[i]));
    state->slow_least = scan->quick + between * (scan->slow - scan->quick);
}

/* ---- the first triangle behind the one at 0 ----------------------------- */

static double share_at(struct stripe_probe *state, const char *phase,
                       uint64_t distance_bytes)
{
    const struct contrast cell =
        pairs_contrast(PAIRS_DISTANCE, distance_bytes, 0);
    double sum = 0, share;

    for (uint32_t round = 0; round < LOOK_ROUNDS; round++) {
        trial_value(&state->study, phase, &cell, round, NULL, &share);
        sum += share;
    }
    return sum / LOOK_ROUNDS;
}

static double measured_share(struct stripe_probe *state, const char *phase,
                             uint64_t distance_bytes)
{
    measure_at(state, phase, &distance_bytes, 1);
    return share_at(state, phase, distance_bytes);
}

/* Distances around the period: the first and the last at which half of the
 * pairs collide, and the step between them. */
struct lobe {
    uint64_t first_bytes, last_bytes, step_bytes;
};

/* The first distance at which few collide, and few did not by chance. */
static size_t end_of_first(struct stripe_probe *state, const struct scan *scan)
{
    for (size_t i = 0; i < scan->count; i++)
        if (scan->seen[i].share <= share_outside &&
            measured_share(state, "gap", scan->seen[i].distance_bytes) <=
                share_outside)
            return i;
    return scan->count;
}

static uint64_t step_before(const struct scan *scan, size_t at)
{
    return scan->seen[at].distance_bytes -
           (at ? scan->seen[at - 1].distance_bytes : 0);
}

/* Smooths the shares over an eighth of the unit, which is twice the area of the
 * half triangle at 0; where a buffer hides that, over nothing. */
static void smooth(struct scan *scan, size_t end)
{
    double unit_bytes = 0;

    for (size_t i = 0; i < end; i++)
        unit_bytes += 2 * scan->seen[i].share * (double)step_before(scan, i);
    const uint64_t reach = (uint64_t)(unit_bytes / 8);
    for (size_t i = end, low = end; i < scan->count; i++) {
        const uint64_t at = scan->seen[i].distance_bytes;
        double sum = 0;
        size_t k;
        while (scan->seen[low].distance_bytes + reach < at)
            low++;
        for (k = low;
             k < scan->count && scan->seen[k].distance_bytes <= at + reach; k++)
            sum += scan->seen[k].share;
        scan->seen[i].smooth = sum / (double)(k - low);
    }
}

/* The triangle that begins there; returns where it ends. */
static size_t lobe_from(const struct scan *scan, size_t first,
                        struct lobe *lobe)
{
    size_t end = first;

    while (end + 1 < scan->count && scan->seen[end + 1].smooth > share_outside)
        end++;
    size_t last = end;
    while (last > first && scan->seen[last].smooth < share_inside)
        last--;
    lobe->first_bytes = scan->seen[first].distance_bytes;
    lobe->last_bytes = scan->seen[last].distance_bytes;
    lobe->step_bytes = step_before(scan, first);
    return end;
}

static bool find_lobe(struct stripe_probe *state, struct scan *scan,
                      struct lobe *lobe)
{
    const size_t from = end_of_first(state, scan);
    const uint64_t grain = state->read_bytes;

    smooth(scan, from);
    for (size_t i = from; i < scan->count; i++) {
        if (scan->seen[i].smooth < share_inside)
            continue;
        i = lobe_from(scan, i, lobe);
        const uint64_t middle =
            (lobe->first_bytes + lobe->last_bytes) / 2 / grain * grain;
        if (measured_share(state, "lobe", middle) >= share_inside)
            return true;
    }
    return false;
}

/* ---- which stripe explains it ------------------------------------------- */

static double chance_of(const struct hypothesis *hypothesis,
                        uint64_t distance_bytes)
{
    const uint64_t period = hypothesis->period_bytes;
    const double unit = (double)period / hypothesis->units;
    const uint64_t rest = distance_bytes % period;
    const double off = (double)smaller_of(rest, period - rest);

    return chance_least + (1 - 2 * chance_least) * fmax(0, 1 - off / unit);
}

static void weigh(struct hypothesis *hypothesis, uint64_t distance_bytes,
                  double share)
{
    const double chance = chance_of(hypothesis, distance_bytes);

    hypothesis->log_likelihood +=
        LOOK_ROUNDS * STRIPE_PAIRS *
        (share * log(chance) + (1 - share) * log(1 - chance));
}

/* Keeps the likeliest, sorted. */
static void keep(struct hypothesis kept[STRIPES_MAX], size_t *count,
                 const struct hypothesis *one)
{
    size_t at = *count;

    while (at > 0 && kept[at - 1].log_likelihood < one->log_likelihood)
        at--;
    if (at == STRIPES_MAX)
        return;
    if (*count < STRIPES_MAX)
        (*count)++;
    for (size_t i = *count - 1; i > at; i--)
        kept[i] = kept[i - 1];
    kept[at] = *one;
}

/* May so many units of a period be units of a drive? A page is a power of two;
 * a unit is one of a plane or of several, with one to five bits a cell. */
static bool is_unit(uint64_t period_bytes, uint64_t units, uint64_t grain_bytes)
{
    const uint64_t grains = period_bytes / grain_bytes;

    if (units == 0 || grains % units)
        return false;
    uint64_t odd = grains / units;
    while (odd && odd % 2 == 0)
        odd /= 2;
    return odd == 1 || odd == 3 || odd == 5 || odd == 9;
}

static size_t explain(struct stripe_probe *state, const struct lobe *lobe,
                      struct hypothesis kept[STRIPES_MAX])
{
    const uint64_t grain = state->read_bytes;
    const uint64_t width =
        lobe->last_bytes - lobe->first_bytes + lobe->step_bytes;
    const uint64_t middle =
        (lobe->first_bytes + lobe->last_bytes) / 2 / grain * grain;
    const uint64_t step = larger_of(width * 5 / 32 / grain, 1) * grain;
    uint64_t places[LOBE_PLACES];
    double shares[LOBE_PLACES];
    size_t count = 0, places_count = 0;

    for (int i = -(LOBE_PLACES / 2); i <= LOBE_PLACES / 2; i++) {
        const uint64_t at = (uint64_t)((int64_t)middle + i * (int64_t)step);
        if ((int64_t)middle + i * (int64_t)step > 0 && at <= state->span_bytes)
            places[places_count++] = at;
    }
    measure_at(state, "near", places, places_count);
    for (size_t i = 0; i < places_count; i++)
        shares[i] = share_at(state, "near", places[i]);
    for (uint64_t period = places[0]; period <= places[places_count - 1];
         period += grain)
        for (uint32_t units = 2; units <= units_most; units++) {
            struct hypothesis one = {period, units, 0};
            if (!is_unit(period, units, grain) ||
                period / units > width * wider_most ||
                period / units * narrower_most < width)
                continue;
            for (size_t i = 0; i < places_count; i++)
                weigh(&one, places[i], shares[i]);
            keep(kept, &count, &one);
        }
    return count;
}

/* Was all of the likeliest triangle looked at, and little else? */
static bool is_centred(const struct lobe *lobe, const struct hypothesis *best)
{
    const uint64_t middle = (lobe->first_bytes + lobe->last_bytes) / 2;
    const uint64_t width = lobe->last_bytes - lobe->first_bytes;
    const uint64_t period = best->period_bytes, unit = period / best->units;
    const uint64_t off = larger_of(middle, period) - smaller_of(middle, period);

    return 4 * off <= unit && 2 * width + lobe->step_bytes >= unit;
}

/* The likeliest periods, each once. */
static size_t periods_of(const struct hypothesis kept[], size_t count,
                         uint64_t periods[PERIODS_MAX])
{
    size_t used = 0;

    for (size_t i = 0; i < count && used < PERIODS_MAX; i++) {
        size_t k = 0;
        while (k < used && periods[k] != kept[i].period_bytes)
            k++;
        if (k == used)
            periods[used++] = kept[i].period_bytes;
    }
    return used;
}

/* At this multiple of the likeliest periods: the share of pairs that collide at
 * the best of them. */
static double look_far(struct stripe_probe *state, struct hypothesis kept[],
                       size_t *count, uint64_t times)
{
    uint64_t periods[PERIODS_MAX];
    const size_t used = periods_of(kept, *count, periods);
    struct hypothesis again[STRIPES_MAX];
    double best = 0;
    size_t fresh = 0, near = 0;

    for (size_t i = 0; i < used; i++)
        if (periods[i] * times <= state->span_bytes)
            periods[near++] = periods[i] * times;
    measure_at(state, "far", periods, near);
    for (size_t i = 0; i < near; i++)
        best = fmax(best, share_at(state, "far", periods[i]));
    if (best < share_inside)
        return best;
    for (size_t i = 0; i < *count; i++) {
        struct hypothesis one = kept[i];
        for (size_t k = 0; k < near; k++)
            weigh(&one, periods[k], share_at(state, "far", periods[k]));
        keep(again, &fresh, &one);
    }
    for (size_t i = 0; i < fresh; i++)
        kept[i] = again[i];
    *count = fresh;
    return best;
}

/* The stripe of this period whose unit is the next shorter one. */
static uint64_t shorter_of(uint64_t period_bytes, uint32_t units,
                           uint64_t grain_bytes)
{
    const uint64_t grains = period_bytes / grain_bytes;

    for (uint64_t more = units + 1; more <= grains; more++)
        if (is_unit(period_bytes, more, grain_bytes))
            return period_bytes / more;
    return 0;
}

static void look_all(struct stripe_probe *state, struct hypothesis kept[],
                     size_t count, struct stripe *stripe)
{
    uint64_t times = 1;
    double best = 1;

    for (uint64_t next = 2; best >= share_inside &&
                            next * kept[0].period_bytes <= state->span_bytes;
         next *= 2) {
        best = look_far(state, kept, &count, next);
        if (best >= share_reached)
            times = next;
    }
    stripe->reaches_all = best >= share_reached;
    stripe->period_bytes = kept[0].period_bytes;
    stripe->units = kept[0].units;
    stripe->unit_bytes = stripe->period_bytes / stripe->units;
    stripe->reach_bytes = times * stripe->period_bytes;
    stripe->shorter_bytes =
        shorter_of(stripe->period_bytes, stripe->units, state->read_bytes);
}

/* ---- do pairs a period apart collide in full? --------------------------- */

/* `*error`: the standard error of what it returns, as a share of it. */
static double own_ratio_at(struct stripe_probe *state,
                           const struct contrast *cell, double *error)
{
    double all[LEVEL_ROUNDS * STRIPE_PAIRS];
    const size_t count = take_all(state, "level", cell, LEVEL_ROUNDS, all);

    *error = 1;
    if (count == 0)
        return 0;
    const double spread = stats_spread(all, count);
    const double middle = times_middle(all, count);
    *error = spread / sqrt((double)count) / middle;
    return middle;
}

/* Where dies share a bus, pairs on one bus wait for each other in part. They do
 * so at the period of the buses, of which the period of the dies is a multiple.
 * How long pairs take a period apart, over the longest that they take at a
 * multiple. */
static double fullness(struct stripe_probe *state, struct stripe *stripe)
{
    static const uint64_t multiples[] = {1, 2, 3, 4, 6, 8, 12, 16};
    enum { MULTIPLES = sizeof(multiples) / sizeof(multiples[0]) };
    struct contrast cells[MULTIPLES] = {{.name = ""}};
    size_t count = 0;
    double longest = 0, error;

    for (size_t i = 0; i < MULTIPLES; i++) {
        const uint64_t at = multiples[i] * stripe->period_bytes;
        if (at <= state->span_bytes)
            cells[count++] = pairs_contrast(PAIRS_SUM, at, 0);
    }
    rounds_measure(&state->study, "level", cells, count, LEVEL_ROUNDS);
    for (size_t i = 0; i < count; i++)
        longest = fmax(longest, own_ratio_at(state, &cells[i], &error));
    const double ratio = own_ratio_at(state, &cells[0], &error);
    stripe->full_known = full_errors * error < 1 - full_least;
    return ratio / fmax(longest, 1e-9);
}

/* The stripe by what `slow_least` says. */
static const char *search_once(struct stripe_probe *state, struct scan *scan,
                               struct stripe *stripe)
{
    struct hypothesis *kept =
        study_alloc(&state->study, STRIPES_MAX * sizeof(*kept));
    struct lobe lobe;

    take_scan(state, scan);
    if (!find_lobe(state, scan, &lobe))
        return "nearby reads wait for each other, but they never do so again "
               "at a larger distance";
    size_t count = explain(state, &lobe, kept);
    /* Where it was found by a part of it, again about its middle. */
    for (int i = 0; count && i < CENTRINGS && !is_centred(&lobe, kept); i++) {
        const uint64_t half = kept->period_bytes / kept->units / 2;
        lobe.first_bytes = kept->period_bytes - half;
        lobe.last_bytes = kept->period_bytes + half;
        count = explain(state, &lobe, kept);
    }
    if (count == 0)
        return "at some distances reads wait for each other, but no stripe of "
               "equal units explains the distances";
    look_all(state, kept, count, stripe);
    return NULL;
}

const char *stripe_search(struct stripe_probe *state, double pair,
                          struct stripe *stripe, double *level)
{
    struct scan *scan = study_alloc(&state->study, sizeof(*scan));

    scan_measure(state);
    state->alone_ns = scan_middle(state, pairs_alone_ns);
    state->own_counts =
        scan_middle(state, pairs_own_ns) > own_least * state->alone_ns;
    state->slow_least = INFINITY;
    take_scan(state, scan);
    learn_levels(state, scan);
    *level = scan->slow;
    if (scan->slow < effect_least * scan->quick)
        return study_text(
            &state->study,
            "two simultaneous reads take %.2f times as long as one at every "
            "distance, so the stripe does not show: a buffer answers, units "
            "follow no order, or reads share something other than units",
            pair);
    for (int i = 0; i < 2; i++) {
        const char *why = search_once(state, scan, stripe);
        if (why && i == 0)
            return why;
        if (why)
            break;
        stripe->held_up = scan_held_up(state);
        const double share = fullness(state, stripe);
        if (share >= full_least)
            return NULL;
        /* Only what waits longer than these has collided. */
        state->slow_least = scan->slow * (1 + share) / 2;
    }
    return "at some distances reads wait for each other in part, as for a bus, "
           "and full waits cannot be told apart from them";
}
