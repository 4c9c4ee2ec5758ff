/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Are drawn drives like those that are sold? Medians of what the model
 * delivers, within the tenth and the ninetieth percentile of the reference. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/flash/drive/geometry.h"
#include "lib/flash/ftl/mapping.h"
#include "lib/oracle/bench.h"
#include "lib/flash/random/draw.h"
#include "lib/flash/random/draw_sold.h"
#include "lib/oracle/oracle.h"
#include "tests/suite_run.h"

enum { DRIVES = 60, REQUESTS = 4096, FLUSHES = 9 };

static const char *const kinds[] = {"nvme", "sata", "card", "stick"};

enum measure {
    SEQUENTIAL_READ,  /* bytes a second, many at a time */
    SEQUENTIAL_WRITE, /* the same, in the cache where there is one */
    BEHIND_CACHE,     /* the same, as a share of that; with a cache only */
    READ_ALONE,       /* ns of a random read of 4 KiB */
    READS_DEEP,       /* a second, as many at a time as the drive takes */
    FLUSH,            /* ns, behind a write of 4 KiB */
    WRITE_ALONE,      /* ns of a random write of 4 KiB */
    WRITES_DEEP,      /* a second */
    READS_CACHED,     /* a second, many at a time, of what the cache holds */
    SUPERBLOCKS,      /* of the drive */
    CACHE_SHARE,      /* of its capacity, when it is empty; with one only */
    MEASURES
};

static const char *const measure_names[] = {
    "sequential read", "sequential write", "behind the cache",
    "read alone",      "reads deep",       "flush",
    "write alone",     "writes deep",      "reads in the cache",
    "superblocks",     "cache share"};

/* Sections 1, 3, 4, 5 and 6 of the reference. */
static const struct sold {
    const char *kind;
    enum measure measure;
    double low, high;
} sold[] = {
    {"nvme", SEQUENTIAL_READ, 1.14e9, 4.58e9},
    {"nvme", SEQUENTIAL_WRITE, 0.9e9, 6.9e9},
    {"nvme", BEHIND_CACHE, 0.03, 0.7},
    {"nvme", READ_ALONE, 45e3, 90e3},
    {"nvme", READS_DEEP, 81e3, 332e3},
    {"nvme", FLUSH, 0.3e6, 5e6},
    {"nvme", SUPERBLOCKS, 400, 2500},
    {"nvme", CACHE_SHARE, 0.025, 0.33},
    {"sata", SEQUENTIAL_READ, 0.48e9, 0.57e9},
    {"sata", SEQUENTIAL_WRITE, 0.3e9, 0.54e9},
    {"sata", BEHIND_CACHE, 0.1, 1.0},
    {"sata", READ_ALONE, 41e3, 140e3},
    {"sata", READS_DEEP, 60e3, 98e3},
    {"sata", FLUSH, 0.5e6, 5e6},
    {"sata", SUPERBLOCKS, 400, 2500},
    {"sata", CACHE_SHARE, 0.008, 0.15},
    {"card", SEQUENTIAL_READ, 22e6, 104e6},
    {"card", SEQUENTIAL_WRITE, 8e6, 62e6},
    {"card", READ_ALONE, 200e3, 600e3},
    {"card", FLUSH, 1e6, 30e6},
    {"card", CACHE_SHARE, 0.005, 0.05},
    {"stick", SEQUENTIAL_READ, 20e6, 420e6},
    {"stick", SEQUENTIAL_WRITE, 4e6, 100e6},
    {"stick", READ_ALONE, 120e3, 1200e3},
    {"stick", FLUSH, 1e6, 30e6},
    {"stick", CACHE_SHARE, 0.005, 0.1},
};

static struct bench_request requests[REQUESTS];

/* Until nothing is left to do for the drive. */
static void drain(struct bench *bench)
{
    uint64_t next_ns;

    while ((next_ns = flash_next_event_ns(bench->flash)) != UINT64_MAX)
        bench_idle(bench, larger_of(next_ns, bench->now_ns) - bench->now_ns);
}

/* Bytes a second of requests one behind the other, from `begin_bytes` on. */
static double rate_of(struct bench *bench, enum flash_operation operation,
                      uint64_t begin_bytes, uint64_t length_bytes)
{
    const struct drive *drive = bench->drive;
    const uint64_t size = drive->request_limit_bytes;
    const uint64_t end = drive->capacity_bytes / size * size;
    const uint64_t begin_ns = bench->now_ns;
    uint64_t sent = 0;

    while (sent < length_bytes) {
        size_t count = 0;
        for (; count < REQUESTS && sent < length_bytes; count++, sent += size)
            requests[count] = (struct bench_request){
                .operation = operation,
                .depth = (uint32_t)smaller_of(drive->queue_depth_count, 32),
                .offset_bytes = (begin_bytes + sent) / size * size % end,
                .length_bytes = size};
        bench_together(bench, requests, count);
    }
    drain(bench);
    return (double)sent * 1e9 / (double)(bench->now_ns - begin_ns);
}

