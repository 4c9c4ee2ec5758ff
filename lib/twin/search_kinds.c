/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/twin/search.h"

/*
 * Where pages lie, when a buffer is emptied, and how many bits a cell holds
 * make up what kind of drive it is. Each of them changes what the times of all
 * the others mean, so that a climb, which begins with the times of its
 * neighbour, does not get from one kind to another. Here every kind is fitted
 * with times from where a search begins, on few rows; the best with a geometry
 * of their own.
 */

static const char *const keys[] = {"mapping", "write_buffer_drain",
                                   "program_levels_count"};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

/* Most kinds are sorted out by one step. */
enum { KINDS_MAX = 64, SECOND = 6, FINALISTS = 3, STEPS = 1, STEPS_SECOND = 2 };

/* A kind must fit better by so much of the mean loss. */
static const double better_least = 0.005;

struct kind {
    struct drive drive;
    double cost;
};

/* What a host's requests take whatever is inside is known by now; the times of
 * the flash begin anew. */
static void begin_times(struct drive *drive)
{
    for (size_t i = 0; twin_time_at(i); i++) {
        const struct twin_time *time = twin_time_at(i);
        if (time->applies && time->applies(drive))
            time->set(drive, twin_time_start(time, drive));
    }
}

/* Every value of the keys from `at` on. */
static void collect(const struct drive *from, const struct findings *findings,
                    size_t at, struct kind kinds[], size_t *count)
{
    if (at == KEYS) {
        if (*count < KINDS_MAX) {
            kinds[*count].drive = *from;
            begin_times(&kinds[(*count)++].drive);
        }
        return;
    }
    const struct twin_aspect *aspect = twin_aspect_find(keys[at]);
    if (twin_aspect_is_known(aspect, findings) ||
        (aspect->applies && !aspect->applies(from))) {
        collect(from, findings, at + 1, kinds, count);
        return;
    }
    for (size_t i = 0; i < TWIN_VALUES_MAX && aspect->values[i]; i++) {
        struct drive drive = *from;
        if (twin_aspect_allows(aspect, aspect->values[i], findings) &&
            twin_aspect_apply(aspect, aspect->values[i], &drive))
            collect(&drive, findings, at + 1, kinds, count);
    }
}

static int compare(const void *a, const void *b)
{
    const struct kind *x = a, *y = b;

    return (x->cost > y->cost) - (x->cost < y->cost);
}

/* The times of each, and then in the order of their costs. */
static int order(const struct twin_rows *rows, unsigned steps,
                 struct kind kinds[], size_t count, struct twin *twin,
                 struct fault *why)
{
    struct twin_times_fit fit;
    int error = 0;

    for (size_t i = 0; i < count && !error; i++) {
        kinds[i].cost = INFINITY;
        error = twin_times(rows, steps, &kinds[i].drive, &fit, why);
        twin->replays_count += fit.replays_count;
        if (!error)
            kinds[i].cost = fit.cost;
        if (error == -EINVAL) /* more than the model can number */
            error = 0;
    }
    qsort(kinds, count, sizeof(kinds[0]), compare);
    return error;
}

/* How many of the best go on: so many at most, and none that cannot be. */
static size_t best(const struct kind kinds[], size_t count, size_t most)
{
    count = count < most ? count : most;
    while (count > 0 && isinf(kinds[count - 1].cost))
        count--;
    return count;
}

int twin_search_kinds(const struct twin_rows *rows,
                      const struct twin_rows *fewer,
                      const struct findings *findings, struct drive *drive,
                      struct twin *twin, struct fault *why)
{
    struct kind *kinds = calloc(KINDS_MAX, sizeof(*kinds));
    struct twin_times_fit fit;
    size_t count = 0;
    int error =
        kinds ? twin_times(rows, STEPS_SECOND, drive, &fit, why) : -ENOMEM;

    if (!error)
        twin->replays_count += fit.replays_count;
    if (!error)
        collect(drive, findings, 0, kinds, &count);
    if (!error)
        error = order(fewer, STEPS, kinds, count, twin, why);
    count = best(kinds, count, SECOND);
    if (!error)
        error = order(fewer, STEPS_SECOND, kinds, count, twin, why);
    count = best(kinds, count, FINALISTS);
    for (size_t i = 0; i < count && !error; i++)
        error = twin_search_geometry(rows, fewer, &kinds[i].drive, twin, why);
    if (!error)
        error = order(rows, STEPS, kinds, count, twin, why);
    if (!error && count > 0 && kinds[0].cost < fit.cost - better_least)
        *drive = kinds[0].drive;
    free(kinds);
    return error;
}
