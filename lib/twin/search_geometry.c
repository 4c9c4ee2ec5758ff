/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>

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
static int begin_anywhere(const struct twin_rows *rows, struct drive *drive,
                          struct twin *twin, struct twin_times_fit *best,
                          struct fault *why)
{
    static const uint64_t numbers[] = {1, 4, 16};
    const struct drive start = *drive;
    const uint64_t page_bytes = start.clustered_page_bytes;
    int error = 0;

    for (unsigned i = 0; i < 18 && !error; i++) {
        struct twin_shape shape = twin_shape_of(&start);
        struct drive tried = start;
        struct twin_times_fit fit;
        uint64_t parts = numbers[i % 3], stripe = numbers[i / 3 % 3];
        if (page_bytes % parts || (i >= 9 && stripe == 1))
            continue;
        shape.bank_page_bytes = page_bytes / parts;
        shape.stripe_count = stripe;
        shape.channels_count = i < 9 ? 1 : stripe;
        if (!twin_shape_apply(&shape, &tried))
            continue;
        error = twin_times(rows, STEPS, &tried, &fit, why);
        twin->replays_count += fit.replays_count;
        if (error || fit.cost > best->cost - better_least)
            continue;
        *drive = tried;
        *best = fit;
    }
    return error;
}

int twin_search_geometry(const struct twin_rows *rows, struct drive *drive,
                         struct twin *twin, struct fault *why)
{
    struct twin_times_fit best;
    int error = twin_times(rows, STEPS_FIRST, drive, &best, why);

    twin->replays_count += best.replays_count;
    return error ? error : begin_anywhere(rows, drive, twin, &best, why);
}
