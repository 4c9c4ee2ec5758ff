/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/trace/histogram.h"

enum { STEP_BITS = 7 };

/* Below HISTOGRAM_STEPS a bucket is one ns; then each doubling has as many
 * buckets. */
static size_t bucket_of(uint64_t ns)
{
    unsigned shift = 0;

    while (ns >> shift >= 2 * HISTOGRAM_STEPS)
        shift++;
    return shift * (size_t)HISTOGRAM_STEPS + (size_t)(ns >> shift);
}

static uint64_t low_of(size_t bucket)
{
    if (bucket < 2 * HISTOGRAM_STEPS)
        return bucket;
    size_t shift = bucket / HISTOGRAM_STEPS - 1;
    uint64_t low = bucket - shift * HISTOGRAM_STEPS;
    return shift + STEP_BITS + 1 > 64 ? UINT64_MAX : low << shift;
}

void histogram_add(struct histogram *histogram, uint64_t ns)
{
    uint64_t sum = histogram->sum_low_ns + ns;

    histogram->sum_high += sum < ns;
    histogram->sum_low_ns = sum;
    if (histogram->count == 0 || ns < histogram->least_ns)
        histogram->least_ns = ns;
    if (ns > histogram->most_ns)
        histogram->most_ns = ns;
    histogram->count++;
    histogram->counts[bucket_of(ns)]++;
}

double histogram_mean_ns(const struct histogram *histogram)
{
    double sum =
        (double)histogram->sum_high * 0x1p64 + (double)histogram->sum_low_ns;

    return histogram->count ? sum / (double)histogram->count : 0;
}

uint64_t histogram_quantile_ns(const struct histogram *histogram, double share)
{
    uint64_t rank = (uint64_t)(share * (double)histogram->count), seen = 0;
    size_t bucket = 0;

    if (histogram->count == 0)
        return 0;
    if ((double)rank < share * (double)histogram->count)
        rank++; /* at least the share */
    rank = rank ? rank : 1;
    while (bucket + 1 < HISTOGRAM_BUCKETS &&
           (seen += histogram->counts[bucket]) < rank)
        bucket++;
    uint64_t low = low_of(bucket), high = low_of(bucket + 1);
    uint64_t middle = low + (high - low) / 2;
    if (middle < histogram->least_ns)
        return histogram->least_ns;
    return middle < histogram->most_ns ? middle : histogram->most_ns;
}

size_t histogram_coarse_count(size_t steps)
{
    return HISTOGRAM_BUCKETS / (HISTOGRAM_STEPS / steps);
}

void histogram_coarse(const struct histogram *histogram, size_t steps,
                      size_t index, struct histogram_bucket *bucket)
{
    size_t width = HISTOGRAM_STEPS / steps;

    *bucket = (struct histogram_bucket){.low_ns = low_of(index * width),
                                        .high_ns = low_of((index + 1) * width)};
    for (size_t i = 0; i < width; i++)
        bucket->count += histogram->counts[index * width + i];
}
