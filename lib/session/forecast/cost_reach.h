/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_COST_REACH_H
#define SSDPROBE_SESSION_COST_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/sample.h"

/*
 * Estimates the block size and the number of log blocks from short writes. On a
 * drive with log blocks, a write to a block that has a log is quick, and a
 * write to any other block is slow because the drive merges first. The estimate
 * is the pair of block size and log count that best predicts which writes were
 * slow.
 */

/* Number of writes that are remembered; older ones are overwritten. */
enum { COST_REACH_MAX = 512 };

struct cost_reach_write {
    uint64_t offset_bytes, length_bytes;
    double ns;       /* write plus flush; 0: too long, or not flushed alone */
    double flush_ns; /* the flush's part of `ns` */
};

/* State. All zeros: no write was seen yet. */
struct cost_reach {
    struct cost_reach_write writes[COST_REACH_MAX]; /* a ring */
    size_t count;                                   /* writes recorded in all */
    /* last write, while its flush is pending */
    struct cost_reach_write open;
    bool is_open;
};

/* Records a measured request. Only writes of at most 16 KiB count that are
 * followed by a flush of their own. */
void cost_reach_learn(struct cost_reach *reach, const struct sample *sample);

/* Number of remembered writes, and the write at an index; the oldest has index
 * 0. */
size_t cost_reach_count(const struct cost_reach *reach);
const struct cost_reach_write *cost_reach_at(const struct cost_reach *reach,
                                             size_t index);

/* Stores the block size and the log count that predict the remembered writes
 * best. Of equally good pairs, the one nearest to the values passed in wins.
 * Returns false, and leaves both values unchanged, when fewer than 48 writes
 * were seen or when log blocks do not explain the slow ones. */
bool cost_reach_find(const struct cost_reach *reach, uint64_t *block_bytes,
                     uint64_t *logs_count);

#endif
