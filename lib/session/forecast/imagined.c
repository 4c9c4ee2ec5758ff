/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/forecast/imagined.h"

#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

/* What usual drives have, until it is found. The spare area is 7 % of most
 * drives (GiB sold as GB), and up to 28 %. With so many stale pages a block, a
 * write that must clean takes two to nine times as long. */
static const uint64_t block_usual_pages = 512;
static const double spare_usual = 0.09, cleaning_usual = 5.5;
/* Writes of other kinds than those that waited wait for such a share of that:
 * in order, for instance, whole blocks need no cleaning. */
static const double wait_share = 0.2;
/* A drive merges log blocks when a short write far away costs at least this
 * multiple of a near one. Such a drive has no spare area to use up. */
static const double merge_least = 2;
/* A read buffer makes a repeated read take at most this share. */
static const double again_most = 0.8;

/* Noise of the times of one page, as a share of them. */
static const double noise_usual = 0.02;
/* A jump: a time that rises so many times as much as the size does, or falls so
 * much. */
static const double jump_least = 1.5;
/* Longer requests than this multiple of the longest measured are guessed. */
static const double longer_most = 2;

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

/* ---- what was measured --------------------------------------------------- */

/* Pages of an erase block. */
static uint64_t pages_of(const struct imagined *drive)
{
    const struct costs *costs = drive->costs;

    return costs->erase_bytes && costs->page_bytes
               ? larger_of(costs->erase_bytes / costs->page_bytes, 1)
               : block_usual_pages;
}

static bool is_in_order(enum cost_kind kind)
{
    return kind == COST_WRITE_ORDER || kind == COST_MORE_ORDER ||
           kind == COST_FLUSH_ORDER;
}

static bool is_more(enum cost_kind kind)
{
    return kind >= COST_MORE_ORDER && kind <= COST_MORE_FAR;
}

/* The typical times of a class: the outer ones met a merge, or cleaning, or
 * the first page of a block. Those of writes out of order fall into two groups,
 * with a merge and without: the middle belongs to one. */
static void set_point(struct imagined_point *point,
                      const struct cost_class *class, enum cost_kind kind)
{
    const size_t count = class->count < COST_TIMES ? class->count : COST_TIMES;
    const bool is_mixed = kind >= COST_WRITE_ORDER && !is_in_order(kind);
    const size_t out = count * (is_mixed ? 3 : 1) / 8;
    double ns[COST_TIMES];

    memcpy(ns, class->ns, count * sizeof(*ns));
    stats_sort(ns, count);
    point->class = class;
    point->count = count - 2 * out;
    point->usual_ns = stats_median(ns, count);
    memcpy(point->ns, ns + out, point->count * sizeof(*ns));
}

static void set_kind(struct imagined_kind *kind,
                     const struct cost_class classes[COST_SIZES],
                     enum cost_kind which)
{
    kind->count = 0;
    for (size_t i = 0; i < COST_SIZES; i++)
        if (classes[i].count)
            set_point(&kind->points[kind->count++], &classes[i], which);
}

static bool is_longer(const struct imagined_kind *kind, double bytes)
{
    return !kind->count ||
           bytes > longer_most * kind->points[kind->count - 1].class->bytes;
}

/* The kind, or the most similar one that was measured, if possible with about
 * such a length. */
static const struct imagined_kind *measured(const struct imagined *drive,
                                            enum cost_kind kind, double bytes)
{
    const struct imagined_kind *kinds[] = {&drive->kinds[kind],
                                           &drive->kinds[others[kind][0]],
                                           &drive->kinds[others[kind][1]]};

    for (size_t i = 0; i < 3; i++)
        if (!is_longer(kinds[i], bytes))
            return kinds[i];
    for (size_t i = 0; i < 2; i++)
        if (kinds[i]->count)
            return kinds[i];
    return kinds[2];
}

/* Typical time between two measured sizes: a straight line, or a step half way
 * where it jumps, as at the end of a write buffer. */
static double between(const struct imagined_point *a,
                      const struct imagined_point *b, double bytes)
{
    const double longer = b->class->bytes / fmax(a->class->bytes, 1);
    const double ratio = b->usual_ns / fmax(a->usual_ns, 1);
    const double share =
        (bytes - a->class->bytes) / (b->class->bytes - a->class->bytes);

    if (ratio > jump_least * longer || ratio < 1 / jump_least)
        return share < 0.5 ? a->usual_ns : b->usual_ns;
    return a->usual_ns + share * (b->usual_ns - a->usual_ns);
}

