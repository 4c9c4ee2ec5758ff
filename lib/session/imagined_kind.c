/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/imagined_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/infer/stats.h"

/* Fewer times than this say little; those of two kinds are then alike within a
 * factor, and one or two say next to nothing. */
static const uint32_t few_times = 12, fewest_times = 4;
static const double alike_most = 1.3, alike_most_of_fewest = 2;
/* So many show how they vary. */
static const size_t noise_times = 6;

/* The kinds most like each. */
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

/* ---- what was seen ------------------------------------------------------ */

static size_t held(const struct cost_class *class)
{
    return class->count < COST_TIMES ? class->count : COST_TIMES;
}

/*
 * What is typical of a class lies in the middle of its last times: so much is
 * left out on each side. What is far or in order has more that is not: the first
 * write to a new log, the page that opens a block. Of a few times it is the lower
 * half, for one of two may be such a write.
 */
static void typical(enum cost_kind kind, size_t count, size_t *begin,
                    size_t *end)
{
    size_t out = count / 8;

    if (kind == COST_WRITE_FAR || kind == COST_FLUSH_FAR)
        out = 3 * count / 8;
    else if (kind == COST_WRITE_ORDER || kind == COST_FLUSH_ORDER)
        out = count / 4;
    *begin = count < few_times ? 0 : out;
    *end = count < few_times ? (count + 1) / 2 : count - out;
}

