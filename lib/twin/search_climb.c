/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/twin/rows/replay.h"
#include "lib/twin/search.h"

/*
 * Climbs to the drive that fits best: one change of the structure at a time,
 * and where none helps two at once, for a buffer that drains otherwise also
 * overflows otherwise, and a page of another size has another geometry. Each
 * candidate keeps the slopes of the drive it is beside, so that it costs a few
 * replays, not a regression.
 */

/* A drive must fit better by so much of the mean loss: less is within what few
 * steps of a regression leave. */
static const double better_least = 0.005;

/* Of the changes that fit worse alone so many are tried in pairs. */
enum { PAIRED_MAX = 20, MOVES_MAX = 256 };

/* One change: a value of an aspect, a size of it that is so many times as
 * large, or without an aspect a neighbour's geometry. */
struct move {
    const struct twin_aspect *aspect;
    const char *value; /* NULL: another size */
    double factor;
    unsigned neighbour;
    double cost; /* alone */
};

enum { WAYS = 7, NEIGHBOURS = 3 * WAYS }; /* of a geometry */

struct climb {
    const struct twin_rows *rows;
    const struct findings *findings;
    struct fault *why;
    struct move moves[MOVES_MAX];
    size_t moves_count;
    struct drive drive; /* the best so far */
    double cost;
    struct twin_slopes *slopes; /* its own */
    size_t replays_count, replays_max;
};

static const double factors[] = {2, 1.4, 1.2, 1.1};

/* Sizes that lie between the values of the table. */
static void collect_sizes(const struct twin_aspect *aspect, struct climb *climb)
{
    const size_t count = sizeof(factors) / sizeof(factors[0]);

    if (!twin_aspect_is_size(aspect))
        return;
    for (size_t i = 0; i < 2 * count && climb->moves_count < MOVES_MAX; i++)
        climb->moves[climb->moves_count++] = (struct move){
            .aspect = aspect,
            .factor = i % 2 ? 1 / factors[i / 2] : factors[i / 2]};
}

static void collect(const struct findings *findings, struct climb *climb)
{
    for (size_t i = 0; twin_aspect_at(i); i++) {
        const struct twin_aspect *aspect = twin_aspect_at(i);
        if (twin_aspect_is_known(aspect, findings))
            continue;
        collect_sizes(aspect, climb);
        for (size_t at = 0; at < TWIN_VALUES_MAX && aspect->values[at] &&
                            climb->moves_count < MOVES_MAX;
             at++)
            if (twin_aspect_allows(aspect, aspect->values[at], findings))
                climb->moves[climb->moves_count++] = (struct move){
                    .aspect = aspect, .value = aspect->values[at]};
        for (unsigned at = 0; i == 0 && at < NEIGHBOURS; at++)
            climb->moves[climb->moves_count++] = (struct move){.neighbour = at};
    }
}

/* Times or divides one number of the shape; some of them are no drive. */
static struct twin_shape neighbour_of(struct twin_shape shape, unsigned index)
{
    static const uint64_t primes[] = {2, 3, 5};
    uint64_t factor = primes[index / WAYS % 3];

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

/* False: there is no such drive, or it is no other one. */
static bool apply(const struct move *move, const struct findings *findings,
                  struct drive *drive)
{
    const struct twin_aspect *aspect = move->aspect;
    char before[64], after[64];

