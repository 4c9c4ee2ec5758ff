/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/imagined.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/infer/stats.h"

/* ---- what was seen ------------------------------------------------------ */

static size_t held(const struct cost_class *class)
{
    return class->count < COST_TIMES ? class->count : COST_TIMES;
}

/*
 * What is typical of a class lies in the middle of its last times: so much is
 * left out on each side. What is far or in order has more that is not: the first
 * write to a new log, the page that opens a block.
 */
static size_t left_out(size_t count, enum cost_kind kind)
{
    if (kind == COST_WRITE_FAR || kind == COST_FLUSH_FAR)
        return 3 * count / 8;
    if (kind == COST_WRITE_ORDER || kind == COST_FLUSH_ORDER)
        return count / 4;
    return count / 8;
}

static void set_point(struct imagined_point *point,
                      const struct cost_class *class, enum cost_kind kind)
{
    const size_t count = held(class), out = left_out(count, kind);
    double ns[COST_TIMES], sum_ns = 0;

    memcpy(ns, class->ns, count * sizeof(*ns));
    stats_sort(ns, count);
    point->bytes = class->bytes;
    point->count = count - 2 * out;
    for (size_t i = 0; i < point->count; i++)
        sum_ns += ns[out + i];
    point->ns = sum_ns / (double)point->count;
    for (size_t i = 0; i < point->count; i++)
        point->share[i] = point->ns > 0 ? ns[out + i] / point->ns : 1;
}

/* How much more a request takes on average than is typical is one number for
 * all up to a size: rare ones are slow, whatever their size, and no one size has
 * been seen often enough; but what much longer ones wait for, while the drive
 * cleans, short ones do not. */
static void set_kind(struct imagined_kind *imagined,
                     const struct cost_class classes[COST_SIZES],
                     enum cost_kind kind)
{
    double excess_ns = 0, weights = 0;

    imagined->count = 0;
    for (size_t i = 0; i < COST_SIZES; i++) {
        if (classes[i].count == 0)
            continue;
        struct imagined_point *point = &imagined->points[imagined->count++];
        const double weight = costs_weight(&classes[i]);
        set_point(point, &classes[i], kind);
        excess_ns += weight * (classes[i].mean_ns - point->ns);
        weights += weight;
        point->excess_ns = fmax(excess_ns / weights, 0);
    }
}

void imagined_init(struct imagined *drive, const struct costs *costs,
                   uint64_t seed)
{
    drive->costs = costs;
    drive->place = costs->place;
    random_seed(&drive->random, seed);
    for (enum cost_kind kind = 0; kind < COST_KINDS; kind++)
        set_kind(&drive->kinds[kind], costs->classes[kind], kind);
}

/* ---- what would be ------------------------------------------------------ */

/*
 * On straight lines through the points. Where one rises much faster than the
 * line before it, there is a step in it, as at the end of a buffer: half way.
 */
static double curve(const struct imagined_point points[], size_t count,
                    double bytes)
{
    const double steep = 1.3;
    size_t i = 1;

    if (count == 0)
        return 0;
    if (count == 1 || bytes <= points[0].bytes)
        return bytes > points[0].bytes ? points[0].ns * bytes / points[0].bytes
                                       : points[0].ns;
    while (i + 1 < count && points[i].bytes < bytes)
        i++;
    const struct imagined_point *a = &points[i - 1], *b = &points[i];
    const double slope = (b->ns - a->ns) / (b->bytes - a->bytes);
    if (i > 1 && bytes <= b->bytes) {
        const struct imagined_point *z = &points[i - 2];
        const double before = fmax((a->ns - z->ns) / (a->bytes - z->bytes), 0);
        if (b->ns > steep * (a->ns + before * (b->bytes - a->bytes)))
            return bytes < (a->bytes + b->bytes) / 2
                       ? a->ns + before * (bytes - a->bytes)
                       : b->ns - before * (b->bytes - bytes);
    }
    return fmax(a->ns + slope * (bytes - a->bytes), fmin(a->ns, b->ns));
}

