/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reads alone would show: pages and blocks by their boundaries, and how
 * far the drive reads ahead. */
#include "lib/oracle/seen.h"

#include <math.h>
#include <string.h>

#include "lib/flash/drive/geometry.h"
#include "lib/flash/nand/layout.h"

enum { ALIGN_PLACES = 65, STREAM_READS = 8, MISS_PAIRS = 4096 };

enum { SHORT_BYTES = 1024 };
static const uint64_t small_bytes = 4 * KIB, stream_bytes = 16 * KIB,
                      stream_grain_bytes = 128 * KIB;

/* An effect is surely there where it is a tenth of a read, and surely not below
 * a fiftieth. */
static const double effect_sure = 0.10, effect_none = 0.02;

/* How much longer, as a share, a short read takes that lies across an odd
 * multiple of this alignment than one that begins there. */
static double extra_across(struct bench *bench, uint64_t align_bytes)
{
    const uint64_t multiples = bench->drive->capacity_bytes / align_bytes - 1;
    uint64_t across[ALIGN_PLACES], beside[ALIGN_PLACES];

    for (int i = 0; i < ALIGN_PLACES; i++) {
        const uint64_t at =
            (random_below(&bench->random, multiples) | 1) * align_bytes;
        const uint64_t other =
            (random_below(&bench->random, multiples) | 1) * align_bytes;
        across[i] =
            bench_act(bench, FLASH_READ, at - SHORT_BYTES / 2, SHORT_BYTES);
        beside[i] = bench_act(bench, FLASH_READ, other, SHORT_BYTES);
    }
    return bench_median(across, ALIGN_PLACES) /
               bench_median(beside, ALIGN_PLACES) -
           1;
}

/* Does it cost more to read across boundaries of this size, and of twice of it,
 * than across those of half of it? */
static enum shown step_at(struct bench *bench, uint64_t bytes)
{
    if ((bytes & (bytes - 1)) || bytes < 2 * SHORT_BYTES ||
        16 * bytes > bench->drive->capacity_bytes)
        return SHOWN_PERHAPS;
    const double below = extra_across(bench, bytes / 2);
    const double above = extra_across(bench, bytes);
    const double beyond = extra_across(bench, 2 * bytes);
    if (above - below > effect_sure && beyond - below > effect_sure)
        return SHOWN;
    return above - below < effect_none ? SHOWN_NOT : SHOWN_PERHAPS;
}

/* How much longer, as shares, a read across takes than the longer of both reads
 * beside it, and than their mean. The mapping of all is cached. */
struct across {
    double serial, extra;
};

static void bring_mapping(struct bench *bench, uint64_t at_bytes)
{
    const uint64_t near = (at_bytes ^ (256 * KIB)) / KIB * KIB;

    if (near + SHORT_BYTES <= bench->drive->capacity_bytes)
        bench_act(bench, FLASH_READ, near, SHORT_BYTES);
}

static struct across reads_across(struct bench *bench, uint64_t align_bytes)
{
    enum { ACROSS, BEFORE, BEHIND, SIDES };
    static const uint64_t before_bytes[SIDES] = {SHORT_BYTES / 2, SHORT_BYTES,
                                                 0};
    const uint64_t multiples = bench->drive->capacity_bytes / align_bytes - 1;
    uint64_t places[ALIGN_PLACES];
    double ns[SIDES][ALIGN_PLACES], beside_ns = 0;
    struct across sum = {0, 0};

    for (int i = 0; i < ALIGN_PLACES; i++)
        places[i] = (random_below(&bench->random, multiples) | 1) * align_bytes;
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < ALIGN_PLACES; i++) {
            bring_mapping(bench, places[i] - 1);
            bring_mapping(bench, places[i]);
            ns[side][i] = (double)bench_act(
                bench, FLASH_READ, places[i] - before_bytes[side], SHORT_BYTES);
        }
    for (int i = 0; i < ALIGN_PLACES; i++) {
        const double beside = (ns[BEFORE][i] + ns[BEHIND][i]) / 2;
        beside_ns += beside;
        sum.serial += ns[ACROSS][i] - fmax(ns[BEFORE][i], ns[BEHIND][i]);
        sum.extra += ns[ACROSS][i] - beside;
    }
    return (struct across){sum.serial / beside_ns, sum.extra / beside_ns};
}

/* Does a read across boundaries of pages wait for two senses, one after the
 * other, and cost more at larger ones as well? */
static enum shown page_at(struct bench *bench, uint64_t bytes)
{
    if ((bytes & (bytes - 1)) || bytes < 2 * SHORT_BYTES ||
        16 * bytes > bench->drive->capacity_bytes)
        return SHOWN_PERHAPS;
    const struct across below = reads_across(bench, bytes / 2);
    const struct across above = reads_across(bench, bytes);
    const struct across beyond = reads_across(bench, 2 * bytes);
    if (above.serial - below.serial > effect_sure &&
        beyond.extra - below.extra > effect_sure)
        return SHOWN;
    return above.extra - below.extra < effect_none ? SHOWN_NOT : SHOWN_PERHAPS;
}

