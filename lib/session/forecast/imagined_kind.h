/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_IMAGINED_KIND_H
#define SSDPROBE_SESSION_IMAGINED_KIND_H

#include "lib/session/forecast/costs.h"

/*
 * What requests of one kind take, by their size: a curve through the sizes that
 * were seen, and how their times vary.
 */

/* A point of the curve of typical times over sizes. */
struct imagined_point {
    double bytes, ns;
    double share[COST_TIMES]; /* of `ns`, in rising order */
    size_t count;
    /* How much more times spread, as sigma of their logarithm. */
    double cut_off;
    double weight;          /* of what it says of the mean */
    uint64_t written_bytes; /* in all, when it was seen last */
    /* Half way from the point before to this one a buffer ends: just before and
     * behind there. */
    bool steps;
    double step_low_ns, step_high_ns;
    double excess_ns; /* on average over what is typical, and held up */
};

struct imagined_kind {
    struct imagined_point points[COST_SIZES];
    size_t count;
    double held_up;    /* any request, on average, for this share of its time */
    bool alike;        /* what is known of one size says how others vary */
    bool each;         /* a request waits as such, not for each of its bytes */
    double page_bytes; /* that a write uses up at least; 0: not known */
    double wait_byte_ns; /* what little was seen of is taken to wait; 0: none */
};

/* What a request would take; 0 where no kind like it was seen. */
struct cost {
    double ns;      /* as it might be */
    double mean_ns; /* on average, rare slow ones included */
};

/* How far off the middle one the others are, as logarithms: into `off`, which
 * has room for `count`. How many these are. */
size_t imagined_off_middle(const double sorted[], size_t count, double off[]);

/* The sigma of a normal that would be so far off (see above; sorted here); 0 of
 * none. */
double imagined_sigma(double off[], size_t count);

/* How far the times of the same read spread, as sigma of their logarithm; 0:
 * not enough of them were seen. */
double imagined_spread_of_reads(const struct costs *costs);

/* All kinds, as far as they were seen. */
void imagined_kinds(const struct costs *costs,
                    struct imagined_kind kinds[COST_KINDS]);

/* The kind itself, or the one most like it that was seen. */
const struct imagined_kind *
imagined_kind(const struct imagined_kind kinds[COST_KINDS],
              enum cost_kind kind);

/* What is typical of a size. */
double imagined_ns(const struct imagined_kind *kind, double bytes);

/* That, varied as the times of the nearest size do: `chance`, any number, says
 * as which. */
struct cost imagined_draw(const struct imagined_kind *kind, double bytes,
                          uint64_t chance);

/* The same of a page of one level: where times lie on several that are apart,
 * as those of pages that share cells, each level is that of as many pages.
 * `level`, any number, says which. */
struct cost imagined_draw_level(const struct imagined_kind *kind, double bytes,
                                uint64_t level, uint64_t chance);

#endif
