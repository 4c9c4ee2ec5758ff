/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_COST_WALK_H
#define SSDPROBE_SESSION_COST_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/random.h"
#include "lib/infer/sample.h"

/*
 * What writes in order took, one after the other, each with its flush. Pages
 * differ by their place in a block, and do so in the next block as well: what
 * is written in order again will meet the same times at the same places.
 */

/* Fewer writes show no pattern; of more, the last ones are kept. */
enum { COST_WALK_MIN = 256, COST_WALK_MAX = 32768 };

/* Of one size, from `begin_bytes` on without a gap. */
struct cost_walk {
    uint64_t begin_bytes, bytes, count;
    float write_ns[COST_WALK_MAX], flush_ns[COST_WALK_MAX]; /* a ring */
};

/* All zeros: none yet. */
struct cost_walks {
    struct cost_walk last, good;
    float write_ns; /* of a write whose flush is still to come; 0: none */
};

/* A request that was measured; `in_order`: a write that begins where the one
 * before it ended. */
void cost_walks_learn(struct cost_walks *walks, const struct sample *sample,
                      bool in_order);

/* Times of different levels are apart by this factor; neighbours by noise are
 * not. */
extern const double cost_levels_least;

/* The times of a walk lie on levels; where each but the first begins. */
enum { COST_LEVELS_MAX = 16 };
struct cost_levels {
    float begin_ns[COST_LEVELS_MAX];
    size_t count; /* of these */
};

/* Of its writes [0], and of their flushes [1]. */
void cost_walks_levels(const struct cost_walks *walks,
                       struct cost_levels levels[2]);

/*
 * What a write in order takes, or its flush: as one at the same place of a
 * block of `block_bytes` (0: not known), or rather as any of its level, for
 * else the same noise would come again at the same place. False: writes of that
 * size have not been seen, or in less than two blocks.
 */
bool cost_walks_get(const struct cost_walks *walks,
                    const struct cost_levels levels[2], uint64_t block_bytes,
                    const struct sample *like, struct random *random,
                    double *ns);

#endif