/* Neighbours that one sense of a bank brings: a page of each plane. */
static int find_sensed_bytes(const struct drive *drive, uint64_t *bytes)
{
    struct layout *layout;
    uint32_t run = 1;

    *bytes = drive_page_bytes(drive);
    if (!drive_has_layout(drive))
        return 0;
    const int error =
        layout_create(drive, (uint32_t)drive->program_pages_count, &layout);
    if (error)
        return error;
    while (run < layout->row.by &&
           layout->places[run].bank == layout->places[0].bank &&
           layout->places[run].stage == layout->places[0].stage)
        run++;
    *bytes = run * drive_section_bytes(drive);
    layout_destroy(layout);
    return 0;
}

int oracle_boundaries(const struct drive *drive, struct boundaries_seen *seen,
                      struct fault *why)
{
    struct bench bench;
    int error = find_sensed_bytes(drive, &seen->page_bytes);

    if (!error)
        error = bench_open(&bench, drive, why);
    if (error)
        return error;
    seen->page = page_at(&bench, seen->page_bytes);
    seen->block = step_at(&bench, oracle_block_bytes(drive));
    bench_close(&bench);
    return bench.error;
}

/* A stream, then a read so far beyond it. */
static uint64_t read_beyond(struct bench *bench, uint64_t gap_bytes)
{
    const uint64_t span = stream_grain_bytes + gap_bytes + small_bytes;
    const uint64_t places =
        (bench->drive->capacity_bytes - span) / stream_grain_bytes;
    const uint64_t at =
        random_below(&bench->random, places) * stream_grain_bytes;

    for (uint64_t i = 0; i < STREAM_READS; i++)
        bench_act(bench, FLASH_READ, at + i * stream_bytes, stream_bytes);
    bench->now_ns += 20000000; /* until what is read ahead is there */
    return bench_act(bench, FLASH_READ, at + stream_grain_bytes + gap_bytes,
                     small_bytes);
}

static double median_beyond(struct bench *bench, uint64_t gap_bytes)
{
    uint64_t times[BENCH_REPEATS];

    for (int i = 0; i < BENCH_REPEATS; i++)
        times[i] = read_beyond(bench, gap_bytes);
    return bench_median(times, BENCH_REPEATS);
}

int oracle_read_ahead_seen(const struct drive *drive, uint64_t *bytes,
                           bool *seen, struct fault *why)
{
    const uint64_t page = drive->page_bytes * drive->superblock_chips_count;
    struct bench bench;
    int error;

    *bytes = drive->read_buffer_bytes < page
                 ? 0
                 : drive->read_ahead_bytes / page * page;
    *seen = false;
    if (*bytes < small_bytes)
        return 0;
    error = bench_open(&bench, drive, why);
    if (error)
        return error;
    const double ahead = median_beyond(&bench, *bytes - small_bytes);
    const double half =
        median_beyond(&bench, *bytes / 2 / small_bytes * small_bytes);
    const double beyond = median_beyond(&bench, *bytes);
    /* The stream ends at a boundary of pages, or the last one does not fit. */
    *seen = stream_grain_bytes % page == 0 &&
            ahead * (1 + effect_sure) < beyond &&
            half * (1 + effect_sure) < beyond;
    bench_close(&bench);
    return bench.error;
}

/* Pairs of reads anywhere on the drive, of which the second finds its mapping.
 * How much longer the first one takes, on average, where it does not; both of
 * them on average in `all_ns`. */
static double miss_of(struct bench *bench, uint64_t reach_bytes, double *all_ns)
{
    const uint64_t capacity = bench->drive->capacity_bytes;
    double sum_ns[2] = {0, 0};

    for (uint64_t i = 0; i < 2 * MISS_PAIRS; i++) {
        const uint64_t at =
            random_below(&bench->random, capacity / MIB) * MIB +
            random_below(&bench->random, 256 * KIB / small_bytes) * small_bytes;
        for (uint64_t k = 0; k < 2; k++) {
            const double ns = (double)bench_act(
                bench, FLASH_READ, at ^ (k * 128 * KIB), small_bytes);
            sum_ns[k] += i >= MISS_PAIRS ? ns : 0;
        }
    }
    *all_ns = (sum_ns[0] + sum_ns[1]) / (2 * MISS_PAIRS);
    return (sum_ns[0] - sum_ns[1]) / MISS_PAIRS /
           (1 - (double)reach_bytes / (double)capacity);
}

int oracle_mapping_miss(const struct drive *drive, uint64_t reach_bytes,
                        uint64_t *miss_ns, struct fault *why)
{
    double all_ns;
    struct bench bench;

    *miss_ns = 0;
    if (reach_bytes == 0 || 2 * reach_bytes > drive->capacity_bytes)
        return 0;
    const int error = bench_open(&bench, drive, why);
    if (error)
        return error;
    const double miss = miss_of(&bench, reach_bytes, &all_ns);
    if (miss > effect_sure * all_ns)
        *miss_ns = (uint64_t)miss;
    bench_close(&bench);
    return bench.error;
}
