/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_COST_WALK_H
#define SSDPROBE_SESSION_COST_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/random.h"
#include "lib/infer/sample.h"

/*
 * Times of sequential writes, each with its flush. The program time of a page
 * depends on its place in the erase block, and the pattern repeats in each
 * block. Later sequential writes are therefore predicted from earlier ones at
 * the same place.
 */

/* Fewer writes show no pattern. Of more than the maximum, the last are kept. */
enum { COST_WALK_MIN = 256, COST_WALK_MAX = 32768 };

/* One sequential sweep: writes of one size, without a gap. */
struct cost_walk {
    uint64_t begin_bytes, bytes, count;
    float write_ns[COST_WALK_MAX], flush_ns[COST_WALK_MAX]; /* a ring */
};

/* The sweep under way, and the last one that was long enough (COST_WALK_MIN).
 * All zeros: none yet. */
struct cost_walks {
    struct cost_walk last, good;
    float write_ns; /* time of the last write, until its flush; 0: none */
};

/* Records a measured request. `in_order`: it is a write that begins where the
 * previous write ended. */
void cost_walks_learn(struct cost_walks *walks, const struct sample *sample,
                      bool in_order);

/* Smallest ratio between neighbouring sorted times that separates two levels.
 * Neighbours within one level differ by less, from noise only. */
extern const double cost_levels_least;

/* Levels of program time: clusters of the sorted times. `begin_ns` holds the
 * lower limit of each level but the lowest. */
enum { COST_LEVELS_MAX = 16 };
struct cost_levels {
    float begin_ns[COST_LEVELS_MAX];
    size_t count; /* entries of begin_ns: levels - 1 */
};

/* Finds the levels of the writes ([0]) and of the flushes ([1]) of the
 * sweep. */
void cost_walks_levels(const struct cost_walks *walks,
                       struct cost_levels levels[2]);

/*
 * Predicts the time of a sequential write or of its flush into `ns`. It looks
 * up a remembered write at the same place of a block of `block_bytes` (0: block
 * size unknown, any write will do). It then draws a random time from the level
 * of that write, because the noise of one measurement must not repeat at each
 * visit. `like`: the request. Returns false when no sweep of this size was
 * seen, or when it covers fewer than two blocks.
 */
bool cost_walks_get(const struct cost_walks *walks,
                    const struct cost_levels levels[2], uint64_t block_bytes,
                    const struct sample *like, struct random *random,
                    double *ns);

#endif
