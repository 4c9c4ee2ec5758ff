/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/statistics/period.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"

enum {
    REPEATS_MIN = 4,
    LAG_MAX = 512,
    LAG_SAMPLES = 8192, /* values that decide on the lag */
    MARKS_MAX = 2048,   /* pairs of them are counted */
    LAGS_TRIED = 48,
    SIDE = 3 /* neighbours on each side at the lag */
};

/* Slow: this many spreads above the neighbours, and at least so much. */
static const double slow_spreads = 3, slow_least = 0.05;
/* A period is proposed when chance would show one like it in 1e4 searches,
 * and certified when in 1e6 continuations. */
static const double search_error = 1e-4, certify_error = 1e-6;
/* Half of the predicted places must be slow to propose, six in ten to certify:
 * heavy noise hides some. Other places: at most half as many. */
static const double search_hits = 0.5, certify_hits = 0.6, other_hits = 0.5;
/* Other places are as slow from half of what the predicted ones have above
 * their neighbours: slow pages of a cell are not, beside the cleaning for a
 * block. */
static const double as_slow_least = 0.5;

/* STATS_MAX values or all, without a stride that a pattern could follow. */
static size_t draw(const double values[], size_t count,
                   double sample[STATS_MAX])
{
    const size_t prime = 2654435761u;

    for (size_t i = 0; i < STATS_MAX && i < count; i++)
        sample[i] = values[count <= STATS_MAX ? i : i * prime % count];
    return count < STATS_MAX ? count : STATS_MAX;
}

/* Of finite values; unlike fmin and fmax, these are no calls. */
static inline double lower(double a, double b)
{
    return a < b ? a : b;
}

static inline double higher(double a, double b)
{
    return a > b ? a : b;
}

static inline double middle(double a, double b, double c)
{
    return higher(lower(a, b), lower(higher(a, b), c));
}

/* How badly values repeat at a lag. A slow place spoils two comparisons of
 * single values, and none of the middles of three. */
struct repeat {
    double singles, middles;
};

/* `middles` has room for LAG_SAMPLES + LAG_MAX. */
static struct repeat repeat_at(const double values[], size_t count, size_t lag,
                               double middles[])
{
    size_t n = count - 3 * lag;
    struct repeat repeat = {0, 0};

    n = n < LAG_SAMPLES ? n : LAG_SAMPLES;
    for (size_t i = 0; i < n + lag; i++)
        middles[i] = middle(values[i], values[i + lag], values[i + 2 * lag]);
    for (size_t i = 0; i < n; i++) {
        repeat.singles += fabs(values[i + lag] - values[i]);
        repeat.middles += fabs(middles[i + lag] - middles[i]);
    }
    repeat.singles /= (double)n;
    repeat.middles /= (double)n;
    return repeat;
}

/* Above this lies a fifth of the values: more than there are slow places, also
 * where one of PERIOD_SHORTEST is. */
static double high_of(const double sorted[], size_t count)
{
    return sorted[count * 8 / 10];
}

/* The lag at which values repeat best, at most `most`: 1 unless a pattern of
 * that length explains clearly more. */
static size_t best_lag(const double values[], size_t count, size_t most)
{
    /* Clearly better, and by more than slow places can explain. */
    const double clearly = 1.06, slow_part = 0.15;
    struct repeat repeats[LAG_MAX + 1], best = {INFINITY, INFINITY};
    double sample[STATS_MAX], middles[LAG_SAMPLES + LAG_MAX] = {0};
    double clipped[LAG_SAMPLES + 3 * LAG_MAX] = {0};
    size_t clipped_count = LAG_SAMPLES + 3 * LAG_MAX;

    if (most > count / 16)
        most = count / 16;
    if (most > LAG_MAX)
        most = LAG_MAX;
    if (most == 0)
        return 1;
    size_t n = draw(values, count, sample);
    stats_sort(sample, n);
    double high = high_of(sample, n), range = high - sample[n / 10];
    if (clipped_count > count)
        clipped_count = count;
    for (size_t i = 0; i < clipped_count; i++)
        clipped[i] = lower(values[i], high);
    for (size_t lag = 1; lag <= most; lag++) {
        repeats[lag] = repeat_at(clipped, count, lag, middles);
        best.singles = fmin(best.singles, repeats[lag].singles);
        best.middles = fmin(best.middles, repeats[lag].middles);
    }
    for (size_t lag = 1; lag <= most; lag++)
        if (repeats[lag].middles <= clearly * best.middles + 1e-3 &&
            repeats[lag].singles <= clearly * best.singles + slow_part * range)
            return lag;
    return 1;
}

/*
 * A pattern may begin anew with each block: then what is slow there has
 * neighbours at the lag that are slow as well, and must not count as usual.
 */
