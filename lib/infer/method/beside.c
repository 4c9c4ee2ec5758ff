/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/method/beside.h"

#include <stdlib.h>

#include "lib/infer/method/line.h"
#include "lib/base/units.h"

/* As the kernel writes a file back, and enough for some banks at once. */
static const uint64_t usual_bytes = 128 * KIB;

/* More than most buffers; a small part of a region, so that most reads find
 * places outside of it. */
static const uint64_t window_usual_bytes = 256 * MIB;
static const uint64_t region_parts = 8;

/* At each end, so that the middle quarter is left. */
static const double left_out = 3 / 8.0;

uint32_t beside_depth(size_t index)
{
    return UINT32_C(1) << (2 * index);
}

static uint32_t spacing_of(uint32_t depth)
{
    return depth < BESIDE_SPACING ? depth : BESIDE_SPACING;
}

uint32_t beside_together(uint32_t depth)
{
    return depth + depth / spacing_of(depth);
}

/* The first `depth` writes and their reads come before those that count. */
static size_t writes_of(uint32_t depth)
{
    return depth + (size_t)BESIDE_READS * spacing_of(depth);
}

size_t beside_requests(uint32_t depth)
{
    return beside_together(depth) +
           (size_t)BESIDE_READS * (spacing_of(depth) + 1);
}

size_t beside_group(uint32_t depth)
{
    return (size_t)spacing_of(depth) + 1;
}

size_t beside_read_at(uint32_t depth, struct random *random)
{
    return depth > 1 ? random_below(random, beside_group(depth)) : 1;
}

size_t beside_first(uint32_t depth)
{
    return beside_together(depth);
}

uint64_t beside_round_writes(void)
{
    uint64_t writes = BESIDE_FILL_WRITES;

    for (size_t i = 0; i < BESIDE_DEPTHS; i++)
        writes += writes_of(beside_depth(i));
    return writes;
}

uint64_t beside_write_bytes(uint64_t request_limit_bytes,
                            uint64_t logical_block_bytes)
{
    uint64_t bytes = usual_bytes;

    while (bytes > logical_block_bytes && request_limit_bytes &&
           bytes > request_limit_bytes)
        bytes /= 2;
    return bytes;
}

uint64_t beside_window_writes(uint64_t region_bytes, uint64_t write_bytes)
{
    return smaller_of(window_usual_bytes, region_bytes / region_parts) /
           write_bytes;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double beside_time(double ns[], size_t count)
{
    qsort(ns, count, sizeof(*ns), compare);
    return line_trimmed_mean(ns, count, left_out);
}

double beside_alone_time(double ns[], size_t count)
{
    qsort(ns, count, sizeof(*ns), compare);
    return line_middle_mean(ns, count);
}

double beside_share(const struct beside_times *times)
{
    const double reads_ns =
        times->read_ns[BESIDE_DEEPEST] - times->read_ns[BESIDE_MIDDLE];
    const double writes_ns =
        times->write_ns[BESIDE_DEEPEST] - times->write_ns[BESIDE_MIDDLE];

    return writes_ns > 0 ? reads_ns / writes_ns : 0.5;
}
