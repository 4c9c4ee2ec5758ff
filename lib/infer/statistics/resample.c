/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/statistics/resample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"

enum { THIRDS = 3 };

static struct interval middle_of(double draws[RESAMPLE_DRAWS], double share)
{
    const size_t out = (size_t)((1 - share) / 2 * RESAMPLE_DRAWS);

    stats_sort(draws, RESAMPLE_DRAWS);
    return (struct interval){draws[out], draws[RESAMPLE_DRAWS - 1 - out]};
}

struct interval resample_mean(const double values[], size_t count, double share,
                              uint64_t seed)
{
    double draws[RESAMPLE_DRAWS];
    struct random random;

    random_seed(&random, seed);
    for (size_t i = 0; i < RESAMPLE_DRAWS; i++) {
        draws[i] = 0;
        for (size_t j = 0; j < count; j++)
            draws[i] += values[random_below(&random, count)] / (double)count;
    }
    return middle_of(draws, share);
}

static int larger_first(const void *a, const void *b)
{
    const double x = ((const struct resample_item *)a)->value;
    const double y = ((const struct resample_item *)b)->value;

    return (x < y) - (x > y);
}

/* A part counts as often as it was drawn. */
static double passed_by(const struct resample_item items[], size_t count,
                        const unsigned drawn[], double above)
{
    double left = above * (double)count;
    size_t i = 0;

    for (; i + 1 < count; i++) {
        left -= drawn[items[i].part];
        if (left < 0)
            break;
    }
    return items[i].value;
}

struct resample_upper resample_upper(struct resample_item items[], size_t count,
                                     size_t parts, double above, double share,
                                     uint64_t seed)
{
    double draws[RESAMPLE_DRAWS];
    unsigned drawn[RESAMPLE_PARTS_MAX];
    struct random random;

    for (size_t i = 0; i < count; i++)
        items[i].part = i * parts / count;
    qsort(items, count, sizeof(items[0]), larger_first);
    random_seed(&random, seed);
    for (size_t i = 0; i < RESAMPLE_DRAWS; i++) {
        memset(drawn, 0, sizeof(drawn));
        for (size_t j = 0; j < parts; j++)
            drawn[random_below(&random, parts)]++;
        draws[i] = passed_by(items, count, drawn, above);
    }
    struct resample_upper upper = {
        items[smaller_of((uint64_t)(above * (double)count), count - 1)].value,
        middle_of(draws, share)};
    for (size_t third = 0; third < THIRDS; third++) {
        for (size_t j = 0; j < parts; j++)
            drawn[j] = j * THIRDS / parts == third ? THIRDS : 0;
        const double one = passed_by(items, count, drawn, above);
        upper.interval.low = fmin(upper.interval.low, one);
        upper.interval.high = fmax(upper.interval.high, one);
    }
    return upper;
}
