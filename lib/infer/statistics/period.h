/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_PERIOD_H
#define SSDPROBE_INFER_PERIOD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Places in a sequence of costs that are slow again and again at one distance:
 * the merge or the erase that comes with every new block of a sequential write.
 * Outliers are slow too, but not at one distance; pages of one cell differ, but
 * as a pattern of neighbours, which is taken out first. What the search finds
 * was fitted and proves nothing: it is certified on values that follow.
 */

/* What counts as slow: learnt from the values that are searched, and kept. */
struct period_rule {
    size_t lag;       /* at which neighbouring values repeat best: 1 is flat */
    double ceiling;   /* no neighbour counts for more; log cost */
    double threshold; /* above the neighbours at that lag; log cost */
    double share;     /* of values that are slow, wherever they are */
    double least;     /* given: no threshold is lower; log cost */
};

struct period {
    size_t length, phase; /* slow at phase, phase + length, ... */
    size_t hits, trials;
    double excess; /* median log cost above the neighbours where it is slow */
    double error;  /* chance of such a run of hits without any period */
};

enum { PERIOD_DEAD_MAX = 16, PERIOD_SHORTEST = 8 };

/* Lengths that were refuted: not to be proposed again. */
struct period_dead {
    size_t lengths[PERIOD_DEAD_MAX], count;
};

/* What each value has above the median of its neighbours at the rule's lag:
 * slow is what is above the threshold. */
void period_level(const double values[], size_t count,
                  const struct period_rule *rule, double residuals[]);

/*
 * The likeliest period of `values` (log costs) with at least eight repeats.
 * 0: found, `rule` holds what was taken for slow; -ENOENT: none; -ENOMEM.
 */
int period_search(const double values[], size_t count,
                  const struct period_dead *dead, struct period_rule *rule,
                  struct period *period);

/*
 * Is it there in values[first .. count), which the search did not see? There,
 * the predicted places are slow, no part of the period is as slow as they are,
 * and nothing else is. Fills hits, trials, excess, error of `period`. -ENOMEM.
 */
int period_certify(const double values[], size_t count, size_t first,
                   const struct period_rule *rule, struct period *period,
                   bool *certified);

#endif
