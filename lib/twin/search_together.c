/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/search.h"

/* Requests that the drive works on at once: one, as cards and sticks do; as
 * many as SATA's queue holds; as many as were ever sent. */
static const uint64_t depths[] = {1, 32, 256};

/* Stripes of banks beside each other, and channels for them. */
static const uint64_t stripes[] = {1, 2, 4, 8, 16, 32, 64};
static const uint64_t channels[] = {1, 2, 4, 8, 16};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { ROUNDS_MAX = 2, STEPS = 2 };

/* Fewer banks and channels that explain as much are the better answer: more
 * must explain so much more of the mean loss. */
static const double better_least = 0.002;

struct best {
    struct drive drive;
    double cost;
    bool changed;
};

/* Of the first `drive` the shape and the depth, where there is such a drive. */
static int try_one(const struct twin_rows *rows, const struct twin_shape *shape,
                   uint64_t depth, struct best *best, struct twin *twin,
                   struct fault *why)
{
    struct drive tried = best->drive;
    struct twin_times_fit fit;

    tried.queue_depth_count = depth;
    if (!twin_shape_apply(shape, &tried))
        return 0;
    int error = twin_times(rows, STEPS, &tried, &fit, why);
    twin->replays_count += fit.replays_count;
    if (error || fit.cost > best->cost - better_least)
        return error;
    best->cost = fit.cost;
    best->drive = tried;
    best->changed = true;
    return 0;
}

/* Every depth, then every number of stripes, then of channels. */
static int try_each(const struct twin_rows *rows, struct best *best,
                    struct twin *twin, struct fault *why)
{
    int error = 0;

    for (size_t i = 0; i < COUNT(depths) && !error; i++) {
        const struct twin_shape shape = twin_shape_of(&best->drive);
        error = try_one(rows, &shape, depths[i], best, twin, why);
    }
    if (best->drive.queue_depth_count == 1)
        return error; /* one stripe works at a time */
    for (size_t i = 0; i < COUNT(stripes) && !error; i++) {
        struct twin_shape shape = twin_shape_of(&best->drive);
        shape.stripes_count = stripes[i];
        error = try_one(rows, &shape, best->drive.queue_depth_count, best, twin,
                        why);
    }
    for (size_t i = 0; i < COUNT(channels) && !error; i++) {
        struct twin_shape shape = twin_shape_of(&best->drive);
        shape.channels_count = channels[i];
        error = try_one(rows, &shape, best->drive.queue_depth_count, best, twin,
                        why);
    }
    return error;
}

int twin_search_together(const struct twin_rows *rows, struct drive *drive,
                         struct twin *twin, struct fault *why)
{
    struct best best = {.drive = *drive, .changed = true};
    struct twin_times_fit fit;
    int error = twin_times(rows, STEPS, &best.drive, &fit, why);

    twin->replays_count += fit.replays_count;
    best.cost = fit.cost;
    for (int round = 0; round < ROUNDS_MAX && best.changed && !error; round++) {
        best.changed = false;
        error = try_each(rows, &best, twin, why);
    }
    const struct twin_shape shape = twin_shape_of(&best.drive);
    drive->queue_depth_count = best.drive.queue_depth_count;
    twin_shape_apply(&shape, drive);
    return error;
}
