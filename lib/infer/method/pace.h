/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_PACE_H
#define SSDPROBE_INFER_PACE_H

#include <stddef.h>
#include <stdint.h>

/*
 * How fast a drive serves requests of which a fixed number is always under way
 * (Chen, Lee & Zhang 2011; Dirik 6.2). One definition for the probe that
 * measures it and the model that states it:
 *
 *   block     requests of one kind, of which `depth` are kept under way
 *   at first  the first `depth` of them fill the queue, and as many find it
 *             filled otherwise than later on: they are left out. From then on
 *             each is sent when another has ended, so that the times of sending
 *             show how fast the drive works
 *   alone     at a depth of 1 the host's own work between two requests would
 *             count as the drive's: there it is how long each request takes
 *   part      pace_part() requests in order: enough to even out how the drive
 *             spreads them over its flash, which takes more where more are
 *             under way; few enough that most parts have no stall of the host
 *             in them
 *   pace      the mean of the middle half of all parts, in ns a request
 */
enum { PACE_PARTS_MAX = 1024, PACE_ALONE_REQUESTS = 64 };

/* Random reads, and reads and writes in order: the drive's own limit where that
 * is lower. */
#define PACE_RANDOM_BYTES UINT64_C(4096)
#define PACE_ORDER_BYTES (UINT64_C(256) << 10)

/* The depths that are tried: of random reads 1, 2, 4 ... 256; of reads in order
 * 1, 4, 16. Writes in order have one. */
enum {
    PACE_DEPTHS = 9,
    PACE_ORDER_DEPTHS = 3,
    PACE_WRITE_DEPTH = 16,
    PACE_WRITE_REQUESTS = 32
};

/* Of a block of random reads: four times the depth after the queue was filled,
 * and enough parts for a middle where the depth is small. */
size_t pace_block_requests(uint32_t depth);

/* Requests of a part: a quarter of the depth, and at least 16. */
size_t pace_part(uint32_t depth);

/* The depth of number `index` among those of random reads, or in order. */
uint32_t pace_depth(size_t index);
uint32_t pace_order_depth(size_t index);

struct pace_request {
    uint64_t submit_ns, complete_ns;
};

/* Adds the parts of a block to `parts_ns`, in ns a request; returns how many
 * there are then, at most PACE_PARTS_MAX. */
size_t pace_parts(const struct pace_request requests[], size_t count,
                  uint32_t depth, double parts_ns[PACE_PARTS_MAX],
                  size_t parts_count);

/* The pace of these parts, which are sorted; 0 where there are none. */
double pace_of(double parts_ns[], size_t parts_count);

/* A request in order: the drive's limit where that is lower; 0: it has none. */
uint64_t pace_order_bytes(uint64_t request_limit_bytes,
                          uint64_t logical_block_bytes);

/*
 * Writes in order: blocks of PACE_WRITE_REQUESTS, one behind the other, at
 * first PACE_WRITE_BLOCKS_FIRST of them and then twice as many each time, until
 * twice as many are more than pace_write_blocks() or would take longer than
 * PACE_WRITE_LONGEST_NS. The rate is that of the second half from its first
 * request to its last, because a buffer that is emptied when it is full makes
 * most parts quick; and none where its two quarters differ much.
 */
enum { PACE_WRITE_BLOCKS_FIRST = 4, PACE_WRITE_BLOCKS_MAX = 128 };
#define PACE_WRITE_LONGEST_NS 20e9

/* Long sequential writes that look for an SLC cache keep this many bytes in the
 * queue. */
#define PACE_LONG_BYTES (UINT64_C(4) << 20)

/* How many blocks may be written of a region and a budget; 0: too few. */
uint32_t pace_write_blocks(uint64_t region_bytes, uint64_t budget_bytes,
                           uint64_t order_bytes);

/* Twice as many requests under way pay where they gain a tenth: more is noticed
 * by users, less may be the host's. What gains about as much is left open. */
#define PACE_GAIN_NONE 1.08
#define PACE_GAIN_LEAST 1.12

#endif