/* Typical time beyond the longest measured size: the line through the last two
 * goes on. */
static double beyond(const struct imagined_kind *kind, double bytes)
{
    const struct imagined_point *b = &kind->points[kind->count - 1], *a = b - 1;

    if (kind->count == 1)
        return b->usual_ns * bytes / fmax(b->class->bytes, 1);
    const double slope =
        (b->usual_ns - a->usual_ns) / (b->class->bytes - a->class->bytes);
    return b->usual_ns + fmax(slope, 0) * (bytes - b->class->bytes);
}

/* Typical time of a size. `nearest`: the measured size whose spread counts.
 * Shorter requests than the shortest take as long. */
static double usual_ns(const struct imagined_kind *kind, double bytes,
                       const struct imagined_point **nearest)
{
    size_t i = 0;

    while (i + 1 < kind->count && kind->points[i + 1].class->bytes <= bytes)
        i++;
    const struct imagined_point *point = &kind->points[i];
    *nearest = point;
    if (bytes <= point->class->bytes)
        return point->usual_ns;
    return i + 1 < kind->count ? between(point, point + 1, bytes)
                               : beyond(kind, bytes);
}

/* One of the times of a point. Pages written in order are slow or quick by
 * their place in the block, but for noise. */
static double one_of(struct imagined *drive, const struct imagined_point *point,
                     enum cost_kind kind)
{
    const uint64_t page = drive->place.write_end_bytes /
                          larger_of(drive->costs->page_bytes, 4 * KIB);
    const bool is_slow = random_mix(page % pages_of(drive)) % 2;

    if (!is_in_order(kind))
        return point->ns[random_below(&drive->random, point->count)];
    return point->ns[(is_slow ? 3 : 1) * point->count / 4] *
           (1 + noise_usual * random_unit(&drive->random));
}

static struct cost draw(struct imagined *drive, enum cost_kind kind,
                        double bytes)
{
    const struct imagined_kind *times = measured(drive, kind, bytes);
    const struct imagined_point *point;

    if (times->count == 0)
        return (struct cost){.ns = 0};
    const double ns = usual_ns(times, bytes, &point);
    const double factor = point->usual_ns > 0 ? ns / point->usual_ns : 1;
    double mean_ns = factor * point->class->mean_ns;
    if (kind >= COST_WRITE_ORDER && kind <= COST_MORE_FAR && !drive->merges)
        mean_ns = fmax(mean_ns, ns + drive->wait_byte_ns * bytes);
    return (struct cost){.ns = factor * one_of(drive, point, kind),
                         .mean_ns = mean_ns};
}

/* A write that is not flushed. Where only short ones were measured, or few that
 * the logs took, it takes what a flushed one does. */
static struct cost draw_more(struct imagined *drive, enum cost_kind kind,
                             double bytes)
{
    const enum cost_kind write = kind - COST_MORE_ORDER + COST_WRITE_ORDER;
    const enum cost_kind flush = kind - COST_MORE_ORDER + COST_FLUSH_ORDER;

    if (!drive->merges && !is_longer(&drive->kinds[kind], bytes))
        return draw(drive, kind, bytes);
    const struct cost a = draw(drive, write, bytes);
    const struct cost b = draw(drive, flush, bytes);
    return (struct cost){a.ns + b.ns, a.mean_ns + b.mean_ns};
}

/* Median ratio of repeated reads, of the nearest size that was measured. */
static double again_of(const struct costs *costs, size_t size)
{
    const struct cost_again *nearest = NULL;
    double ratios[COST_AGAINS];

    for (size_t apart = 0; !nearest && apart < COST_SIZES; apart++) {
        if (size + apart < COST_SIZES && costs->again[size + apart].count)
            nearest = &costs->again[size + apart];
        else if (size >= apart && costs->again[size - apart].count)
            nearest = &costs->again[size - apart];
    }
    if (!nearest)
        return 1;
    const size_t count =
        nearest->count < COST_AGAINS ? nearest->count : COST_AGAINS;
    memcpy(ratios, nearest->ratios, count * sizeof(*ratios));
    stats_sort(ratios, count);
    const double ratio = stats_median(ratios, count);
    return ratio < again_most ? ratio : 1;
}

