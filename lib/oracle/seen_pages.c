/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/oracle/seen.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/flash/ftl/mapping.h"
#include "lib/infer/method/kinds.h"
#include "lib/infer/method/rounds.h"

/* Two program levels nearer than this are one (Kim II-A has 3 times). */
static const double level_gap_least = 0.08;
static const uint64_t page_most_bytes = MIB; /* what probes look at */

/* A level has a larger share of the pages, and by so much is not fair. */
static const double level_least = 0.05, unfair_least = 0.25;

/* ---- pages ------------------------------------------------------------- */

/* A write and its flush at random pages of one block: of the cheapest eighth.
 * Where cells have several levels, a median would fall on any of them. Each
 * begins with the drive as it was, and goes to the same places, so that all
 * meet the same fast and slow pages. */
static int page_write(const struct drive *drive, uint64_t shift_bytes,
                      uint64_t length_bytes, double *ns, struct fault *why)
{
    uint64_t unit = drive->clustered_page_bytes;
    uint64_t units = oracle_block_bytes(drive) / unit;
    uint64_t times[BENCH_REPEATS];
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    uint64_t block = bench_block(&bench);
    for (size_t i = 0; i < BENCH_REPEATS; i++)
        times[i] = bench_write_flushed(
            &bench,
            block + unit * random_below(&bench.random, units) + shift_bytes,
            length_bytes);
    bench_sort(times, BENCH_REPEATS);
    const size_t eighth = BENCH_REPEATS / 8;
    *ns = (double)times[eighth];
    bench_close(&bench);
    return bench.error;
}

/* Does a shift by a part of the page show, for each part that could be taken
 * for the page? One that costs nothing makes that part as good an answer. */
int oracle_page_seen(const struct drive *drive, bool *seen, struct fault *why)
{
    uint64_t unit = drive->clustered_page_bytes, sectors = unit / 512;
    double aligned = 0, shifted = 0;
    int error = page_write(drive, 0, unit, &aligned, why);

    *seen = unit <= page_most_bytes;
    for (uint64_t q = 2; !error && sectors > 1; q++) {
        if (sectors % q)
            continue;
        while (sectors % q == 0)
            sectors /= q;
        error = page_write(drive, unit / q, unit, &shifted, why);
        *seen = *seen && shifted - aligned >= ORACLE_EFFECT_LEAST * shifted;
    }
    return error;
}

/*
 * Would it show that the rest of a page is read first? A drive cannot be had
 * without that to compare with; but less to write costs more only if something
 * is read. Asked of the drive with the reading, whether it has it or not: if
 * it would not show, nobody can say that it is not there.
 */
int oracle_rest_seen(const struct drive *drive, bool *seen, struct fault *why)
{
    const uint64_t unit = drive->clustered_page_bytes;
    const uint64_t lengths[] = {unit, unit / 2 / 512 * 512, unit - 512};
    struct drive reading = *drive;
    double times[3] = {0};
    int error = 0;

    reading.sector_update = 0;
    for (int i = 0; !error && i < 3; i++)
        error = page_write(&reading, 0, lengths[i], &times[i], why);
    /* Block mapping rewrites the block, however much of a page is new. */
    *seen =
        unit <= page_most_bytes && drive->mapping != MAPPING_BLOCK &&
        fmax(times[1], times[2]) - times[0] >= ORACLE_EFFECT_LEAST * times[0];
    return error;
}

/* How many levels the times of the pages of a block have; 0: they do not say.
 * Pages that share cells take turns, so each level has as many, or so. Where it
 * has not, some pages take the time of two levels, or two levels are as long:
 * which of them cannot be told, nor how many there are. */
static size_t levels_of(uint64_t times[], size_t count, double gap_least)
{
    size_t sizes[DRIVE_LEVELS_MAX + 1], levels = 0, first = 0, sum = 0;

    bench_sort(times, count);
    for (size_t i = 1; i <= count; i++) {
        if (i < count &&
            (double)times[i] <= (1 + gap_least) * (double)times[i - 1])
            continue;
        size_t size = i - first;
        first = i;
        /* A merge, an erase, an empty register. */
        if (size == 1 || (double)size < level_least * (double)count)
            continue;
        if (levels == DRIVE_LEVELS_MAX)
            return 0;
        sizes[levels++] = size;
        sum += size;
    }
    double fair = (double)sum / (double)levels;
    for (size_t i = 0; i < levels; i++)
        if (fabs((double)sizes[i] - fair) >= fmax(unfair_least * fair, 1))
            return 0;
    return levels;
}