static double ceiling_of(const double values[], size_t count, size_t lag)
{
    double sample[STATS_MAX];

    if (lag < PERIOD_SHORTEST)
        return INFINITY;
    size_t n = draw(values, count, sample);
    stats_sort(sample, n);
    return high_of(sample, n);
}

void period_level(const double values[], size_t count,
                  const struct period_rule *rule, double residuals[])
{
    const size_t lag = rule->lag;

    for (size_t i = 0; i < count; i++) {
        double near[2 * SIDE];
        size_t n = 0;
        for (size_t k = 1; k <= SIDE; k++) {
            if (i >= k * lag)
                near[n++] = lower(values[i - k * lag], rule->ceiling);
            if (i + k * lag < count)
                near[n++] = lower(values[i + k * lag], rule->ceiling);
        }
        residuals[i] = n ? values[i] - stats_median(near, n) : 0;
    }
}

static double spread_of(const double residuals[], size_t count)
{
    double sample[STATS_MAX];
    size_t n = draw(residuals, count, sample);

    return stats_spread(sample, n);
}

/* The slow places: no more of them than can be paired. */
static size_t mark(const double residuals[], size_t count, double *threshold,
                   size_t marks[MARKS_MAX])
{
    for (;;) {
        size_t n = 0;
        for (size_t i = 0; i < count && n <= MARKS_MAX; i++) {
            if (residuals[i] <= *threshold)
                continue;
            if (n < MARKS_MAX)
                marks[n] = i;
            n++;
        }
        if (n <= MARKS_MAX)
            return n;
        *threshold *= 1.25;
    }
}

/* log10 of P(Binomial(trials, share) >= hits). */
static double log_tail(size_t hits, size_t trials, double share)
{
    double sum = 0, log_odds = log(share) - log1p(-share);
    double term = lgamma((double)trials + 1) +
                  (double)trials * log1p(-share); /* of k = 0, times k! */

    for (size_t k = hits; k <= trials; k++)
        sum += exp(term - lgamma((double)k + 1) -
                   lgamma((double)(trials - k) + 1) + (double)k * log_odds);
    return sum > 0 ? log10(sum < 1 ? sum : 1) : -300;
}

/* The best phase of one length. */
static struct period fold(const size_t marks[], size_t marks_count,
                          size_t count, size_t length, double share,
                          uint32_t counts[])
{
    struct period period = {.length = length};

    memset(counts, 0, length * sizeof(counts[0]));
    for (size_t i = 0; i < marks_count; i++)
        counts[marks[i] % length]++;
    for (size_t phase = 0; phase < length; phase++) {
        if (counts[phase] <= period.hits)
            continue;
        period.hits = counts[phase];
        period.phase = phase;
    }
    period.trials = (count - period.phase + length - 1) / length;
    period.error = log_tail(period.hits, period.trials, share) +
                   log10((double)length) + log10((double)count / REPEATS_MIN);
    return period;
}

static bool is_dead(const struct period_dead *dead, size_t length)
{
    for (size_t i = 0; i < dead->count; i++)
        if (dead->lengths[i] == length)
            return true;
    return false;
}

/* The lag that most pairs of slow places are apart; its count is taken out. */
static size_t take_commonest(uint32_t lags[], size_t most)
{
    size_t best = 0;

    for (size_t lag = PERIOD_SHORTEST; lag <= most; lag++)
        if (lags[lag] > 1 && (best == 0 || lags[lag] > lags[best]))
            best = lag;
    if (best)
        lags[best] = 0;
    return best;
}

static void likeliest(const size_t marks[], size_t marks_count, size_t count,
                      const struct period_dead *dead, double share,
                      uint32_t lags[], uint32_t counts[], struct period *best)
{
    size_t most = count / REPEATS_MIN;

    for (size_t i = 0; i < marks_count; i++)
        for (size_t j = i + 1; j < marks_count && marks[j] - marks[i] <= most;
             j++)
            lags[marks[j] - marks[i]]++;
    for (int i = 0; i < LAGS_TRIED; i++) {
        size_t length = take_commonest(lags, most);
        if (length == 0)
            break;
        if (is_dead(dead, length))
            continue;
        struct period period =
            fold(marks, marks_count, count, length, share, counts);
        if ((double)period.hits >= search_hits * (double)period.trials &&
            (best->length == 0 || period.error < best->error))
            *best = period;
    }
}

static double median_excess(const double residuals[], size_t first,
                            size_t count, size_t length)
{
    double sample[STATS_MAX];
    size_t n = 0;

    for (size_t i = first; i < count && n < STATS_MAX; i += length)
        sample[n++] = residuals[i];
    return n ? stats_median(sample, n) : 0;
}