/* Time of a 4 KiB write of this kind with its flush. */
static double short_ns(const struct imagined *drive, enum cost_kind kind)
{
    const double bytes = 4096;
    const struct imagined_kind *write = measured(drive, kind, bytes);
    const struct imagined_kind *flush =
        measured(drive, kind + COST_FLUSH_ORDER - COST_WRITE_ORDER, bytes);
    const struct imagined_point *ignored;

    return (write->count ? usual_ns(write, bytes, &ignored) : 0) +
           (flush->count ? usual_ns(flush, bytes, &ignored) : 0);
}

void imagined_init(struct imagined *drive, const struct costs *costs,
                   uint64_t seed)
{
    drive->costs = costs;
    drive->place = costs->place;
    random_seed(&drive->random, seed);
    for (enum cost_kind kind = 0; kind < COST_KINDS; kind++)
        set_kind(&drive->kinds[kind], costs->classes[kind], kind);
    for (size_t size = 0; size < COST_SIZES; size++)
        drive->again[size] = again_of(costs, size);
    drive->merges =
        costs->merges || short_ns(drive, COST_WRITE_FAR) >
                             merge_least * short_ns(drive, COST_WRITE_NEAR);
    drive->wait_byte_ns = costs->wait_bytes > 0
                              ? wait_share * costs->wait_ns / costs->wait_bytes
                              : 0;
    drive->flush_share = 1;
    drive->uncleaned_bytes = 0;
    drive->uncleaned_ns = 0;
}

/* ---- what is usual ------------------------------------------------------- */

/* Pages that a write touches / pages that an aligned write of its length
 * does. */
static double straddle(const struct imagined *drive, const struct step *step)
{
    const uint64_t page = drive->costs->page_bytes, length = step->length_bytes;

    if (length == 0 || page == 0)
        return 1;
    const uint64_t touched = (step->offset_bytes + length - 1) / page -
                             step->offset_bytes / page + 1;
    const uint64_t needed = (length + page - 1) / page;
    return (double)touched / (double)needed;
}

/* Has the imagined drive used up its spare area, but not the real one? Then
 * the measured times contain no cleaning. */
static bool cleans(const struct imagined *drive)
{
    const uint64_t spare_bytes =
        (uint64_t)(spare_usual * (double)drive->costs->region_length_bytes);

    return !drive->merges && drive->costs->page_bytes &&
           drive->costs->place.scattered_bytes < spare_bytes &&
           drive->place.scattered_bytes >= spare_bytes;
}

/* Time of a cleaning stall, at the write that fills an erase block: a multiple
 * of the time of all writes since the last stall. */
static double cleaning_ns(struct imagined *drive, uint64_t bytes, double ns)
{
    const uint64_t page = drive->costs->page_bytes,
                   block = pages_of(drive) * page;

    if (!cleans(drive))
        return 0;
    drive->uncleaned_ns += ns;
    drive->uncleaned_bytes += larger_of(bytes, page);
    if (drive->uncleaned_bytes < block)
        return 0;
    const double stall_ns = (cleaning_usual - 1) * drive->uncleaned_ns;
    drive->uncleaned_bytes %= block;
    drive->uncleaned_ns = 0;
    return stall_ns;
}

struct cost imagined_do(struct imagined *drive, const struct step *step)
{
    struct cost_place *place = &drive->place;
    uint64_t bytes = step->length_bytes;

    if (step->operation == OPERATION_IDLE)
        return (struct cost){(double)step->idle_ns, (double)step->idle_ns};
    const bool again =
        costs_again(place, step->operation, step->offset_bytes, bytes);
    const enum cost_kind kind = costs_kind(drive->costs, place, step->operation,
                                           step->offset_bytes, &bytes);
    struct cost cost = is_more(kind) ? draw_more(drive, kind, (double)bytes)
                                     : draw(drive, kind, (double)bytes);
    double factor = 1, more_ns = 0;

    if (again) {
        factor = drive->again[costs_class((double)bytes)];
    } else if (step->operation == OPERATION_WRITE) {
        factor = straddle(drive, step);
        drive->flush_share = factor;
        if (draw(drive, place->flush, (double)bytes).mean_ns > cost.mean_ns)
            factor = 1;
        else
            drive->flush_share = 1;
        more_ns = cleaning_ns(drive, bytes, cost.mean_ns);
    } else if (step->operation == OPERATION_FLUSH) {
        factor = drive->flush_share;
        drive->flush_share = 1;
    }
    return (struct cost){factor * cost.ns + more_ns,
                         factor * cost.mean_ns + more_ns};
}
