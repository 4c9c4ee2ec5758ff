/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_IMAGINED_H
#define SSDPROBE_SESSION_IMAGINED_H

#include "lib/base/random.h"
#include "lib/session/forecast/costs.h"

/*
 * An imagined drive: answers steps with times from the cost model (costs.h). A
 * kind of request that was never measured takes the times of the most similar
 * kind. What was not found is as on usual drives.
 */

/* One measured size of a kind. */
struct imagined_point {
    const struct cost_class *class;
    double ns[COST_TIMES]; /* its typical times, ascending */
    size_t count;          /* of those */
    double usual_ns;       /* their median */
};

struct imagined_kind {
    struct imagined_point points[COST_SIZES];
    size_t count;
};

struct imagined {
    const struct costs *costs;
    struct cost_place place; /* position of the imagined drive */
    struct random random;
    struct imagined_kind kinds[COST_KINDS];
    double again[COST_SIZES]; /* time of a repeated read / time of the first
                                 read */
    bool merges;         /* it has log blocks, and no spare area to use up */
    double wait_byte_ns; /* mean wait of a written byte for merges, cleaning */
    double flush_share;  /* factor of the next flush's time */
    double uncleaned_ns; /* time of the writes since the last cleaning */
    uint64_t uncleaned_bytes; /* bytes of these writes */
};

/* Cost of one request; 0 when no similar kind was measured. */
struct cost {
    double ns;      /* a random draw from the measured times */
    double mean_ns; /* mean, rare slow requests included */
};

/* Starts at the present position of `costs`, which must outlive `drive` and not
 * change. */
void imagined_init(struct imagined *drive, const struct costs *costs,
                   uint64_t seed);

/* Returns what a step would take if it was sent alone, and advances the
 * position. */
struct cost imagined_do(struct imagined *drive, const struct step *step);

#endif
