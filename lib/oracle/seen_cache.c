/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does a cache of flash show in long sequential writes? Asked of the model. */
#include <errno.h>
#include <stdlib.h>

#include "lib/flash/ftl/mapping.h"
#include "lib/infer/method/pace.h"
#include "lib/oracle/seen.h"

/* Smaller ones may be memory that a flush does not empty; where it does, fewer
 * writes are chance. */
static const uint64_t least_bytes = 80 * MIB, least_flushed_bytes = 18 * MIB;
/* Behind its end writes take so much longer that a user notices. */
static const double slower_least = 1.25;

/* A drive that is full leaves it fewer blocks. */
static uint64_t bytes_of(const struct drive *drive)
{
    const uint64_t blocks = drive->slc_least_blocks_count
                                ? drive->slc_least_blocks_count
                                : drive->slc_blocks_count;

    return blocks * mapping_slc_units(drive) * drive->clustered_page_bytes;
}

/* Sequential writes of twice what the cache holds, at the probe's queue depth:
 * how many times as long the second half takes. */
static double slower_behind(struct bench *bench, uint64_t cache_bytes,
                            struct bench_request requests[], size_t count)
{
    const uint64_t piece = 2 * cache_bytes / count;

    for (size_t i = 0; i < count; i++)
        requests[i] =
            (struct bench_request){.operation = FLASH_WRITE,
                                   .depth = (uint32_t)(PACE_LONG_BYTES / piece),
                                   .offset_bytes = i * piece,
                                   .length_bytes = piece};
    bench_together(bench, requests, count);
    const uint64_t middle_ns = requests[count / 2].submit_ns;
    return (double)(requests[count - 1].submit_ns - middle_ns) /
           (double)(middle_ns - requests[0].submit_ns);
}

int oracle_fast_cache(const struct drive *drive, uint64_t *size_bytes,
                      bool *seen, struct fault *why)
{
    struct bench bench;
    uint64_t piece = MIB;
    const uint64_t bytes = drive->slc_blocks_count ? bytes_of(drive) : 0;
    const uint64_t whole = bytes / MIB * MIB;
    const bool empties = !drive->flush_lies && !drive->write_buffer_protected;

    *size_bytes = bytes;
    *seen = false;
    if (bytes < (empties ? least_flushed_bytes : least_bytes) ||
        2 * whole > drive->capacity_bytes)
        return 0;
    while (drive->request_limit_bytes && piece > drive->request_limit_bytes)
        piece /= 2;
    const size_t count = 2 * whole / piece;
    struct bench_request *requests = malloc(count * sizeof(*requests));
    int error = requests ? bench_open(&bench, drive, why) : -ENOMEM;
    if (!error) {
        *seen = slower_behind(&bench, whole, requests, count) >= slower_least;
        bench_close(&bench);
        error = bench.error;
    }
    free(requests);
    return error;
}
