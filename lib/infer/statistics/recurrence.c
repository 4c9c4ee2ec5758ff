/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/statistics/recurrence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"

enum {
    MULTIPLES_LEAST = 8, /* of a length, to judge it */
    WINDOW_MOST = 32768, /* values; it takes a third of a second */
    CUT_PARTS = 10       /* of times, left out at each end of a mean */
};
/* Standard errors, which chance exceeds once in 740 and once in 4,300. */
static const double alike_most = 3, apart_least = 3.5;

/* How alike values are that lie `lag` apart: their correlation. */
struct likeness {
    double *at;
    size_t first, end; /* lags */
};

struct ranked {
    double value;
    bool upper;
};

static int compare_ranked(const void *a, const void *b)
{
    const double x = ((const struct ranked *)a)->value;
    const double y = ((const struct ranked *)b)->value;

    return (x > y) - (x < y);
}

/* Fills `likeness` for its lags. */
static int compare_values(const double values[], size_t count,
                          struct likeness *likeness)
{
    double *centred = malloc((count + 1) * sizeof(*centred));
    double mean = 0, square = 0;

    likeness->at = calloc(likeness->end + 1, sizeof(*likeness->at));
    if (!centred || !likeness->at) {
        free(centred);
        free(likeness->at);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++) {
        centred[i] = values[i] - mean;
        square += centred[i] * centred[i] / (double)count;
    }
    for (size_t lag = likeness->first; lag < likeness->end && square > 0;
         lag++) {
        double sum = 0;
        for (size_t i = 0; i + lag < count; i++)
            sum += centred[i] * centred[i + lag];
        likeness->at[lag] = sum / (double)(count - lag) / square;
    }
    free(centred);
    return 0;
}

static size_t multiple_from(size_t first, size_t length)
{
    return (first + length - 1) / length * length;
}

/* What multiples of `length`, but none of `but` (0: all), are alike at least:
 * their mean less what it may err. */
static double alike_least(const struct likeness *likeness, size_t length,
                          size_t but)
{
    double sum = 0, squares = 0, count = 0;

    for (size_t lag = multiple_from(likeness->first, length);
         lag < likeness->end; lag += length) {
        if (but && lag % but == 0)
            continue;
        sum += likeness->at[lag];
        squares += likeness->at[lag] * likeness->at[lag];
        count++;
    }
    if (count < 2)
        return -INFINITY;
    const double variance = (squares - sum * sum / count) / (count - 1);
    return sum / count - alike_most * sqrt(fmax(variance, 0) / count);
}

/* How far multiples of `length` outrank other multiples of `part`, in standard
 * errors. NAN, which is not above or below any, where memory is short. */
static double outrank(const struct likeness *likeness, size_t length,
                      size_t part)
{
    struct ranked *ranked =
        malloc((likeness->end / part + 1) * sizeof(*ranked));
    double count = 0, upper = 0, ranks = 0;

    if (!ranked)
        return NAN;
    for (size_t lag = multiple_from(likeness->first, part); lag < likeness->end;
         lag += part)
        ranked[(size_t)count++] =
            (struct ranked){likeness->at[lag], lag % length == 0};
    qsort(ranked, (size_t)count, sizeof(*ranked), compare_ranked);
    for (size_t i = 0; i < (size_t)count; i++) {
        upper += ranked[i].upper;
        ranks += ranked[i].upper ? (double)i + 1 : 0;
    }
    free(ranked);
    const double others = count - upper;
    return upper > 0 && others > 0 ? (ranks - upper * (count + 1) / 2) /
                                         sqrt(upper * others * (count + 1) / 12)
                                   : 0;
}

/* Does each prime part of it recur less, by so many standard errors? */
static bool is_whole(const struct likeness *likeness, size_t length,
                     double least)
{
    size_t left = length;

    for (size_t prime = 2; left > 1; prime++) {
        if (left % prime)
            continue;
        while (left % prime == 0)
            left /= prime;
        if (!(outrank(likeness, length, length / prime) >= least))
            return false;
    }
    return length > 1;
}

/* The length at which values are most alike, or the shortest part of it at
 * which they are as much; 0: none. */
