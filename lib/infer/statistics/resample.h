/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_RESAMPLE_H
#define SSDPROBE_INFER_RESAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/infer/statistics/stats.h"

/*
 * What a number could have been had other parts of the same measurement come:
 * as many parts are drawn again, with repetition (Efron 1979). Parts are blocks
 * of time, since what holds up one request holds up all that are under way.
 */
enum { RESAMPLE_DRAWS = 300, RESAMPLE_PARTS_MAX = 256 };

/* The middle `share` of the means. count is 1 or more. */
struct interval resample_mean(const double values[], size_t count, double share,
                              uint64_t seed);

/*
 * The value that `above` of all pass, and the middle `share` of what it could
 * have been, which holds what each third of the items says. Items
 * are in order of time, with their values; each of `parts` equal parts (at most
 * RESAMPLE_PARTS_MAX) is drawn as a whole. They end sorted, the largest first.
 */
struct resample_item {
    double value;
    size_t part; /* set here */
};
struct resample_upper {
    double value;
    struct interval interval;
};
struct resample_upper resample_upper(struct resample_item items[], size_t count,
                                     size_t parts, double above, double share,
                                     uint64_t seed);

#endif
