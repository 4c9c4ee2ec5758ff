/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does a cache of flash show in long sequential writes? Asked of the model. */
#include "lib/flash/ftl/mapping.h"
#include "lib/oracle/seen.h"

/* Smaller ones may be memory that a flush does not empty; where it does, fewer
 * writes are chance. */
static const uint64_t least_bytes = 80 * MIB, least_flushed_bytes = 18 * MIB;
/* Behind its end writes take so much longer that a user notices. */
static const double slower_least = 1.5;

/* A drive that is full leaves it fewer blocks. */
static uint64_t bytes_of(const struct drive *drive)
{
    const uint64_t blocks = drive->slc_least_blocks_count
                                ? drive->slc_least_blocks_count
                                : drive->slc_blocks_count;

    return blocks * mapping_slc_units(drive) * drive->clustered_page_bytes;
}

int oracle_fast_cache(const struct drive *drive, uint64_t *size_bytes,
                      bool *seen, struct fault *why)
{
    struct bench bench;
    uint64_t ns[2] = {0};
    const uint64_t bytes = drive->slc_blocks_count ? bytes_of(drive) : 0;
    const uint64_t whole = bytes / MIB * MIB;

    *size_bytes = bytes;
    *seen = false;
    const bool empties = !drive->flush_lies && !drive->write_buffer_protected;
    if (bytes < (empties ? least_flushed_bytes : least_bytes) ||
        2 * whole > drive->capacity_bytes)
        return 0;
    const int error = bench_open(&bench, drive, why);
    if (error)
        return error;
    for (uint64_t at = 0; at < 2 * whole; at += MIB)
        ns[at / whole] += bench_act(&bench, FLASH_WRITE, at, MIB);
    bench_close(&bench);
    *seen = (double)ns[1] >= slower_least * (double)ns[0];
    return bench.error;
}
