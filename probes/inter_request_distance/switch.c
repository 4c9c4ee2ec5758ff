/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inter-request-distance: the cost of a switch of groups.
 */
#include "probes/inter_request_distance/inter_request_distance.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"
#include "probes/times.h"

enum { ROUNDS_LEAST = 12 };

/* Relative width of the cost's interval, on either side: enough to stop, and
 * the most that may be stated. */
static const double width_wanted = 0.07, width_most = 0.10;
static const double interval_error = 5e-4;
static const uint32_t switch_looks[] = {64, 128, 256, 512, 0};
/* Most pairs of reads to spend on the cost of a switch. */
static const uint64_t crossings_most = 150000;

/* A read is taken for a cache hit if its time is below the median by 3.5
 * spreads; the spread is that of the slower reads, above the median. */
static const double held_spreads = 3.5;
static const double one_spread = 0.84; /* quantile of a normal distribution
                                          at one sigma */

/* Median time of reads from flash, without cache hits. Nearby reads hit the
 * cache more often than distant ones, which would look like a cost of
 * switching. Sorts `ns`. */
static double median_of_flash(double ns[], size_t count, double held_share)
{
    size_t held = 0;

    stats_sort(ns, count);
    const double most = held_share * stats_median(ns, count);
    while (ns[held] < most)
        held++;
    return stats_median(ns + held, count - held);
}

/* Evaluates the cells of one round that cross a border (`side` ABOVE), or stay
 * within a group (BELOW): extra time of the read far away, and time of a nearby
 * read, both as medians over the cells. False: no rows. */
static bool round_costs(const struct distance_probe *state,
                        const struct contrast contrasts[], size_t count,
                        enum side side, uint32_t round, double held_share,
                        double *added_ns, double *near_ns)
{
    double added[DISTANCE_CONTRASTS_MAX], nearby[DISTANCE_CONTRASTS_MAX];
    double near[DISTANCE_REPEATS_MAX], far[DISTANCE_REPEATS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        const struct contrast *contrast = &contrasts[i];
        uint32_t repeats = contrast->repeats;
        if (contrast->expected != side || round >= contrast->rounds_count ||
            !distance_costs(&state->study, "certify", contrast, round, 'a',
                            near) ||
            !distance_costs(&state->study, "certify", contrast, round, 'b',
                            far))
            continue;
        nearby[n] = median_of_flash(near, repeats, held_share);
        added[n] = median_of_flash(far, repeats, held_share) - nearby[n];
        n++;
    }
    if (n == 0)
        return false;
    *added_ns = stats_median(added, n);
    *near_ns = stats_median(nearby, n);
    return true;
}

enum { SINGLES_MAX = CONTRAST_ROUNDS_MAX + DISTANCE_REPEATS_MAX };

/* Collects times of single nearby reads. Returns how many. */
static size_t gather_nearby(const struct distance_probe *state,
                            const struct contrast contrasts[], size_t count,
                            double singles[SINGLES_MAX])
{
    double near[DISTANCE_REPEATS_MAX];
    size_t n = 0;

    for (uint32_t round = 0;
         n < CONTRAST_ROUNDS_MAX && round < CONTRAST_ROUNDS_MAX; round++)
        for (size_t i = 0; i < count && n < CONTRAST_ROUNDS_MAX; i++) {
            if (!distance_costs(&state->study, "certify", &contrasts[i], round,
                                'a', near))
                continue;
            for (uint32_t j = 0; j < contrasts[i].repeats; j++)
                singles[n++] = near[j];
        }
    return n;
}

/* Spread of single nearby reads, relative to their median. */
static double spread_nearby(const struct distance_probe *state,
                            const struct contrast contrasts[], size_t count)
{
    double singles[SINGLES_MAX];
    const size_t n = gather_nearby(state, contrasts, count, singles);

    return n ? stats_spread(singles, n) / stats_median(singles, n) : INFINITY;
}

/* Threshold for cache hits, as a share of the median. */
static double share_held(const struct distance_probe *state,
                         const struct contrast contrasts[], size_t count)
{
    double singles[SINGLES_MAX];
    const size_t n = gather_nearby(state, contrasts, count, singles);

    if (n == 0)
        return 0;
    stats_sort(singles, n);
    return pow(stats_median(singles, n) /
                   singles[(size_t)(one_spread * (double)n)],
               held_spreads);
}

/* Estimated duration of the certificate, from its measured reads and as many
 * reads before them. */
static double lasted_ns(const struct distance_probe *state,
                        const struct contrast contrasts[], size_t count)
{
    double near[DISTANCE_REPEATS_MAX], far[DISTANCE_REPEATS_MAX], sum = 0;

    for (size_t i = 0; i < count; i++)
        for (uint32_t round = 0; round < contrasts[i].rounds_count; round++) {
            if (!distance_costs(&state->study, "certify", &contrasts[i], round,
                                'a', near) ||
                !distance_costs(&state->study, "certify", &contrasts[i], round,
                                'b', far))
                continue;
            for (uint32_t j = 0; j < contrasts[i].repeats; j++)
                sum += near[j] + far[j];
        }
    return 2 * sum;
}

/*
 * Relative error of the time of a nearby read by drift. Uses the full range of
 * the drift; or, if the rounds lasted long enough for drift to come and go
 * (`long_enough`), twice the standard error of the mean of parts.
 */