static void set_point(struct imagined_point *point,
                      const struct cost_class *class, enum cost_kind kind)
{
    const size_t count = held(class);
    double ns[COST_TIMES], sum_ns = 0;
    size_t begin, end;

    memcpy(ns, class->ns, count * sizeof(*ns));
    stats_sort(ns, count);
    typical(kind, count, &begin, &end);
    point->bytes = class->bytes;
    point->count = end - begin;
    for (size_t i = begin; i < end; i++)
        sum_ns += ns[i];
    point->ns = sum_ns / (double)point->count;
    for (size_t i = 0; i < point->count; i++)
        point->share[i] = point->ns > 0 ? ns[begin + i] / point->ns : 1;
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

/* Are times of the same size, one seen `count` times, the same but for chance? */
static bool alike(double ns, uint32_t count, double other_ns)
{
    const double most =
        count < fewest_times ? alike_most_of_fewest : alike_most;

    return ns <= most * other_ns && other_ns <= most * ns;
}

/* A time that was seen a few times is that of the kinds most like it where they
 * hardly differ: a difference by chance would be found by a probe. */
static void lean(struct imagined_point *point, const struct costs *costs,
                 enum cost_kind kind)
{
    const size_t size = costs_class(point->bytes);
    const uint32_t count = costs->classes[kind][size].count;

    for (int k = 0; count < few_times && k < 2; k++) {
        const struct cost_class *other = &costs->classes[others[kind][k]][size];
        struct imagined_point like;
        if (other->count < few_times || other->bytes < point->bytes ||
            other->bytes > point->bytes)
            continue;
        set_point(&like, other, others[kind][k]);
        if (!alike(point->ns, count, like.ns))
            continue;
        like.excess_ns = point->excess_ns;
        *point = like;
        return;
    }
}

void imagined_kinds(const struct costs *costs,
                    struct imagined_kind kinds[COST_KINDS])
{
    for (enum cost_kind kind = 0; kind < COST_KINDS; kind++) {
        set_kind(&kinds[kind], costs->classes[kind], kind);
        for (size_t i = 0; i < kinds[kind].count; i++)
            lean(&kinds[kind].points[i], costs, kind);
    }
}

const struct imagined_kind *
imagined_kind(const struct imagined_kind kinds[COST_KINDS], enum cost_kind kind)
{
    for (int i = 0; i < 2 && !kinds[kind].count; i++)
        if (kinds[others[kind][i]].count)
            return &kinds[others[kind][i]];
    return &kinds[kind];
}

/* ---- what would be ------------------------------------------------------ */

/* On the line from far below the last point through it: of neighbours that were
 * seen but a few times, the line would lead anywhere. */
static double beyond(const struct imagined_point points[], size_t last,
                     double bytes)
{
    const double far = 8;
    const struct imagined_point *b = &points[last], *a = points;

    for (size_t i = 0; i < last && points[i].bytes <= b->bytes / far; i++)
        a = &points[i];
    const double slope = fmax(b->ns - a->ns, 0) / (b->bytes - a->bytes);
    return b->ns + slope * (bytes - b->bytes);
}

/*
 * On straight lines through the points. Where one rises much faster than the
 * line before it, there is a step in it, as at the end of a buffer: half way.
 */
double imagined_ns(const struct imagined_kind *kind, double bytes)
{
    const struct imagined_point *points = kind->points;
    const size_t count = kind->count;
    const double steep = 1.3;
    size_t i = 1;

    if (count == 0)
        return 0;
    if (count == 1 || bytes <= points[0].bytes)
        return bytes > points[0].bytes ? points[0].ns * bytes / points[0].bytes
                                       : points[0].ns;
    while (i + 1 < count && points[i].bytes < bytes)
        i++;
    const struct imagined_point *b = &points[i];
    if (bytes > b->bytes)
        return beyond(points, i, bytes);
    const struct imagined_point *a = &points[i - 1];
    const double slope = (b->ns - a->ns) / (b->bytes - a->bytes);
    if (i > 1) {
        const struct imagined_point *z = &points[i - 2];
        const double before = fmax((a->ns - z->ns) / (a->bytes - z->bytes), 0);
        if (b->ns > steep * (a->ns + before * (b->bytes - a->bytes)))
            return bytes < (a->bytes + b->bytes) / 2
                       ? a->ns + before * (bytes - a->bytes)
                       : b->ns - before * (b->bytes - bytes);
    }
    return fmax(a->ns + slope * (bytes - a->bytes), fmin(a->ns, b->ns));
}

/* How times vary is not seen in a few: then as those of another size do. */
static const struct imagined_point *
nearest_point(const struct imagined_kind *kind, double bytes)
{
    const int wanted = (int)costs_class(bytes);
    const struct imagined_point *nearest = kind->points;
    int least = 2 * COST_SIZES;

    for (size_t i = 0; i < kind->count; i++) {
        const struct imagined_point *point = &kind->points[i];
        const int few = point->count < noise_times ? COST_SIZES : 0;
        const int apart = abs((int)costs_class(point->bytes) - wanted) + few;
        if (apart < least) {
            least = apart;
            nearest = point;
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

static struct cost drawn(const struct imagined_kind *kind,
                         const struct imagined_point *point, double bytes,
                         size_t index)
{
    const double usual_ns = imagined_ns(kind, bytes);

    return (struct cost){.ns = usual_ns * point->share[index],
                         .mean_ns = usual_ns + excess(kind, bytes)};
}

struct cost imagined_draw(const struct imagined_kind *kind, double bytes,
                          uint64_t chance)
{
    if (kind->count == 0)
        return (struct cost){.ns = 0};
    const struct imagined_point *point = nearest_point(kind, bytes);
    return drawn(kind, point, bytes, (size_t)(chance % point->count));
}

/* Where the level ends that begins there. */
static size_t level_end(const struct imagined_point *point, size_t begin)
{
    size_t end = begin + 1;

    while (end < point->count &&
           point->share[end] < cost_levels_least * point->share[end - 1])
        end++;
    return end;
}

struct cost imagined_draw_level(const struct imagined_kind *kind, double bytes,
                                uint64_t level, uint64_t chance)
{
    size_t levels = 0, begin = 0, end = 0;

    if (kind->count == 0)
        return (struct cost){.ns = 0};
    const struct imagined_point *point = nearest_point(kind, bytes);
    do {
        end = level_end(point, end);
        levels++;
    } while (end < point->count);
    end = level_end(point, 0);
    for (level %= levels; level > 0; level--) {
        begin = end;
        end = level_end(point, begin);
    }
    return drawn(kind, point, bytes, begin + (size_t)(chance % (end - begin)));
}
