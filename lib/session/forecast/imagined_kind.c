/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/forecast/imagined_kind.h"

#include <math.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"
#include "lib/session/forecast/imagined_curve.h"
#include "lib/session/forecast/imagined_wait.h"

/* Below 12 times, a class adopts the time of a similar kind if both agree
 * within a factor of 1.3 (below 4 times, 2). */
static const uint32_t few_times = 12, fewest_times = 4;
static const double alike_most = 1.3, alike_most_of_fewest = 2;
static const double least_bytes = 512; /* a flush may carry no data */
/* Times that a class needs to show how they spread. */
static const size_t noise_times = 4;

/* The two most similar kinds, the better one first. */
static const enum cost_kind others[COST_KINDS][2] = {
    [COST_READ_FAR] = {COST_READ_NEAR, COST_READ_NEAR},
    [COST_READ_NEAR] = {COST_READ_FAR, COST_READ_FAR},
    [COST_WRITE_ORDER] = {COST_WRITE_NEAR, COST_WRITE_FAR},
    [COST_WRITE_NEAR] = {COST_WRITE_ORDER, COST_WRITE_FAR},
    [COST_WRITE_FAR] = {COST_WRITE_NEAR, COST_WRITE_ORDER},
    [COST_MORE_ORDER] = {COST_WRITE_ORDER, COST_MORE_NEAR},
    [COST_MORE_NEAR] = {COST_WRITE_NEAR, COST_MORE_FAR},
    [COST_MORE_FAR] = {COST_WRITE_FAR, COST_MORE_NEAR},
    [COST_FLUSH_ORDER] = {COST_FLUSH_NEAR, COST_FLUSH_FAR},
    [COST_FLUSH_NEAR] = {COST_FLUSH_ORDER, COST_FLUSH_FAR},
    [COST_FLUSH_FAR] = {COST_FLUSH_NEAR, COST_FLUSH_ORDER},
    [COST_FLUSH_NOTHING] = {COST_FLUSH_NEAR, COST_FLUSH_ORDER}};

static bool is_far(enum cost_kind kind)
{
    return kind == COST_WRITE_FAR || kind == COST_MORE_FAR ||
           kind == COST_FLUSH_FAR;
}

static bool is_in_order(enum cost_kind kind)
{
    return kind == COST_WRITE_ORDER || kind == COST_MORE_ORDER ||
           kind == COST_FLUSH_ORDER;
}

/* ---- what was seen ------------------------------------------------------ */

static size_t held(const struct cost_class *class)
{
    return class->count < COST_TIMES ? class->count : COST_TIMES;
}

/*
 * Selects the typical times of a class, [begin, end) of its sorted times: all
 * but the outer eighth on each side. It drops more of distant and sequential
 * writes, for first writes to a log and pages that open a block. Of fewer than
 * 12 times it takes the lower half, as one of two may be untypical.
 */
static void typical(enum cost_kind kind, size_t count, size_t *begin,
                    size_t *end)
{
    size_t out = count / 8;

    if (is_far(kind))
        out = 3 * count / 8;
    else if (is_in_order(kind))
        out = count / 4;
    *begin = count < few_times ? 0 : out;
    *end = count < few_times ? (count + 1) / 2 : count - out;
}

/* Spread of the times as the sigma of their logarithm, from the middle quarter:
 * half of the times may belong to another mode. */
static double spread(const struct cost_class *class)
{
    const double quarter_sigmas = 0.637;
    const size_t count = held(class);
    double ns[COST_TIMES];

    memcpy(ns, class->ns, count * sizeof(*ns));
    stats_sort(ns, count);
    return ns[3 * count / 8] > 0
               ? log(ns[5 * count / 8] / ns[3 * count / 8]) / quarter_sigmas
               : 0;
}

/* Spread that the typical times lack, as the outer ones were dropped; at most
 * `most`, the spread of reads. Writes differ by more because pages do. */
