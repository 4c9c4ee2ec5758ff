/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/oracle/seen.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What probes look at. */
static const uint64_t content_unit_least_bytes = 1024,
                      content_unit_most_bytes = 32 * KIB;

enum { PLACES_COUNT = 5 };

int oracle_groups_seen(const struct drive *drive, bool *seen, struct fault *why)
{
    const uint64_t beyond = 4 * MIB;
    uint64_t group = drive->capacity_bytes / drive->segment_groups_count;
    uint64_t times[2][PLACES_COUNT];
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    /* From beyond: nothing of the place is kept or read ahead. */
    for (size_t i = 0; i < PLACES_COUNT; i++)
        for (uint64_t other = 0; other < 2; other++) {
            uint64_t place = (2 * i + other + 1) * MIB / 4;
            bench_act(&bench, FLASH_READ,
                      place + (other * group + beyond) / MIB * MIB, 4 * KIB);
            times[other][i] = bench_act(&bench, FLASH_READ, place, 4 * KIB);
        }
    double near = bench_median(times[0], PLACES_COUNT);
    double far = bench_median(times[1], PLACES_COUNT);
    *seen = far - near >= ORACLE_EFFECT_LEAST * far;
    bench_close(&bench);
    return bench.error;
}

/* A write of a part of a block that holds `contents`, if they matter. */
static uint64_t write_contents(struct bench *bench, const char *contents,
                               uint64_t block, uint64_t at, uint64_t bytes)
{
    uint64_t size = oracle_block_bytes(bench->drive);

    bench->data = contents ? contents + at : NULL;
    return bench_act(bench, FLASH_WRITE, block * size + at, bytes);
}

/*
 * Mean time of small writes to a few blocks in turn, each flushed, after these
 * were filled in order: one block more than there are logs, so that what must
 * be moved for them shows. A drive that maps pages moves none: it does when it
 * cleans, but only after all of its spare area was written over, which is more
 * than a probe may write.
 */
static int content_write_ns(const struct drive *drive, const char *contents,
                            double *mean_ns, struct fault *why)
{
    uint64_t block = oracle_block_bytes(drive);
    uint64_t page = drive->clustered_page_bytes;
    uint64_t blocks = oracle_logs_usable(drive) + 1, turns = 4;
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    for (uint64_t i = 0; i < blocks; i++)
        for (uint64_t at = 0; at < block; at += page)
            write_contents(&bench, contents, i, at, page);
    uint64_t begin_ns = bench.now_ns;
    for (uint64_t i = 0; i < turns * blocks; i++) {
        if (i == blocks)
            begin_ns = bench.now_ns;
        write_contents(&bench, contents, i % blocks,
                       (1 + i / blocks % (block / page - 1)) * page, page);
        bench_flush(&bench);
    }
    *mean_ns =
        (double)(bench.now_ns - begin_ns) / (double)((turns - 1) * blocks);
    bench_close(&bench);
    return bench.error;
}

/* Blocks of zeros against others; and with half of the units of zeros. */
int oracle_content_seen(const struct drive *drive, bool *seen, bool *unit_seen,
                        struct fault *why)
{
    uint64_t part = drive->content_unit_bytes;
    uint64_t bytes = oracle_block_bytes(drive);
    double zeros = 0, others = 0, halves = 0;

    char *contents = calloc(1, bytes);
    if (!contents)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "%s: no memory",
                         drive->name);
    int error = content_write_ns(drive, NULL, &others, why);
    if (!error)
        error = content_write_ns(drive, contents, &zeros, why);
    for (uint64_t at = 0; at + part <= bytes; at += part)
        memset(contents + at, random_one_of_two(at / part) ? 0 : 1, part);
    if (!error)
        error = content_write_ns(drive, contents, &halves, why);
    free(contents);
    *seen = fabs(others - zeros) >= ORACLE_EFFECT_LEAST * others;
    *unit_seen = *seen && part >= content_unit_least_bytes &&
                 part <= content_unit_most_bytes &&
                 fabs(others - halves) >= ORACLE_EFFECT_LEAST * others;
    return error;
}

/* Would contents show if they mattered? Asked of the same drive, but one that
 * moves pages of zeros for next to nothing. */
int oracle_content_would_show(const struct drive *drive, bool *seen,
                              struct fault *why)
{
    struct drive other = *drive;
    struct fault refused;
    bool unit_seen;

    other.content_unit_bytes = drive->page_bytes;
    other.zero_copy_ns = 0;
    *seen = false;
    if (drive_check(&other, &refused))
        return 0; /* such a drive cannot be made */
    return oracle_content_seen(&other, seen, &unit_seen, why);
}
