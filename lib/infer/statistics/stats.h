/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_STATS_H
#define SSDPROBE_INFER_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/infer/method/line.h"

/*
 * Robust statistics of small samples. No function allocates; those that sort do
 * it in place where `values` is not const. Counts are at least 1 unless said
 * otherwise; values are finite.
 */

enum {
    STATS_MAX = 1024,      /* most values a const function takes, */
    STATS_RANKED_MAX = 128 /* but for the signed-rank test */
};

void stats_sort(double values[], size_t count);

/* Middle value, or the mean of the two middle ones. count <= STATS_MAX. */
double stats_median(const double values[], size_t count);

/*
 * Mean of the lower half (the middle one included). Cleaning, merges and host
 * stalls only ever add time, so what a request costs by itself is in the lower
 * half. count <= STATS_MAX.
 */
double stats_lower_half_mean(const double values[], size_t count);

/* Median absolute deviation, scaled to the standard deviation of a normal
 * distribution. count <= STATS_MAX. */
double stats_spread(const double values[], size_t count);

/*
 * Exact interval for a median from order statistics (no assumption of shape):
 * the largest k such that P(Binomial(count, 1/2) < k) <= alpha; the interval is
 * then [x(k), x(count + 1 - k)] and errs with at most alpha on each side. 0
 * when count is too small for alpha.
 */
size_t stats_median_rank(size_t count, double alpha);

struct interval {
    double low, high;
};

/* That interval; -inf to +inf when count is too small. count <= STATS_MAX. */
struct interval stats_median_interval(const double values[], size_t count,
                                      double alpha);

/* P(Binomial(count, 1/2) >= hits): the exact one-sided sign test. */
double stats_sign_test(size_t hits, size_t count);

/*
 * Exact one-sided signed-rank test (Wilcoxon 1945): the chance that values
 * which lie symmetrically about 0 would lie as far above it as these do. Where
 * they are symmetric, as the logarithm of the ratio of two costs with the same
 * noise is, it needs fewer of them than the sign test. Of equal sizes those
 * below 0 rank higher. count <= STATS_RANKED_MAX.
 */
double stats_signed_rank_test(const double values[], size_t count);

/* Standard normal distribution function. */
double stats_normal_cdf(double z);

#endif
