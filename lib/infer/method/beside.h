/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_BESIDE_H
#define SSDPROBE_INFER_BESIDE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/random.h"

/*
 * How long a read takes beside writes. One definition for the probe that
 * measures it and the model that states it:
 *
 *   writes   in order, through a window again and again
 *   block    two writes and one read of 4 KiB, and again; so many requests are
 *            under way that a read is sent behind about `depth` writes. Which
 *            of the three the read is, and where it reads, is left to chance,
 *            or it would meet the same of the fast and slow pages each time.
 *            At a depth of 1 reads and writes take turns
 *   at first the first `depth` writes and their reads fill the queue and do not
 *            count
 *   alone    a flush and a pause, until the drive is idle; then reads alone
 *   filling  writes that are not measured, which fill a write buffer, and are
 *            as many at once as those of the deepest block
 *   round    alone, filling, and a block of each depth, the deepest first: a
 *            drive that is sent many at once after few takes their data first,
 *            and reads wait for that
 *   slowdown the median read of all deepest blocks over what a read takes
 *            alone: the median of the rounds of the mean of the middle half,
 *            which lies between the modes where places take two kinds of time
 *   time     of the reads of a block, or of its writes: the mean of the middle
 *            quarter. One request that is held up holds up all behind it, which
 *            are a third of a block
 *   priority by how much reads and writes are longer in the deepest block than
 *            in the middle one. The writes that were added all wait, for the
 *            drive was busy before. In one queue reads wait as much longer as
 *            writes do; where they go before writes that wait, they do not
 */
enum {
    BESIDE_DEPTHS = 3, /* 1, 4, 16 */
    BESIDE_MIDDLE = 1, /* 4 */
    BESIDE_DEEPEST = 2,
    BESIDE_SPACING = 2,
    BESIDE_READS = 24, /* of a block, that count */
    BESIDE_ALONE_LEAD = 2,
    BESIDE_ALONE_READS = 48,
    BESIDE_FILL_WRITES = 32,
    BESIDE_BLOCK_MAX = 128 /* requests; BESIDE_DEEPEST has most */
};

#define BESIDE_READ_BYTES UINT64_C(4096)
/* Until a drive that says it is done is idle. Most that sleep sleep later. */
#define BESIDE_PAUSE_NS UINT64_C(100000000)

/* How many writes are under way in the blocks of this index; and how many
 * requests. */
uint32_t beside_depth(size_t index);
uint32_t beside_together(uint32_t depth);

/* Requests of such a block. */
size_t beside_requests(uint32_t depth);
/* They come in groups of which one is a read: so many are in a group, and that
 * is which of them. */
size_t beside_group(uint32_t depth);
size_t beside_read_at(uint32_t depth, struct random *random);
/* Requests from this one on count. */
size_t beside_first(uint32_t depth);

/* Of a round: of all blocks, and what fills the buffer. */
uint64_t beside_round_writes(void);

/* A write: the drive's limit where that is lower; 0: it has none. */
uint64_t beside_write_bytes(uint64_t request_limit_bytes,
                            uint64_t logical_block_bytes);

/* How many writes the window holds. */
uint64_t beside_window_writes(uint64_t region_bytes, uint64_t write_bytes);

/* A read that takes so many times as long is no slower: nobody notices. */
#define BESIDE_SLOWER_LEAST 1.10

/* The writes must take longer by a factor in this range in the deepest block
 * than in the middle one. Of a drive that is busy in both it is four. Where it
 * is less, the drive was not busy, and none of them waited; where it is more,
 * something else than the queue holds up writes. */
#define BESIDE_WAITS_LEAST 2.0
#define BESIDE_WAITS_MOST 8.0

/* By how much more reads wait, over how much more writes do: up to the first
 * they go before writes; between the second and the third they wait in one
 * queue. None is expected to be exact: a read waits for one bank, a write for
 * several. But no queue makes reads wait much longer than writes. */
#define BESIDE_SHARE_BEFORE (1 / 3.0)
#define BESIDE_SHARE_BEHIND (2 / 3.0)
#define BESIDE_SHARE_MOST (4 / 3.0)

/* The mean of the middle quarter, and of the middle half; they sort them. */
double beside_time(double ns[], size_t count);
double beside_alone_time(double ns[], size_t count);

/* A read alone that takes so many times as long as most was held up by
 * something else. */
#define BESIDE_FAR_LEAST 3.0

/* Those of a round. */
struct beside_times {
    double alone_ns, read_ns[BESIDE_DEPTHS], write_ns[BESIDE_DEPTHS];
    double deepest_ns[BESIDE_READS]; /* each read */
    uint32_t far_count; /* of the reads alone, those that were held up */
};

/* That share; half where writes are no longer. */
double beside_share(const struct beside_times *times);

#endif