/* Of a block's pages, after another block, whose end may be in it. */
static int levels_shown(const struct drive *drive, size_t *levels,
                        struct fault *why)
{
    uint64_t unit = drive->clustered_page_bytes;
    uint64_t units = oracle_block_bytes(drive) / unit;
    uint64_t *times = calloc(units, sizeof(*times));
    struct bench bench;

    if (!times)
        return -ENOMEM;
    int error = bench_open(&bench, drive, why);
    if (!error) {
        uint64_t begin = bench_block(&bench);
        for (uint64_t i = 0; i < 2 * units; i++)
            times[i % units] =
                bench_write_flushed(&bench, begin + i * unit, unit);
        *levels = levels_of(times, units, level_gap_least);
        bench_close(&bench);
        error = bench.error;
    }
    free(times);
    return error;
}

/* One level is one bit a cell only where two would show: asked of the same
 * drive, but with slow pages. Where a unit has pages of all levels, all units
 * take one time, and nobody can say of how many levels it is made. */
int oracle_levels_seen(const struct drive *drive, bool *seen, struct fault *why)
{
    struct drive other = *drive;
    size_t levels = 0;

    if (drive->program_levels_count == 1) {
        other.program_levels_count = 2;
        other.program_ns[1] = 3 * other.program_ns[0];
    }
    int error = levels_shown(&other, &levels, why);
    *seen = levels == other.program_levels_count;
    return error;
}

/* Reads at random, each behind one nearby that brings its mapping. As many
 * kinds as levels tell how many there are. */
int oracle_kinds_seen(const struct drive *drive, bool *seen, struct fault *why)
{
    enum { READS = 1024 };
    const uint64_t unit_bytes = 4096;
    const uint64_t units = drive->capacity_bytes / 2 / unit_bytes;
    uint64_t times[READS];
    struct bench bench;
    const int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    for (uint64_t i = 0; i < READS; i++) {
        const uint64_t place = random_mix(i) % units * unit_bytes;
        bench_act(&bench, FLASH_READ, place ^ 256 * KIB, unit_bytes);
        times[i] = bench_act(&bench, FLASH_READ, place, unit_bytes);
    }
    bench_close(&bench);
    *seen = drive->program_levels_count > 1 &&
            levels_of(times, READS, KINDS_APART_LEAST) ==
                drive->program_levels_count;
    return bench.error;
}

/* ---- blocks and logs --------------------------------------------------- */

/* What a cache of flash in front holds: behind it a drive shows only in what is
 * written after as much. */
static uint64_t cached_bytes(const struct drive *drive)
{
    if (drive->slc_blocks_count == 0)
        return 0;
    return drive->slc_blocks_count * mapping_slc_units(drive) *
           drive->clustered_page_bytes;
}

/* Time a byte of writes at the start of random blocks, once the drive has
 * settled. */
static double block_write(struct bench *bench, uint64_t length_bytes)
{
    uint64_t blocks =
        bench->drive->capacity_bytes / oracle_block_bytes(bench->drive);
    uint64_t rounds = 2 * blocks, counted = rounds - blocks, begin_ns = 0;

    for (uint64_t i = 0; i < rounds; i++) {
        if (i == blocks)
            begin_ns = bench->now_ns;
        bench_act(bench, FLASH_WRITE, bench_block(bench), length_bytes);
    }
    return (double)(bench->now_ns - begin_ns) /
           ((double)length_bytes * (double)counted);
}

/* Writes in order, round and round: the pause that comes once a block, and what
 * the other writes of a block take. 0: writes do not fill a block. */
static double round_pause(struct bench *bench, double *others_ns)
{
    enum { BLOCKS = 16, WRITE_BYTES = ROUNDS_WRITE_BYTES };
    const uint64_t block = oracle_block_bytes(bench->drive);
    const uint64_t length = block / WRITE_BYTES;
    const uint64_t capacity = bench->drive->capacity_bytes;
    const uint64_t round = capacity / 8 / WRITE_BYTES;
    const uint64_t warm = 2 * capacity / WRITE_BYTES;
    double all_ns = 0, most_ns = 0;

    if (block % WRITE_BYTES || round == 0)
        return 0;
    double *phases_ns = calloc(length, sizeof(*phases_ns));
    for (uint64_t i = 0; phases_ns && i < warm + BLOCKS * length; i++) {
        const uint64_t ns =
            bench_act(bench, FLASH_WRITE, i % round * WRITE_BYTES, WRITE_BYTES);
        if (i >= warm)
            phases_ns[i % length] += (double)ns / BLOCKS;
    }
    for (uint64_t i = 0; phases_ns && i < length; i++) {
        all_ns += phases_ns[i];
        most_ns = fmax(most_ns, phases_ns[i]);
    }
    free(phases_ns);
    *others_ns = all_ns - most_ns;
    return most_ns - *others_ns / (double)length;
}

