/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_STRIPE_H
#define SSDPROBE_PROBES_STRIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/study.h"
#include "probes/trial.h"

/*
 * What the files of the stripe probe share: rounds of pairs of reads (pairs),
 * the search of a stripe that explains which pairs collide (search), and what
 * is certified and said (stripe).
 */

enum {
    STRIPE_PAIRS = 16, /* of one distance in a round */
    STRIPE_SCAN_MAX = 256,
    STRIPE_LEVELS_MAX = 7
};

/* Distances that are looked at: at multiples of a step. */
struct stripe_level {
    uint64_t first_bytes, step_bytes;
    size_t count;
};

struct stripe_probe {
    struct study study;
    uint64_t read_bytes;                /* of a request; also the grain */
    uint64_t first_bytes, window_bytes; /* reads stay inside */
    uint64_t span_bytes;                /* the longest distance */
    struct stripe_level levels[STRIPE_LEVELS_MAX];
    size_t levels_count;
    /* What a read takes alone, by the scan: of the few of a round the mean is
     * not known well enough. */
    double alone_ns;
    /* Some reads wait for their mapping, which a read near them brings. */
    bool waits_for_mapping;
    /* The reads of a pair may be read again alone, for pages differ in what
     * they take; not so where a buffer answers the second read. */
    bool own_counts;
    /* A pair that takes longer than this, in units of a read alone, has
     * collided. Learnt from the scan before any share is asked for. */
    double slow_least;
};

/* Which distances a round of a contrast visits: n[0] is a size, n[1] another,
 * n[2] this. */
enum pairs_kind {
    PAIRS_SCAN,     /* all of the level that begins at the size */
    PAIRS_ANY,      /* any of all levels */
    PAIRS_DISTANCE, /* the size */
    PAIRS_MULTIPLE, /* multiples of the other, */
    PAIRS_BETWEEN,  /* and what is the size, or multiples of that, farther */
    PAIRS_FAR,      /* multiples of the other all over the region */
    /* In units of half of what both reads take alone: */
    PAIRS_SUM,          /* the size, of the rows of DISTANCE */
    PAIRS_EACH,         /* any of all levels */
    PAIRS_EACH_QUICKEST /* the same rows: their quickest pairs */
};

/* The value of a round is the share of its pairs that collided; of PAIRS_ANY
 * and its like it is the log ratio of a pair and a read alone. */
struct contrast pairs_contrast(enum pairs_kind kind, uint64_t size_bytes,
                               uint64_t other_bytes);

/* What a read of a round takes alone; 0: the round is not whole. */
double pairs_alone_ns(const struct trial *trial);

/* The same of the reads of its pairs, alone. */
double pairs_own_ns(const struct trial *trial);

/* How long each pair of a round took, by the order in which a level has its
 * distances; how many, 0: the round is not whole. In units of a read alone, or
 * where the reads of pairs count alone: 1 if the shorter of them adds nothing
 * to the longer, 2 if it adds all that it takes. */
size_t pairs_take(const struct trial *trial, double ratios[STRIPE_SCAN_MAX]);

/* The reads alone of any place, in the order in which they were sent. */
size_t pairs_take_alone(const struct trial *trial,
                        double ratios[STRIPE_SCAN_MAX]);

/* A stripe: `unit_bytes` lie on one of `units` and then the next begins, until
 * after `period_bytes` it is the first one's turn again. */
struct stripe {
    uint64_t period_bytes, unit_bytes;
    uint32_t units;
    /* Pairs so far apart, a multiple of the period, still collide. */
    uint64_t reach_bytes;
    bool reaches_all; /* up to the longest distance that is looked at */
    /* The longest shorter unit that another stripe of this period would have;
     * 0: there is none. */
    uint64_t shorter_bytes;
    bool full_known; /* noise would not hide that they collide in part only */
    double held_up;  /* of pairs that do not collide, by something else */
};

/* Finds the stripe that explains best which pairs collide; not certified.
 * Returns why there is none, or NULL. Leaves where rows are missing. `pair`:
 * how long any pair takes, in units of a read alone; `*level`: those that
 * collide. */
const char *stripe_search(struct stripe_probe *state, double pair,
                          struct stripe *stripe, double *level);

#endif
