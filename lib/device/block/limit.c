/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/block/limit.h"

#include <stdio.h>

#include "lib/base/units.h"
#include "lib/device/host/sysfs.h"

static const uint64_t PAGE_BYTES = 4096;

/* What every Linux disk driver has taken since 2.6: for a disk that states
 * nothing. */
static const uint64_t STATELESS_LIMIT_BYTES = 131072;

/* Others may read the disk at the same moment (udev), so one try that shows a
 * single request is proof enough, and one that shows more is not. */
enum { TRIES_MAX = 3 };

/* The counters move a moment after the request has come back. */
enum { LOOKS_MAX = 1000 };

void limit_read(const struct disk *disk, uint32_t logical_block_bytes,
                struct limit *limit)
{
    const char *folder = disk->folder;
    const uint64_t largest_bytes =
        1024 * sysfs_number(folder, "queue/max_sectors_kb",
                            STATELESS_LIMIT_BYTES / 1024);
    const uint64_t segments_count =
        sysfs_number(folder, "queue/max_segments", 1);
    const uint64_t segment_bytes =
        sysfs_number(folder, "queue/max_segment_size", PAGE_BYTES);
    const uint64_t contiguous_bytes = segments_count > 1
                                          ? (segments_count - 1) * segment_bytes
                                          : segment_bytes;
    const uint64_t scattered_bytes =
        segments_count * smaller_of(PAGE_BYTES, segment_bytes);

    *limit = (struct limit){
        .assured_bytes = smaller_of(largest_bytes, scattered_bytes),
        .hoped_bytes = smaller_of(largest_bytes, contiguous_bytes),
        .chunk_bytes = 512 * sysfs_number(folder, "queue/chunk_sectors", 0),
        .discard_bytes = sysfs_number(folder, "queue/discard_max_bytes", 0),
    };
    limit->assured_bytes -= limit->assured_bytes % logical_block_bytes;
    limit->hoped_bytes -= limit->hoped_bytes % logical_block_bytes;
    if (limit->assured_bytes == 0)
        limit->assured_bytes = logical_block_bytes;
    if (limit->hoped_bytes < limit->assured_bytes)
        limit->hoped_bytes = limit->assured_bytes;
}

/* Reads completed by the disk, once nothing is in flight. */
static bool reads_completed(const struct disk *disk, uint64_t *count)
{
    char text[256];
    for (int look = 0; look < LOOKS_MAX; look++) {
        unsigned long long reads, in_flight;
        if (sysfs_text(disk->folder, "stat", text, sizeof(text)) != 0 ||
            sscanf(text, "%llu %*u %*u %*u %*u %*u %*u %*u %llu", &reads,
                   &in_flight) != 2)
            return false;
        *count = reads;
        if (in_flight == 0)
            return true;
    }
    return false;
}

static bool reads_in_one_piece(const struct disk *disk,
                               const struct limit_reader *reader, void *data,
                               uint64_t length_bytes)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        uint64_t before, after;
        if (!reads_completed(disk, &before) ||
            !reader->read(reader->context, data, length_bytes) ||
            !reads_completed(disk, &after))
            return false;
        if (after - before == 1)
            return true;
    }
    return false;
}

uint32_t limit_prove(const struct limit *limit, const struct disk *disk,
                     const struct limit_reader *reader, uint64_t capacity_bytes,
                     const struct memory *memory)
{
    const uint64_t trial_bytes = smaller_of(
        limit->hoped_bytes, smaller_of(memory->size_bytes, capacity_bytes));
    uint64_t proved_bytes = limit->assured_bytes;

    /* A buffer too small for the largest request cannot be asked for it. */
    if (trial_bytes > limit->assured_bytes &&
        reads_in_one_piece(disk, reader, memory->base, trial_bytes))
        proved_bytes = limit->hoped_bytes;
    return (uint32_t)smaller_of(proved_bytes, UINT32_MAX);
}

static uint64_t pieces_count(uint64_t length_bytes, uint64_t piece_bytes)
{
    return (length_bytes + piece_bytes - 1) / piece_bytes;
}

uint32_t limit_parts_count(const struct limit *limit,
                           uint32_t request_limit_bytes, const struct io *io)
{
    if (io->kind == IO_FLUSH ||
        (io->kind == IO_DISCARD && limit->discard_bytes == 0))
        return 1;
    if (io->kind == IO_DISCARD)
        return (uint32_t)pieces_count(io->length_bytes, limit->discard_bytes);
    if (limit->chunk_bytes == 0)
        return (uint32_t)pieces_count(io->length_bytes, request_limit_bytes);

    uint64_t offset_bytes = io->offset_bytes, left_bytes = io->length_bytes;
    uint64_t count = 0;
    while (left_bytes > 0) {
        const uint64_t piece_bytes = smaller_of(
            left_bytes, limit->chunk_bytes - offset_bytes % limit->chunk_bytes);
        count += pieces_count(piece_bytes, request_limit_bytes);
        offset_bytes += piece_bytes;
        left_bytes -= piece_bytes;
    }
    return (uint32_t)count;
}
