/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/statistics/dip.h"

#include <math.h>
#include <stdbool.h>

/*
 * The hull of the steps of a distribution function between two values, in
 * counts: its convex minorant touches the steps from below, its concave
 * majorant from above.
 */
struct hull {
    const double *values;
    size_t corners[DIP_MAX], count;
    double above; /* of a step: 0 from below, 1 from above */
};

static double height(const struct hull *hull, size_t i)
{
    return (double)i + hull->above;
}

/* Does the corner `b` lie on the wrong side of the way from `a` to `c`? */
static bool is_cut_off(const struct hull *hull, size_t a, size_t b, size_t c)
{
    const double *x = hull->values;
    double turn =
        (x[b] - x[a]) * (double)(c - a) - (x[c] - x[a]) * (double)(b - a);

    return hull->above > 0 ? turn >= 0 : turn <= 0;
}

static void hull_make(struct hull *hull, size_t low, size_t high)
{
    hull->count = 0;
    for (size_t i = low; i <= high; i++) {
        while (hull->count >= 2 &&
               is_cut_off(hull, hull->corners[hull->count - 2],
                          hull->corners[hull->count - 1], i))
            hull->count--;
        hull->corners[hull->count++] = i;
    }
}

/* The hull between corners a and b, at the value of step i. */
static double hull_between(const struct hull *hull, size_t a, size_t b,
                           size_t i)
{
    const double *x = hull->values;
    double width = x[b] - x[a];

    if (!(width > 0))
        return height(hull, hull->above > 0 ? b : a);
    return height(hull, a) + (x[i] - x[a]) / width * (double)(b - a);
}

/* The largest distance between the hulls, and between which steps it is. */
static double widest(const struct hull *below, const struct hull *above,
                     size_t *low, size_t *high)
{
    const double *x = below->values;
    double most = 0;

    for (size_t k = 0, j = 0; k < below->count; k++) {
        size_t corner = below->corners[k];
        while (j + 2 < above->count && x[above->corners[j + 1]] < x[corner])
            j++;
        size_t a = above->corners[j], b = above->corners[j + 1];
        double distance =
            hull_between(above, a, b, corner) - height(below, corner);
        if (distance > most) {
            most = distance;
            *low = corner;
            *high = x[a] >= x[corner] ? a : b;
        }
    }
    for (size_t k = 0, j = 0; k < above->count; k++) {
        size_t corner = above->corners[k];
        while (j + 2 < below->count && x[below->corners[j + 1]] <= x[corner])
            j++;
        size_t a = below->corners[j], b = below->corners[j + 1];
        double distance =
            height(above, corner) - hull_between(below, a, b, corner);
        if (distance > most) {
            most = distance;
            *low = x[b] <= x[corner] ? b : a;
            *high = corner;
        }
    }
    return most;
}

/* How far the steps from `low` to `high` stand off a hull. */
static double farthest(const struct hull *hull, size_t low, size_t high)
{
    double most = 0;

    for (size_t k = 0; k + 1 < hull->count; k++) {
        size_t a = hull->corners[k], b = hull->corners[k + 1];
        if (a < low || b > high || !(hull->values[b] > hull->values[a]))
            continue;
        for (size_t i = a; i <= b; i++) {
            double distance =
                (double)i + (1 - hull->above) - hull_between(hull, a, b, i);
            most = fmax(most, fabs(distance));
        }
    }
    return most;
}

double dip_statistic(const double sorted[], size_t count)
{
    struct hull below = {.values = sorted, .above = 0};
    struct hull above = {.values = sorted, .above = 1};
    size_t low = 0, high = count - 1;
    double dip = 1;

    if (!(sorted[high] > sorted[low]))
        return 0;
    /* Narrow the interval that holds the mode, until what lies outside of it
     * stands off more than what lies inside could. */
    for (;;) {
        size_t mode_low = low, mode_high = high;
        hull_make(&below, low, high);
        hull_make(&above, low, high);
        double inside = widest(&below, &above, &mode_low, &mode_high);
        if (inside <= dip)
            break;
        dip = fmax(dip, farthest(&below, low, mode_low));
        dip = fmax(dip, farthest(&above, mode_high, high));
        if (mode_low >= mode_high || (mode_low == low && mode_high == high))
            break;
        low = mode_low;
        high = mode_high;
    }
    return dip / (2 * (double)count);
}

/*
 * sqrt(count) * dip of uniform values, by how often it is exceeded: of 200,000
 * samples a row (100,000 of 512 values, 50,000 of 1024).
 */
enum { CHANCES = 6, ROWS = 9, ROW_FIRST = 4 };
static const double chances[CHANCES] = {0.5, 0.1, 0.05, 0.01, 0.001, 0.0001};
static const double quantiles[ROWS][CHANCES] = {
    {0.2500, 0.3745, 0.4137, 0.4630, 0.4889, 0.4963}, /* 4 */
    {0.3140, 0.4011, 0.4354, 0.4898, 0.5497, 0.6016}, /* 8 */
    {0.3249, 0.4284, 0.4622, 0.5287, 0.6045, 0.6598}, /* 16 */
    {0.3378, 0.4481, 0.4846, 0.5583, 0.6462, 0.7150}, /* 32 */
    {0.3493, 0.4646, 0.5033, 0.5827, 0.6746, 0.7552}, /* 64 */
    {0.3577, 0.4753, 0.5148, 0.5959, 0.6963, 0.7701}, /* 128 */
    {0.3637, 0.4837, 0.5243, 0.6056, 0.6995, 0.7870}, /* 256 */
    {0.3681, 0.4900, 0.5302, 0.6134, 0.7131, 0.8088}, /* 512 */
    {0.3716, 0.4934, 0.5342, 0.6183, 0.7176, 0.8088}, /* 1024 */
};

double dip_error(double dip, size_t count)
{
    double scaled = dip * sqrt((double)count), error = 1;
    int row = 0;

    /* The next larger count of the table: its quantiles are no lower. */
    while (row + 1 < ROWS && (size_t)ROW_FIRST << row < count)
        row++;
    for (int i = 0; i < CHANCES; i++)
        if (scaled >= quantiles[row][i])
            error = chances[i];
    return error;
}
