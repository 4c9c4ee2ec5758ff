/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does a cache of flash show in long sequential writes? Asked of the model. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/flash/ftl/mapping.h"
#include "lib/infer/method/pace.h"
#include "lib/oracle/seen.h"

/* Smaller ones may be memory that a flush does not empty; where it does, fewer
 * writes are chance. */
static const uint64_t least_bytes = 80 * MIB, least_flushed_bytes = 18 * MIB;
/* Behind its end writes take so much longer that a user notices. */
static const double slower_least = 1.25;
/* Rates are those of writes of so many times what the cache holds, and no fewer
 * than this part of the drive, so that spare blocks are used up: while most of
 * the cache fills, and behind so much of them and twice what it holds. */
enum { RATES_CACHES = 4, RATES_PARTS = 3 };
static const double fast_part = 0.9, sustained_from = 0.6;

/* A drive that is full leaves it fewer blocks. */
static uint64_t bytes_of(const struct drive *drive)
{
    const uint64_t blocks = drive->slc_least_blocks_count
                                ? drive->slc_least_blocks_count
                                : drive->slc_blocks_count;

    return blocks * mapping_slc_units(drive) * drive->clustered_page_bytes;
}

/* Sequential writes from the drive's beginning, as many at a time as the probe
 * has under way: each sent when the drive has taken those before it. */
struct run {
    struct bench_request *requests;
    size_t count;
    uint64_t piece_bytes;
};

static int run_writes(const struct drive *drive, uint64_t bytes,
                      struct run *run, struct fault *why)
{
    struct bench bench;
    uint64_t piece = MIB;

    while (drive->request_limit_bytes && piece > drive->request_limit_bytes)
        piece /= 2;
    *run = (struct run){.count = bytes / piece, .piece_bytes = piece};
    run->requests = malloc(run->count * sizeof(*run->requests));
    int error = run->requests ? bench_open(&bench, drive, why) : -ENOMEM;
    if (error)
        return error;
    for (size_t i = 0; i < run->count; i++)
        run->requests[i] =
            (struct bench_request){.operation = FLASH_WRITE,
                                   .depth = (uint32_t)(PACE_LONG_BYTES / piece),
                                   .offset_bytes = i * piece,
                                   .length_bytes = piece};
    bench_together(&bench, run->requests, run->count);
    error = bench.error;
    bench_close(&bench);
    return error;
}

/* From one share of the writes to another. */
static double run_ns(const struct run *run, double from, double to)
{
    const size_t last = run->count - 1;

    return (double)(run->requests[(size_t)(to * (double)last)].submit_ns -
                    run->requests[(size_t)(from * (double)last)].submit_ns);
}

static double run_rate(const struct run *run, double from, double to)
{
    return (to - from) * (double)((run->count - 1) * run->piece_bytes) /
           run_ns(run, from, to) * 1e9;
}

int oracle_fast_cache(const struct drive *drive, uint64_t *size_bytes,
                      bool *seen, struct fault *why)
{
    const uint64_t bytes = drive->slc_blocks_count ? bytes_of(drive) : 0;
    const uint64_t whole = bytes / MIB * MIB;
    const bool empties = !drive->flush_lies && !drive->write_buffer_protected;
    struct run run;

    *size_bytes = bytes;
    *seen = false;
    if (bytes < (empties ? least_flushed_bytes : least_bytes) ||
        2 * whole > drive->capacity_bytes)
        return 0;
    const int error = run_writes(drive, 2 * whole, &run, why);
    *seen =
        !error && run_ns(&run, 0.5, 1) >= slower_least * run_ns(&run, 0, 0.5);
    free(run.requests);
    return error;
}

int oracle_write_rates(const struct drive *drive, struct write_rates *rates,
                       struct fault *why)
{
    const uint64_t cache = drive->slc_blocks_count ? bytes_of(drive) : 0;
    const uint64_t bytes =
        smaller_of(larger_of(RATES_CACHES * cache,
                             drive->capacity_bytes / RATES_PARTS / MIB * MIB),
                   drive->capacity_bytes / MIB * MIB);
    const double share = (double)cache / (double)bytes;
    /* The first requests are sent at once, and tell no rate. */
    const double sent = (double)PACE_LONG_BYTES / (double)bytes;
    struct run run;

    *rates = (struct write_rates){.fast = 0};
    if (3 * share > 1)
        return 0;
    const int error = run_writes(drive, bytes, &run, why);
    if (!error)
        *rates = (struct write_rates){
            .fast = fast_part * share > sent
                        ? run_rate(&run, sent, fast_part * share)
                        : 0,
            .sustained = run_rate(&run, fmax(sustained_from, 2 * share), 1)};
    free(run.requests);
    return error;
}
