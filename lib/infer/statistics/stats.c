/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/statistics/stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A call for each comparison is most of what qsort() takes. */
static void sort_short(double values[], size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const double value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

static double middle_of(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Puts those that are at most the middle of three before those that are at
 * least that. Returns how many stand in front: at least 1, not all. */
static size_t split(double values[], size_t count)
{
    const double middle =
        middle_of(values[0], values[count / 2], values[count - 1]);
    size_t low = 0, high = count - 1;

    for (;;) {
        while (values[low] < middle)
            low++;
        while (values[high] > middle)
            high--;
        if (low >= high)
            return high + 1 < count ? high + 1 : high;
        const double value = values[low];
        values[low++] = values[high];
        values[high--] = value;
    }
}

void stats_sort(double values[], size_t count)
{
    const size_t short_count = 48, long_count = 4096;

    if (count > long_count) {
        qsort(values, count, sizeof(values[0]), compare);
        return;
    }
    while (count > short_count) {
        const size_t front = split(values, count);
        stats_sort(values, front);
        values += front;
        count -= front;
    }
    sort_short(values, count);
}

static void sorted_copy(const double values[], size_t count,
                        double sorted[STATS_MAX])
{
    assert(count >= 1 && count <= STATS_MAX);
    memcpy(sorted, values, count * sizeof(values[0]));
    stats_sort(sorted, count);
}

double stats_median(const double values[], size_t count)
{
    double sorted[STATS_MAX];

    sorted_copy(values, count, sorted);
    if (count % 2)
        return sorted[count / 2];
    return (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

double stats_lower_half_mean(const double values[], size_t count)
{
    double sorted[STATS_MAX], sum = 0;
    size_t half = (count + 1) / 2;

    sorted_copy(values, count, sorted);
    for (size_t i = 0; i < half; i++)
        sum += sorted[i];
    return sum / (double)half;
}

double stats_spread(const double values[], size_t count)
{
    const double normal = 1.482602218505602; /* 1 / (3/4 quantile) */
    double distances[STATS_MAX];
    double middle = stats_median(values, count);

    for (size_t i = 0; i < count; i++)
        distances[i] = fabs(values[i] - middle);
    return normal * stats_median(distances, count);
}

size_t stats_median_rank(size_t count, double alpha)
{
    /* term = P(Binomial = k); fine in doubles up to a count of 1000. */
    double term = pow(0.5, (double)count), sum = 0;
    size_t k = 0;

    for (;;) {
        sum += term;
        if (sum > alpha || k > count / 2)
            return k;
        term *= (double)(count - k) / (double)(k + 1);
        k++;
    }
}

struct interval stats_median_interval(const double values[], size_t count,
                                      double alpha)
{
    double sorted[STATS_MAX];
    size_t k = stats_median_rank(count, alpha);

    if (k == 0)
        return (struct interval){-INFINITY, INFINITY};
    sorted_copy(values, count, sorted);
    return (struct interval){sorted[k - 1], sorted[count - k]};
}

double stats_sign_test(size_t hits, size_t count)
{
    /* Sum the upper tail from its small end. */
    double term = pow(0.5, (double)count), sum = 0;

    for (size_t k = count; k + 1 > hits && k + 1 > 0; k--) {
        sum += term;
        if (k == 0)
            break;
        term *= (double)k / (double)(count - k + 1);
    }
    return sum < 1 ? sum : 1;
}

/* By size; of equal ones those below 0 last. */
static int compare_sizes(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    double size_x = fabs(x), size_y = fabs(y);

    return size_x != size_y ? (size_x > size_y) - (size_x < size_y)
                            : (x < y) - (x > y);
}

double stats_signed_rank_test(const double values[], size_t count)
{
    enum { SUMS = STATS_RANKED_MAX * (STATS_RANKED_MAX + 1) / 2 + 1 };
    /* Of each sum of ranks the chance, once so many have their signs. */
    double chance[SUMS] = {1}, sorted[STATS_RANKED_MAX], tail = 0;
    size_t above = 0, most = 0;

    assert(count >= 1 && count <= STATS_RANKED_MAX);
    memcpy(sorted, values, count * sizeof(values[0]));
    qsort(sorted, count, sizeof(sorted[0]), compare_sizes);
    for (size_t rank = 1; rank <= count; rank++) {
        above += sorted[rank - 1] > 0 ? rank : 0;
        most += rank;
        for (size_t sum = most + 1; sum-- > 0;)
            chance[sum] =
                (chance[sum] + (sum >= rank ? chance[sum - rank] : 0)) / 2;
    }
    for (size_t sum = most + 1; sum-- > above;)
        tail += chance[sum];
    return tail < 1 ? tail : 1;
}

double stats_normal_cdf(double z)
{
    return 0.5 * erfc(-z * 0.70710678118654752);
}
