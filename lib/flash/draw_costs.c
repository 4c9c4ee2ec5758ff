/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/draw_seen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A part of the time of a request that is less is lost beside the rest; times
 * that are farther from their line than this have none. As with what follows:
 * what lies near the limits of a probe may be seen or not, and is not asked. */
static const double part_least = 0.22, off_least = 0.08;
/* A part must be known within this (a standard error) from as many places as a
 * probe visits: it ends after 240, and writes once a minute has passed, which
 * is looked at after 36 places and then 54, the fewest that will do. Single
 * times vary by so much on any drive. */
static const double error_most = 0.02, times_vary = 0.05;
/* A slope may depend by so much on what is left out, see line.h. */
static const double depends_most = 0.05;
static const double visits_most = 240, visits_least = 54,
                    visits_before_last = 36, visits_longest_ns = 60e9;

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The time of one request of a size, as line.h has it. */
static uint64_t cost_once(struct bench *bench, enum flash_operation operation,
                          uint64_t length_bytes)
{
    const uint64_t pitch = 4 * MIB, small = 4 * KIB;
    uint64_t choices = bench->drive->capacity_bytes / pitch;
    uint64_t place = random_below(&bench->random, choices) * pitch;

    if (operation == FLASH_READ) {
        bench_act(bench, FLASH_READ, place + pitch / 2, small);
        return bench_act(bench, FLASH_READ, place, length_bytes);
    }
    bench_write_flushed(bench, place,
                        (1 + random_below(&bench->random, 4)) * small);
    return bench_write_flushed(bench, place, length_bytes);
}

enum { BATCHES = 16, BATCH_PLACES = 24, COST_PLACES = BATCHES * BATCH_PLACES };

static struct line fit_line(const uint64_t sizes[LINE_SIZES],
                            double single[LINE_SIZES][COST_PLACES],
                            size_t first, size_t count, double *off)
{
    double sorted[COST_PLACES], times[LINE_SIZES];

    for (int i = 0; i < LINE_SIZES; i++) {
        memcpy(sorted, &single[i][first], count * sizeof(sorted[0]));
        qsort(sorted, count, sizeof(sorted[0]), compare_doubles);
        times[i] = line_middle_mean(sorted, count);
    }
    return line_of_sizes(sizes, times, off);
}

/* The error of what `visits` places say of a part of the times that is `share`
 * of them, as a share of `value`: places differ, as the batches do, and times
 * vary. */
static double error_of(const double batches[BATCHES], double value,
                       double share, double visits)
{
    const double of_median = 1.25; /* times that of a mean */
    double mean = 0, sum = 0;

    for (int i = 0; i < BATCHES; i++)
        mean += batches[i] / BATCHES;
    for (int i = 0; i < BATCHES; i++)
        sum += (batches[i] - mean) * (batches[i] - mean);
    double places = sqrt(sum / (BATCHES - 1) * BATCH_PLACES / visits) / value;
    double noise = of_median * times_vary / share / sqrt(visits);
    return sqrt(places * places + noise * noise);
}

static bool depends_on_place(const uint64_t sizes[LINE_SIZES],
                             double single[LINE_SIZES][COST_PLACES])
{
    const double *sorted[LINE_SIZES];

    for (int i = 0; i < LINE_SIZES; i++) {
        qsort(single[i], COST_PLACES, sizeof(single[i][0]), compare_doubles);
        sorted[i] = single[i];
    }
    return line_depends_on_place(sizes, sorted, COST_PLACES, depends_most);
}

/* How many places a probe visits, of which all took so long here; NAN: fewer
 * than will do. */
static double visits_of(enum flash_operation operation, uint64_t elapsed_ns)
{
    double all = visits_longest_ns * COST_PLACES / (double)elapsed_ns;

    if (operation == FLASH_READ)
        return visits_most;
    if (all < visits_before_last)
        return NAN;
    return fmax(visits_least, fmin(visits_most, all));
}

void draw_costs(struct bench *bench, enum flash_operation operation,
                struct costs *costs)
{
    double single[LINE_SIZES][COST_PLACES];
    double overheads[BATCHES], slopes[BATCHES], off, any;
    uint64_t sizes[LINE_SIZES];
    size_t order[LINE_SIZES];

    uint64_t begin_ns = bench->now_ns;
    line_sizes(bench->drive->request_limit_bytes, sizes);
    for (size_t j = 0; j < COST_PLACES; j++) {
        random_order(&bench->random, order, LINE_SIZES);
        for (size_t i = 0; i < LINE_SIZES; i++)
            single[order[i]][j] =
                (double)cost_once(bench, operation, sizes[order[i]]);
    }
    for (size_t i = 0; i < BATCHES; i++) {
        struct line line =
            fit_line(sizes, single, i * BATCH_PLACES, BATCH_PLACES, &any);
        overheads[i] = line.intercept;
        slopes[i] = line.slope;
    }
    costs->line = fit_line(sizes, single, 0, COST_PLACES, &off);
    double overhead = costs->line.intercept, slope = costs->line.slope;
    double visits = visits_of(operation, bench->now_ns - begin_ns);
    double first = slope * (double)sizes[0] / (4 * KIB);
    double last = slope * (double)sizes[LINE_SIZES - 1] / (4 * KIB);
    double overhead_share = overhead / (overhead + first);
    double data_share = last / (overhead + last);
    costs->overhead_seen =
        off < off_least && overhead_share >= part_least &&
        error_of(overheads, overhead, overhead_share, visits) <= error_most;
    costs->data_seen =
        data_share >= part_least && !depends_on_place(sizes, single) &&
        error_of(slopes, slope, data_share, visits) <= error_most;
}
