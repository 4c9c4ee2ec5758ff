/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/method/line.h"

#include <math.h>

static const uint64_t unit_bytes = 4096;
/* Places of different rounds are apart by blocks of the largest kind. */
static const uint64_t pitch_bytes = UINT64_C(4) << 20;
static const uint64_t largest_bytes = 64 * UINT64_C(4096);
/* See line_place(). */
static const uint64_t read_grain_bytes = UINT64_C(32) << 10;
static const uint64_t write_grain_bytes = UINT64_C(256) << 10;
/* Reads of 4 KiB may be that far off the line, as a logarithm, and be said to
 * be on it: a third of what a point of the line itself may be. */
static const double begin_off_most = 0.03;
/* What is off by this many standard errors is not so by chance. */
static const double errors_most = 3;

struct line line_fit(const double x[], const double y[], size_t count)
{
    double s = 0, sx = 0, sxx = 0, sy = 0, sxy = 0;
    double lowest_slope = INFINITY, lowest = INFINITY;

    for (size_t i = 0; i < count; i++) {
        double weight = 1 / (y[i] * y[i]);
        s += weight;
        sx += weight * x[i];
        sxx += weight * x[i] * x[i];
        sy += weight * y[i];
        sxy += weight * x[i] * y[i];
        if (y[i] < lowest)
            lowest = y[i];
        if (x[i] > 0 && y[i] / x[i] < lowest_slope)
            lowest_slope = y[i] / x[i];
    }
    double determinant = s * sxx - sx * sx;
    struct line line = {lowest, 0};
    if (determinant > 0) {
        line.slope = (s * sxy - sx * sy) / determinant;
        line.intercept = (sy - line.slope * sx) / s;
    }
    if (line.slope < 0)
        line = (struct line){sy / s, 0};
    if (line.intercept < 0)
        line = (struct line){0, sxx > 0 ? sxy / sxx : lowest_slope};
    return line;
}

double line_trimmed_mean(const double sorted[], size_t count, double share)
{
    double out = (double)count * share, sum = 0;

    for (size_t i = 0; i < count; i++) {
        double from = fmax((double)i, out);
        double to = fmin((double)i + 1, (double)count - out);
        sum += to > from ? (to - from) * sorted[i] : 0;
    }
    return sum / ((double)count - 2 * out);
}

double line_middle_mean(const double sorted[], size_t count)
{
    return line_trimmed_mean(sorted, count, 0.25);
}

void line_sizes(uint64_t request_limit_bytes, uint64_t sizes_bytes[LINE_SIZES])
{
    static const unsigned eighths[LINE_SIZES] = {1, 2, 3, 4, 6, 8};
    const uint64_t grain = unit_bytes, most = largest_bytes;
    uint64_t largest = request_limit_bytes;

    if (largest > most || largest == 0)
        largest = most;
    uint64_t eighth = largest / 8 / grain * grain;
    for (int i = 0; i < LINE_SIZES; i++)
        sizes_bytes[i] = (eighth ? eighth : grain) * eighths[i];
}

struct line line_of_sizes(const uint64_t sizes_bytes[LINE_SIZES],
                          const double times_ns[LINE_SIZES], size_t sizes_count,
                          double *off)
{
    double x[LINE_SIZES] = {0};

    for (size_t i = 0; i < sizes_count; i++)
        x[i] = (double)sizes_bytes[i] / (double)unit_bytes;
    struct line line = line_fit(x, times_ns, sizes_count);
    *off = 0;
    for (size_t i = 0; i < sizes_count; i++)
        *off =
            fmax(*off,
                 fabs(log(times_ns[i] / (line.intercept + line.slope * x[i]))));
    return line;
}

struct line_place line_place(enum line_kind kind, uint64_t offset_bytes,
                             uint64_t length_bytes, struct random *random)
{
    const uint64_t grain =
        kind == LINE_READS ? read_grain_bytes : write_grain_bytes;
    const uint64_t first = (offset_bytes + pitch_bytes - 1) / pitch_bytes;
    const uint64_t end = (offset_bytes + length_bytes) / pitch_bytes;
    const uint64_t slot =
        (first + random_below(random, end - first)) * pitch_bytes;
    const uint64_t inside =
        random_below(random, (pitch_bytes - largest_bytes) / grain + 1) * grain;

    return (struct line_place){
        .at_bytes = slot + inside,
        .nearby_bytes = slot + (inside + pitch_bytes / 2) % pitch_bytes};
}

void line_longest(const double *const sorted_ns[LINE_SIZES], size_t count,
                  double longest_ns[LINE_SIZES])
{
    const size_t quick = (count - 1) / 4;
    const int half = 3; /* see line_sizes() */

    for (int i = 0; i < LINE_SIZES; i++)
        longest_ns[i] = sorted_ns[i][quick] + 2 * sorted_ns[half][quick];
}

size_t line_kept(const double sorted_ns[], size_t count, double longest_ns)
{
    size_t kept = count;

    while (kept > 1 && sorted_ns[kept - 1] > longest_ns)
        kept--;
    return kept;
}

void line_slopes_without_one(const uint64_t sizes_bytes[LINE_SIZES],
                             const double times_ns[LINE_SIZES],
                             size_t sizes_count, double *lowest,
                             double *highest)
{
    *lowest = INFINITY;
    *highest = 0;
    for (size_t without = 0; without < sizes_count; without++) {
        double x[LINE_SIZES], y[LINE_SIZES];
        size_t count = 0;
        for (size_t i = 0; i < sizes_count; i++)
            if (i != without) {
                x[count] = (double)sizes_bytes[i] / (double)unit_bytes;
                y[count++] = times_ns[i];
            }
        const double slope = line_fit(x, y, count).slope;
        *lowest = fmin(*lowest, slope);
        *highest = fmax(*highest, slope);
    }
}

struct line_begin line_begin(const struct line *line, double small_ns,
                             uint64_t first_size_bytes, double first_size_ns)
{
    const double units = (double)first_size_bytes / (double)unit_bytes - 1;
    const double between =
        units > 0 ? fmax(first_size_ns - small_ns, 0) / units : line->slope;

    return (struct line_begin){
        .by_line_ns = fmax(small_ns - line->slope, 0),
        .low_ns = fmax(small_ns - fmax(line->slope, between), 0),
        .high_ns = small_ns - fmin(line->slope, between),
        .off = log(small_ns / (line->intercept + line->slope))};
}

bool line_begins_elsewhere(const struct line_begin *begin, double error)
{
    return fabs(begin->off) > begin_off_most + errors_most * error;
}

double line_overhead_ns(const struct line_begin *begin, double error)
{
    return line_begins_elsewhere(begin, error)
               ? (begin->low_ns + begin->high_ns) / 2
               : begin->by_line_ns;
}

bool line_depends_on_place(const uint64_t sizes_bytes[LINE_SIZES],
                           const double *const sorted_ns[LINE_SIZES],
                           const size_t counts[LINE_SIZES], size_t sizes_count,
                           double share)
{
    static const double shares[2] = {0.15, 0.35};
    double times[LINE_SIZES], off, slopes[2];

    for (int i = 0; i < 2; i++) {
        for (size_t j = 0; j < sizes_count; j++)
            times[j] = line_trimmed_mean(sorted_ns[j], counts[j], shares[i]);
        slopes[i] = line_of_sizes(sizes_bytes, times, sizes_count, &off).slope;
    }
    return fabs(slopes[0] - slopes[1]) > share * fmin(slopes[0], slopes[1]);
}
