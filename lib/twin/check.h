/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_CHECK_H
#define SSDPROBE_TWIN_CHECK_H

#include "lib/twin/fit.h"
#include "lib/twin/held.h"

/*
 * How much of what was measured does the twin explain? To beat the null model
 * is not enough: the least bad of many wrong drives does that, too.
 */

/* One kind of request in one probe, for the figure. */
struct twin_kind_fit {
    const char *probe;
    enum operation operation;
    uint64_t length_bytes;
    size_t rows_count;
    double observed_ns, predicted_ns; /* the middle of each */
};
enum { TWIN_KINDS_MAX = 512 };

struct twin_check {
    struct twin_error errors[TWIN_ERRORS_MAX]; /* of the rows that are held */
    size_t errors_count;
    struct twin_kind_fit kinds[TWIN_KINDS_MAX];
    size_t kinds_count;
    /* The share of the variance of the logarithms of times, at most 1 each so
     * that single stalls do not decide; 0: no better than one time for all.
     * What noise adds cannot be explained. */
    double explained_share;
    bool explains;
    char reason[200]; /* why not; empty where it does */
};

/* Replays all rows, and sets the twin's noise by them. `rows` must outlive
 * `check`. 0, -ENOMEM, or what twin_replay() says. */
int twin_check(const struct twin_rows *rows, struct twin *twin,
               struct twin_check *check, struct fault *why);

#endif