/* The kind most like it that was seen. */
static enum cost_kind nearest_kind(const struct imagined *drive,
                                   enum cost_kind kind)
{
    static const enum cost_kind others[COST_KINDS][2] = {
        [COST_READ_FAR] = {COST_READ_NEAR, COST_READ_NEAR},
        [COST_READ_NEAR] = {COST_READ_FAR, COST_READ_FAR},
        [COST_WRITE_ORDER] = {COST_WRITE_NEAR, COST_WRITE_FAR},
        [COST_WRITE_NEAR] = {COST_WRITE_ORDER, COST_WRITE_FAR},
        [COST_WRITE_FAR] = {COST_WRITE_NEAR, COST_WRITE_ORDER},
        [COST_FLUSH_ORDER] = {COST_FLUSH_NEAR, COST_FLUSH_FAR},
        [COST_FLUSH_NEAR] = {COST_FLUSH_ORDER, COST_FLUSH_FAR},
        [COST_FLUSH_FAR] = {COST_FLUSH_NEAR, COST_FLUSH_ORDER},
        [COST_FLUSH_NOTHING] = {COST_FLUSH_NEAR, COST_FLUSH_ORDER}};

    for (int i = 0; i < 2 && !drive->kinds[kind].count; i++)
        if (drive->kinds[others[kind][i]].count)
            return others[kind][i];
    return kind;
}

static const struct imagined_point *
nearest_point(const struct imagined_kind *kind, double bytes)
{
    const int wanted = (int)costs_class(bytes);
    const struct imagined_point *nearest = kind->points;
    int least = COST_SIZES;

    for (size_t i = 0; i < kind->count; i++) {
        const int apart = abs((int)costs_class(kind->points[i].bytes) - wanted);
        if (apart < least) {
            least = apart;
            nearest = &kind->points[i];
        }
    }
    return nearest;
}

static double excess(const struct imagined_kind *kind, double bytes)
{
    const double most_bytes = 8 * bytes; /* of what is alike */
    const struct imagined_point *point = kind->points;
    size_t i = 1;

    while (i < kind->count && kind->points[i].bytes <= most_bytes)
        point = &kind->points[i++];
    return point->excess_ns * fmin(most_bytes / point->bytes, 1);
}

/* The curve's time, and that varied as the times of the nearest size do. `chance`
 * says which of them. */
static struct cost draw(const struct imagined_kind *kind, double bytes,
                        uint64_t chance)
{
    if (kind->count == 0)
        return (struct cost){.ns = 0};
    const struct imagined_point *point = nearest_point(kind, bytes);
    const double usual_ns = curve(kind->points, kind->count, bytes);
    return (struct cost){.ns = usual_ns * point->share[chance % point->count],
                         .mean_ns = usual_ns + excess(kind, bytes)};
}

/* The same read again, relative to the first: as that of the nearest size. */
static double again_of(const struct costs *costs, uint64_t bytes)
{
    const double none = 0.97; /* what differs by less is the same */
    const size_t wanted = costs_class((double)bytes);
    double ratio = 1;

    for (size_t apart = COST_SIZES; apart-- > 0;) {
        if (wanted >= apart && costs->again[wanted - apart] > 0)
            ratio = costs->again[wanted - apart];
        else if (wanted + apart < COST_SIZES &&
                 costs->again[wanted + apart] > 0)
            ratio = costs->again[wanted + apart];
    }
    return ratio < none ? ratio : 1;
}

struct cost imagined_do(struct imagined *drive, const struct step *step)
{
    const struct costs *costs = drive->costs;
    struct cost_place *place = &drive->place;
    uint64_t bytes = step->length_bytes;

    if (step->operation == OPERATION_IDLE)
        return (struct cost){(double)step->idle_ns, (double)step->idle_ns};
    const bool again =
        costs_again(place, step->operation, step->offset_bytes, bytes);
    const enum cost_kind kind =
        nearest_kind(drive, costs_kind(costs, place, step->operation,
                                       step->offset_bytes, &bytes));
    /* Pages written in order differ by their place in a block. */
    const uint64_t chance = kind == COST_WRITE_ORDER || kind == COST_FLUSH_ORDER
                                ? place->write_end_bytes / (bytes ? bytes : 1)
                                : random_u64(&drive->random);
    struct cost cost = draw(&drive->kinds[kind], (double)bytes, chance);
    if (again) {
        cost.ns *= again_of(costs, bytes);
        cost.mean_ns *= again_of(costs, bytes);
    }
    if (step->operation == OPERATION_WRITE &&
        costs_straddles(costs, step->offset_bytes, step->length_bytes)) {
        cost.ns += costs->page_extra_ns;
        cost.mean_ns += costs->page_extra_ns;
    }
    return cost;
}
