/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/search.h"

/* Requests that the drive works on at once: one, as cards and sticks do; as
 * many as SATA's queue holds; as many as were ever sent. */
static const uint64_t depths[] = {1, 32, 256};

/* Stripes of banks beside each other, and channels for them. */
static const uint64_t stripes[] = {1, 2, 4, 8, 16, 32, 64};
static const uint64_t channels[] = {1, 2, 4, 8, 16};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { ROUNDS_MAX = 2 };

/* Fewer banks and channels that explain as much are the better answer: more
 * must explain so much more of the mean loss. */
static const double better_least = 0.002;

struct best {
    struct twin_slopes *slopes; /* of where the round began */
    struct drive drive;
    double cost;
    bool changed;
};

/* Of the first `drive` the shape and the depth, where there is such a drive. */
static int try_one(const struct twin_shape *shape, uint64_t depth,
                   struct best *best, struct twin *twin, struct fault *why)
{
    struct drive tried = best->drive;
    struct twin_times_fit fit;

    tried.queue_depth_count = depth;
    if (!twin_shape_apply(shape, &tried))
        return 0;
    int error = twin_times_beside(best->slopes, &tried, &fit, why);
    twin->replays_count += fit.replays_count;
    if (error || fit.cost > best->cost - better_least)
        return error;
    best->cost = fit.cost;
    best->drive = tried;
    best->changed = true;
    return 0;
}

/* Every depth with every number of stripes, for one without the other shows
 * nothing; then of channels. */
static int try_each(struct best *best, struct twin *twin, struct fault *why)
{
    int error = 0;

    for (size_t i = 0; i < COUNT(depths) && !error; i++) {
        struct twin_shape shape = twin_shape_of(&best->drive);
        error = try_one(&shape, depths[i], best, twin, why);
        for (size_t j = 0; j < COUNT(stripes) && depths[i] > 1 && !error; j++) {
            shape.stripes_count = stripes[j];
            error = try_one(&shape, depths[i], best, twin, why);
        }
    }
    if (best->drive.queue_depth_count == 1)
        return error; /* one stripe works at a time */
    for (size_t i = 0; i < COUNT(channels) && !error; i++) {
        struct twin_shape shape = twin_shape_of(&best->drive);
        shape.channels_count = channels[i];
        error = try_one(&shape, best->drive.queue_depth_count, best, twin, why);
    }
    return error;
}

int twin_search_together(const struct twin_rows *rows, struct drive *drive,
                         struct twin *twin, struct fault *why)
{
    struct best best = {.drive = *drive, .changed = true};
    struct twin_times_fit fit;
    int error = 0;

    for (int round = 0; round < ROUNDS_MAX && best.changed && !error; round++) {
        best.changed = false;
        error = twin_times(rows, 1, &best.drive, &fit, why);
        twin->replays_count += fit.replays_count;
        if (!error)
            error =
                twin_slopes_make(rows, &best.drive, &best.slopes, &fit, why);
        twin->replays_count += fit.replays_count;
        best.cost = fit.cost;
        if (!error)
            error = try_each(&best, twin, why);
        twin_slopes_free(best.slopes);
        best.slopes = NULL;
    }
    const struct twin_shape shape = twin_shape_of(&best.drive);
    drive->queue_depth_count = best.drive.queue_depth_count;
    twin_shape_apply(&shape, drive);
    return error;
}
