/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_IMAGINED_KIND_H
#define SSDPROBE_SESSION_IMAGINED_KIND_H

#include "lib/session/forecast/costs.h"

/*
 * Times of one kind of request over its size: a curve through the measured
 * sizes, and the spread of the times.
 */

/* A point of the curve: one measured size and its typical time. */
struct imagined_point {
    double bytes, ns;
    double share[COST_TIMES]; /* measured times / ns, ascending */
    size_t count;
    /* Spread to add to `share`, as the sigma of the logarithm of the times. */
    double cut_off;
    double weight;          /* weight of `excess_ns` in means, in requests */
    uint64_t written_bytes; /* bytes written in all when it was last measured */
    /* The write buffer ends half way between the previous point and this one:
     * the times just below and just above that size. */
    bool steps;
    double step_low_ns, step_high_ns;
    double excess_ns; /* mean time minus typical time */
};

/* What the curve says of one size. */
struct imagined_size {
    double bytes;
    const struct imagined_point *nearest; /* its spread counts; NULL: unused */
    double usual_ns, mean_ns;
};

enum { IMAGINED_SIZES = 8 };

struct imagined_kind {
    struct imagined_point points[COST_SIZES];
    /* Probes ask for few sizes, and for each of them often. */
    struct imagined_size asked[IMAGINED_SIZES];
    size_t count;
    double held_up;      /* mean delay by other load, as a share of the time */
    bool alike;          /* the spread of one size applies to the others */
    bool each;           /* the wait is per request, not per byte */
    double page_bytes;   /* smallest use of a write; 0: unknown */
    double wait_byte_ns; /* assumed wait of a byte where few times were seen;
                            0: none */
};

/* Cost of one request; 0 when no similar kind was measured. */
struct cost {
    double ns;      /* a random draw from the typical times */
    double mean_ns; /* mean, rare slow requests included */
};

/* Stores in `off` the absolute log ratio of each value but the middle one to
 * the middle one. `sorted` is ascending; `off` has room for `count`. Returns
 * the number stored. */
size_t imagined_off_middle(const double sorted[], size_t count, double off[]);

/* Sigma of the normal distribution with this median of absolute deviations
 * (from imagined_off_middle(); sorted here). Returns 0 when `count` is 0. */
double imagined_sigma(double off[], size_t count);

/* Spread of the times of one and the same read, as the sigma of their
 * logarithm. Returns 0 when too few were seen. */
double imagined_spread_of_reads(const struct costs *costs);

/* Builds the curves of all kinds from the measured times. */
void imagined_kinds(const struct costs *costs,
                    struct imagined_kind kinds[COST_KINDS]);

/* Returns the kind, or the most similar kind that was measured. */
struct imagined_kind *imagined_kind(struct imagined_kind kinds[COST_KINDS],
                                    enum cost_kind kind);

/* Typical time of a size, interpolated between the measured sizes. */
double imagined_ns(const struct imagined_kind *kind, double bytes);

/* Typical time, varied as the times of the nearest measured size vary.
 * `chance`: any number; the same number gives the same draw. From the first
 * draw on the curve does not change. */
struct cost imagined_draw(struct imagined_kind *kind, double bytes,
                          uint64_t chance);

/* The same for a page of one level. Times of multi-level cells fall into
 * levels; each level is taken to be equally common. `level`: any number, which
 * selects the level. */
struct cost imagined_draw_level(struct imagined_kind *kind, double bytes,
                                uint64_t level, uint64_t chance);

#endif
