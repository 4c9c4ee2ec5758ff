/* SPDX-License-Identifier: GPL-3.0-or-later */
/* large-request: fits the line through the times of some rounds, and estimates
 * its error. */
#include "probes/large_request/large_request.h"

#include <math.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"

enum { RESAMPLES = 200, BATCH_ROUNDS_LEAST = 9, BATCHES_MAX = 16 };

/* Most that the slope may depend on the share of extreme times left out, see
 * line_depends_on_place(). */
static const double depends_most = 0.08;
/* Error rate of the interval on each side. */
static const double error_rate = 0.005;

/* Times of some rounds by size, ascending, without writes that merge (see
 * line_longest()). */
struct sorted {
    double ns[REQUEST_SIZES][CONTRAST_ROUNDS_MAX];
    size_t counts[REQUEST_SIZES];
};

static void sort_rounds(const struct request_times *times, uint32_t first,
                        uint32_t count, const double longest_ns[REQUEST_SIZES],
                        struct sorted *sorted)
{
    memset(sorted->counts, 0, sizeof(sorted->counts));
    for (size_t i = 0; i < times->sizes_count; i++) {
        memcpy(sorted->ns[i], times->ns[i] + first, count * sizeof(double));
        stats_sort(sorted->ns[i], count);
        sorted->counts[i] = line_kept(sorted->ns[i], count, longest_ns[i]);
    }
}

/* Finds the longest time of each size that is no merge; for writes only. */
static void find_longest(const struct request_times *times,
                         double longest_ns[REQUEST_SIZES])
{
    const double *rows[LINE_SIZES];
    struct sorted sorted;

    for (size_t i = 0; i < REQUEST_SIZES; i++)
        longest_ns[i] = INFINITY;
    if (times->sizes_count > LINE_SIZES)
        return;
    sort_rounds(times, 0, times->rounds_count, longest_ns, &sorted);
    for (size_t i = 0; i < LINE_SIZES; i++)
        rows[i] = sorted.ns[i];
    line_longest(rows, times->rounds_count, longest_ns);
}

static void find_middles(const struct sorted *sorted, size_t sizes_count,
                         double middles[REQUEST_SIZES])
{
    for (size_t i = 0; i < sizes_count; i++)
        middles[i] = line_middle_mean(sorted->ns[i], sorted->counts[i]);
}

/* Relative standard error of the middle mean of a size. */
static double error_of(const struct sorted *sorted, size_t size, double middle)
{
    const double of_median = 1.2533; /* error of a median / error of a mean */

    return of_median * stats_spread(sorted->ns[size], sorted->counts[size]) /
           (middle * sqrt((double)sorted->counts[size]));
}

/* Largest log distance of a point from the line, beyond three of its standard
 * errors; 0 if none. */
static double worst_off(const struct request_probe *state,
                        const struct sorted *sorted, const double middles[],
                        size_t sizes_count, const struct line *line)
{
    double worst = 0;

    for (size_t i = 0; i < sizes_count; i++) {
        double x = (double)state->sizes[i] / (double)request_unit_bytes;
        double error = error_of(sorted, i, middles[i]);
        double off =
            fabs(log(middles[i] / (line->intercept + line->slope * x)));
        worst = fmax(worst, off - 3 * error);
    }
    return worst;
}

static struct interval middle_part(double values[], size_t count)
{
    size_t out = (size_t)(error_rate * (double)count);

    stats_sort(values, count);
    return (struct interval){values[out], values[count - 1 - out]};
}

/* Middle mean of a bootstrap sample. Counts how often each value is drawn, so
 * that the sample comes out sorted. */
static double drawn_middle(const double sorted[], size_t count,
                           struct random *random)
{
    uint32_t times[CONTRAST_ROUNDS_MAX] = {0};
    double drawn[CONTRAST_ROUNDS_MAX];
    size_t drawn_count = 0;

    for (size_t i = 0; i < count; i++)
        times[random_below(random, count)]++;
    for (size_t i = 0; i < count; i++)
        while (times[i]--)
            drawn[drawn_count++] = sorted[i];
    return line_middle_mean(drawn, count);
}

/* Overhead by the line and by the reads of 4 KiB. */
static struct line_begin begin_of(const struct request_probe *state,
                                  const struct line *line,
                                  const double middles[REQUEST_SIZES])
{
    return line_begin(line, middles[REQUEST_SMALL], state->sizes[0],
                      middles[0]);
}

/* Bootstrap: fits lines to resampled rounds for the intervals of slope and
 * overhead. */
static void resample(const struct request_probe *state,
                     const struct request_times *times,
                     const struct sorted *sorted, struct request_line *result)
{
    double lows[RESAMPLES], highs[RESAMPLES], slopes[RESAMPLES];
    double y[REQUEST_SIZES] = {0}, off;
    struct random random;

    study_random(&state->study, "line", "resample", times->rounds_count,
                 &random);
    for (int i = 0; i < RESAMPLES; i++) {
        for (size_t size = 0; size < times->sizes_count; size++)
            y[size] =
                drawn_middle(sorted->ns[size], sorted->counts[size], &random);
        struct line line =
            line_of_sizes(state->sizes, y, result->sizes_count, &off);
        slopes[i] = line.slope;
        if (times->sizes_count == LINE_SIZES)
            continue;
        struct line_begin begin = begin_of(state, &line, y);
        const bool hull = result->begins_elsewhere;
        lows[i] = hull ? begin.low_ns : begin.by_line_ns;
        highs[i] = hull ? begin.high_ns : begin.by_line_ns;
    }
    result->slope = middle_part(slopes, RESAMPLES);
    if (times->sizes_count > LINE_SIZES)
        result->overhead =
            (struct interval){middle_part(lows, RESAMPLES).low,
                              middle_part(highs, RESAMPLES).high};
}

