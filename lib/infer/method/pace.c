/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/method/pace.h"

#include <stdlib.h>

#include "lib/infer/method/line.h"
#include "lib/base/units.h"

/* More than most buffers take in; of a small region or budget a part. */
static const uint64_t write_usual_bytes = 256 * MIB;
static const uint64_t region_parts = 3, budget_parts = 16;
/* A part of a block of reads, in requests. */
static const uint64_t depth_parts = 4, part_least = 16;

size_t pace_block_requests(uint32_t depth)
{
    return PACE_ALONE_REQUESTS + 4 * (size_t)depth + 1;
}

uint32_t pace_depth(size_t index)
{
    return UINT32_C(1) << index;
}

uint32_t pace_order_depth(size_t index)
{
    return UINT32_C(1) << (2 * index);
}

size_t pace_part(uint32_t depth)
{
    return larger_of(depth / depth_parts, part_least);
}

static double part_ns(const struct pace_request *first, uint32_t depth)
{
    const size_t part = pace_part(depth);
    double sum_ns = 0;

    if (depth > 1)
        return (double)(first[part].submit_ns - first->submit_ns) /
               (double)part;
    for (size_t i = 0; i < part; i++)
        sum_ns += (double)(first[i].complete_ns - first[i].submit_ns);
    return sum_ns / (double)part;
}

size_t pace_parts(const struct pace_request requests[], size_t count,
                  uint32_t depth, double parts_ns[PACE_PARTS_MAX],
                  size_t parts_count)
{
    /* A part of times of sending ends with the request behind it. */
    const size_t behind = depth > 1, part = pace_part(depth);
    size_t at = depth > 1 ? 2 * (size_t)depth : 0;

    for (; at + part + behind <= count && parts_count < PACE_PARTS_MAX;
         at += part)
        parts_ns[parts_count++] = part_ns(&requests[at], depth);
    return parts_count;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double pace_of(double parts_ns[], size_t parts_count)
{
    if (parts_count == 0)
        return 0;
    qsort(parts_ns, parts_count, sizeof(*parts_ns), compare);
    return line_middle_mean(parts_ns, parts_count);
}

uint64_t pace_order_bytes(uint64_t request_limit_bytes,
                          uint64_t logical_block_bytes)
{
    uint64_t bytes = PACE_ORDER_BYTES;

    while (bytes > logical_block_bytes && request_limit_bytes &&
           bytes > request_limit_bytes)
        bytes /= 2;
    return bytes;
}

uint32_t pace_write_blocks(uint64_t region_bytes, uint64_t budget_bytes,
                           uint64_t order_bytes)
{
    const uint64_t block_bytes = PACE_WRITE_REQUESTS * order_bytes;
    uint64_t bytes = smaller_of(write_usual_bytes, region_bytes / region_parts);
    uint32_t blocks = PACE_WRITE_BLOCKS_MAX;

    bytes = smaller_of(bytes, budget_bytes / budget_parts);
    while (blocks >= PACE_WRITE_BLOCKS_FIRST && blocks * block_bytes > bytes)
        blocks /= 2;
    return blocks < PACE_WRITE_BLOCKS_FIRST ? 0 : blocks;
}
