/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "lib/twin/search.h"

/* A geometry must fit better by so much of the mean loss: less is within what
 * few steps of a regression leave. */
static const double better_least = 0.005;

enum { STEPS = 1, STEPS_FIRST = 4, WAYS = TWIN_NEIGHBOURS / 3 };

struct twin_shape twin_shape_neighbour(struct twin_shape shape, unsigned index)
{
    static const uint64_t factors[] = {2, 3, 5};
    uint64_t factor = factors[index / WAYS % 3];

    switch (index % WAYS) {
    case 0:
        shape.bank_page_bytes /=
            shape.bank_page_bytes % factor == 0 ? factor : UINT64_MAX;
        break;
    case 1:
        shape.stripe_count *= factor;
        break;
    case 2:
        shape.stripe_count *= factor;
        shape.channels_count *= factor;
        break;
    case 3:
        shape.channels_count *= factor;
        break;
    case 4:
        shape.bank_page_bytes *= factor;
        break;
    case 5:
        shape.stripe_count =
            shape.stripe_count % factor == 0 ? shape.stripe_count / factor : 0;
        break;
    default:
        shape.channels_count = shape.channels_count % factor == 0
                                   ? shape.channels_count / factor
                                   : 0;
        break;
    }
    return shape;
}

/* Geometries that lie far apart: what a regression makes of the times differs
 * so much between them that a climb from one does not reach the others. */
enum { GEOMETRIES_MAX = 18, FINALISTS = 3 };

struct geometry {
    struct drive drive;
    double cost;
};

static size_t collect(const struct drive *start, struct geometry geometries[])
{
    static const uint64_t numbers[] = {1, 4, 16};
    const uint64_t page_bytes = start->clustered_page_bytes;
    size_t count = 0;

    for (unsigned i = 0; i < GEOMETRIES_MAX; i++) {
        struct twin_shape shape = twin_shape_of(start);
        uint64_t parts = numbers[i % 3], stripe = numbers[i / 3 % 3];
        if (page_bytes % parts || (i >= 9 && stripe == 1))
            continue;
        shape.bank_page_bytes = page_bytes / parts;
        shape.stripe_count = stripe;
        shape.channels_count = i < 9 ? 1 : stripe;
        geometries[count].drive = *start;
        if (twin_shape_apply(&shape, &geometries[count].drive))
            count++;
    }
    return count;
}

static int compare(const void *a, const void *b)
{
    const struct geometry *x = a, *y = b;

    return (x->cost > y->cost) - (x->cost < y->cost);
}

/* The times of each by these rows, and then in the order of their costs. */
static int order(const struct twin_rows *rows, struct geometry geometries[],
                 size_t count, struct twin *twin, struct fault *why)
{
    struct twin_times_fit fit;
    int error = 0;

    for (size_t i = 0; i < count && !error; i++) {
        error = twin_times(rows, STEPS, &geometries[i].drive, &fit, why);
        twin->replays_count += fit.replays_count;
        geometries[i].cost = fit.cost;
    }
    qsort(geometries, count, sizeof(geometries[0]), compare);
    return error;
}

int twin_search_geometry(const struct twin_rows *rows,
                         const struct twin_rows *fewer, struct drive *drive,
                         struct twin *twin, struct fault *why)
{
    struct geometry *geometries = calloc(GEOMETRIES_MAX, sizeof(*geometries));
    struct twin_times_fit fit;
    int error =
        geometries ? twin_times(rows, STEPS_FIRST, drive, &fit, why) : -ENOMEM;

    if (!error) {
        size_t count = collect(drive, geometries);
        twin->replays_count += fit.replays_count;
        error = order(fewer, geometries, count, twin, why);
        count = count < FINALISTS ? count : FINALISTS;
        if (!error)
            error = order(rows, geometries, count, twin, why);
        if (!error && count && geometries[0].cost < fit.cost - better_least)
            *drive = geometries[0].drive;
    }
    free(geometries);
    return error;
}