/* An erase shows as a pause; where more is copied in it, with what cells
 * hold. */
static bool pause_shows(struct bench *bench, bool kinds)
{
    double others_ns = 0;
    const double pause_ns = round_pause(bench, &others_ns);

    return pause_ns >= ROUNDS_ERASE_LEAST_NS &&
           (kinds ||
            pause_ns < ROUNDS_ERASE_MOST_SHARE * (pause_ns + others_ns));
}

int oracle_block_seen(const struct drive *drive, bool *seen, struct fault *why)
{
    enum { BLOCKS = 32 };
    uint64_t block = oracle_block_bytes(drive);
    struct drive small = *drive;
    struct bench bench;
    bool kinds = false;
    int error = oracle_kinds_seen(drive, &kinds, why);

    if (error)
        return error;
    /* Cleaning is the same on a small drive, but settles sooner: halves of its
     * blocks, each once, fill what is in front. */
    small.capacity_bytes = (BLOCKS + 2 * (cached_bytes(drive) / block)) * block;
    /* All of this small one is there. */
    small.real_capacity_bytes = small.fake_cache_bytes = 0;
    error = bench_open(&bench, &small, why);
    if (error)
        return error;
    *seen = pause_shows(&bench, kinds);
    double whole = block_write(&bench, block);
    double half = block_write(&bench, block / 2 / 4096 * 4096);
    *seen = *seen || half - whole >= ORACLE_EFFECT_LEAST * half;
    bench_close(&bench);
    return bench.error;
}

/* Mean time of writes that go on, in turn, in `count` blocks of which none
 * share a log; and on from the beginning of each as long as they fill what is
 * in front, and empty it. */
static double stream_write(struct bench *bench, uint64_t count)
{
    uint64_t unit = bench->drive->clustered_page_bytes, total_ns = 0;
    uint64_t block = oracle_block_bytes(bench->drive);
    uint64_t apart = oracle_shared_bytes(bench->drive);
    uint64_t units = block / unit, rounds = units < 16 ? units : 16;
    uint64_t cached = cached_bytes(bench->drive) / unit / count;
    uint64_t first = rounds / 2 + cached, end = rounds + 2 * cached;

    for (uint64_t round = 0; round < end; round++)
        for (uint64_t i = 0; i < count; i++) {
            uint64_t ns = bench_write_flushed(
                bench, i * apart + round % units * unit, unit);
            if (round >= first)
                total_ns += ns;
        }
    return (double)total_ns / (double)((end - first) * count);
}

/*
 * A cache in front that holds as many blocks as are written keeps them all: no
 * update of these ever meets a log, and nobody can say how many there are.
 * Where there are none: would some show?
 */
int oracle_logs_seen(const struct drive *given, bool *seen, struct fault *why)
{
    const uint64_t some = 4;
    struct drive logs = *given;
    const struct drive *drive = &logs;
    double times[2] = {0, 0};
    struct bench bench;
    struct fault refused;

    if (given->mapping != MAPPING_LOG_BLOCK) {
        logs.mapping = MAPPING_LOG_BLOCK;
        logs.log_blocks_count = some;
    }
    *seen = false;
    if (drive_check(drive, &refused))
        return 0; /* such a drive cannot be made */
    /* Where a block may have several, how many others have one depends on what
     * was written; and nothing is merged where there are enough. */
    if ((drive->log_set_logs_count != 1 && drive->log_blocks_count > 1) ||
        oracle_logs_usable(drive) >=
            drive->capacity_bytes / oracle_shared_bytes(drive))
        return 0;
    for (uint64_t more = 0; more < 2; more++) {
        int error = bench_open(&bench, drive, why);
        if (error)
            return error;
        times[more] = stream_write(&bench, oracle_logs_usable(drive) + more);
        bench_close(&bench);
        if (bench.error)
            return bench.error;
    }
    *seen = times[1] - times[0] >= ORACLE_EFFECT_LEAST * times[1];
    return 0;
}
