/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_RATE_H
#define SSDPROBE_PROBES_RATE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/infer/finding.h"
#include "lib/infer/statistics/stats.h"

/*
 * A rate of writes that changes and then lasts, from the times of blocks of
 * writes: each block as long as the others, each time from the end of the block
 * before it to its own end, in ns.
 */

/* What a block takes: the median of groups of blocks, and the mean of all, of
 * which those that are held up count as the rest. */
struct rate_level {
    double ns, mean_ns;
    struct interval interval;
};

/* A rate that falls at one block, and stays. */
struct rate_change {
    size_t at; /* so many blocks are quick */
    struct rate_level fast, slow;
    bool found; /* the slow part takes longer than chance and noise explain */
    bool flat;  /* there is none anywhere */
};

/* Of blocks `held_up_share` may be held up by something else; more are pauses
 * of the drive's own, and belong to its rate. */
struct rate_level rate_level(const double block_ns[], size_t count,
                             double held_up_share);
/* What takes longer than `most_ns` counts as that. */
double rate_mean(const double block_ns[], size_t count, double most_ns);

/* Times of blocks, or of reads, that are longer than this were held up. */
double rate_far_ns(const double ns[], size_t count);
size_t rate_far_count(const double ns[], size_t count, double far_ns);

/* At least this share of the blocks is behind a change that is found. */
static const double rate_rest_least = 0.25;
/* Where the blocks from `first` on fall apart in two levels. */
struct rate_change rate_change(const double block_ns[], size_t first,
                               size_t count, double held_up_share);

/* Tells quick blocks from slow ones where both levels are known. */
struct rate_scale {
    double middle_ns, most_ns; /* what takes longer counts as that */
};

struct rate_scale rate_scale(const double block_ns[], size_t count,
                             const struct rate_change *change,
                             double held_up_share);

/* How many of these blocks are quick, at the beginning. */
size_t rate_quick(const double block_ns[], size_t count,
                  const struct rate_scale *scale);

/* What a user gets: the mean of all blocks of all parts, pauses included. Its
 * interval is that of parts of time drawn again, as if two more were as bad as
 * the worst block. It reaches to the rate at which the share of blocks that
 * something else may hold up count as the rest, unless that spans more than a
 * factor of two: then the pauses are most of the time, and the drive's. Each
 * block has `block_bytes`. */
struct rate_part {
    const double *ns;
    size_t count;
};
void rate_say(struct finding *finding, const struct rate_part parts[],
              size_t parts_count, uint64_t block_bytes, double held_up_share,
              const char *what);

/* Is it known within a share that makes it a number? */
bool rate_narrow(const struct rate_level *level);

/* How much single blocks vary: a share of what they take. */
double rate_spread(const double block_ns[], size_t count);

#endif