    if (!aspect) {
        const struct twin_shape now = twin_shape_of(drive);
        const struct twin_shape shape = neighbour_of(now, move->neighbour);
        return twin_shape_allows(&now, &shape, findings) &&
               twin_shape_apply(&shape, drive);
    }
    if (aspect->applies && !aspect->applies(drive))
        return false;
    twin_aspect_value(aspect, drive, before, sizeof(before));
    if (move->value ? !twin_aspect_apply(aspect, move->value, drive)
                    : !twin_aspect_scale(aspect, move->factor, drive))
        return false;
    twin_aspect_value(aspect, drive, after, sizeof(after));
    return strcmp(before, after) != 0;
}

/* The best drive anew, with the slopes of its own, and as far as its neighbours
 * will come with them. */
static int settle(struct climb *climb)
{
    struct twin_times_fit fit;

    twin_slopes_free(climb->slopes);
    climb->slopes = NULL;
    int error = twin_slopes_make(climb->rows, &climb->drive, &climb->slopes,
                                 &fit, climb->why);
    climb->replays_count += fit.replays_count;
    climb->cost = fit.cost;
    return error;
}

/* One change, or two. *cost: INFINITY where there is no such drive. */
static int try_moves(struct climb *climb, const struct move *first,
                     const struct move *second, double *cost, bool *better)
{
    struct drive tried = climb->drive;
    struct twin_times_fit fit;

    *cost = INFINITY;
    *better = false;
    if (!apply(first, climb->findings, &tried) ||
        (second && !apply(second, climb->findings, &tried)))
        return 0;
    int error = twin_times_beside(climb->slopes, &tried, &fit, climb->why);
    climb->replays_count += fit.replays_count;
    if (error == -EINVAL) /* more than the model can number */
        return 0;
    if (error)
        return error;
    *cost = fit.cost;
    if (fit.cost >= climb->cost - better_least)
        return 0;
    *better = true;
    climb->drive = tried;
    return settle(climb);
}

static bool may_go_on(const struct climb *climb)
{
    return climb->replays_count < climb->replays_max;
}

/* Each change by itself, until none of them helps. */
static int try_each(struct climb *climb)
{
    size_t since_better = 0, at = 0;
    int error = 0;

    while (since_better < climb->moves_count && may_go_on(climb) && !error) {
        struct move *move = &climb->moves[at];
        bool better;
        error = try_moves(climb, move, NULL, &move->cost, &better);
        since_better = better ? 0 : since_better + 1;
        if (!better) /* else the same way once more */
            at = (at + 1) % climb->moves_count;
    }
    return error;
}

static int compare_costs(const void *a, const void *b)
{
    const struct move *x = a, *y = b;

    return (x->cost > y->cost) - (x->cost < y->cost);
}

/* Does it change what the rows show at all? */
static bool matters(const struct climb *climb, const struct move *move)
{
    return isfinite(move->cost) && fabs(move->cost - climb->cost) > 1e-6;
}

/* Does only another change make it possible? */
static bool is_hidden(const struct climb *climb, const struct move *move)
{
    return move->aspect && move->aspect->applies &&
           !move->aspect->applies(&climb->drive);
}

static int try_pair(struct climb *climb, const struct move *first,
                    const struct move *second, bool *better)
{
    double cost;

    if (first->aspect && first->aspect == second->aspect)
        return 0;
    return try_moves(climb, first, second, &cost, better);
}

/* Two changes at once: of those that fit least badly, and of these with one
 * that they make possible. */
static int try_pairs(struct climb *climb, bool *better)
{
    size_t count = 0;
    int error = 0;

    qsort(climb->moves, climb->moves_count, sizeof(climb->moves[0]),
          compare_costs);
    for (size_t i = 0; i < climb->moves_count && count < PAIRED_MAX; i++)
        if (matters(climb, &climb->moves[i])) {
            const struct move swap = climb->moves[count];
            climb->moves[count++] = climb->moves[i];
            climb->moves[i] = swap;
        }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < climb->moves_count; j++) {
            const struct move *second = &climb->moves[j];
            if (j >= i && !is_hidden(climb, second))
                continue;
            error = try_pair(climb, &climb->moves[i], second, better);
            if (*better || error || !may_go_on(climb))
                return error;
        }
    return 0;
}

int twin_search_climb(const struct twin_rows *rows,
                      const struct findings *findings, size_t replays_max,
                      struct drive *drive, struct twin *twin, struct fault *why)
{
    struct climb *climb = calloc(1, sizeof(*climb));
    bool better = true;

    if (!climb)
        return -ENOMEM;
    *climb = (struct climb){.rows = rows,
                            .findings = findings,
                            .why = why,
                            .drive = *drive,
                            .replays_max = replays_max};
    collect(findings, climb);
    int error = settle(climb);
    while (better && may_go_on(climb) && !error) {
        better = false;
        error = try_each(climb);
        if (!error)
            error = try_pairs(climb, &better);
    }
    if (!error)
        *drive = climb->drive;
    twin->times.cost = climb->cost;
    twin_slopes_free(climb->slopes);
    free(climb);
    return error;
}
