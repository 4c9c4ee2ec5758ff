/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The structure by its score, in which each class of requests has a level of
 * its own. Nothing is fitted, so that a candidate costs one replay, and far
 * more of them can be tried than by a regression of each. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/twin/rows/replay.h"
#include "lib/twin/search.h"

/* A change must explain so much more: less is a few classes that happen to part
 * the noise. */
static const double better_least = 15;

enum { ROUNDS_MAX = 3 };

struct search {
    const struct twin_rows *rows;
    const struct twin_rows *fewer; /* NULL: all candidates get all rows */
    const struct findings *findings;
    struct fault *why;
    struct drive drive; /* the best so far */
    double score, score_of_fewer;
    bool changed;
    uint32_t *predicted_ns;
    size_t replays_count, replays_max;
};

static int score(struct search *search, const struct twin_rows *rows,
                 const struct drive *drive, double *total)
{
    struct twin_score its;
    int error = twin_replay(drive, rows, search->predicted_ns, search->why);

    search->replays_count++;
    if (!error)
        error = twin_score(rows, search->predicted_ns, &its);
    if (error)
        return error;
    *total = its.total;
    twin_score_free(&its);
    return 0;
}

static bool may_go_on(const struct search *search)
{
    return search->replays_count < search->replays_max;
}

/* Takes `tried` where it explains more. Where it explains less of fewer rows,
 * the others are not asked. */
static int weigh(struct search *search, const struct drive *tried)
{
    double total = -INFINITY, of_fewer = 0;
    int error = 0;

    if (!may_go_on(search))
        return 0;
    if (search->fewer)
        error = score(search, search->fewer, tried, &of_fewer);
    if (!error && of_fewer >= search->score_of_fewer - better_least)
        error = score(search, search->rows, tried, &total);
    if (error == -EINVAL) /* more than the model can number */
        return 0;
    if (error || total <= search->score + better_least)
        return error;
    search->drive = *tried;
    search->score = total;
    search->score_of_fewer = of_fewer;
    search->changed = true;
    return 0;
}

static bool has_key(const struct twin_aspect *aspect, const char *key)
{
    return strcmp(aspect->key, key) == 0;
}

/* False: there is no such drive, it is the same one, or what was found would
 * have to change with it. */
static bool apply(const struct search *search, const struct twin_aspect *aspect,
                  const char *value, struct drive *drive)
{
    char before[64], after[64];

    if ((aspect->applies && !aspect->applies(drive)) ||
        !twin_aspect_allows(aspect, value, search->findings))
        return false;
    twin_aspect_value(aspect, drive, before, sizeof(before));
    const uint64_t block_bytes = twin_shape_of(drive).block_bytes;
    if (!twin_aspect_apply(aspect, value, drive))
        return false;
    twin_aspect_value(aspect, drive, after, sizeof(after));
    if (strcmp(before, after) == 0)
        return false;
    return has_key(aspect, "block") ||
           twin_shape_of(drive).block_bytes == block_bytes ||
           !twin_block_is_known(search->findings);
}

/* ---- one aspect, and two ------------------------------------------------ */

static int try_values(struct search *search, const struct twin_aspect *aspect,
                      const struct drive *from)
{
    int error = 0;

    for (size_t i = 0; i < TWIN_VALUES_MAX && aspect->values[i] && !error;
         i++) {
        struct drive tried = *from;
        if (apply(search, aspect, aspect->values[i], &tried))
            error = weigh(search, &tried);
    }
    return error;
}

/* Each value of one aspect with each of another: neither shows by itself. */
static int try_both(struct search *search, const struct twin_aspect *first,
                    const struct twin_aspect *second)
{
    const struct drive from = search->drive;
    int error = try_values(search, second, &from);

    for (size_t i = 0; i < TWIN_VALUES_MAX && first->values[i] && !error; i++) {
        struct drive tried = from;
        if (!apply(search, first, first->values[i], &tried))
            continue;
        error = weigh(search, &tried);
        if (!error)
            error = try_values(search, second, &tried);
    }
    return error;
}

/* ---- all ---------------------------------------------------------------- */

static bool is_open(const struct search *search,
                    const struct twin_aspect *aspect)
{
    return !twin_aspect_is_known(aspect, search->findings);
}

/* A page shows by what a buffer does not hide. */
static int try_pages(struct search *search)
{
    const struct twin_aspect *page = twin_aspect_find("clustered_page_bytes");
    const struct twin_aspect *buffer = twin_aspect_find("write_buffer_bytes");
    const struct drive from = search->drive;

    if (is_open(search, page) && is_open(search, buffer))
        return try_both(search, page, buffer);
    if (is_open(search, buffer))
        return try_values(search, buffer, &from);
    return 0;
}

/* Sizes of buffers are for times to tell: what a buffer takes in is a class of
 * its own whatever its size. */
static int try_each(struct search *search)
{
    int error = 0;

    for (size_t i = 0; twin_aspect_at(i) && !error; i++) {
        const struct twin_aspect *aspect = twin_aspect_at(i);
        const struct drive from = search->drive;
        if (is_open(search, aspect) && !has_key(aspect, "read_buffer_bytes") &&
            !has_key(aspect, "write_buffer_bytes"))
            error = try_values(search, aspect, &from);
    }
    return error;
}

int twin_search_score(const struct twin_rows *rows,
                      const struct twin_rows *fewer,
                      const struct findings *findings, size_t replays_max,
                      struct drive *drive, struct twin *twin, struct fault *why)
{
    struct search search = {
        .rows = rows,
        .fewer = fewer,
        .findings = findings,
        .why = why,
        .drive = *drive,
        .changed = true,
        .predicted_ns = calloc(rows->count + (fewer ? fewer->count : 0) + 1,
                               sizeof(uint32_t)),
        .replays_max = replays_max};
    int error = search.predicted_ns ? score(&search, rows, drive, &search.score)
                                    : -ENOMEM;

    if (!error && fewer)
        error = score(&search, fewer, drive, &search.score_of_fewer);
    if (!error && !fewer)
        error = try_pages(&search);
    for (int i = 0; i < ROUNDS_MAX && search.changed && !error; i++) {
        search.changed = false;
        error = try_each(&search);
    }
    if (!error)
        *drive = search.drive;
    twin->replays_count += search.replays_count;
    free(search.predicted_ns);
    return error;
}
