/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/nand_type/profile.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"

enum { POLISHES = 2 };

/* Median of any number of values, which it sorts; stats_median() takes only
 * STATS_MAX. */
static double median_of(double values[], size_t count)
{
    stats_sort(values, count);
    return count % 2 ? values[count / 2]
                     : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Removes from each page the median deviation of its block, which is drift
 * (median polish). */
static void polish(double costs[], size_t blocks, size_t places,
                   double middle[], double scratch[])
{
    for (int pass = 0; pass < POLISHES; pass++) {
        for (size_t place = 0; place < places; place++) {
            for (size_t block = 0; block < blocks; block++)
                scratch[block] = costs[block * places + place];
            middle[place] = median_of(scratch, blocks);
        }
        for (size_t block = 0; block < blocks; block++) {
            double *row = &costs[block * places];
            for (size_t place = 0; place < places; place++)
                scratch[place] = row[place] - middle[place];
            double common = median_of(scratch, places);
            for (size_t place = 0; place < places; place++)
                row[place] -= common;
        }
    }
}

/* Mean of the second quarter of the values. Noise only adds time, so the lower
 * half counts. The lowest quarter does not: a block out of alignment has fast
 * pages where others have slow ones. */
static double second_quarter_mean(double values[], size_t count)
{
    size_t begin = count / 4, end = (count + 1) / 2;
    double sum = 0;

    stats_sort(values, count);
    for (size_t i = begin; i < end; i++)
        sum += values[i];
    return sum / (double)(end - begin);
}

/* second_quarter_mean() by place, over every `step`-th block from `first`. */
static void lower_by_place(const double costs[], size_t blocks, size_t places,
                           size_t first, size_t step, double out[])
{
    double sample[NAND_BLOCKS_MAX];

    for (size_t place = 0; place < places; place++) {
        size_t n = 0;
        for (size_t block = first; block < blocks; block += step)
            sample[n++] = costs[block * places + place];
        out[place] = second_quarter_mean(sample, n);
    }
}

static double correlation(const double a[], const double b[], size_t count)
{
    double mean_a = 0, mean_b = 0, ab = 0, aa = 0, bb = 0;

    for (size_t i = 0; i < count; i++) {
        mean_a += a[i] / (double)count;
        mean_b += b[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        ab += (a[i] - mean_a) * (b[i] - mean_b);
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

enum { ARRAYS = 4 };

static size_t array_length(size_t blocks, size_t places)
{
    return places > blocks ? places : blocks;
}

size_t nand_profile_bytes(size_t blocks, size_t places)
{
    return ARRAYS * array_length(blocks, places) * sizeof(double);
}

void nand_profile_make(double costs[], size_t blocks, size_t places,
                       double memory[], struct nand_profile *profile)
{
    const size_t length = array_length(blocks, places);

    *profile =
        (struct nand_profile){.places = memory,
                              .halves = {&memory[length], &memory[2 * length]},
                              .residuals = &memory[3 * length],
                              .count = places};
    polish(costs, blocks, places, profile->places, profile->residuals);
    lower_by_place(costs, blocks, places, 0, 1, profile->places);
    lower_by_place(costs, blocks, places, 0, 2, profile->halves[0]);
    lower_by_place(costs, blocks, places, 1, 2, profile->halves[1]);
    profile->correlation =
        correlation(profile->halves[0], profile->halves[1], places);
    for (size_t i = 0; i < places; i++)
        profile->residuals[i] =
            fabs(profile->halves[0][i] - profile->halves[1][i]);
    /* The whole has half the error of the difference of its halves. */
    profile->error =
        1.482602218505602 * median_of(profile->residuals, places) / 2;
}