static double cut_off(const struct cost_class *class,
                      const struct imagined_point *point, double most)
{
    const double sigma =
        held(class) < few_times ? most : fmin(spread(class), most);
    double kept = 0;

    for (size_t i = 0; i < point->count; i++)
        kept += pow(point->share[i] - 1, 2) / (double)point->count;
    return sqrt(fmax(sigma * sigma - kept, 0));
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
    point->steps = false;
    for (size_t i = begin; i < end; i++)
        sum_ns += ns[i];
    point->ns = sum_ns / (double)point->count;
    for (size_t i = 0; i < point->count; i++)
        point->share[i] = point->ns > 0 ? ns[begin + i] / point->ns : 1;
}

static void set_kind(struct imagined_kind *imagined,
                     const struct cost_class classes[COST_SIZES],
                     enum cost_kind kind)
{
    imagined->count = 0;
    memset(imagined->asked, 0, sizeof(imagined->asked));
    for (size_t i = 0; i < COST_SIZES; i++) {
        if (classes[i].count == 0)
            continue;
        struct imagined_point *point = &imagined->points[imagined->count++];
        set_point(point, &classes[i], kind);
        point->weight = classes[i].weight;
        point->written_bytes = classes[i].written_bytes;
        point->excess_ns = classes[i].mean_ns - point->ns;
    }
}

/*
 * Mean delay by other work, as a share of the time. It is measured on reads,
 * which never wait for cleaning.
 */
static double held_up(const struct imagined_kind kinds[COST_KINDS])
{
    const double doubt = 100; /* weight of the default, no delay, in reads */
    double shares = 0, weights = doubt;

    for (enum cost_kind kind = COST_READ_FAR; kind <= COST_READ_NEAR; kind++)
        for (size_t i = 0; i < kinds[kind].count; i++) {
            const struct imagined_point *point = &kinds[kind].points[i];
            shares += point->ns > 0
                          ? point->weight * point->excess_ns / point->ns
                          : 0;
            weights += point->weight;
        }
    return fmax(shares / weights, 0);
}

size_t imagined_off_middle(const double sorted[], size_t count, double off[])
{
    size_t offs = 0;

    for (size_t i = 0; i < count; i++)
        if (i != count / 2 && sorted[i] > 0)
            off[offs++] = fabs(log(sorted[i] / sorted[count / 2]));
    return offs;
}

double imagined_sigma(double off[], size_t count)
{
    const double middle_sigmas = 0.6745;

    stats_sort(off, count);
    return count ? stats_median(off, count) / middle_sigmas : 0;
}

static double spread_of_class(const struct cost_class *class)
{
    const size_t count = held(class);
    double ns[COST_TIMES], off[COST_TIMES];

    memcpy(ns, class->ns, count * sizeof(*ns));
    stats_sort(ns, count);
    return imagined_sigma(off, imagined_off_middle(ns, count, off));
}

/* Median over the classes of reads. A single class may mix places. */
double imagined_spread_of_reads(const struct costs *costs)
{
    const uint32_t least_times = 3;
    double sigmas[2 * COST_SIZES];
    size_t count = 0;

    for (enum cost_kind kind = COST_READ_FAR; kind <= COST_READ_NEAR; kind++)
        for (size_t i = 0; i < COST_SIZES; i++)
            if (costs->classes[kind][i].count >= least_times)
                sigmas[count++] = spread_of_class(&costs->classes[kind][i]);
    stats_sort(sigmas, count);
    return count ? sigmas[(count - 1) / 2] : 0;
}

/*
 * Moves merges from the typical time to the excess. A flushed write takes at
 * most time in proportion to its length. A class of fewer than 4 times that
 * took over 3 times that much met a merge.
 */
static void set_merges_apart(struct imagined_kind *write,
                             struct imagined_kind *flush,
                             const struct cost_class classes[COST_SIZES])
{
    const double far_more = 3;
    double usual_ns = 0, usual_bytes = 0;

    for (size_t i = 0; i < write->count; i++) {
        struct imagined_point *point = &write->points[i];
        const size_t f = imagined_point_of(flush, point->bytes);
        if (f == flush->count)
            continue;
        struct imagined_point *rest = &flush->points[f];
        const double both_ns = point->ns + rest->ns;
        const double most_ns =
            usual_bytes > 0 ? usual_ns / usual_bytes * point->bytes : both_ns;
        double share = 1;
        if (classes[costs_class(point->bytes)].count < fewest_times &&
            both_ns > far_more * most_ns)
            share = most_ns / both_ns;
        point->excess_ns += (1 - share) * point->ns;
        rest->excess_ns += (1 - share) * rest->ns;
        point->ns *= share;
        rest->ns *= share;
        usual_ns = share * both_ns;
        usual_bytes = point->bytes;
    }
}

