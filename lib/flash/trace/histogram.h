/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_TRACE_HISTOGRAM_H
#define SSDPROBE_FLASH_TRACE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

/*
 * A distribution of times in memory that does not grow: 128 buckets for each
 * doubling, so a quantile is right within 0.8 %; count, mean and extremes are
 * exact. All zeros is an empty one.
 */

enum {
    HISTOGRAM_STEPS = 128, /* a doubling */
    HISTOGRAM_BUCKETS = HISTOGRAM_STEPS * 58
};

struct histogram {
    uint64_t counts[HISTOGRAM_BUCKETS];
    uint64_t count, least_ns, most_ns;
    uint64_t sum_low_ns, sum_high; /* 128 bits: no trace is too long */
};

void histogram_add(struct histogram *histogram, uint64_t ns);
double histogram_mean_ns(const struct histogram *histogram); /* 0 if empty */

/* The time that a share of all do not exceed; 0 if empty. */
uint64_t histogram_quantile_ns(const struct histogram *histogram, double share);

/* A coarser distribution for people: so many buckets a doubling (a power of
 * two, at most HISTOGRAM_STEPS), and how many fell into [low, high) of one. */
struct histogram_bucket {
    uint64_t low_ns, high_ns, count;
};

size_t histogram_coarse_count(size_t steps);
void histogram_coarse(const struct histogram *histogram, size_t steps,
                      size_t index, struct histogram_bucket *bucket);

#endif
