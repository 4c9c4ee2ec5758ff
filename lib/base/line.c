/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/line.h"

#include <math.h>

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
    const uint64_t grain = 4096, most = 64 * grain;
    uint64_t largest = request_limit_bytes;

    if (largest > most || largest == 0)
        largest = most;
    uint64_t eighth = largest / 8 / grain * grain;
    for (int i = 0; i < LINE_SIZES; i++)
        sizes_bytes[i] = (eighth ? eighth : grain) * eighths[i];
}

struct line line_of_sizes(const uint64_t sizes_bytes[LINE_SIZES],
                          const double times_ns[LINE_SIZES], double *off)
{
    double x[LINE_SIZES];

    for (int i = 0; i < LINE_SIZES; i++)
        x[i] = (double)sizes_bytes[i] / 4096;
    struct line line = line_fit(x, times_ns, LINE_SIZES);
    *off = 0;
    for (int i = 0; i < LINE_SIZES; i++)
        *off =
            fmax(*off,
                 fabs(log(times_ns[i] / (line.intercept + line.slope * x[i]))));
    return line;
}

bool line_depends_on_place(const uint64_t sizes_bytes[LINE_SIZES],
                           const double *const sorted_ns[LINE_SIZES],
                           size_t count, double share)
{
    static const double shares[2] = {0.15, 0.35};
    double times[LINE_SIZES], off, slopes[2];

    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < LINE_SIZES; j++)
            times[j] = line_trimmed_mean(sorted_ns[j], count, shares[i]);
        slopes[i] = line_of_sizes(sizes_bytes, times, &off).slope;
    }
    return fabs(slopes[0] - slopes[1]) > share * fmin(slopes[0], slopes[1]);
}
