/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_IMAGINED_H
#define SSDPROBE_SESSION_IMAGINED_H

#include "lib/base/random.h"
#include "lib/session/forecast/imagined_kind.h"

/*
 * A drive that is imagined from the costs of requests: what one would take is
 * drawn from those that were seen, typical ones for what it would show to a
 * probe, and all of them for what it takes on average. Costs of what was never
 * seen are those of the kind most like it.
 */

struct imagined {
    const struct costs *costs;
    struct cost_place place; /* where it stands */
    struct random random;
    struct imagined_kind kinds[COST_KINDS];
    struct cost_levels
        levels[2];            /* of the writes in order, and their flushes */
    double again[COST_SIZES]; /* a read of what was just read, over that */
    bool merges;              /* logs with their blocks */
    /* That writes wait while it cleans; 0: none was seen. */
    double wait_byte_ns;
    double flush_extra_ns; /* that writes left to the next flush */
    double erase_flush_ns; /* so did the erase of a block, as it might be */
    uint64_t used_bytes;   /* by writes, whole pages */
    /* What a request takes was seen at its place, erases and all. */
    bool replays;
    double sustained_ns; /* a byte of long writes, when no buffer is left */
    double uncleaned_ns; /* that writes took for which no block was cleaned */
    uint64_t uncleaned_bytes; /* so many */
};

/* As the drive is now. `costs` must outlive it, and not change. */
void imagined_init(struct imagined *drive, const struct costs *costs,
                   uint64_t seed);

/* What a step would take; the drive moves on. */
struct cost imagined_do(struct imagined *drive, const struct step *step);

#endif