static double request_ns(struct bench *bench, enum flash_operation operation,
                         uint64_t depth, uint64_t span_bytes)
{
    const uint64_t begin_ns = bench->now_ns;

    for (size_t i = 0; i < REQUESTS; i++)
        requests[i] = (struct bench_request){
            .operation = operation,
            .depth = (uint32_t)depth,
            .offset_bytes =
                random_below(&bench->random, span_bytes / 4096) * 4096,
            .length_bytes = 4096};
    bench_together(bench, requests, REQUESTS);
    drain(bench);
    return (double)(bench->now_ns - begin_ns) / REQUESTS;
}

static uint64_t cache_bytes(const struct drive *drive, uint64_t blocks)
{
    return blocks * mapping_slc_units(drive) * drive->clustered_page_bytes;
}

/* NAN: the drive has no such thing. */
static void measure(const struct drive *drive, double values[MEASURES])
{
    struct fault why = {.kind = FAULT_NONE};
    struct bench bench;
    uint64_t flushes[FLUSHES];
    const uint64_t all = drive->slc_blocks_count;
    const uint64_t left =
        drive->slc_least_blocks_count ? drive->slc_least_blocks_count : all;
    const uint64_t burst = larger_of(cache_bytes(drive, left) / 2, 16 * MIB);

    ck_assert_msg(bench_open(&bench, drive, &why) == 0, "%s", why.text);
    const uint64_t deep = drive->queue_depth_count;
    /* Reviews read a file of some 16 GB. */
    const uint64_t span = drive->capacity_bytes / 32;
    request_ns(&bench, FLASH_READ, deep, span); /* the map is fetched */
    values[READ_ALONE] = request_ns(&bench, FLASH_READ, 1, span);
    values[READS_DEEP] = 1e9 / request_ns(&bench, FLASH_READ, deep, span);
    values[SEQUENTIAL_READ] = rate_of(&bench, FLASH_READ, 0, 64 * MIB);
    for (int i = 0; i < FLUSHES; i++) {
        bench_idle(&bench, 100000000);
        bench_act(&bench, FLASH_WRITE, 4096 * (uint64_t)(i * 1001), 4096);
        flushes[i] = bench_flush(&bench);
    }
    values[FLUSH] = bench_median(flushes, FLUSHES);
    values[WRITE_ALONE] = request_ns(&bench, FLASH_WRITE, 1, span);
    values[WRITES_DEEP] = 1e9 / request_ns(&bench, FLASH_WRITE, deep, span);
    bench_idle(&bench, drive->idle_after_ns + 60000000000);
    values[SEQUENTIAL_WRITE] = rate_of(&bench, FLASH_WRITE, 0, burst);
    values[READS_CACHED] =
        1e9 / request_ns(&bench, FLASH_READ, deep, smaller_of(burst, span));
    values[BEHIND_CACHE] = NAN;
    if (all > 0) {
        rate_of(&bench, FLASH_WRITE, burst, burst + burst / 4);
        values[BEHIND_CACHE] = rate_of(&bench, FLASH_WRITE, 3 * burst, burst) /
                               values[SEQUENTIAL_WRITE];
    }
    values[SUPERBLOCKS] = mapping_logical_blocks(drive);
    values[CACHE_SHARE] = all > 0 ? (double)cache_bytes(drive, all) /
                                        (double)drive->capacity_bytes
                                  : NAN;
    ck_assert_int_eq(bench.error, 0);
    bench_close(&bench);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void draw(const char *kind, uint64_t seed, struct drive *drive)
{
    struct fault why = {.kind = FAULT_NONE};

    ck_assert_int_eq(drive_load("ram-disk,mapping=page", drive, &why), 0);
    drive->truths_count = 0;
    drive->seed = seed;
    ck_assert_msg(draw_sold(seed, kind, drive, &why) == 0 &&
                      drive_check(drive, &why) == 0,
                  "%s %lu: %s", kind, (unsigned long)seed, why.text);
    drive->contents = 0;
}

START_TEST(medians_are_those_of_drives_that_are_sold)
{
    static double values[MEASURES][DRIVES];
    static struct drive drive;
    const char *kind = kinds[_i];
    const uint64_t drives = SUITE_SANITIZED ? 4 : DRIVES;
    size_t counts[MEASURES] = {0};

    for (uint64_t seed = 1; seed <= drives; seed++) {
        double of_drive[MEASURES];
        draw(kind, seed, &drive);
        drive.burst_share = drive.bridge_share = 0;
        drive.throttle_heat_ns[0] = drive.throttle_heat_ns[1] = 0;
        drive.real_capacity_bytes = drive.fake_cache_bytes = 0;
        memset(drive.sleep_after_ns, 0, sizeof(drive.sleep_after_ns));
        measure(&drive, of_drive);
        for (int i = 0; i < MEASURES; i++)
            if (!isnan(of_drive[i]))
                values[i][counts[i]++] = of_drive[i];
    }
    if (drives < DRIVES)
        return;
    for (int i = 0; i < MEASURES; i++) {
        const size_t count = counts[i];
        qsort(values[i], count, sizeof(double), compare);
        printf("%s, %s: %.4g / %.4g / %.4g of %zu\n", kind, measure_names[i],
               values[i][count / 10], values[i][count / 2],
               values[i][count - 1 - count / 10], count);
    }
    for (size_t i = 0; i < sizeof(sold) / sizeof(sold[0]); i++) {
        const enum measure at = sold[i].measure;
        const double median = values[at][counts[at] / 2];
        if (strcmp(sold[i].kind, kind) != 0)
            continue;
        ck_assert_msg(median >= sold[i].low && median <= sold[i].high,
                      "%s, %s: the median is %g, sold ones have %g to %g", kind,
                      measure_names[at], median, sold[i].low, sold[i].high);
    }
    /* Nine of ten that are sold have an SLC cache, but those with capacitors
     * and those of MLC. */
    if (strcmp(kind, "nvme") == 0)
        ck_assert_uint_ge(counts[CACHE_SHARE], DRIVES * 6 / 10);
}
END_TEST

/* What is stated or was measured of the drives that are shipped by name:
 * section 10 of the reference. */
static const struct named {
    const char *drive;
    enum measure measure;
    double value;
} named[] = {
    {"nvme-970-evo-plus", SEQUENTIAL_READ, 3.5e9},
    {"nvme-970-evo-plus", SEQUENTIAL_WRITE, 3.3e9},
    {"nvme-970-evo-plus", BEHIND_CACHE, 1.7e9},
    {"nvme-970-evo-plus", READ_ALONE, 1e9 / 19e3},
    {"nvme-970-evo-plus", READS_CACHED, 600e3},
    {"nvme-970-evo-plus", WRITE_ALONE, 1e9 / 60e3},
    {"nvme-970-evo-plus", WRITES_DEEP, 550e3},
    {"nvme-980-pro", SEQUENTIAL_READ, 7.0e9},
    {"nvme-980-pro", SEQUENTIAL_WRITE, 5.0e9},
    {"nvme-980-pro", BEHIND_CACHE, 1.5e9},
    {"nvme-980-pro", READ_ALONE, 59.6e3},
    {"nvme-980-pro", READS_DEEP, 373e3},
    {"sata-860-evo", SEQUENTIAL_READ, 0.55e9},
    {"sata-860-evo", SEQUENTIAL_WRITE, 0.52e9},
    {"sata-860-evo", BEHIND_CACHE, 0.377e9},
    {"sata-860-evo", READS_DEEP, 98.5e3},
    {"sata-860-evo", WRITES_DEEP, 89e3},
    {"sata-mx500", SEQUENTIAL_READ, 0.56e9},
    {"sata-mx500", SEQUENTIAL_WRITE, 0.51e9},
    {"sata-mx500", READS_DEEP, 95e3},
    {"sata-mx500", WRITES_DEEP, 90e3},
    {"nvme-660p", SEQUENTIAL_READ, 1.8e9},
    {"nvme-660p", SEQUENTIAL_WRITE, 1.8e9},
    {"nvme-660p", BEHIND_CACHE, 0.1e9},
    {"nvme-660p", READS_CACHED, 220e3},
    {"nvme-sn550", SEQUENTIAL_READ, 2.4e9},
    {"nvme-sn550", SEQUENTIAL_WRITE, 1.95e9},
    {"nvme-sn550", BEHIND_CACHE, 0.61e9},
    {"nvme-sn550", READS_CACHED, 410e3},
    {"nvme-p4510", SEQUENTIAL_READ, 3.2e9},
    {"nvme-p4510", SEQUENTIAL_WRITE, 2.0e9},
    {"nvme-p4510", READ_ALONE, 1e9 / 13e3},
    {"nvme-p4510", READS_DEEP, 637e3},
    {"nvme-p4510", WRITE_ALONE, 9e3},
    {"sata-pm883", SEQUENTIAL_READ, 0.55e9},
    {"sata-pm883", SEQUENTIAL_WRITE, 0.52e9},
    {"sata-pm883", READ_ALONE, 1e9 / 14.6e3},
    {"sata-pm883", READS_DEEP, 75e3},
    {"sata-pm883", WRITE_ALONE, 38e3},
    {"card-extreme-a2", SEQUENTIAL_WRITE, 36e6},
    {"card-extreme-a2", READ_ALONE, 1e9 / 1.85e3},
    {"card-extreme-a2", READS_DEEP, 4.6e3},
    {"card-extreme-a2", WRITE_ALONE, 1e9 / 0.9e3},
    {"card-extreme-a2", WRITES_DEEP, 3.7e3},
    {"card-evo-plus", SEQUENTIAL_WRITE, 21.5e6},
    {"card-evo-plus", READ_ALONE, 1e9 / 2640.0},
    {"card-evo-plus", WRITE_ALONE, 1e9 / 990.0},
    {"stick-dt-max", SEQUENTIAL_READ, 1.0e9},
    {"stick-dt-max", SEQUENTIAL_WRITE, 0.95e9},
    {"stick-dt-max", BEHIND_CACHE, 0.08e9},
    {"card-pi-a2", READS_DEEP, 5000},
    {"card-pi-a2", WRITES_DEEP, 2000},
};

START_TEST(named_drives_do_what_they_are_sold_with)
{
    static struct drive drive;
    struct fault why = {.kind = FAULT_NONE};
    double values[MEASURES] = {0};
    const char *last = "";

    if (SUITE_SANITIZED) /* the same models work there in the next test */
        return;
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        if (strcmp(named[i].drive, last) != 0) {
            ck_assert_int_eq(drive_load(named[i].drive, &drive, &why), 0);
            drive.contents = 0;
            memset(drive.sleep_after_ns, 0, sizeof(drive.sleep_after_ns));
            measure(&drive, values);
            values[BEHIND_CACHE] *= values[SEQUENTIAL_WRITE];
        }
        last = named[i].drive;
        const double is = values[named[i].measure];
        const double stated = named[i].value;
        printf("| `%s` | %s | %.4g | %.4g | %+.0f %% |\n", last,
               measure_names[named[i].measure], stated, is,
               100 * (is / stated - 1));
        ck_assert_msg(fabs(is / stated - 1) <= 0.15,
                      "%s, %s: %g, and %g are sold", last,
                      measure_names[named[i].measure], is, stated);
    }
}
END_TEST

