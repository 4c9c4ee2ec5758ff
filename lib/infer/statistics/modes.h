/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_MODES_H
#define SSDPROBE_INFER_MODES_H

#include <stdbool.h>
#include <stddef.h>

/* The two modes of a sample. */
struct modes {
    size_t split;     /* the first value of the upper one */
    double low, high; /* the middle value of each */
    double error; /* chance of such a dip in a sample of one mode, at most */
};

/*
 * Has a sample in rising order two modes, each with at least `share_least` of
 * the values? By its dip (error rate `alpha`, 0.0001 or more) and its best
 * split in two; a handful of outliers is no mode. count from 4 to DIP_MAX.
 * False also where there is no memory.
 */
bool modes_find(const double sorted[], size_t count, double share_least,
                double alpha, struct modes *modes);

#endif
