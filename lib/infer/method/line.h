/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_LINE_H
#define SSDPROBE_INFER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/random.h"

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
 * of a few sizes, in units of 4 KiB. It begins at the overhead of a request,
 * its slope is what each 4 KiB adds. One definition for the probe that measures
 * it and the model that states it:
 *
 *   sizes   line_sizes()
 *   reads   each after one of 4 KiB that is 2 MiB away
 *   writes  each with its flush, after a write of 4 to 16 KiB (and a flush) to
 *           the same place, which has opened its log
 *   places  line_place(), the sizes in turn, in random order
 *   time    line_middle_mean() of each size; of writes, of those that are no
 *           longer than line_longest()
 *   begin   line_begin(), from reads of 4 KiB in turn with the sizes
 */
enum { LINE_SIZES = 6 };

enum line_kind { LINE_READS, LINE_WRITES };

struct line_place {
    uint64_t at_bytes;     /* of the request that is measured */
    uint64_t nearby_bytes; /* of the read before it */
};

/*
 * A place at random from `offset_bytes` on, of `length_bytes` (8 MiB or more),
 * with room for the largest size. In which part of a block it lies is left to
 * chance, for blocks of a drive that was filled in order begin at multiples of
 * their length, and their first pages may take another time than the rest.
 * Reads begin at multiples of 32 KiB, which few pages exceed. Writes begin at
 * multiples of 256 KiB, so that they neither cover a part of a page nor run
 * over the end of a block; which page of a log they reach is left to the write
 * before them.
 */
struct line_place line_place(enum line_kind kind, uint64_t offset_bytes,
                             uint64_t length_bytes, struct random *random);

/* From an eighth of the largest size to all of it; that is 256 KiB, or what
 * the device takes in one request. */
void line_sizes(uint64_t request_limit_bytes, uint64_t sizes_bytes[LINE_SIZES]);

/* Fewer of the sizes are no line. */
enum { LINE_SIZES_LEAST = 4 };

/* The line through the times of the first `sizes_count` of those sizes (2 or
 * more), and the largest distance of one of them from it, as a logarithm. Of
 * writes, the largest sizes may never fit in what is left of a log, and so lie
 * off the line of the rest: a caller who finds none leaves them out one by
 * one. */
struct line line_of_sizes(const uint64_t sizes_bytes[LINE_SIZES],
                          const double times_ns[LINE_SIZES], size_t sizes_count,
                          double *off);

/*
 * What takes longer than `longest_ns` of its size did more than write its data:
 * it merged a log. A merge copies a block and takes longer than a write of the
 * largest size: than two of half of it, for the largest may always merge. By so
 * much a write exceeds the quick ones of its size, which are the lowest
 * quarter; where more of them merge, nothing is told apart. The times of each
 * size, `count` of them, are sorted.
 */
void line_longest(const double *const sorted_ns[LINE_SIZES], size_t count,
                  double longest_ns[LINE_SIZES]);

/* How many of the sorted times are no longer than that: 1 or more. */
size_t line_kept(const double sorted_ns[], size_t count, double longest_ns);

/* The lowest and the highest slope of the lines that pass over one size each:
 * by so much the slope depends on a point that may lie on no line. */
void line_slopes_without_one(const uint64_t sizes_bytes[LINE_SIZES],
                             const double times_ns[LINE_SIZES],
                             size_t sizes_count, double *lowest,
                             double *highest);

/*
 * What a request costs before its data: the time of one of 4 KiB, `small_ns`,
 * without what 4 KiB of data cost. By the line that is its slope. Where 4 KiB
 * lie off the line, it may as well be what a unit costs between 4 KiB and the
 * smallest of the sizes: the true one is between `low_ns` and `high_ns`.
 */
struct line_begin {
    double by_line_ns, low_ns, high_ns; /* 0 or more */
    double
        off; /* of 4 KiB from the line, as a logarithm: above 0 it is slower */
};

struct line_begin line_begin(const struct line *line, double small_ns,
                             uint64_t first_size_bytes, double first_size_ns);

/* Are 4 KiB off the line, whose distance from it has that standard error? */
bool line_begins_elsewhere(const struct line_begin *begin, double error);

/* What 4 KiB take without their data: by the line, or in the middle of what it
 * may be. */
double line_overhead_ns(const struct line_begin *begin, double error);

/*
 * Do the times of a size depend on the place so much that the slope depends on
 * how many of the extreme ones are left out, by this share? Around the quarter
 * that line_middle_mean() leaves out: three twentieths at each end, or seven.
 * Then it is no property of the drive.
 * The times of each size, counts[i] of them, are sorted.
 */
bool line_depends_on_place(const uint64_t sizes_bytes[LINE_SIZES],
                           const double *const sorted_ns[LINE_SIZES],
                           const size_t counts[LINE_SIZES], size_t sizes_count,
                           double share);

#endif
