/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_LINE_H
#define SSDPROBE_BASE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* y = intercept + slope x */
struct line {
    double intercept, slope;
};

/*
 * By least squares of the relative residuals, both kept from being negative
 * (neither is, for a cost). count >= 2, y > 0.
 */
struct line line_fit(const double x[], const double y[], size_t count);

/* Mean of `values` without this share at each end, at least 0 and less than a
 * half; parts of values count as parts. Sorted, count >= 1. */
double line_trimmed_mean(const double sorted[], size_t count, double share);

/*
 * Mean of the middle half of `values`, which are sorted: a quarter off each
 * end, and parts of values where count is no multiple of four. Of values of
 * two kinds it is between them, where a median would be either. count >= 1.
 */
double line_middle_mean(const double sorted[], size_t count);

/*
 * What requests cost (Sun & Zhang 4.4): the line through the times of requests
 * of a few sizes, in units of 4 KiB. It begins at the overhead of a request, its
 * slope is what each 4 KiB adds. One definition for the probe that measures it
 * and the model that states it:
 *
 *   sizes   line_sizes()
 *   reads   each after one of 4 KiB that is 2 MiB further
 *   writes  each with its flush, after a write of 4 to 16 KiB (and a flush) to
 *           the same place, which has opened its log
 *   places  multiples of 4 MiB at random, the sizes in turn, in random order
 *   time    line_middle_mean() of each size
 */
enum { LINE_SIZES = 6 };

/* From an eighth of the largest size to all of it; that is 256 KiB, or what
 * the device takes in one request. */
void line_sizes(uint64_t request_limit_bytes, uint64_t sizes_bytes[LINE_SIZES]);

/* The line through the times of those sizes, and the largest distance of one
 * of them from it, as a logarithm. */
struct line line_of_sizes(const uint64_t sizes_bytes[LINE_SIZES],
                          const double times_ns[LINE_SIZES], double *off);

/*
 * Do the times of a size depend on the place so much that the slope depends on
 * how many of the extreme ones are left out, by this share? Around the quarter
 * that line_middle_mean() leaves out: three twentieths at each end, or seven.
 * Then it is no property of the drive.
 * The times of each size, `count` of them, are sorted.
 */
bool line_depends_on_place(const uint64_t sizes_bytes[LINE_SIZES],
                           const double *const sorted_ns[LINE_SIZES],
                           size_t count, double share);

#endif