/* If a point is off the line, widens the interval to the slopes without any one
 * point. */
static void widen(const struct request_probe *state, const double middles[],
                  struct request_line *result)
{
    double low, high;

    result->stated = result->slope;
    if (result->off <= 0)
        return;
    line_slopes_without_one(state->sizes, middles, result->sizes_count, &low,
                            &high);
    result->stated.low = fmin(result->slope.low, low);
    result->stated.high = fmax(result->slope.high, high);
}

static bool depends_on_place(const struct request_probe *state,
                             const struct sorted *sorted, size_t sizes_count)
{
    const double *rows[LINE_SIZES];

    for (int i = 0; i < LINE_SIZES; i++)
        rows[i] = sorted->ns[i];
    return line_depends_on_place(state->sizes, rows, sorted->counts,
                                 sizes_count, depends_most);
}

static double slope_of(const struct request_probe *state,
                       const struct request_times *times, uint32_t first,
                       uint32_t count, const double longest_ns[],
                       size_t sizes_count)
{
    double y[REQUEST_SIZES] = {0}, off;
    struct sorted sorted;

    sort_rounds(times, first, count, longest_ns, &sorted);
    find_middles(&sorted, LINE_SIZES, y);
    return line_of_sizes(state->sizes, y, sizes_count, &off).slope;
}

/* Relative standard error of the slope, from the differences between batches of
 * rounds. Unlike resampling, it includes changes over time, and kinds of places
 * that are nearly a quarter of all, which the middle half only begins to
 * see. */
static double batch_error(const struct request_probe *state,
                          const struct request_times *times,
                          const double longest_ns[],
                          const struct request_line *result)
{
    /* At most 16 batches: larger batches seldom have more outliers than the
     * middle mean leaves out. */
    uint32_t rounds = times->rounds_count / BATCHES_MAX;
    rounds = rounds > BATCH_ROUNDS_LEAST ? rounds : BATCH_ROUNDS_LEAST;
    uint32_t batches = times->rounds_count / rounds;
    double mean = 0, sum = 0;

    if (batches < 2)
        return 0;
    for (uint32_t i = 0; i < batches; i++) {
        double slope = slope_of(state, times, i * rounds, rounds, longest_ns,
                                result->sizes_count);
        mean += slope / batches;
        sum += slope * slope;
    }
    double variance = (sum - batches * mean * mean) / (batches - 1);
    return sqrt(fmax(variance, 0) / batches) / result->line.slope;
}

static double typical_spread(const struct sorted *sorted)
{
    double spreads[LINE_SIZES];

    for (int i = 0; i < LINE_SIZES; i++)
        spreads[i] = stats_spread(sorted->ns[i], sorted->counts[i]) /
                     stats_median(sorted->ns[i], sorted->counts[i]);
    return stats_median(spreads, LINE_SIZES);
}

/* Overhead of a read; see line_begin(). */
static void find_overhead(const struct request_probe *state,
                          const struct sorted *sorted, const double middles[],
                          struct request_line *result)
{
    const struct line_begin begin = begin_of(state, &result->line, middles);
    const double error =
        error_of(sorted, REQUEST_SMALL, middles[REQUEST_SMALL]);

    result->small_ns = middles[REQUEST_SMALL];
    result->begins_elsewhere = line_begins_elsewhere(&begin, error);
    result->overhead_ns = result->begins_elsewhere
                              ? (begin.low_ns + begin.high_ns) / 2
                              : begin.by_line_ns;
}

static double share_left_out(const struct request_times *times,
                             const struct sorted *sorted)
{
    size_t kept = 0;

    for (size_t i = 0; i < times->sizes_count; i++)
        kept += sorted->counts[i];
    return 1 -
           (double)kept / (double)(times->sizes_count * times->rounds_count);
}

/* Fits the line through all sizes. For writes it drops the largest sizes, one
 * by one, until the rest lie on a line. */
static void find_line(const struct request_probe *state,
                      const struct sorted *sorted, const double middles[],
                      bool writes, struct request_line *result)
{
    double off;

    for (size_t few = LINE_SIZES; few >= LINE_SIZES_LEAST; few--) {
        const struct line line =
            line_of_sizes(state->sizes, middles, few, &off);
        off = worst_off(state, sorted, middles, few, &line);
        if (few < LINE_SIZES && off >= request_off_most)
            continue;
        result->line = line;
        result->off = off;
        result->sizes_count = few;
        if (!writes || off < request_off_most)
            return;
    }
}

void request_fit(const struct request_probe *state,
                 const struct request_times *times, struct request_line *result)
{
    double middles[REQUEST_SIZES] = {0}, longest_ns[REQUEST_SIZES];
    struct sorted sorted;

    find_longest(times, longest_ns);
    sort_rounds(times, 0, times->rounds_count, longest_ns, &sorted);
    find_middles(&sorted, times->sizes_count, middles);
    *result = (struct request_line){.rounds_count = times->rounds_count};
    find_line(state, &sorted, middles, times->sizes_count == LINE_SIZES,
              result);
    result->left_out_share = share_left_out(times, &sorted);
    if (times->sizes_count > LINE_SIZES)
        find_overhead(state, &sorted, middles, result);
    resample(state, times, &sorted, result);
    widen(state, middles, result);
    result->spread = typical_spread(&sorted);
    result->depends = depends_on_place(state, &sorted, result->sizes_count);
    result->batch_error = batch_error(state, times, longest_ns, result);
}
