/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_CAPACITY_H
#define SSDPROBE_PROBES_CAPACITY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/infer/study.h"

/* What the files of the capacity probe share: where markers are (places), what
 * is written and read (capacity). */

enum {
    CAPACITY_PAIRS_MAX = 48, /* powers of two */
    CAPACITY_GRID_MAX = 512, /* few: a place costs some drives half a second */
    CAPACITY_MARKS_MAX = 2 * CAPACITY_PAIRS_MAX + CAPACITY_GRID_MAX + 2
};

enum capacity_what {
    CAPACITY_ALONE, /* nothing is written a power of two behind it */
    CAPACITY_NEAR,  /* a place, */
    CAPACITY_GRID,  /* one of an even spread, or the last of the region */
    CAPACITY_FAR    /* and one 2^power bytes behind a near one */
};

struct capacity_mark {
    enum capacity_what what;
    uint32_t power; /* of near and far ones */
    uint64_t offset_bytes;
};

/* Marks in the order in which they are written: near ones before all that may
 * fall on them. */
struct capacity_layout {
    uint64_t unit_bytes; /* of a mark */
    struct capacity_mark marks[CAPACITY_MARKS_MAX];
    uint32_t marks_count;
    /* What is written behind them, so that no cache holds them any more. It
     * leaves out the pieces in which marks are. */
    uint64_t fill_bytes, fill_offset_bytes, piece_bytes;
};

void capacity_lay_out(const struct setting *setting,
                      struct capacity_layout *layout);

/* Is there a mark in this part? */
bool capacity_has_mark(const struct capacity_layout *layout,
                       uint64_t offset_bytes, uint64_t length_bytes);

#endif
