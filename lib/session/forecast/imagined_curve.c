/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/forecast/imagined_curve.h"

#include <math.h>

/* A time that exceeds the extrapolated line by this factor is a step: the write
 * buffer ended. */
static const double steep = 1.3;

size_t imagined_point_of(const struct imagined_kind *kind, double bytes)
{
    size_t i = 0;

    while (i < kind->count &&
           costs_class(kind->points[i].bytes) != costs_class(bytes))
        i++;
    return i;
}

/* Extrapolates beyond the largest measured size. The line starts at a size at
 * least 8 times smaller: a line through two neighbouring sizes, each measured a
 * few times, would be mostly noise. */
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

/* Slope, in ns per byte, from point i - 2 to point i - 1; i > 1. */
static double slope_before(const struct imagined_point points[], size_t i)
{
    const struct imagined_point *a = &points[i - 1], *z = &points[i - 2];

    return fmax((a->ns - z->ns) / (a->bytes - z->bytes), 0);
}

static bool is_steep(const struct imagined_point points[], size_t i)
{
    const struct imagined_point *b = &points[i], *a = &points[i - 1];

    return i > 1 && b->ns > steep * (a->ns + slope_before(points, i) *
                                                 (b->bytes - a->bytes));
}

static double on_line(double from_bytes, double from_ns, double to_bytes,
                      double to_ns, double bytes)
{
    return from_ns +
           (to_ns - from_ns) / (to_bytes - from_bytes) * (bytes - from_bytes);
}

/* Places the end of the buffer half way between points w - 1 and `w` of the
 * write and the matching points of its flush. */
static void end_at(struct imagined_point writes[], size_t w,
                   struct imagined_point *flush_before,
                   struct imagined_point *flush)
{
    const struct imagined_point *a = &writes[w - 1];
    struct imagined_point *b = &writes[w];
    const double half_bytes = (b->bytes - a->bytes) / 2;
    const double both_ns = (a->ns + flush_before->ns + b->ns + flush->ns) / 2;
    const double rise_ns = b->ns + flush->ns - both_ns;

    b->steps = flush->steps = true;
    b->step_low_ns =
        fmin(a->ns + slope_before(writes, w) * half_bytes, both_ns);
    b->step_high_ns = fmin(fmax(b->ns - rise_ns, b->step_low_ns), both_ns);
    flush->step_low_ns = both_ns - b->step_low_ns;
    flush->step_high_ns = both_ns - b->step_high_ns;
}

void imagined_curve_end_buffer(struct imagined_kind *write,
                               struct imagined_kind *flush)
{
    for (size_t w = 2; w < write->count; w++) {
        const size_t f = imagined_point_of(flush, write->points[w].bytes);
        const size_t before =
            imagined_point_of(flush, write->points[w - 1].bytes);
        if (is_steep(write->points, w) && f < flush->count && f == before + 1 &&
            flush->points[f].ns < flush->points[before].ns)
            end_at(write->points, w, &flush->points[before], &flush->points[f]);
    }
}

/*
 * Interpolates linearly. Where a point lies far above the extrapolated line,
 * the curve has a step half way between the two points, as at the end of a
 * buffer.
 */
double imagined_ns(const struct imagined_kind *kind, double bytes)
{
    const struct imagined_point *points = kind->points;
    const size_t count = kind->count;
    size_t i = 1;

    if (count == 0)
        return 0;
    if (count == 1 || bytes <= points[0].bytes)
        return bytes > points[0].bytes ? points[0].ns * bytes / points[0].bytes
                                       : points[0].ns;
    while (i + 1 < count && points[i].bytes < bytes)
        i++;
    const struct imagined_point *a = &points[i - 1], *b = &points[i];
    const double middle = (a->bytes + b->bytes) / 2;
    if (bytes > b->bytes)
        return beyond(points, i, bytes);
    if (b->steps)
        return bytes < middle
                   ? on_line(a->bytes, a->ns, middle, b->step_low_ns, bytes)
                   : on_line(middle, b->step_high_ns, b->bytes, b->ns, bytes);
    if (is_steep(points, i)) {
        const double before = slope_before(points, i);
        return bytes < middle ? a->ns + before * (bytes - a->bytes)
                              : b->ns - before * (b->bytes - bytes);
    }
    return fmax(on_line(a->bytes, a->ns, b->bytes, b->ns, bytes),
                fmin(a->ns, b->ns));
}
