/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_IMAGINED_H
#define SSDPROBE_SESSION_IMAGINED_H

#include "lib/base/random.h"
#include "lib/session/forecast/imagined_kind.h"

/*
 * An imagined drive: answers steps with times from the cost model (costs.h).
 * Each time comes as a random draw from typical times, which a probe would
 * measure, and as a mean, which includes rare slow requests. A kind of request
 * that was never measured takes the times of the most similar kind.
 */

struct imagined {
    const struct costs *costs;
    struct cost_place place; /* position of the imagined drive */
    struct random random;
    struct imagined_kind kinds[COST_KINDS];
    struct cost_levels
        levels[2];            /* of sequential writes and of their flushes */
    double again[COST_SIZES]; /* time of a repeated read / time of the first
                                 read */
    bool merges;              /* the drive merges log blocks */
    /* Mean wait of a written byte for cleaning; 0: none was seen. */
    double wait_byte_ns;
    double flush_extra_ns; /* extra time of page straddles, paid by the next
                              flush */
    double erase_flush_ns; /* time of a block's erase, paid by the next flush */
    uint64_t used_bytes;   /* flash pages used up, in bytes */
    /* The last time came from a recorded sweep and already contains erases. */
    bool replays;
    double sustained_ns; /* time per byte of long writes with their flush */
    double uncleaned_ns; /* time of the writes since the last cleaning */
    uint64_t uncleaned_bytes; /* bytes of these writes */
};

/* Starts at the present position of `costs`, which must outlive `drive` and not
 * change. */
void imagined_init(struct imagined *drive, const struct costs *costs,
                   uint64_t seed);

/* Returns what a step would take, and advances the position. */
struct cost imagined_do(struct imagined *drive, const struct step *step);

#endif
