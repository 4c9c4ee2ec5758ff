/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a flush is, and whether that can be told. */
#include "lib/oracle/seen.h"

#include "lib/flash/drive/geometry.h"

static const uint64_t page_bytes = 4 * KIB, long_bytes = 256 * KIB;
/* Written in order, beyond what small buffers hold. */
static const uint64_t later_bytes = 16 * MIB;
/* Between requests, so that nothing is left to do. */
static const uint64_t rest_ns = 20000000;
/* Longer by so much on average, one after the other without a rest. */
static const double later_longer = 1.1;
/* A time of which the outer tenths are farther apart is no one number: no value
 * is within a tenth of both. */
static const double spread_most = 0.2;

/* Times of one write or read with its flush, each after a rest. */
struct flush_times {
    double write_ns, flush_ns; /* medians, of a write and the flush behind it */
    double nothing_ns;         /* a flush with nothing to do */
    double read_ns, fua_ns;
    bool flush_is_one, fua_is_one; /* these have one time each */
};

/* Sorted times. */
static bool is_one(const uint64_t ns[BENCH_REPEATS])
{
    const size_t tenth = BENCH_REPEATS / 10, middle = BENCH_REPEATS / 2;

    return (double)(ns[BENCH_REPEATS - 1 - tenth] - ns[tenth]) <
           spread_most * (double)ns[middle];
}

static void measure(struct bench *bench, uint64_t bytes,
                    struct flush_times *times)
{
    uint64_t writes[BENCH_REPEATS], flushes[BENCH_REPEATS];
    uint64_t nothings[BENCH_REPEATS], reads[BENCH_REPEATS];
    uint64_t fuas[BENCH_REPEATS];
    uint64_t at = bench_block(bench);

    if (at > bench->drive->capacity_bytes / 2)
        at -= bench->drive->capacity_bytes / 2 / MIB * MIB;
    for (int i = 0; i < BENCH_REPEATS; i++, at += 2 * bytes) {
        bench->now_ns += rest_ns;
        writes[i] = bench_act(bench, FLASH_WRITE, at, bytes);
        flushes[i] = bench_flush(bench);
        bench->now_ns += rest_ns;
        nothings[i] = bench_flush(bench);
        reads[i] = bench_act(
            bench, FLASH_READ,
            bench->drive->capacity_bytes / 2 / MIB * MIB +
                random_below(&bench->random,
                             bench->drive->capacity_bytes / 4 / bytes) *
                    bytes,
            bytes);
    }
    /* By themselves: beside other writes they might all fall on pages of one
     * speed. */
    bench->fua = true;
    for (int i = 0; i < BENCH_REPEATS; i++, at += 2 * bytes) {
        bench->now_ns += rest_ns;
        fuas[i] = bench_act(bench, FLASH_WRITE, at, bytes);
    }
    bench->fua = false;
    *times = (struct flush_times){
        .write_ns = bench_median(writes, BENCH_REPEATS),
        .nothing_ns = bench_median(nothings, BENCH_REPEATS),
        .read_ns = bench_median(reads, BENCH_REPEATS),
        .fua_ns = bench_median(fuas, BENCH_REPEATS),
        .flush_ns = bench_median(flushes, BENCH_REPEATS)};
    times->flush_is_one = is_one(flushes);
    times->fua_is_one = is_one(fuas);
}

/* Is a write with its flush done before as much could be read, and do writes
 * one after the other take longer? */
static bool is_too_quick(struct bench *bench, uint64_t bytes,
                         const struct flush_times *times)
{
    const double once_ns = times->write_ns + times->flush_ns;
    uint64_t sum_ns = 0, count = later_bytes / bytes;

    if (once_ns >= times->read_ns + times->nothing_ns)
        return false;
    for (uint64_t i = 0; i < count; i++)
        sum_ns += bench_write_flushed(bench, i * bytes, bytes);
    return (double)sum_ns / (double)count > later_longer * once_ns;
}

static bool waits(const struct flush_times *times)
{
    return times->flush_ns - times->nothing_ns >
           ORACLE_EFFECT_LEAST * (times->read_ns + times->nothing_ns);
}

int oracle_flush_seen(const struct drive *drive, struct oracle_flush *seen,
                      struct fault *why)
{
    const bool keeps =
        drive->write_buffer_bytes >= 512 || drive->first_level_bytes > 0;
    struct flush_times one, more;
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    measure(&bench, page_bytes, &one);
    measure(&bench, long_bytes, &more);
    const bool lies =
        keeps && (drive->flush_lies || drive->write_buffer_protected);
    /* Pages wait for others of their program; the map waits for a flush. */
    const bool waits_for_more =
        keeps || drive_holds_pages(drive) || drive->flush_work_ns > 0;
    if (lies) {
        seen->honesty = "free";
        seen->honesty_seen = is_too_quick(&bench, page_bytes, &one) ||
                             is_too_quick(&bench, long_bytes, &more);
    } else if (waits_for_more) {
        seen->honesty = "real";
        seen->honesty_seen =
            (waits(&one) || waits(&more)) && !drive->flush_lies;
    } else {
        seen->honesty = "write-through";
        seen->honesty_seen =
            one.write_ns > (1 + 2 * ORACLE_EFFECT_LEAST) * one.read_ns;
    }
    seen->flush_ns = one.flush_ns;
    seen->fua_ns = one.fua_ns;
    seen->flush_seen = one.flush_is_one;
    seen->fua_seen = one.fua_is_one;
    bench_close(&bench);
    return bench.error;
}
