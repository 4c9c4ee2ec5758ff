/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/oracle/seen.h"

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

static const uint64_t small_bytes = 4 * KIB;

/* The time of one request of a size, as line.h has it. */
static uint64_t cost_once(struct bench *bench, enum flash_operation operation,
                          uint64_t length_bytes)
{
    const struct line_place place =
        line_place(operation == FLASH_READ ? LINE_READS : LINE_WRITES, 0,
                   bench->drive->capacity_bytes, &bench->random);

    if (operation == FLASH_READ) {
        bench_act(bench, FLASH_READ, place.nearby_bytes, small_bytes);
        return bench_act(bench, FLASH_READ, place.at_bytes, length_bytes);
    }
    bench_write_flushed(bench, place.at_bytes,
                        (1 + random_below(&bench->random, 4)) * small_bytes);
    return bench_write_flushed(bench, place.at_bytes, length_bytes);
}

enum { BATCHES = 16, BATCH_PLACES = 24, COST_PLACES = BATCHES * BATCH_PLACES };
/* Reads of 4 KiB stand behind the sizes. */
enum { SMALL = LINE_SIZES, ROWS = LINE_SIZES + 1 };

/* The times by size, in the order of the places; those that are longer than
 * `longest_ns` are left out. */
struct visits {
    enum flash_operation operation;
    uint64_t sizes[ROWS];
    double ns[ROWS][COST_PLACES], longest_ns[ROWS];
};

/* A line through the times of some of the places. */
struct fit {
    struct line line;
    struct line_begin begin; /* of reads */
    double off, slope_low, slope_high;
    size_t sizes_count; /* on the line, or all */
};

/* Sorts the times of some places that are not left out; how many there are. */
static size_t sort_kept(const struct visits *visits, int row, size_t first,
                        size_t count, double sorted[COST_PLACES])
{
    memcpy(sorted, &visits->ns[row][first], count * sizeof(sorted[0]));
    qsort(sorted, count, sizeof(sorted[0]), compare_doubles);
    return line_kept(sorted, count, visits->longest_ns[row]);
}

static struct fit fit_line(const struct visits *visits, size_t first,
                           size_t count)
{
    double sorted[COST_PLACES], times[ROWS];
    struct fit fit;

    for (int i = 0; i < ROWS; i++) {
        const size_t kept = sort_kept(visits, i, first, count, sorted);
        times[i] = line_middle_mean(sorted, kept);
    }
    fit.sizes_count = LINE_SIZES;
    fit.line = line_of_sizes(visits->sizes, times, LINE_SIZES, &fit.off);
    /* See line_of_sizes(). */
    for (size_t few = LINE_SIZES; visits->operation == FLASH_WRITE &&
                                  fit.off >= off_least &&
                                  few > LINE_SIZES_LEAST;) {
        double off;
        const struct line line =
            line_of_sizes(visits->sizes, times, --few, &off);
        if (off >= off_least)
            continue;
        fit.line = line;
        fit.off = off;
        fit.sizes_count = few;
    }
    fit.begin = line_begin(&fit.line, times[SMALL], visits->sizes[0], times[0]);
    line_slopes_without_one(visits->sizes, times, fit.sizes_count,
                            &fit.slope_low, &fit.slope_high);
    return fit;
}

/* Writes that merge are left out, see line_longest(). */
static void leave_out(struct visits *visits, enum flash_operation operation)
{
    double values[LINE_SIZES][COST_PLACES];
    const double *sorted[LINE_SIZES];

    for (int i = 0; i < ROWS; i++)
        visits->longest_ns[i] = INFINITY;
    if (operation == FLASH_READ)
        return;
    for (int i = 0; i < LINE_SIZES; i++) {
        sort_kept(visits, i, 0, COST_PLACES, values[i]);
        sorted[i] = values[i];
    }
    line_longest(sorted, COST_PLACES, visits->longest_ns);
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

static bool depends_on_place(const struct visits *visits, size_t sizes_count)
{
    double values[LINE_SIZES][COST_PLACES];
    const double *sorted[LINE_SIZES];
    size_t counts[LINE_SIZES];

    for (int i = 0; i < LINE_SIZES; i++) {
        counts[i] = sort_kept(visits, i, 0, COST_PLACES, values[i]);
        sorted[i] = values[i];
    }
    return line_depends_on_place(visits->sizes, sorted, counts, sizes_count,
                                 depends_most);
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

static void visit(struct bench *bench, enum flash_operation operation,
                  struct visits *visits)
{
    const size_t rows = operation == FLASH_READ ? ROWS : LINE_SIZES;
    size_t order[ROWS];

    visits->operation = operation;
    line_sizes(bench->drive->request_limit_bytes, visits->sizes);
    visits->sizes[SMALL] = small_bytes;
    for (size_t j = 0; j < COST_PLACES; j++) {
        random_order(&bench->random, order, rows);
        for (size_t i = 0; i < rows; i++)
            visits->ns[order[i]][j] =
                (double)cost_once(bench, operation, visits->sizes[order[i]]);
        /* No begin is asked of writes. */
        if (operation != FLASH_READ)
            visits->ns[SMALL][j] = visits->ns[0][j];
    }
    leave_out(visits, operation);
}

static bool overhead_is_seen(const struct fit *fit, double visits_count,
                             const double overheads[BATCHES])
{
    const double overhead = line_overhead_ns(&fit->begin, 0);
    const double share = overhead / (overhead + fit->line.slope);

    return fit->off < off_least && share >= part_least &&
           error_of(overheads, overhead, share, visits_count) <= error_most;
}

static bool data_is_seen(const struct visits *visits, const struct fit *fit,
                         double visits_count, const double slopes[BATCHES])
{
    const double slope = fit->line.slope;
    const double data = slope * (double)visits->sizes[fit->sizes_count - 1] /
                        (double)small_bytes;
    const double share = data / (fit->line.intercept + data);
    /* Of points on no line each may be the one that is off. */
    const bool is_known =
        fit->off < off_least || (fit->slope_low >= (1 - depends_most) * slope &&
                                 fit->slope_high <= (1 + depends_most) * slope);

    return is_known && share >= part_least &&
           !depends_on_place(visits, fit->sizes_count) &&
           error_of(slopes, slope, share, visits_count) <= error_most;
}

void oracle_costs(struct bench *bench, enum flash_operation operation,
                  struct costs *costs)
{
    double overheads[BATCHES], slopes[BATCHES];
    struct visits visits;

    const uint64_t begin_ns = bench->now_ns;
    visit(bench, operation, &visits);
    for (size_t i = 0; i < BATCHES; i++) {
        const struct fit batch =
            fit_line(&visits, i * BATCH_PLACES, BATCH_PLACES);
        overheads[i] = line_overhead_ns(&batch.begin, 0);
        slopes[i] = batch.line.slope;
    }
    const struct fit fit = fit_line(&visits, 0, COST_PLACES);
    const double count = visits_of(operation, bench->now_ns - begin_ns);
    costs->overhead_ns = line_overhead_ns(&fit.begin, 0);
    costs->data_ns = fit.line.slope;
    costs->overhead_seen = overhead_is_seen(&fit, count, overheads);
    costs->data_seen = data_is_seen(&visits, &fit, count, slopes);
}
