/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "lib/twin/search.h"

/*
 * How many logs there are, and which is merged first, shows by when merges
 * come: only rows that follow each other for long tell. How long they take has
 * shown before.
 */

/* In the mean loss. */
static const double better_least = 0.002;

struct search {
    const struct twin_rows *rows;
    struct drive drive; /* the best so far */
    double cost;
    struct fault *why;
};

static int try_value(const struct twin_aspect *aspect, const char *value,
                     struct search *search)
{
    struct drive tried = search->drive;
    struct twin_times_fit fit;

    if (!twin_aspect_apply(aspect, value, &tried))
        return 0;
    int error = twin_times(search->rows, 0, &tried, &fit, search->why);
    if (!error && fit.cost < search->cost - better_least) {
        search->drive = tried;
        search->cost = fit.cost;
    }
    return error;
}

static int try_values(const struct twin_aspect *aspect, struct search *search)
{
    int error = 0;

    for (size_t i = 0; i < TWIN_VALUES_MAX && aspect->values[i] && !error; i++)
        error = try_value(aspect, aspect->values[i], search);
    return error;
}

int twin_search_logs(const struct twin_rows *rows,
                     const struct findings *findings, struct drive *drive,
                     struct fault *why)
{
    const struct twin_aspect *count = twin_aspect_find("log_blocks_count");
    const struct twin_aspect *victim = twin_aspect_find("log_victim");
    struct search search = {
        .rows = rows, .drive = *drive, .cost = INFINITY, .why = why};

    int error =
        twin_aspect_is_known(count, findings) ? 0 : try_values(count, &search);
    if (!error)
        error = try_values(victim, &search);
    *drive = search.drive;
    return error;
}
