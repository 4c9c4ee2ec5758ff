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

/* That so few of the reads are by chance. */
static const double chance_most = 0.01;
/* Standard errors of the share that is held up. */
static const double errors_most = 2;
/* Where more of the time than this is left out, what is left is no rate: the
 * drive may be four times as slow. */
static const double part_most = 0.75;

/* The part of the time that they take. */
static double far_part(const double block_ns[], size_t count, double far_ns)
{
    double far_sum_ns = 0, sum_ns = 0;

    for (size_t i = 0; i < count; i++) {
        sum_ns += block_ns[i];
        far_sum_ns += block_ns[i] > far_ns ? block_ns[i] : 0;
    }
    return far_sum_ns / sum_ns;
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

/* How many of the first reads something else held up. Reads of which one failed
 * tell nothing: as if all were. */
static size_t held_up_reads(const struct sustained_probe *state)
{
    const struct timing *rows = sustained_reads(state, &sustained_first);
    double ns[SUSTAINED_FIRST_READS] = {0};

    for (size_t i = 0; rows && i < SUSTAINED_FIRST_READS; i++)
        ns[i] = (double)rows[i].ns;
    return rows ? rate_far_count(ns, SUSTAINED_FIRST_READS,
                                 rate_far_ns(ns, SUSTAINED_FIRST_READS))
                : SUSTAINED_FIRST_READS;
}

double sustained_others_share(const struct sustained_probe *state)
{
    const double far = (double)held_up_reads(state);
    const double most =
        fmin(far + errors_most * sqrt(far), SUSTAINED_FIRST_READS);

    return 1 - pow(1 - most / SUSTAINED_FIRST_READS, sustained_pieces(state));
}

enum sustained_pauses sustained_pauses(const struct sustained_probe *state,
                                       const double block_ns[], size_t count)
{
    const double far_ns = rate_far_ns(block_ns, count);
    const size_t far = rate_far_count(block_ns, count, far_ns);

    if (far == 0)
        return SUSTAINED_NO_PAUSES;
    /* Of the single writes that make up a block. */
    const double share = 1 - pow(1 - (double)far / (double)count,
                                 1 / (double)sustained_pieces(state));
    if (chance_of_so_few(held_up_reads(state), SUSTAINED_FIRST_READS, share) <
        chance_most)
        return SUSTAINED_OWN_PAUSES;
    return far_part(block_ns, count, far_ns) > part_most ? SUSTAINED_LONG_PAUSES
                                                         : SUSTAINED_ANY_PAUSES;
}
