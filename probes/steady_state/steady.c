/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steady-state: does the rate last, and how long do the longest writes take? */
#include "probes/steady_state/steady_state.h"

#include <math.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/resample.h"

/* Times are looked at in so many windows of equally many writes, or fewer. */
enum { WINDOWS = 96 };
/* What settles is at most this part of them. */
static const double settling_most = 2.0 / 3;
/* A fall is more than chance, and drift of a minute, make of it. */
static const double fall_least = 1.25;
/* Where both halves differ by more, the later one counts. */
static const double halves_differ = 0.03;
/* It is known well enough to stop: halves that agree, and an interval of so
 * many times its low end. */
static const double agree_most = 0.05, narrow_most = 1.2;
/* The interval holds so much of all that could have been measured. */
static const double middle_share = 0.99;
/* Flash that a drive has beyond its capacity, as a share of that: more than in
 * most; where so much was written, cleaning goes on. With less than the least
 * it may not; and what falls sooner than in any drive was memory, or a cache of
 * flash. */
static const double spare_most = 0.3, spare_least = 0.1, spare_none = 0.03;

/* So many blocks take this share of the capacity. */
static double share_of(const struct steady_probe *state, size_t blocks)
{
    return (double)blocks * (double)(LOAD_BLOCK_WRITES * state->unit_bytes) /
           (double)state->study.setting.capacity_bytes;
}

size_t steady_blocks_of_spare(const struct steady_probe *state)
{
    return (size_t)ceil(spare_most / share_of(state, 1));
}

struct windows {
    size_t first, each, count; /* blocks left out, and of one */
    double ns[WINDOWS];        /* a write, on average */
};

static struct windows windows_of(const double block_ns[], size_t blocks)
{
    struct windows w = {.count = smaller_of(WINDOWS, blocks)};

    w.each = blocks / w.count;
    w.first = blocks - w.each * w.count;
    for (size_t i = 0; i < w.count; i++) {
        double sum = 0;
        for (size_t j = 0; j < w.each; j++)
            sum += block_ns[w.first + i * w.each + j];
        w.ns[i] = sum / (double)w.each / LOAD_BLOCK_WRITES;
    }
    return w;
}

static double mean_of(const struct windows *w, size_t from, size_t to)
{
    double sum = 0;

    for (size_t i = from; i < to; i++)
        sum += w->ns[i];
    return to > from ? sum / (double)(to - from) : 0;
}

/* So many windows are left out: then the mean of the rest is known best, by its
 * standard error (White 1997). */
static size_t settled_from(const struct windows *w)
{
    const size_t most = (size_t)(settling_most * (double)w->count);
    double least = INFINITY;
    size_t best = 0;

    for (size_t from = 0; from < most; from++) {
        const size_t rest = w->count - from;
        const double mean = mean_of(w, from, w->count);
        double squares = 0;
        for (size_t i = from; i < w->count; i++)
            squares += (w->ns[i] - mean) * (w->ns[i] - mean);
        const double score = squares / (double)rest / (double)rest;
        if (score < least) {
            least = score;
            best = from;
        }
    }
    return best;
}

/* The window behind the clearest fall that lasts; 0: none. Means and medians
 * must both have fallen, since one window may hold a long stall. */
static size_t fall_of(const struct windows *w)
{
    const size_t n = w->count;
    double best = 0;
    size_t at = 0;

    for (size_t i = 3; i < (size_t)(settling_most * (double)n); i++) {
        const double before = fmax(stats_median(w->ns, i), mean_of(w, 0, i));
        const double behind =
            fmin(stats_median(&w->ns[i], n - i), mean_of(w, i, n));
        const double clear = (behind - before) * sqrt((double)(i * (n - i)));
        if (behind > fall_least * before && clear > best) {
            best = clear;
            at = i;
        }
    }
    return at;
}

/* The mean behind what settles, and what it may be: by windows drawn again, the
 * later half and its trend, and two windows more that are as bad as the worst,
 * or one less. */
static void take_mean(const struct windows *w, size_t from, uint64_t seed,
                      struct steady_rate *rate)
{
    const size_t count = w->count - from, half = from + count / 2;
    const double all = mean_of(w, from, w->count);
    const double early = mean_of(w, from, half);
    const double late = mean_of(w, half, w->count);
    const double trend = 2 * late - early;
    struct interval range =
        resample_mean(&w->ns[from], count, middle_share, seed);
    double worst = 0;

    for (size_t i = from; i < w->count; i++)
        worst = fmax(worst, w->ns[i]);
    worst = (worst - stats_median(&w->ns[from], count)) / (double)count;
    rate->drift = log(late / early);
    rate->ns = fabs(rate->drift) > halves_differ ? late : all;
    rate->low = fmin(fmin(range.low, late), rate->ns - worst);
    rate->high = fmax(fmax(range.high, late), rate->ns + 2 * worst);
    if (rate->drift < 0)
        rate->low = fmin(rate->low, trend);
    else
        rate->high = fmax(rate->high, trend);
}

static size_t block_of(const struct windows *w, size_t window)
{
    return window > 0 ? w->first + window * w->each : 0;
}

static enum steady_reason reason_of(const struct steady_probe *state,
                                    const struct windows *w, size_t fall,
                                    size_t count)
{
    const double share = share_of(state, count);
    const size_t behind = block_of(w, fall);

    if (state->merges)
        return STEADY_MERGES;
    if (share >= spare_most)
        return STEADY_ALL_OF_IT;
    return fall > 0 && share >= spare_least &&
                   share_of(state, behind) > spare_none &&
                   behind > state->memory_blocks
               ? STEADY_FELL
               : STEADY_UNUSED;
}

struct steady_rate steady_rate(const struct steady_probe *state,
                               const double block_ns[], size_t count)
{
    const struct windows w = windows_of(block_ns, count);
    const size_t fall = fall_of(&w);
    const size_t from = larger_of(settled_from(&w), fall);
    struct steady_rate rate = {.reason = reason_of(state, &w, fall, count),
                               .fell_at = block_of(&w, fall),
                               .from = block_of(&w, from),
                               .to = count};

    take_mean(&w, from, state->study.seed, &rate);
    if (fall)
        rate.fresh_ns = mean_of(&w, 0, fall);
    rate.lasts = w.count - from >= w.count / 3 &&
                 fabs(rate.drift) < agree_most &&
                 rate.high < narrow_most * rate.low;
    return rate;
}

/* ---- the longest -------------------------------------------------------- */

/* Parts of the writes that are drawn as a whole. */
enum { PARTS = 63 };

struct steady_stall steady_stall(struct resample_item writes[], size_t count,
                                 uint64_t seed)
{
    const struct resample_upper upper =
        resample_upper(writes, count, PARTS, 1 - STEADY_STALL_PERMILLE / 1e3,
                       middle_share, seed);

    return (struct steady_stall){upper.value, upper.interval};
}
