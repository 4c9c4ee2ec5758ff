/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_HELD_H
#define SSDPROBE_TWIN_HELD_H

#include "lib/flash/drive/drive.h"
#include "lib/twin/rows/rows.h"

/*
 * The twin states its own error. Rows that no fit has seen show it, by kind of
 * question and depth: how far the mean and the 99th percentile of the
 * predictions lie from those measured. Distributions are compared, not single
 * requests: no row tells where in its turn a drive stood.
 */

struct twin_error {
    enum twin_kind kind;
    unsigned depth; /* 1, 4, 16 or 64: the nearest to that of the rows */
    size_t rows_count;
    /* 0.1: a tenth longer or shorter. `mean_off`: of requests of one length and
     * probe, without the slowest fiftieth, as the mean over those. */
    double mean_off;
    double p99_off; /* above 0: the twin's is longer; NAN: too few rows */
    bool explains;  /* mean_off is within twin_off_most and each cell of many
                      rows within twin_off_worst; and deeper writes as well */
};

enum { TWIN_ERRORS_MAX = TWIN_DEPTHS_COUNT * TWIN_KINDS_COUNT };
extern const double twin_off_most, twin_off_worst;

/*
 * `predicted_ns` are those of all rows, `noise` the drive whose noise is drawn
 * for the 99th percentile. Kinds with too few rows are left out. 0 or -ENOMEM.
 */
int twin_errors(const struct twin_rows *rows, const uint32_t predicted_ns[],
                const struct drive *noise, struct twin_error errors[],
                size_t *errors_count);

/* "write at depth 16, mixed at depth 4": the kinds that are not explained. */
void twin_unexplained(const struct twin_error errors[], size_t errors_count,
                      char *text, size_t size);

#endif
