/* SPDX-License-Identifier: GPL-3.0-or-later */
/* large-request: the line through the times of some rounds, and how well it is
 * known. */
#include "probes/large_request.h"

#include <math.h>
#include <string.h>

#include "lib/infer/stats.h"

enum { RESAMPLES = 200, BATCH_ROUNDS_LEAST = 9, BATCHES_MAX = 16 };

/* A slope may depend by so much on what is left out, see line.h. */
static const double depends_most = 0.08;
/* Of the interval, on each side. */
static const double error_rate = 0.005;

static double middle_ns(const double ns[], uint32_t count)
{
    double sorted[CONTRAST_ROUNDS_MAX];

    memcpy(sorted, ns, count * sizeof(*ns));
    stats_sort(sorted, count);
    return line_middle_mean(sorted, count);
}

/* How far the worst point lies off the line, beyond three of its errors. */
static double worst_off(const struct request_probe *state,
                        const struct request_times *times,
                        const struct line *line)
{
    double worst = 0;

    for (int i = 0; i < LINE_SIZES; i++) {
        double x = (double)state->sizes[i] / (double)request_unit_bytes;
        double middle = middle_ns(times->ns[i], times->rounds_count);
        double error = 1.2533 *
                       stats_spread(times->ns[i], times->rounds_count) /
                       (middle * sqrt((double)times->rounds_count));
        double off = fabs(log(middle / (line->intercept + line->slope * x)));
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

/* The times of a size in rising order, and which of them each round's is. */
struct ranks {
    double sorted[CONTRAST_ROUNDS_MAX];
    uint32_t of_round[CONTRAST_ROUNDS_MAX];
};

static void rank(const double ns[], uint32_t rounds, struct ranks *ranks)
{
    memcpy(ranks->sorted, ns, rounds * sizeof(*ns));
    stats_sort(ranks->sorted, rounds);
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t low = 0, high = rounds - 1;
        while (low < high) {
            const uint32_t middle = (low + high) / 2;
            if (ranks->sorted[middle] < ns[round])
                low = middle + 1;
            else
                high = middle;
        }
        ranks->of_round[round] = low;
    }
}

/* The middle of as many times drawn from them, which need not be sorted again. */
static double drawn_middle(const struct ranks *ranks, uint32_t rounds,
                           struct random *random)
{
    uint32_t counts[CONTRAST_ROUNDS_MAX] = {0}, count = 0;
    double drawn[CONTRAST_ROUNDS_MAX];

    for (uint32_t i = 0; i < rounds; i++)
        counts[ranks->of_round[random_below(random, rounds)]]++;
    for (uint32_t i = 0; i < rounds; i++)
        while (counts[i]--)
            drawn[count++] = ranks->sorted[i];
    return line_middle_mean(drawn, rounds);
}

/* Lines through the times of rounds drawn again: what chance leaves open. */
static void resample(const struct request_probe *state,
                     const struct request_times *times,
                     struct request_line *result)
{
    double intercepts[RESAMPLES], slopes[RESAMPLES], y[LINE_SIZES], off;
    struct ranks ranks[LINE_SIZES];
    uint32_t rounds = times->rounds_count;
    struct random random;

    for (int size = 0; size < LINE_SIZES; size++)
        rank(times->ns[size], rounds, &ranks[size]);
    study_random(&state->study, "line", "resample", rounds, &random);
    for (int i = 0; i < RESAMPLES; i++) {
        for (int size = 0; size < LINE_SIZES; size++)
            y[size] = drawn_middle(&ranks[size], rounds, &random);
        struct line line = line_of_sizes(state->sizes, y, &off);
        intercepts[i] = line.intercept;
        slopes[i] = line.slope;
    }
    result->intercept = middle_part(intercepts, RESAMPLES);
    result->slope = middle_part(slopes, RESAMPLES);
}

static bool depends_on_place(const struct request_probe *state,
                             const struct request_times *times)
{
    double values[LINE_SIZES][CONTRAST_ROUNDS_MAX];
    const double *sorted[LINE_SIZES];

    for (int i = 0; i < LINE_SIZES; i++) {
        memcpy(values[i], times->ns[i], times->rounds_count * sizeof(double));
        stats_sort(values[i], times->rounds_count);
        sorted[i] = values[i];
    }
    return line_depends_on_place(state->sizes, sorted, times->rounds_count,
                                 depends_most);
}

static double slope_of(const struct request_probe *state,
                       const struct request_times *times, uint32_t first,
                       uint32_t count)
{
    double y[LINE_SIZES], off;

    for (int i = 0; i < LINE_SIZES; i++)
        y[i] = middle_ns(times->ns[i] + first, count);
    return line_of_sizes(state->sizes, y, &off).slope;
}

/* The error of the slope, as a share, by how much it differs from batch to batch
 * of the rounds: resampling knows neither of change in time, nor of a kind of
 * places that is nearly a quarter, where the middle half begins to see it. */
static double batch_error(const struct request_probe *state,
                          const struct request_times *times,
                          const struct line *line)
{
    /* Of more rounds, fewer batches have more outliers than a middle half
     * leaves out. */
    uint32_t rounds = times->rounds_count / BATCHES_MAX;
    rounds = rounds > BATCH_ROUNDS_LEAST ? rounds : BATCH_ROUNDS_LEAST;
    uint32_t batches = times->rounds_count / rounds;
    double mean = 0, sum = 0;

    if (batches < 2)
        return 0;
    for (uint32_t i = 0; i < batches; i++) {
        double slope = slope_of(state, times, i * rounds, rounds);
        mean += slope / batches;
        sum += slope * slope;
    }
    double variance = (sum - batches * mean * mean) / (batches - 1);
    return sqrt(fmax(variance, 0) / batches) / line->slope;
}

static double typical_spread(const struct request_times *times)
{
    double spreads[LINE_SIZES];

    for (int i = 0; i < LINE_SIZES; i++)
        spreads[i] = stats_spread(times->ns[i], times->rounds_count) /
                     stats_median(times->ns[i], times->rounds_count);
    return stats_median(spreads, LINE_SIZES);
}

void request_fit(const struct request_probe *state,
                 const struct request_times *times, struct request_line *result)
{
    double y[LINE_SIZES];

    for (size_t i = 0; i < LINE_SIZES; i++)
        y[i] = middle_ns(times->ns[i], times->rounds_count);
    result->rounds_count = times->rounds_count;
    result->line = line_of_sizes(state->sizes, y, &result->off);
    result->off = worst_off(state, times, &result->line);
    resample(state, times, result);
    result->spread = typical_spread(times);
    result->depends = depends_on_place(state, times);
    result->batch_error = batch_error(state, times, &result->line);
}
