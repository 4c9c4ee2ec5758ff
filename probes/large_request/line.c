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
 * line_longest()), and their middle means. */
struct sorted {
    double ns[REQUEST_SIZES][CONTRAST_ROUNDS_MAX];
    size_t counts[REQUEST_SIZES];
    double middles[REQUEST_SIZES];
};

struct fit {
    const struct request_probe *state;
    const struct request_times *times;
    bool writes;
    double longest_ns[REQUEST_SIZES]; /* of those that are no merge */
    struct sorted all;                /* of all rounds */
    struct request_line *result;
};

static void sort_rounds(const struct fit *fit, uint32_t first, uint32_t count,
                        struct sorted *sorted)
{
    memset(sorted->middles, 0, sizeof(sorted->middles));
    for (size_t i = 0; i < fit->times->sizes_count; i++) {
        memcpy(sorted->ns[i], fit->times->ns[i] + first,
               count * sizeof(double));
        stats_sort(sorted->ns[i], count);
        sorted->counts[i] = line_kept(sorted->ns[i], count, fit->longest_ns[i]);
        sorted->middles[i] = line_middle_mean(sorted->ns[i], sorted->counts[i]);
    }
}

/* Relative standard error of the middle mean of a size. */
static double error_of(const struct sorted *sorted, size_t size)
{
    const double of_median = 1.2533; /* error of a median / error of a mean */

    return of_median * stats_spread(sorted->ns[size], sorted->counts[size]) /
           (sorted->middles[size] * sqrt((double)sorted->counts[size]));
}

/* Largest log distance of a point from the line, beyond three of its standard
 * errors; 0 if none. */
