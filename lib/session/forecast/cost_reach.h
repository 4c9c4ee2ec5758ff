/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_COST_REACH_H
#define SSDPROBE_SESSION_COST_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/sample.h"

/*
 * How far writes may be spread before each makes the drive merge a block: which
 * size of blocks, and how many of them that have a log, tell best the short
 * writes that were quick from those that were slow.
 */

/* So many writes are kept, the last ones. */
enum { COST_REACH_MAX = 512 };

struct cost_reach_write {
    uint64_t offset_bytes, length_bytes;
    double ns;       /* with its flush; 0: it is not one that counts */
    double flush_ns; /* of these */
};

/* All zeros: nothing was seen. */
struct cost_reach {
    struct cost_reach_write writes[COST_REACH_MAX]; /* a ring */
    size_t count;                                   /* of all that were seen */
    struct cost_reach_write open;                   /* not flushed yet */
    bool is_open;
};

/* A request that was measured: short writes count, each flushed alone. */
void cost_reach_learn(struct cost_reach *reach, const struct sample *sample);

/* How many writes are kept; that of an index, the first of them first. */
size_t cost_reach_count(const struct cost_reach *reach);
const struct cost_reach_write *cost_reach_at(const struct cost_reach *reach,
                                             size_t index);

/* The blocks and logs that explain the writes best; of equals those nearest to
 * what `block_bytes` and `logs_count` say already. False, and both stay: too
 * few writes were seen, or it is not logs that makes some slow. */
bool cost_reach_find(const struct cost_reach *reach, uint64_t *block_bytes,
                     uint64_t *logs_count);

#endif