static double drift_of(const double near[], size_t rounds, bool long_enough)
{
    /* Parts over which drift is averaged. With more parts, noise alone would
     * widen the range. */
    enum { PARTS = 8, PARTS_LONG = 16, PART_LEAST = 6 };
    const double errors = 2;
    double least = INFINITY, most = 0, sum = 0, squares = 0;
    size_t part = rounds / (long_enough ? PARTS_LONG : PARTS), parts = 0;

    part = part > PART_LEAST ? part : PART_LEAST;
    for (size_t i = 0; i + part <= rounds; i += part, parts++) {
        double level = stats_median(near + i, part);
        least = level < least ? level : least;
        most = level > most ? level : most;
        sum += level;
        squares += level * level;
    }
    if (!long_enough)
        return most / least - 1;
    double mean = sum / (double)parts;
    double variance = (squares - sum * mean) / (double)(parts - 1);
    return errors * sqrt(fmax(variance, 0) / (double)parts) / mean;
}

/* What a read far away costs more, as shares of a nearby one: of rounds. */
struct shares {
    double shares[CONTRAST_ROUNDS_MAX], near_ns[CONTRAST_ROUNDS_MAX];
    size_t count;
};

static void take_shares(const struct distance_probe *state,
                        const struct contrast contrasts[], size_t count,
                        enum side side, double held_share,
                        struct shares *shares)
{
    shares->count = 0;
    for (uint32_t round = 0; round < CONTRAST_ROUNDS_MAX; round++) {
        const size_t n = shares->count;
        if (!round_costs(state, contrasts, count, side, round, held_share,
                         &shares->shares[n], &shares->near_ns[n]))
            continue;
        shares->shares[n] /= shares->near_ns[n];
        shares->count++;
    }
}

/* Takes off what a read as far away costs more within a group, where it surely
 * costs more: the drive may have to fetch its mapping. */
static void take_off_distance(struct shares *within, double *share,
                              struct interval *interval)
{
    if (within->count < ROUNDS_LEAST)
        return;
    const double median = stats_median(within->shares, within->count);
    const struct interval of_distance =
        stats_median_interval(within->shares, within->count, interval_error);

    if (of_distance.low <= 0)
        return;
    *share -= median;
    interval->low -= of_distance.high;
    interval->high -= of_distance.low;
}

/* Measures the cost of a switch relative to a nearby read, since slow phases of
 * the drive affect both. Widens the interval by the drift of nearby reads. */
static void measure_switch(const struct distance_probe *state,
                           const struct contrast contrasts[], size_t count,
                           struct distance_cost *cost)
{
    const double held_share = share_held(state, contrasts, count);
    struct shares across, within;

    take_shares(state, contrasts, count, SIDE_ABOVE, held_share, &across);
    take_shares(state, contrasts, count, SIDE_BELOW, held_share, &within);
    cost->interval = (struct interval){0, 0};
    cost->ns = 0;
    if (across.count < ROUNDS_LEAST)
        return;
    bool long_enough = lasted_ns(state, contrasts, count) >= times_drift_ns;
    double drift = 1 + drift_of(across.near_ns, across.count, long_enough);
    double near_ns = stats_median(across.near_ns, across.count);
    double share = stats_median(across.shares, across.count);
    cost->interval =
        stats_median_interval(across.shares, across.count, interval_error);
    take_off_distance(&within, &share, &cost->interval);
    cost->ns = share * near_ns;
    cost->interval.low *= near_ns / drift;
    cost->interval.high *= near_ns * drift;
}

static bool is_narrow(const struct distance_cost *cost, double share)
{
    return cost->ns > 0 && times_narrow(&cost->interval, cost->ns, share);
}

/* Measures more rounds across the borders, within crossings_most. */
static void cross_more(struct distance_probe *state,
                       struct contrast contrasts[], size_t count,
                       uint32_t rounds)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    bool measured = true;

    /* half of the contrasts cross a border */
    for (size_t i = 0; i < count; i++) {
        if (contrasts[i].expected != SIDE_ABOVE ||
            contrasts[i].rounds_count >= rounds ||
            count * contrasts[i].repeats * rounds > crossings_most)
            continue;
        measured &= study_ask_ratios(&state->study, "certify", &contrasts[i],
                                     rounds, ratios);
        contrasts[i].rounds_count = rounds;
    }
    if (!measured)
        study_leave(&state->study);
}

void distance_find_switch(struct distance_probe *state,
                          struct contrast contrasts[], size_t count,
                          struct distance_cost *cost)
{
    cost->confidence =
        fmin(times_confidence(spread_nearby(state, contrasts, count)),
             times_model_confidence);
    measure_switch(state, contrasts, count, cost);
    for (const uint32_t *look = switch_looks;
         *look && cost->confidence > 0 && !is_narrow(cost, width_wanted);
         look++) {
        cross_more(state, contrasts, count, *look);
        measure_switch(state, contrasts, count, cost);
    }
}

void distance_say_switch(const struct distance_cost *cost, double confidence,
                         struct findings *findings)
{
    struct finding *finding =
        findings_add(findings, "inter-request-distance", "group_switch");

    if (cost->confidence <= 0 || !is_narrow(cost, width_most)) {
        finding_why(finding, "the groups are certain, but the cost of a switch "
                             "varies too much for one number");
        return;
    }
    finding_measured(finding, cost->ns, &cost->interval,
                     fmin(cost->confidence, confidence));
    finding_why(finding, "median extra time of a read whose predecessor was on "
                         "the other side of a border");
}
