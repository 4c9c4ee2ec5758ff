/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sustained-write: blocks that take many times as long as the others. A flash
 * cache that is copied out piece by piece makes few blocks wait, but long: most
 * of the time may be spent there. What holds up a request now and then, in the
 * host or in the drive, does the same. But it also holds up reads of a drive at
 * rest: where these are held up less often than the writes, the pauses are what
 * writes cost, and belong to their rate.
 */
#include "probes/sustained_write/sustained_write.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"

/* What takes more than so many times the median. */
static const double far_most = 8;
/* That so few of the reads are by chance. */
static const double chance_most = 0.01;
/* Where more of the time than this is left out, what is left is no rate: the
 * drive may be four times as slow. */
static const double part_most = 0.75;

static double middle_of(const double values[], size_t count)
{
    const size_t taken = count < STATS_MAX ? count : STATS_MAX;
    double some[STATS_MAX] = {0};

    for (size_t i = 0; i < taken; i++)
        some[i] = values[i * count / taken];
    return stats_median(some, taken);
}

static size_t far_count(const double values[], size_t count)
{
    const double far = far_most * middle_of(values, count);
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        found += values[i] > far;
    return found;
}

/* The part of the time that they take. */
static double far_part(const double values[], size_t count)
{
    const double far = far_most * middle_of(values, count);
    double far_sum = 0, sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        far_sum += values[i] > far ? values[i] : 0;
    }
    return far_sum / sum;
}

/* P(Binomial(count, share) <= hits) */
static double chance_of_so_few(size_t hits, size_t count, double share)
{
    double term = exp((double)count * log1p(-share)), sum = term;

    for (size_t k = 1; k <= hits; k++) {
        term *= (double)(count - k + 1) / (double)k * share / (1 - share);
        sum += term;
    }
    return sum;
}

enum sustained_pauses sustained_pauses(const struct sustained_probe *state,
                                       const double block_ns[], size_t count)
{
    const size_t far = far_count(block_ns, count);
    const struct timing *rows = sustained_reads(state, &sustained_first);
    double ns[SUSTAINED_FIRST_READS] = {0};

    if (far == 0)
        return SUSTAINED_NO_PAUSES;
    /* Of the single writes that make up a block. */
    const double share = 1 - pow(1 - (double)far / (double)count,
                                 1 / (double)sustained_pieces(state));
    for (size_t i = 0; i < SUSTAINED_FIRST_READS; i++)
        ns[i] = (double)rows[i].ns;
    if (chance_of_so_few(far_count(ns, SUSTAINED_FIRST_READS),
                         SUSTAINED_FIRST_READS, share) < chance_most)
        return SUSTAINED_OWN_PAUSES;
    return far_part(block_ns, count) > part_most ? SUSTAINED_LONG_PAUSES
                                                 : SUSTAINED_ANY_PAUSES;
}
