/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does a cache of flash show in long sequential writes? Asked of the model. */
#include <math.h>

#include "lib/flash/ftl/mapping.h"
#include "lib/oracle/seen.h"

/* Smaller ones may be memory that a flush does not empty. */
static const uint64_t least_bytes = 80 * MIB;
/* Behind its end writes take so much longer that a user notices. */
static const double slower_least = 1.5;
/* A rate is one number where its halves differ by no more. */
static const double level_most = 0.08;

/* A drive that is full leaves it fewer blocks. */
static uint64_t bytes_of(const struct drive *drive)
{
    const uint64_t blocks = drive->slc_least_blocks_count
                                ? drive->slc_least_blocks_count
                                : drive->slc_blocks_count;

    return blocks * mapping_slc_units(drive) * drive->clustered_page_bytes;
}

/* The rate of two halves that take so long; 0: they differ. */
static double rate_of(uint64_t bytes, const uint64_t ns[2])
{
    const double all_ns = (double)(ns[0] + ns[1]);

    return fabs(log((double)ns[0] / (double)ns[1])) > level_most
               ? 0
               : 1e9 * (double)bytes / all_ns;
}

int oracle_fast_cache(const struct drive *drive, struct cache_seen *cache,
                      struct fault *why)
{
    struct bench bench;
    uint64_t ns[4] = {0};
    const uint64_t bytes = drive->slc_blocks_count ? bytes_of(drive) : 0;
    const uint64_t quarter = bytes / 2 / MIB * MIB;

    *cache = (struct cache_seen){.bytes = bytes};
    if (bytes < least_bytes || 4 * quarter > drive->capacity_bytes)
        return 0;
    const int error = bench_open(&bench, drive, why);
    if (error)
        return error;
    for (uint64_t at = 0; at < 4 * quarter; at += MIB)
        ns[at / quarter] += bench_act(&bench, FLASH_WRITE, at, MIB);
    bench_close(&bench);
    cache->seen =
        (double)(ns[2] + ns[3]) >= slower_least * (double)(ns[0] + ns[1]);
    cache->fast_rate = rate_of(2 * quarter, ns);
    cache->slow_rate = rate_of(2 * quarter, ns + 2);
    return bench.error;
}
