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

/* The certificate, and what follows from it. */
struct crossing {
    struct distance_probe *state;
    struct contrast *contrasts;
    size_t count;
    double held_share; /* cache hits take less than this share of the median */
    double ns;         /* extra time of a read after a switch of groups */
    struct interval interval;
};

static bool cell_ns(const struct crossing *crossing, size_t contrast,
                    uint32_t round, char arm, double ns[DISTANCE_REPEATS_MAX])
{
    const struct contrast *of = &crossing->contrasts[contrast];
    const struct trial trial =
        trial_round(&crossing->state->study, "certify", of, round);

    return trial_ns(&trial, arm, of->repeats, ns);
}

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
static bool round_costs(const struct crossing *crossing, enum side side,
                        uint32_t round, double *added_ns, double *near_ns)
{
    double added[DISTANCE_CONTRASTS_MAX], nearby[DISTANCE_CONTRASTS_MAX];
    double near[DISTANCE_REPEATS_MAX], far[DISTANCE_REPEATS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < crossing->count; i++) {
        const struct contrast *contrast = &crossing->contrasts[i];
        const uint32_t repeats = contrast->repeats;
        if (contrast->expected != side || round >= contrast->rounds_count ||
            !cell_ns(crossing, i, round, 'a', near) ||
            !cell_ns(crossing, i, round, 'b', far))
            continue;
        nearby[n] = median_of_flash(near, repeats, crossing->held_share);
        added[n] =
            median_of_flash(far, repeats, crossing->held_share) - nearby[n];
        n++;
    }
    if (n == 0)
        return false;
    *added_ns = stats_median(added, n);
    *near_ns = stats_median(nearby, n);
    return true;
}

/* Spread of single nearby reads, relative to their median; and what is held at
 * most, as a share of it. */
static double spread_nearby(struct crossing *crossing)
{
    double singles[CONTRAST_ROUNDS_MAX + DISTANCE_REPEATS_MAX];
    size_t n = 0;

    for (uint32_t round = 0; round < CONTRAST_ROUNDS_MAX; round++)
        for (size_t i = 0; i < crossing->count && n < CONTRAST_ROUNDS_MAX; i++)
            if (cell_ns(crossing, i, round, 'a', &singles[n]))
                n += crossing->contrasts[i].repeats;
    crossing->held_share = 0;
    if (n == 0)
        return INFINITY;
    const double median = stats_median(singles, n);
    const double spread = stats_spread(singles, n) / median;
    stats_sort(singles, n);
    crossing->held_share =
        pow(median / singles[(size_t)(one_spread * (double)n)], held_spreads);
    return spread;
}

/* Estimated duration of the certificate, from its measured reads and as many
 * reads before them. */
static double lasted_ns(const struct crossing *crossing)
{
    double near[DISTANCE_REPEATS_MAX], far[DISTANCE_REPEATS_MAX], sum = 0;

    for (size_t i = 0; i < crossing->count; i++) {
        const struct contrast *contrast = &crossing->contrasts[i];
        for (uint32_t round = 0; round < contrast->rounds_count; round++)
            if (cell_ns(crossing, i, round, 'a', near) &&
                cell_ns(crossing, i, round, 'b', far))
                for (uint32_t j = 0; j < contrast->repeats; j++)
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

static void take_shares(const struct crossing *crossing, enum side side,
                        struct shares *shares)
{
    shares->count = 0;
    for (uint32_t round = 0; round < CONTRAST_ROUNDS_MAX; round++) {
        const size_t n = shares->count;
        if (!round_costs(crossing, side, round, &shares->shares[n],
                         &shares->near_ns[n]))
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
static void measure_switch(struct crossing *crossing)
{
    struct interval *interval = &crossing->interval;
    struct shares across, within;

    spread_nearby(crossing);
    take_shares(crossing, SIDE_ABOVE, &across);
    take_shares(crossing, SIDE_BELOW, &within);
    *interval = (struct interval){0, 0};
    crossing->ns = 0;
    if (across.count < ROUNDS_LEAST)
        return;
    bool long_enough = lasted_ns(crossing) >= times_drift_ns;
    double drift = 1 + drift_of(across.near_ns, across.count, long_enough);
    double near_ns = stats_median(across.near_ns, across.count);
    double share = stats_median(across.shares, across.count);
    *interval =
        stats_median_interval(across.shares, across.count, interval_error);
    take_off_distance(&within, &share, interval);
    crossing->ns = share * near_ns;
    interval->low *= near_ns / drift;
    interval->high *= near_ns * drift;
}

static bool is_narrow(const struct crossing *crossing, double share)
{
    return crossing->ns > 0 &&
           times_narrow(&crossing->interval, crossing->ns, share);
}

/* Measures more rounds across the borders, within crossings_most. */
static void cross_more(struct crossing *crossing, uint32_t rounds)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    bool measured = true;

    /* half of the contrasts cross a border */
    for (size_t i = 0; i < crossing->count; i++) {
        struct contrast *contrast = &crossing->contrasts[i];
        if (contrast->expected != SIDE_ABOVE ||
            contrast->rounds_count >= rounds ||
            crossing->count * contrast->repeats * rounds > crossings_most)
            continue;
        measured &= study_ask_ratios(&crossing->state->study, "certify",
                                     contrast, rounds, ratios);
        contrast->rounds_count = rounds;
    }
    if (!measured)
        study_leave(&crossing->state->study);
}

void distance_say_switch(struct distance_probe *state,
                         struct contrast contrasts[], size_t count,
                         double confidence, struct findings *findings)
{
    struct crossing crossing = {state, contrasts, count, .ns = 0};
    const double own_confidence = times_confidence(spread_nearby(&crossing));

    measure_switch(&crossing);
    for (const uint32_t *look = switch_looks;
         *look && own_confidence > 0 && !is_narrow(&crossing, width_wanted);
         look++) {
        cross_more(&crossing, *look);
        measure_switch(&crossing);
    }
    struct finding *finding =
        findings_add(findings, "inter-request-distance", "group_switch");
    if (own_confidence <= 0 || !is_narrow(&crossing, width_most)) {
        finding_why(finding, "the groups are certain, but the cost of a switch "
                             "varies too much for one number");
        return;
    }
    finding_measured(
        finding, crossing.ns, &crossing.interval,
        fmin(fmin(own_confidence, times_model_confidence), confidence));
    finding_why(finding, "median extra time of a read whose predecessor was on "
                         "the other side of a border");
}