static size_t length_of(const struct likeness *likeness)
{
    const size_t most = (likeness->end - likeness->first) / MULTIPLES_LEAST;
    double best = -INFINITY;
    size_t length = 0;

    for (size_t i = 2; i <= most; i++) {
        const double alike = alike_least(likeness, i, 0);
        if (alike <= best)
            continue;
        best = alike;
        length = i;
    }
    for (size_t part = 1; part < length; part++)
        if (length % part == 0 && outrank(likeness, length, part) <= alike_most)
            length = part;
    return is_whole(likeness, length, apart_least) ? length : 0;
}

/* The part at whose other multiples values are most alike. */
static size_t part_of(const struct likeness *likeness, size_t length)
{
    double best = -INFINITY;
    size_t part = 1;

    for (size_t i = 1; i < length; i++) {
        if (length % i)
            continue;
        const double alike = alike_least(likeness, i, length);
        if (alike <= best)
            continue;
        best = alike;
        part = i;
    }
    return part;
}

/* The mean time of one part of the course, without the extremes. */
static double part_time(const double values[], size_t count, size_t first,
                        const struct recurrence *found, double times[])
{
    const size_t length = found->length, part = found->part;
    double sum = 0;
    size_t n = 0;

    for (; first + part <= count; first += length) {
        times[n] = 0;
        for (size_t i = first; i < first + part; i++)
            times[n] += exp(values[i]);
        n++;
    }
    stats_sort(times, n);
    const size_t cut = n / CUT_PARTS;
    for (size_t i = cut; i < n - cut; i++)
        sum += times[i];
    return sum / (double)(n - 2 * cut);
}

/* Fills in the times of the course. Its end may be in a pause. */
static int measure(const double values[], size_t count,
                   struct recurrence *found)
{
    const size_t parts = found->length / found->part;
    double *times = malloc((count + 2 * parts) * sizeof(*times));

    if (!times)
        return -ENOMEM;
    double *parts_times = times + count, *sorted = parts_times + parts;
    found->course = found->pause = 0;
    for (size_t i = 0; i < parts; i++) {
        parts_times[i] =
            part_time(values, count, i * found->part, found, times);
        found->course += parts_times[i];
    }
    memcpy(sorted, parts_times, parts * sizeof(*sorted));
    stats_sort(sorted, parts);
    for (size_t begin = 0; begin < parts; begin++) {
        double above = 0;
        for (size_t i = 0; i < parts; i++) {
            above += parts_times[(begin + i) % parts] - sorted[(parts - 1) / 2];
            found->pause = fmax(found->pause, above);
        }
    }
    free(times);
    return 0;
}

/* The length that one window shows; 0: none. */
static int look(const double values[], size_t count, size_t least,
                struct recurrence *found)
{
    struct likeness likeness = {.first = least + 1, .end = count / 4 * 3};

    found->length = 0;
    if (likeness.end < likeness.first + 2 * MULTIPLES_LEAST)
        return 0;
    const int error = compare_values(values, count, &likeness);
    if (error)
        return error;
    found->length = length_of(&likeness);
    if (found->length)
        found->part = part_of(&likeness, found->length);
    free(likeness.at);
    return 0;
}

int recurrence_find(const double values[], size_t count, size_t least,
                    struct recurrence *found)
{
    const size_t window = count / 2 < WINDOW_MOST ? count / 2 : WINDOW_MOST;
    const double *late = values + count - window;
    struct recurrence early;
    int error = look(late - window, window, least, &early);

    memset(found, 0, sizeof(*found));
    if (!error && early.length)
        error = look(late, window, least, found);
    if (error)
        return error;
    if (found->length && found->length == early.length)
        return measure(late, window, found);
    found->length = 0;
    return -ENOENT;
}

bool recurrence_is_at(const double values[], size_t count, size_t length)
{
    struct likeness likeness = {.first = length, .end = count / 4 * 3};

    if (likeness.end < MULTIPLES_LEAST * length ||
        compare_values(values, count, &likeness))
        return false;
    const bool is_at = is_whole(&likeness, length, alike_most);
    free(likeness.at);
    return is_at;
}
