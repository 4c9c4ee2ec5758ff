/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_IMAGINED_H
#define SSDPROBE_SESSION_IMAGINED_H

#include "lib/base/random.h"
#include "lib/session/costs.h"

/*
 * A drive that is imagined from the costs of requests: what one would take is
 * drawn from those that were seen, typical ones for what it would show to a
 * probe, and all of them for what it takes on average. Costs of what was never
 * seen are those of the kind most like it.
 */

/* A point of the curve of typical times over sizes, and how they vary. */
struct imagined_point {
    double bytes, ns;
    double share[COST_TIMES]; /* of `ns`, in rising order */
    size_t count;
    double excess_ns; /* on average over what is typical, of all up to here */
};

struct imagined_kind {
    struct imagined_point points[COST_SIZES];
    size_t count;
};

struct imagined {
    const struct costs *costs;
    struct cost_place place; /* where it stands */
    struct random random;
    struct imagined_kind kinds[COST_KINDS];
};

/* What a step would take; 0 where no kind like it was seen. */
struct cost {
    double ns;      /* as it might be */
    double mean_ns; /* on average, rare slow ones included */
};

/* As the drive is now. `costs` must outlive it, and not change. */
void imagined_init(struct imagined *drive, const struct costs *costs,
                   uint64_t seed);

/* The drive moves on. */
struct cost imagined_do(struct imagined *drive, const struct step *step);

#endif
