/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_LIMIT_H
#define SSDPROBE_DEVICE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/device/identity/disk.h"
#include "lib/device/io.h"
#include "lib/device/host/memory.h"

/*
 * How large a request reaches the drive in one piece? sysfs states limits in
 * bytes and in segments, and a request has as many segments as its memory has
 * scattered pieces. So there are two answers: what holds for any memory, and
 * what holds if the kernel sees huge pages as one piece, which is believed only
 * when the disk's own counters have shown it.
 */
struct limit {
    uint64_t assured_bytes; /* whatever the memory looks like */
    uint64_t hoped_bytes;   /* from contiguous memory; at least the former */
    uint64_t chunk_bytes;   /* no request crosses a multiple of it; 0: none */
    uint64_t discard_bytes; /* largest discard; 0: there is none */
};

void limit_read(const struct disk *disk, uint32_t logical_block_bytes,
                struct limit *limit);

/* Reads the beginning of the disk, in one request; false: not all of it. */
struct limit_reader {
    bool (*read)(void *context, void *data, uint64_t length_bytes);
    void *context;
};

/* Reads once with the largest request that may pass, and returns the limit that
 * holds for `memory`. */
uint32_t limit_prove(const struct limit *limit, const struct disk *disk,
                     const struct limit_reader *reader, uint64_t capacity_bytes,
                     const struct memory *memory);

/* Into how many requests will this one be split? At least 1. */
uint32_t limit_parts_count(const struct limit *limit,
                           uint32_t request_limit_bytes, const struct io *io);

#endif
