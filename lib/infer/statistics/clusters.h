/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_CLUSTERS_H
#define SSDPROBE_INFER_CLUSTERS_H

#include <stddef.h>

enum { CLUSTERS_MAX = 8 };

/*
 * The split of values in rising order into k groups with the least sum of
 * squared distances from the mean of each: k-means in one dimension, where the
 * best of all splits is found and not only a good one (H. Wang, M. Song, R
 * Journal 3, 2011). In O(k n log n), as the best begin of the last group never
 * moves down when values are added.
 *
 * Group i holds sorted[begins[i]] up to sorted[begins[i + 1] - 1], the last one
 * all up to the end; begins[0] is 0. 1 <= k <= CLUSTERS_MAX, k <= count.
 * Returns 0 or -ENOMEM; *squares, if wanted, is that sum.
 */
int clusters_split(const double sorted[], size_t count, size_t k,
                   size_t begins[], double *squares);

#endif