/* Do two times of one size, one seen `count` times, agree within chance? */
static bool alike(double ns, uint32_t count, double other_ns)
{
    const double most =
        count < fewest_times ? alike_most_of_fewest : alike_most;

    return ns <= most * other_ns && other_ns <= most * ns;
}

/* Replaces a time with few measurements by a similar kind's if both agree. */
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
        like.weight = point->weight;
        like.written_bytes = point->written_bytes;
        *point = like;
        return;
    }
}

/* Ratio to the other kind, at most 1, at the largest measured size: sizes to be
 * filled in are mostly larger. */
static double share_of(const struct imagined_kind *kind,
                       const struct imagined_kind *other)
{
    const struct imagined_point *longest = &kind->points[kind->count - 1];
    const double other_ns = imagined_ns(other, longest->bytes);

    return longest->ns < other_ns ? longest->ns / other_ns : 1;
}

/*
 * Fills in sizes that were not measured from another kind. `far`: adds a
 * constant, as a distant write waits for the work of the write before it. Else
 * multiplies by share_of(), as sequential writes cost less.
 */
static void fill(struct imagined_kind *kind, const struct imagined_kind *other,
                 bool far)
{
    const struct imagined_kind seen = *kind;
    double extra_ns = 0;
    size_t s = 0, o = 0;

    if (seen.count == 0)
        return;
    const double share = far ? 1 : share_of(kind, other);
    if (far && other->count)
        extra_ns = fmax(
            seen.points[0].ns - imagined_ns(other, seen.points[0].bytes), 0);
    for (kind->count = 0; s < seen.count || o < other->count;) {
        const size_t seen_size =
            s < seen.count ? costs_class(seen.points[s].bytes) : COST_SIZES;
        const size_t other_size =
            o < other->count ? costs_class(other->points[o].bytes) : COST_SIZES;
        struct imagined_point *point = &kind->points[kind->count++];
        *point = seen_size <= other_size ? seen.points[s] : other->points[o];
        if (seen_size > other_size)
            point->ns = share * point->ns + extra_ns;
        s += seen_size <= other_size;
        o += other_size <= seen_size;
    }
}

void imagined_kinds(const struct costs *costs,
                    struct imagined_kind kinds[COST_KINDS])
{
    for (enum cost_kind kind = 0; kind < COST_KINDS; kind++)
        set_kind(&kinds[kind], costs->classes[kind], kind);
    for (enum cost_kind kind = COST_WRITE_ORDER; kind <= COST_WRITE_NEAR;
         kind++)
        set_merges_apart(&kinds[kind],
                         &kinds[kind - COST_WRITE_ORDER + COST_FLUSH_ORDER],
                         costs->classes[kind]);
    const double share = held_up(kinds), most = imagined_spread_of_reads(costs);
    for (enum cost_kind kind = 0; kind < COST_KINDS; kind++) {
        kinds[kind].held_up = share;
        kinds[kind].each = is_far(kind);
        kinds[kind].alike = kind >= COST_WRITE_ORDER;
        kinds[kind].page_bytes =
            kind < COST_WRITE_ORDER ? 0 : (double)costs->page_bytes;
        kinds[kind].wait_byte_ns = 0;
        for (size_t i = 0; i < kinds[kind].count; i++) {
            struct imagined_point *point = &kinds[kind].points[i];
            point->excess_ns -= share * point->ns;
            lean(point, costs, kind);
            point->cut_off = cut_off(
                &costs->classes[kind][costs_class(point->bytes)], point, most);
        }
    }
    fill(&kinds[COST_WRITE_ORDER], &kinds[COST_WRITE_NEAR], false);
    fill(&kinds[COST_FLUSH_ORDER], &kinds[COST_FLUSH_NEAR], false);
    for (int i = 0; i <= COST_WRITE_FAR - COST_WRITE_ORDER; i++)
        imagined_curve_end_buffer(&kinds[COST_WRITE_ORDER + i],
                                  &kinds[COST_FLUSH_ORDER + i]);
    for (int i = 0; i <= COST_WRITE_FAR - COST_WRITE_ORDER; i++)
        fill(&kinds[COST_MORE_ORDER + i], &kinds[COST_WRITE_ORDER + i],
             is_far((enum cost_kind)(COST_WRITE_ORDER + i)));
}

