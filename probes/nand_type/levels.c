/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/nand_type/levels.h"

#include <math.h>
#include <stdbool.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/dip.h"
#include "lib/infer/statistics/modes.h"
#include "lib/infer/statistics/stats.h"

/* ---- the profile of a block --------------------------------------------- */

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

/* ---- its levels ---------------------------------------------------------- */

enum {
    LEVELS_MAX = 8,
    PLACES_FEW = 16 /* too few to tell how many places each level has */
};

/* Neighbouring levels differ at least by this log ratio (a factor of 1.067) and
 * by this many standard errors of a place. */
static const double apart_least = 0.065, apart_errors = 6;
/* Pages that share cells alternate, so all levels hold about equally many
 * places: a quarter more or less is tolerated. Two levels that look like one
 * hold twice as many. At most one place in eight lies on no level, such as
 * first pages, which pay for the erase. A level of less than 5 % of the places,
 * or of one, counts as stray. */
static const double unfair_least = 0.25, strays_most = 0.125,
                    level_least = 0.05;
/* Correlation of the halves of the blocks within one level, in standard errors,
 * beyond which it is no chance. */
static const double agreement_most = 4;
/* Levels nearer than this log ratio are one level. */
static const double hidden_least = 0.01; /* log 1.01 */
/* Least correlation of the profiles of both halves of the blocks. */
static const double correlation_least = 0.7;
/* Standard errors of a place (log ratio) that suffice to count levels, and to
 * state a single level. */
static const double error_levels = 0.02, error_one = 0.01;
/* Test for two modes of a page's time: least share of the smaller one, and the
 * error rate. */
static const double side_least = 0.2, restless_error = 0.0001;
/* One level means one bit a cell, or pages of all levels that are programmed
 * together; seen from outside both look alike. A page of a chip has at most 16
 * KiB; a longer one consists of several. Among random test drives with one
 * level and such pages, 94 of 123 had one bit a cell. */
static const double one_level_confidence = 0.75;
/* The longest program of a page with one bit a cell: 0.2 to 0.3 ms are usual in
 * data sheets, and 0.7 ms the most. The rest is for what a host adds. */
static const double one_bit_most_ns = 0.8e6;
static const uint64_t chip_page_most_bytes = 16 * KIB;
/* Two levels may be three or four of which some are too near to tell apart, or
 * are in one page longer than a chip's. Three are seldom others. Four are
 * seldom two, of which writes wait for parts of pages. Among random test
 * drives, 271 of 329 with two levels had two bits a cell, 187 of 189 with three
 * had three, and 113 of 114 with four had four. */
static const double two_levels_confidence = 0.8, more_levels_confidence = 0.97;

/* ---- levels ------------------------------------------------------------ */

struct levels {
    size_t count;
    double middles[LEVELS_MAX], widths[LEVELS_MAX];
    size_t places[LEVELS_MAX], strays; /* places on no level */
};

/* Splits sorted times into levels at gaps larger than `gap`. Small groups count
 * as strays. */
static void split(const double sorted[], size_t count, double gap,
                  struct levels *levels)
{
    size_t begin = 0;

    *levels = (struct levels){.count = 0};
    for (size_t i = 1; i <= count; i++) {
        if (i < count && sorted[i] - sorted[i - 1] <= gap)
            continue;
        size_t n = i - begin;
        if (n < 2 || (double)n < level_least * (double)count ||
            levels->count == LEVELS_MAX) {
            levels->strays += n;
        } else {
            levels->middles[levels->count] = sorted[begin + n / 2];
            levels->widths[levels->count] =
                sorted[begin + n * 19 / 20] - sorted[begin + n / 20];
            levels->places[levels->count++] = n;
        }
        begin = i;
    }
}

static double nearest(const struct levels *levels)
{
    double least = INFINITY;

    for (size_t i = 1; i < levels->count; i++)
        least = fmin(least, levels->middles[i] - levels->middles[i - 1]);
    return least;
}

static double widest(const struct levels *levels)
{
    double most = 0;

    for (size_t i = 0; i < levels->count; i++)
        most = fmax(most, levels->widths[i]);
    return most;
}

/* Do all levels hold about equally many places? Strays may belong to any level,
 * so they can make up for missing places. */
static bool shares_are_fair(const struct levels *levels, size_t count)
{
    double fair = (double)count / (double)levels->count;
    double off = fmax(unfair_least * fair, 1), lacking = 0;

    for (size_t i = 0; i < levels->count; i++) {
        double more = (double)levels->places[i] - fair;
        if (more >= off)
            return false;
        if (more <= -off)
            lacking -= more;
    }
    return lacking <= (double)levels->strays;
}

/* Returns the level of a time; `count` for none. */
static size_t level_of(const struct levels *levels, double cost)
{
    size_t best = 0;

    for (size_t i = 1; i < levels->count; i++)
        if (fabs(cost - levels->middles[i]) <
            fabs(cost - levels->middles[best]))
            best = i;
    return fabs(cost - levels->middles[best]) <=
                   fmax(levels->widths[best], apart_least / 2)
               ? best
               : levels->count;
}

/*
 * Does one level contain several close ones? Then its places differ a little,
 * in the same way in both halves of the blocks: the halves correlate more than
 * chance allows. The difference must also have the size of levels, as a kernel
 * timer or the drive's tables slow some places a little too.
 *
 * The noise of the halves is independent, so their covariance is the variance
 * of the places themselves. For two equally large levels it is the square of
 * half their distance.
 */
