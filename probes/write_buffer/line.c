/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write-buffer: the times of writes that fit lie on a line over their sizes.
 * Where does it begin, and how far does it go?
 */
#include "probes/write_buffer/write_buffer.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

/* Log. A write leaves the line if it surely lies 5 % above it, and stays if it
 * surely lies less than 10 % above. */
static const double leave_low = 0.05, stay_high = 0.10;
/* Log. No error of the slope makes a write faster than the line by this (a
 * third). */
static const double below_least = 0.4;
static const uint64_t largest_bytes = 8 * MIB;

/* Log ratios of a write of a size to the reference. False: some were asked for
 * and must be measured first. */
static bool ask_size(struct buffer_probe *state, uint64_t size_bytes,
                     uint32_t rounds, double ratios[])
{
    struct contrast contrast =
        buffer_compare(BUFFER_WRITE_TIME, size_bytes, state->reference_bytes,
                       buffer_repeats(state, size_bytes), SIDE_OPEN);

    return study_ask_ratios(&state->study, buffer_phase(state, "line"),
                            &contrast, rounds, ratios);
}

void buffer_refit(struct buffer_fit *fit)
{
    fit->line = line_fit(fit->sizes, fit->times, fit->count);
}

/* The time that the host's further requests add. */
static double parts_time(const struct buffer_fit *fit, uint64_t size_bytes)
{
    return fit->part_time *
           (double)(buffer_parts(size_bytes, fit->part_bytes) - 1);
}

static void add_fast(struct buffer_fit *fit, uint64_t size_bytes,
                     double log_ratio)
{
    if (fit->count == BUFFER_FAST_MAX)
        return;
    fit->sizes[fit->count] = (double)size_bytes;
    fit->times[fit->count++] = exp(log_ratio) - parts_time(fit, size_bytes);
    buffer_refit(fit);
}

double buffer_expected_log(const struct buffer_fit *fit, uint64_t size_bytes)
{
    return log(fit->line.intercept + fit->line.slope * (double)size_bytes +
               parts_time(fit, size_bytes));
}

/* Rounds for a median that is known to about 1 %: from 12 to 128. */
static uint32_t rounds_for(double spread)
{
    double need = ceil(pow(1.2533 * spread / 0.012, 2));

    return need < 12 ? 12 : need > 128 ? 128 : (uint32_t)need;
}

/* Measures the small sizes in `rounds` rounds. Returns the spread of one log
 * ratio. */
static double
measure_small(struct buffer_probe *state,
              const uint64_t sizes_bytes[BUFFER_SMALL_SIZES], uint32_t rounds,
              double ratios[BUFFER_SMALL_SIZES][CONTRAST_ROUNDS_MAX])
{
    double spreads[BUFFER_SMALL_SIZES];
    bool all = true;

    for (int i = 0; i < BUFFER_SMALL_SIZES; i++)
        all &= ask_size(state, sizes_bytes[i], rounds, ratios[i]);
    if (!all)
        study_leave(&state->study);
    for (int i = 0; i < BUFFER_SMALL_SIZES; i++)
        spreads[i] = stats_spread(ratios[i], rounds);
    return stats_median(spreads, BUFFER_SMALL_SIZES) + 1e-3;
}

static bool is_straight(const struct buffer_fit *fit)
{
    double error = 3 * 1.2533 * fit->spread / sqrt((double)fit->rounds_count);

    for (size_t i = 0; i < fit->count; i++) {
        double off = log(fit->times[i]) -
                     buffer_expected_log(fit, (uint64_t)fit->sizes[i]);
        if (fabs(off) > 0.08 + error)
            return false;
    }
    return true;
}

bool buffer_fit_small(struct buffer_probe *state,
                      const uint64_t sizes_bytes[BUFFER_SMALL_SIZES],
                      struct buffer_fit *fit)
{
    double ratios[BUFFER_SMALL_SIZES][CONTRAST_ROUNDS_MAX];
    uint32_t rounds = rounds_for(measure_small(state, sizes_bytes, 12, ratios));

    fit->spread = measure_small(state, sizes_bytes, rounds, ratios);
    fit->rounds_count = rounds;
    fit->count = 0;
    for (int i = 0; i < BUFFER_SMALL_SIZES; i++)
        add_fast(fit, sizes_bytes[i], stats_median(ratios[i], rounds));
    fit->small_count = fit->count;
    fit->largest_small_bytes = sizes_bytes[BUFFER_SMALL_SIZES - 1];
    return is_straight(fit);
}

/* Does a write of this size stay on the line? `*excess`: how far it lies above
 * (log). */
static enum buffer_stay stays(struct buffer_probe *state,
                              const struct buffer_fit *fit, uint64_t size_bytes,
                              double *excess, double *median)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    uint32_t most = 2 * (fit->rounds_count > 24 ? fit->rounds_count : 24);

    for (uint32_t rounds = 12;; rounds += 12) {
        if (!ask_size(state, size_bytes, rounds, ratios))
            study_leave(&state->study);
        double spread = fmax(stats_spread(ratios, rounds), 0.7 * fit->spread);
        double error = 1.2533 * spread / sqrt((double)rounds);
        *median = stats_median(ratios, rounds);
        *excess = *median - buffer_expected_log(fit, size_bytes);
        if (*excess - 4 * error > leave_low)
            return BUFFER_SLOW;
        if (*excess + 4 * error < -below_least)
            return BUFFER_BELOW;
        if (*excess + 3 * error < stay_high)
            return BUFFER_FAST;
        if (rounds + 12 > most || rounds + 12 > CONTRAST_ROUNDS_MAX)
            return BUFFER_UNSURE;
    }
}

/* Twice the size. But `most_bytes` is tried before anything longer. */
static uint64_t next_size(uint64_t size_bytes, uint64_t most_bytes)
{
    return size_bytes < most_bytes && 2 * size_bytes > most_bytes
               ? most_bytes
               : 2 * size_bytes;
}

enum buffer_stay buffer_gallop(struct buffer_probe *state,
                               struct buffer_fit *fit, uint64_t *low_bytes,
                               uint64_t *high_bytes, double *excess)
{
    const uint64_t most = smaller_of(
        state->study.setting.region_length_bytes / 16, largest_bytes);
    double median;

    *low_bytes = fit->largest_small_bytes;
    *high_bytes = most;
    /* Writes to random places cost much: is there an edge at all? */
    if (state->second) {
        enum buffer_stay stay = stays(state, fit, most, excess, &median);
        if (stay != BUFFER_SLOW)
            return stay == BUFFER_BELOW ? BUFFER_UNSURE : stay;
    }
    for (uint64_t size = 2 * *low_bytes; size <= most;
         size = next_size(size, most)) {
        enum buffer_stay stay = stays(state, fit, size, excess, &median);
        if (stay == BUFFER_BELOW) {
            *high_bytes = size;
            return stay;
        }
        if (stay == BUFFER_FAST) {
            add_fast(fit, size, median);
            /* The low end is the size before this one. The line was fitted to
             * this size too, so it may hide an edge just below. */
            *low_bytes = size / 2;
            continue;
        }
        /* The edge is real only if twice the size is slow as well. */
        double further;
        enum buffer_stay twice = stays(state, fit, 2 * size, &further, &median);
        if (twice == BUFFER_UNSURE)
            return twice;
        if (twice != BUFFER_SLOW)
            continue;
        *high_bytes = stay == BUFFER_SLOW ? size : 2 * size;
        *excess = stay == BUFFER_SLOW ? *excess : further;
        return BUFFER_SLOW;
    }
    *high_bytes = most;
    return BUFFER_FAST;
}