struct imagined_kind *imagined_kind(struct imagined_kind kinds[COST_KINDS],
                                    enum cost_kind kind)
{
    for (int i = 0; i < 2 && !kinds[kind].count; i++)
        if (kinds[others[kind][i]].count)
            return &kinds[others[kind][i]];
    return &kinds[kind];
}

/* ---- what would be ------------------------------------------------------ */

/* The point whose spread stands for `bytes`: the nearest size with enough
 * times. Short reads vary as no others, so reads take the nearest size. */
static const struct imagined_point *
nearest_point(const struct imagined_kind *kind, double bytes)
{
    const struct imagined_point *nearest = kind->points;
    double least = INFINITY;

    for (size_t i = 0; i < kind->count; i++) {
        const struct imagined_point *point = &kind->points[i];
        const double few =
            kind->alike && point->count < noise_times ? COST_SIZES : 0;
        const double apart = fabs(log2(fmax(point->bytes, least_bytes) /
                                       fmax(bytes, least_bytes))) +
                             few;
        if (apart < least) {
            least = apart;
            nearest = point;
        }
    }
    return nearest;
}

static const struct imagined_size *size_of(struct imagined_kind *kind,
                                           double bytes)
{
    const uint64_t at = random_mix((uint64_t)bytes) % IMAGINED_SIZES;
    struct imagined_size *size = &kind->asked[at];

    if (!size->nearest || size->bytes < bytes || size->bytes > bytes) {
        const double usual_ns = imagined_ns(kind, bytes);
        *size = (struct imagined_size){
            .bytes = bytes,
            .nearest = nearest_point(kind, bytes),
            .usual_ns = usual_ns,
            .mean_ns = usual_ns + imagined_wait_ns(kind, bytes, usual_ns)};
    }
    return size;
}

static struct cost drawn(const struct imagined_size *size, size_t index,
                         uint64_t chance)
{
    const struct imagined_point *point = size->nearest;
    double ns = size->usual_ns * point->share[index];
    struct random random;

    if (point->cut_off > 0) {
        random_seed(&random, chance);
        ns *= exp(point->cut_off * random_normal(&random));
    }
    return (struct cost){.ns = ns, .mean_ns = size->mean_ns};
}

struct cost imagined_draw(struct imagined_kind *kind, double bytes,
                          uint64_t chance)
{
    if (kind->count == 0)
        return (struct cost){.ns = 0};
    const struct imagined_size *size = size_of(kind, bytes);
    return drawn(size, (size_t)(chance % size->nearest->count), chance);
}

/* Index one past the end of the level that starts at `begin`. */
static size_t level_end(const struct imagined_point *point, size_t begin)
{
    size_t end = begin + 1;

    while (end < point->count &&
           point->share[end] < cost_levels_least * point->share[end - 1])
        end++;
    return end;
}

struct cost imagined_draw_level(struct imagined_kind *kind, double bytes,
                                uint64_t level, uint64_t chance)
{
    size_t levels = 0, begin = 0, end = 0;

    if (kind->count == 0)
        return (struct cost){.ns = 0};
    const struct imagined_size *size = size_of(kind, bytes);
    const struct imagined_point *point = size->nearest;
    do {
        end = level_end(point, end);
        levels++;
    } while (end < point->count);
    end = level_end(point, 0);
    for (level %= levels; level > 0; level--) {
        begin = end;
        end = level_end(point, begin);
    }
    return drawn(size, begin + (size_t)(chance % (end - begin)), chance);
}