static bool levels_hide_more(const struct nand_profile *profile,
                             const struct levels *levels)
{
    for (size_t level = 0; level < levels->count; level++) {
        double n = 0, mean[2] = {0}, ab = 0, aa = 0, bb = 0;
        for (size_t i = 0; i < profile->count; i++) {
            if (level_of(levels, profile->places[i]) != level)
                continue;
            double a = profile->halves[0][i] - mean[0];
            double b = profile->halves[1][i] - mean[1];
            n++;
            mean[0] += a / n;
            mean[1] += b / n;
            aa += a * (profile->halves[0][i] - mean[0]);
            bb += b * (profile->halves[1][i] - mean[1]);
            ab += a * (profile->halves[1][i] - mean[1]);
        }
        if (n > 1 && ab > 0 && 2 * sqrt(ab / n) > hidden_least &&
            ab * sqrt(n) > agreement_most * sqrt(aa * bb))
            return true;
    }
    return false;
}

/* ---- what is said ------------------------------------------------------ */

const char *nand_type_name(size_t levels_count)
{
    static const char *const names[] = {"", "SLC", "MLC", "TLC", "QLC"};

    return names[levels_count];
}

static void say_levels(const struct nand_profile *profile,
                       const struct levels *levels,
                       const struct nand_given *given, size_t blocks,
                       struct findings *findings)
{
    struct finding *finding = findings_add(findings, "nand-type", "nand_type");
    /* Probability that a place lands on the wrong one of the two nearest
     * levels, from their distance in standard errors. */
    double error = erfc(nearest(levels) / (profile->error + 1e-6) / 2 / 1.414);
    double confidence = 1 - error * (double)profile->count;

    bool may_be_others = levels->count == 2 ||
                         (levels->count == 3 && profile->count < PLACES_FEW);

    confidence = fmin(confidence, may_be_others ? two_levels_confidence
                                                : more_levels_confidence);
    finding_found(finding, value_text(nand_type_name(levels->count)),
                  fmax(fmin(confidence, given->most), 0));
    finding_why(
        finding,
        "the %zu pages of a block have %zu program times, the closest two a "
        "factor "
        "of %.2f apart, at the same places in both halves of %zu blocks "
        "(correlation %.2f)",
        profile->count, levels->count, exp(nearest(levels)), blocks,
        profile->correlation);
}

static void say_one(uint64_t page_bytes, const struct nand_profile *profile,
                    double most, size_t blocks, struct findings *findings)
{
    struct finding *finding = findings_add(findings, "nand-type", "nand_type");
    bool may_be_several = page_bytes > chip_page_most_bytes;

    if (may_be_several) {
        finding_why(
            finding,
            "the %zu pages of a block take the same time, but %s are several "
            "pages of a chip, and may cover all levels of its cells: then all "
            "take the same time for any number of bits per cell",
            profile->count, TEXT_BYTES(page_bytes));
        return;
    }
    finding_found(finding, value_text(nand_type_name(1)),
                  fmin(one_level_confidence, most));
    finding_why(finding,
                "the %zu pages of a block take the same time, within %.1f %%, "
                "in %zu blocks: one bit per cell, unless the drive programs "
                "the pages that share cells together",
                profile->count, 100 * fmax(3 * profile->error, hidden_least),
                blocks);
}

/* ---- reasoning --------------------------------------------------------- */

/* Does each place have two modes of time? Then a page's time does not depend on
 * its place, and a single level says nothing. */
static bool restless(const double costs[], size_t blocks,
                     const struct nand_profile *profile)
{
    double rests[DIP_MAX], sample[NAND_BLOCKS_MAX];
    size_t places = profile->count, count = 0;
    size_t step = blocks * places / DIP_MAX + 1; /* so that `rests` has room */
    struct modes modes;

    for (size_t place = 0; place < places; place++) {
        for (size_t block = 0; block < blocks; block++)
            sample[block] = costs[block * places + place];
        double middle = stats_lower_half_mean(sample, blocks);
        for (size_t block = place % step; block < blocks; block += step)
            if (count < DIP_MAX)
                rests[count++] = sample[block] - middle;
    }
    stats_sort(rests, count);
    return modes_find(rests, count, side_least, restless_error, &modes) &&
           modes.high - modes.low > apart_least;
}

enum nand_answer nand_judge(const struct nand_given *given,
                            const double costs[], size_t blocks,
                            const struct nand_profile *profile,
                            struct findings *findings)
{
    struct levels levels;
    double *sorted = profile->residuals; /* residuals are free to use */
    double gap = fmax(apart_least, apart_errors * profile->error);

    if (profile->error > error_levels)
        return NAND_MORE;
    for (size_t i = 0; i < profile->count; i++)
        sorted[i] = profile->places[i];
    stats_sort(sorted, profile->count);
    /* gaps within a level are smaller than the distance of levels */
    split(sorted, profile->count, 0.6 * gap, &levels);
    if (levels.count == 0 ||
        (double)levels.strays > strays_most * (double)profile->count ||
        widest(&levels) > gap)
        return NAND_BLURRED;
    if (levels.count < 4 && levels_hide_more(profile, &levels))
        return NAND_HIDDEN;
    if (levels.count == 1) {
        if (profile->error > error_one)
            return NAND_MORE;
        if (restless(costs, blocks, profile))
            return NAND_BLURRED;
        if (given->program_ns > one_bit_most_ns)
            return NAND_LONG;
        say_one(given->page_bytes, profile, given->most, blocks, findings);
        return NAND_SAID;
    }
    if (nearest(&levels) < gap)
        return NAND_MORE;
    if (levels.count > 4 || profile->correlation < correlation_least ||
        !shares_are_fair(&levels, profile->count))
        return NAND_BLURRED;
    say_levels(profile, &levels, given, blocks, findings);
    return NAND_SAID;
}
