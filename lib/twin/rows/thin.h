/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_THIN_H
#define SSDPROBE_TWIN_THIN_H

#include "lib/twin/rows/rows.h"

/* How much is kept of what a probe asks of one kind at one depth. */
struct twin_thinning {
    size_t keep_count; /* rows at most */
    size_t run_count;  /* rows that stay together, for what they leave behind
                          in the drive matters to the next */
    /* So many steps of a replay at most, 4 KiB being one, but never fewer rows
     * than twin_thin_least; 0: as many as there are. */
    uint64_t steps_max;
};

/* So many rows at least: what they leave behind in the drive is what most of
 * the structure shows by. */
extern const size_t twin_thin_least;

/*
 * Some rows of each probe, kind and depth, in runs that lie evenly over them,
 * with their order and the pauses between them. A run begins where nothing is
 * under way. What lies between two runs is not sent at all; rows that are held
 * are sent, but have no weight. `thin` may have no row; it is freed with
 * twin_rows_free(). 0 or -ENOMEM.
 */
int twin_thin(const struct twin_rows *rows, const struct twin_thinning *how,
              struct twin_rows *thin);

#endif
