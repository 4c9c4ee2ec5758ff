/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hot-cold: how much cleaning copies of a uniform and of a skewed load. */
#include "probes/hot_cold/hot_cold.h"

#include <math.h>

/* An eighth of the drive with 3 % of it spare: fewer have less. The more is
 * spare, the larger is what a skewed load loses beside a uniform one. */
static const double spare_least = 1.24;
/* Each halves what is left of the error, and more. */
enum { STEPS = 60 };
/* The interval of the ratio is no wider than this part of what it has to tell
 * apart. */
static const double width_most = 1;

/* Pages programmed for each that is written, where they are as many as
 * `programmed` already: a page of a class that gets `writes` of all writes, and
 * has `pages` of all pages, is copied if it was not written again while the
 * whole flash was. */
static double programmed_of(double spare, double programmed, double writes,
                            double pages)
{
    return writes / -expm1(-writes / pages * spare / programmed);
}

/* The fixed point, by bisection: more programs age a block faster, so that more
 * of it is copied, but less than in proportion. */
static double fixed_point(double spare, bool skewed)
{
    const double hot = skewed ? 1.0 / LOAD_HOT_PARTS : 0.5;
    double low = 1, high = 1e3;

    for (int i = 0; i < STEPS; i++) {
        const double middle = (low + high) / 2;
        const double needed =
            programmed_of(spare, middle, skewed ? 1 - hot : hot, hot) +
            programmed_of(spare, middle, skewed ? hot : 1 - hot, 1 - hot);
        if (needed > middle)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double copies_uniform(double spare)
{
    return fixed_point(spare, false) - 1;
}

double copies_skewed(double spare)
{
    return fixed_point(spare, true) - 1;
}

double copies_ratio(double cleaning_share)
{
    const double more =
        copies_skewed(spare_least) / copies_uniform(spare_least);

    return 1 + cleaning_share * (more - 1);
}

enum hot_cold hot_cold_judge(double low, double high, double cleaning_share)
{
    const double together = copies_ratio(cleaning_share);

    if (high - low > width_most * (together - 1) * (low + high) / 2)
        return HOT_COLD_OPEN;
    if (low >= together)
        return HOT_COLD_TOGETHER;
    return high <= 1 ? HOT_COLD_APART : HOT_COLD_OPEN;
}