/* The truth in the files is what the model says of them. */
START_TEST(named_drives_state_their_truth)
{
    static struct drive drive, stated;
    struct fault why = {.kind = FAULT_NONE};
    const char *last = "";

    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        if (strcmp(named[i].drive, last) == 0)
            continue;
        last = named[i].drive;
        ck_assert_int_eq(drive_load(last, &stated, &why), 0);
        drive = stated;
        if (SUITE_SANITIZED && drive.queue_depth_count > 1)
            continue; /* the large ones take minutes there */
        ck_assert_msg(oracle_state(&drive, &why) == 0, "%s: %s", last,
                      why.text);
        for (size_t at = 0; at < drive.truths_count; at++) {
            const struct drive_truth *truth = &drive.truths[at];
            const char *value = drive_truth(&stated, truth->parameter);
            ck_assert_msg(value && strcmp(value, truth->value) == 0,
                          "%s, %s: the file has %s, the model %s", last,
                          truth->parameter, value ? value : "nothing",
                          truth->value);
        }
    }
}
END_TEST

/* Each row of the table can be made a drive. */
START_TEST(every_drawn_drive_can_be)
{
    static struct drive drive;

    const uint64_t end = 1000 + (uint64_t)suite_seeds(500);

    for (uint64_t seed = 1000; seed < end; seed++) {
        struct fault why = {.kind = FAULT_NONE};
        struct flash *flash = NULL;
        draw(kinds[_i], seed, &drive);
        ck_assert_msg(flash_create(&drive, &flash, &why) == 0, "%s %lu: %s",
                      kinds[_i], (unsigned long)seed, why.text);
        flash_destroy(flash);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("random_sold");
    TCase *cases = tcase_create("random_sold");

    tcase_set_timeout(cases, 600);
    tcase_add_loop_test(cases, medians_are_those_of_drives_that_are_sold, 0, 4);
    tcase_add_test(cases, named_drives_do_what_they_are_sold_with);
    tcase_add_test(cases, named_drives_state_their_truth);
    tcase_add_loop_test(cases, every_drawn_drive_can_be, 0, 4);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