int period_search(const double values[], size_t count,
                  const struct period_dead *dead, struct period_rule *rule,
                  struct period *period)
{
    size_t most = count / REPEATS_MIN, marks[MARKS_MAX];
    double *residuals = malloc((count + 1) * sizeof(*residuals));
    uint32_t *lags = calloc(most + 1, sizeof(*lags));
    uint32_t *counts = calloc(most + 1, sizeof(*counts));
    int error = residuals && lags && counts ? -ENOENT : -ENOMEM;

    memset(period, 0, sizeof(*period));
    if (error == -ENOENT && most >= PERIOD_SHORTEST) {
        rule->lag = best_lag(values, count, LAG_MAX);
        rule->ceiling = ceiling_of(values, count, rule->lag);
        period_level(values, count, rule, residuals);
        rule->threshold = slow_spreads * spread_of(residuals, count);
        rule->threshold =
            higher(rule->threshold, higher(slow_least, rule->least));
        size_t n = mark(residuals, count, &rule->threshold, marks);
        rule->share = ((double)n + 1) / (double)(count + 2);
        likeliest(marks, n, count, dead, rule->share, lags, counts, period);
        if (period->length && period->error < log10(search_error)) {
            period->excess =
                median_excess(residuals, period->phase, count, period->length);
            period->error = pow(10, period->error);
            error = 0;
        }
    }
    free(residuals);
    free(lags);
    free(counts);
    return error;
}

/* Near enough to the slow place to belong to it: the drive catches up. */
static bool belongs(size_t phase, const struct period *period)
{
    size_t length = period->length, reach = length / 16 + 1;
    size_t distance = (phase + length - period->phase % length) % length;

    return distance <= reach || length - distance <= reach;
}

/* Does any other part of the period come near the slow place? By medians: what
 * is slow in most periods counts, and outliers do not. */
static bool alone(const double values[], size_t count, size_t first,
                  const struct period *period, double excess)
{
    double sample[STATS_MAX], own = 0, others[STATS_MAX];
    size_t n_others = 0, step = period->length / STATS_MAX + 1;

    for (size_t phase = 0; phase < period->length; phase++) {
        size_t n = 0,
               at = first + (phase + period->length - first % period->length) %
                                period->length;
        bool is_own = phase == period->phase % period->length;
        if (!is_own && (belongs(phase, period) || phase % step))
            continue;
        for (; at < count && n < STATS_MAX; at += period->length)
            sample[n++] = values[at];
        if (n == 0)
            continue;
        stats_sort(sample, n);
        if (is_own)
            own = sample[n / 2];
        else
            others[n_others++] = sample[n / 2];
    }
    if (n_others == 0)
        return false;
    stats_sort(others, n_others);
    return others[n_others - 1] < own - 0.3 * excess;
}

int period_certify(const double values[], size_t count, size_t first,
                   const struct period_rule *rule, struct period *period,
                   bool *certified)
{
    double *residuals = malloc((count + 1) * sizeof(*residuals));
    uint32_t *counts = calloc(period->length, sizeof(*counts));
    size_t slow_count = 0, most_elsewhere = 0, phase, at;
    double share, as_slow;

    if (!residuals || !counts) {
        free(residuals);
        free(counts);
        return -ENOMEM;
    }
    period_level(values, count, rule, residuals);
    phase = period->phase % period->length;
    at = first +
         (phase + period->length - first % period->length) % period->length;
    period->excess = median_excess(residuals, at, count, period->length);
    as_slow = higher(rule->threshold, as_slow_least * period->excess);
    period->hits = 0;
    for (size_t i = first; i < count; i++) {
        if (residuals[i] <= rule->threshold)
            continue;
        slow_count++;
        period->hits += i % period->length == phase;
        counts[i % period->length] += residuals[i] > as_slow;
    }
    period->trials = (count - at + period->length - 1) / period->length;
    for (size_t i = 0; i < period->length; i++)
        if (!belongs(i, period) && counts[i] > most_elsewhere)
            most_elsewhere = counts[i];
    /* Chance knows both shares: that of the search and that of the values. */
    share = ((double)slow_count + 1) / (double)(count - first + 2);
    share = share > rule->share ? share : rule->share;
    period->error = pow(10, log_tail(period->hits, period->trials, share));
    *certified =
        period->error < certify_error &&
        (double)period->hits >= certify_hits * (double)period->trials &&
        (double)most_elsewhere <= other_hits * (double)period->hits &&
        /* Without a pattern of neighbours, the costs themselves must tell:
         * leveling makes the edge of a long run look slow. */
        alone(rule->lag > 1 ? residuals : values, count, first, period,
              period->excess);
    free(residuals);
    free(counts);
    return 0;
}