static double worst_off(const struct fit *fit, size_t sizes_count,
                        const struct line *line)
{
    double worst = 0;

    for (size_t i = 0; i < sizes_count; i++) {
        double x = (double)fit->state->sizes[i] / (double)request_unit_bytes;
        double off = fabs(
            log(fit->all.middles[i] / (line->intercept + line->slope * x)));
        worst = fmax(worst, off - 3 * error_of(&fit->all, i));
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
static struct line_begin begin_of(const struct fit *fit,
                                  const struct line *line,
                                  const double middles[REQUEST_SIZES])
{
    return line_begin(line, middles[REQUEST_SMALL], fit->state->sizes[0],
                      middles[0]);
}

/* Bootstrap: fits lines to resampled rounds for the intervals of slope and
 * overhead. */
static void resample(const struct fit *fit)
{
    struct request_line *result = fit->result;
    double lows[RESAMPLES], highs[RESAMPLES], slopes[RESAMPLES];
    double y[REQUEST_SIZES] = {0}, off;
    struct random random;

    study_random(&fit->state->study, "line", "resample",
                 fit->times->rounds_count, &random);
    for (int i = 0; i < RESAMPLES; i++) {
        for (size_t size = 0; size < fit->times->sizes_count; size++)
            y[size] =
                drawn_middle(fit->all.ns[size], fit->all.counts[size], &random);
        struct line line =
            line_of_sizes(fit->state->sizes, y, result->sizes_count, &off);
        slopes[i] = line.slope;
        if (fit->writes)
            continue;
        struct line_begin begin = begin_of(fit, &line, y);
        const bool hull = result->begins_elsewhere;
        lows[i] = hull ? begin.low_ns : begin.by_line_ns;
        highs[i] = hull ? begin.high_ns : begin.by_line_ns;
    }
    result->slope = middle_part(slopes, RESAMPLES);
    if (!fit->writes)
        result->overhead =
            (struct interval){middle_part(lows, RESAMPLES).low,
                              middle_part(highs, RESAMPLES).high};
}

/* If a point is off the line, widens the interval to the slopes without any one
 * point. */
static void widen(const struct fit *fit)
{
    struct request_line *result = fit->result;
    double low, high;

    result->stated = result->slope;
    if (result->off <= 0)
        return;
    line_slopes_without_one(fit->state->sizes, fit->all.middles,
                            result->sizes_count, &low, &high);
    result->stated.low = fmin(result->slope.low, low);
    result->stated.high = fmax(result->slope.high, high);
}

/* Relative standard error of the slope, from the differences between batches of
 * rounds. Unlike resampling, it includes changes over time, and kinds of places
 * that are nearly a quarter of all, which the middle half only begins to
 * see. */
static double batch_error(const struct fit *fit)
{
    /* At most 16 batches: larger batches seldom have more outliers than the
     * middle mean leaves out. */
    const uint32_t rounds = (uint32_t)larger_of(
        fit->times->rounds_count / BATCHES_MAX, BATCH_ROUNDS_LEAST);
    const uint32_t batches = fit->times->rounds_count / rounds;
    double mean = 0, sum = 0, off;
    struct sorted sorted;

    if (batches < 2)
        return 0;
    for (uint32_t i = 0; i < batches; i++) {
        sort_rounds(fit, i * rounds, rounds, &sorted);
        double slope = line_of_sizes(fit->state->sizes, sorted.middles,
                                     fit->result->sizes_count, &off)
                           .slope;
        mean += slope / batches;
        sum += slope * slope;
    }
    double variance = (sum - batches * mean * mean) / (batches - 1);
    return sqrt(fmax(variance, 0) / batches) / fit->result->line.slope;
}

/* Overhead of a read; see line_begin(). */
static void find_overhead(const struct fit *fit)
{
    struct request_line *result = fit->result;
    const struct line_begin begin =
        begin_of(fit, &result->line, fit->all.middles);
    const double error = error_of(&fit->all, REQUEST_SMALL);

    result->small_ns = fit->all.middles[REQUEST_SMALL];
    result->begins_elsewhere = line_begins_elsewhere(&begin, error);
    result->overhead_ns = line_overhead_ns(&begin, error);
}

/* Fits the line through all sizes. For writes it drops the largest sizes, one
 * by one, until the rest lie on a line. */
static void find_line(const struct fit *fit)
{
    double off;

    for (size_t few = LINE_SIZES; few >= LINE_SIZES_LEAST; few--) {
        const struct line line =
            line_of_sizes(fit->state->sizes, fit->all.middles, few, &off);
        off = worst_off(fit, few, &line);
        if (few < LINE_SIZES && off >= request_off_most)
            continue;
        fit->result->line = line;
        fit->result->off = off;
        fit->result->sizes_count = few;
        if (!fit->writes || off < request_off_most)
            return;
    }
}

void request_fit(const struct request_probe *state,
                 const struct request_times *times, struct request_line *result)
{
    const uint32_t rounds = times->rounds_count;
    struct fit fit = {.state = state,
                      .times = times,
                      .writes = times->sizes_count == LINE_SIZES,
                      .result = result};
    const struct sorted *all = &fit.all;
    const double *rows[LINE_SIZES];
    double spreads[LINE_SIZES];
    size_t kept = 0;

    *result = (struct request_line){.rounds_count = rounds};
    for (size_t i = 0; i < REQUEST_SIZES; i++)
        fit.longest_ns[i] = INFINITY;
    for (size_t i = 0; i < LINE_SIZES; i++)
        rows[i] = all->ns[i];
    sort_rounds(&fit, 0, rounds, &fit.all);
    if (fit.writes) {
        line_longest(rows, rounds, fit.longest_ns);
        sort_rounds(&fit, 0, rounds, &fit.all);
    }
    find_line(&fit);
    for (size_t i = 0; i < times->sizes_count; i++)
        kept += all->counts[i];
    result->left_out_share =
        1 - (double)kept / (double)(times->sizes_count * rounds);
    if (!fit.writes)
        find_overhead(&fit);
    resample(&fit);
    widen(&fit);
    for (int i = 0; i < LINE_SIZES; i++)
        spreads[i] = stats_spread(all->ns[i], all->counts[i]) /
                     stats_median(all->ns[i], all->counts[i]);
    result->spread = stats_median(spreads, LINE_SIZES);
    result->depends = line_depends_on_place(state->sizes, rows, all->counts,
                                            result->sizes_count, depends_most);
    result->batch_error = batch_error(&fit);
}
