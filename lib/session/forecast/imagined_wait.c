/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/forecast/imagined_wait.h"

#include <math.h>

static const double least_bytes = 512; /* a flush may carry no data */

/* A write shorter than a page uses up a whole page. */
static double used_up(const struct imagined_kind *kind, double bytes)
{
    return fmax(fmax(bytes, least_bytes), kind->page_bytes);
}

static void forget(struct imagined_kind *kind, uint64_t written_bytes)
{
    for (size_t i = 0; i < kind->count; i++) {
        struct imagined_point *point = &kind->points[i];
        point->weight *= costs_kept(written_bytes - point->written_bytes);
    }
}

/* Gives the kinds from `first` to `last` their common mean wait per byte, the
 * default for sizes with few measurements. Returns it in ns per byte. */
static double wait_together(struct imagined_kind kinds[COST_KINDS],
                            const struct costs *costs, enum cost_kind first,
                            enum cost_kind last)
{
    double wait_ns = 0, bytes = 0;

    for (enum cost_kind kind = first; kind <= last; kind++)
        for (size_t i = 0; i < kinds[kind].count; i++) {
            const struct imagined_point *point = &kinds[kind].points[i];
            if (!costs->classes[kind][costs_class(point->bytes)].count)
                continue; /* not measured, but copied from another kind */
            wait_ns += point->weight * point->excess_ns;
            bytes += point->weight * used_up(&kinds[kind], point->bytes);
        }
    const double byte_ns = bytes > 0 ? fmax(wait_ns / bytes, 0) : 0;
    for (enum cost_kind kind = first; kind <= last; kind++)
        kinds[kind].wait_byte_ns = byte_ns;
    return byte_ns;
}

/* The same from recent measurements, with distant writes waiting per byte as
 * near ones do. */
static double wait_alike(struct imagined_kind kinds[COST_KINDS],
                         const struct costs *costs, enum cost_kind first,
                         enum cost_kind last)
{
    for (enum cost_kind kind = first; kind <= last; kind++) {
        forget(&kinds[kind], costs->place.written_bytes);
        kinds[kind].each = false;
    }
    return wait_together(kinds, costs, first, last);
}

double imagined_wait_alike(struct imagined_kind kinds[COST_KINDS],
                           const struct costs *costs)
{
    return wait_alike(kinds, costs, COST_WRITE_ORDER, COST_MORE_FAR) +
           wait_alike(kinds, costs, COST_FLUSH_ORDER, COST_FLUSH_FAR);
}

void imagined_wait_logs(struct imagined_kind kinds[COST_KINDS],
                        const struct costs *costs)
{
    wait_together(kinds, costs, COST_WRITE_ORDER, COST_WRITE_NEAR);
    wait_together(kinds, costs, COST_MORE_ORDER, COST_MORE_NEAR);
    wait_together(kinds, costs, COST_FLUSH_ORDER, COST_FLUSH_NEAR);
}

/*
 * Weighted mean of the waits that were measured; sizes near `bytes` weigh most.
 * A distant write makes a drive with log blocks merge once, whatever its length
 * (`each`). Other requests wait in proportion to their length.
 */
double imagined_wait_ns(const struct imagined_kind *kind, double bytes,
                        double usual_ns)
{
    const double doubt = 12; /* weight of the default wait, in requests */
    const double own = used_up(kind, bytes);
    double wait_ns = doubt * kind->wait_byte_ns * own, weights = doubt;

    for (size_t i = 0; i < kind->count; i++) {
        const struct imagined_point *point = &kind->points[i];
        const double shorter = used_up(kind, point->bytes) / own;
        /* A size twice as large, or half as large, has half the weight. */
        const double weight = point->weight * fmin(shorter, 1 / shorter);
        wait_ns += weight * point->excess_ns;
        weights += weight * (kind->each ? 1 : shorter);
    }
    return kind->held_up * usual_ns + fmax(wait_ns / weights, 0);
}
