/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * papers_sun_zhang DRIVE: the benchmarks of Sun & Zhang, "Flash Drives:
 * Performance Study Based On Benchmarks", by the letter, on an emulated drive.
 * Rows go to stdout: figure, series, x, y; times in ms. plots/sun_zhang_NN.gp
 * draw them. It asks the device as a probe does and knows nothing of its
 * inside.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/device/device.h"

enum {
    TRIALS = 1000,     /* "generally 1000 or more" */
    LARGE_BLOCKS = 30, /* the limit of a physical request */
    LARGE_TRIALS = 20, /* "several times" */
    SEED = 1
};

static const uint64_t block_bytes = 4 * KIB, half_bytes = 2 * KIB;
static const uint64_t segment_bytes = 64 * 4 * KIB; /* of figure 5 */
static const uint64_t group_bytes = 240 * MIB;      /* of figure 7 */
/* Filled before each figure of 4.2: what is then written over. */
static const uint64_t filled_bytes = 16 * MIB;

/* What a block is filled with: figures 9 to 15. */
enum content { ZEROS, ONES, MIXED, HALF, BOTH_HALVES };

struct bench {
    struct device *device;
    struct random random;
    uint64_t capacity_bytes;
    unsigned char *data;
};

static void row(int figure, const char *series, double x, double ms)
{
    printf("%d,%s,%.9g,%.6f\n", figure, series, x, ms);
}

static double request(struct bench *bench, enum io_kind kind, uint64_t offset,
                      uint64_t length)
{
    struct io io = {.kind = kind,
                    .offset_bytes = offset,
                    .length_bytes = (uint32_t)length,
                    .data = kind == IO_FLUSH ? NULL : bench->data};

    if (device_do(bench->device, &io) != 0)
        fprintf(stderr, "a request failed\n");
    return (double)(io.complete_ns - io.submit_ns) / 1e6;
}

static uint64_t any_block(struct bench *bench, uint64_t span_bytes,
                          uint64_t unit_bytes)
{
    return random_below(&bench->random, span_bytes / unit_bytes) * unit_bytes;
}

/* Bits at random, half of them set, but never a byte of none. */
static void mix(struct bench *bench, unsigned char *data, uint64_t length)
{
    for (uint64_t i = 0; i < length; i++)
        data[i] = (unsigned char)(0x0f << random_below(&bench->random, 5));
}

static void fill_data(struct bench *bench, enum content content,
                      uint64_t length)
{
    unsigned char *data = bench->data;

    memset(data, content == ONES ? 0xff : 0, length);
    if (content == MIXED)
        mix(bench, data, length);
    for (uint64_t at = 0; at < length; at += block_bytes) {
        uint64_t half = random_below(&bench->random, 2) * half_bytes;
        if (content == HALF)
            mix(bench, data + at + half, half_bytes);
        if (content == BOTH_HALVES)
            mix(bench, data + at, block_bytes);
    }
}

static void fill_drive(struct bench *bench, enum content content,
                       uint64_t length)
{
    fill_data(bench, content, LARGE_BLOCKS * block_bytes);
    for (uint64_t at = 0; at < length; at += segment_bytes)
        for (uint64_t i = 0; i < segment_bytes; i += 16 * block_bytes)
            request(bench, IO_WRITE, at + i, 16 * block_bytes);
}

/* ---- section 3 --------------------------------------------------------- */

static void random_reads(struct bench *bench)
{
    uint64_t last = 0;

    for (int i = 0; i < TRIALS; i++) {
        uint64_t at = any_block(bench, bench->capacity_bytes, block_bytes);
        double ms = request(bench, IO_READ, at, block_bytes);
        row(2, "read", i, ms);
        if (i > 0) /* the same reads, by their distance */
            row(7, "read",
                (double)(at > last ? at - last : last - at) / (double)MIB, ms);
        last = at;
    }
    for (int i = 0; i < TRIALS; i++)
        row(8, "read", i,
            request(bench, IO_READ, any_block(bench, group_bytes, block_bytes),
                    block_bytes));
}

static void sequential(struct bench *bench, enum io_kind kind, int figure,
                       int cumulative)
{
    uint64_t from = any_block(bench, bench->capacity_bytes / 2, segment_bytes);
    double sum = 0;

    for (int i = 0; i < TRIALS; i++) {
        double ms =
            request(bench, kind, from + (uint64_t)i * block_bytes, block_bytes);
        sum += ms;
        if (figure)
            row(figure, "write", i, ms);
        row(cumulative, "sum", (i + 1) * 4, sum);
    }
}

static void random_writes(struct bench *bench)
{
    fill_data(bench, ONES, block_bytes);
    for (int i = 0; i < TRIALS; i++)
        row(4, "write", i,
            request(bench, IO_WRITE,
                    any_block(bench, bench->capacity_bytes, block_bytes),
                    block_bytes));
}

/* ---- section 4 --------------------------------------------------------- */

/* Figures 9 to 15: what is there, and what is written over it. */
static const struct {
    int figure;
    enum content there, written;
} overwrites[] = {{9, ZEROS, ZEROS},       {10, ZEROS, ONES},
                  {11, ONES, ZEROS},       {12, ONES, ONES},
                  {13, ZEROS, MIXED},      {14, ZEROS, HALF},
                  {15, ZEROS, BOTH_HALVES}};

static void contents(struct bench *bench)
{
    for (size_t i = 0; i < sizeof(overwrites) / sizeof(overwrites[0]); i++) {
        fill_drive(bench, overwrites[i].there, filled_bytes);
        for (int j = 0; j < TRIALS; j++) {
            fill_data(bench, overwrites[i].written, block_bytes);
            row(overwrites[i].figure, "write", j,
                request(bench, IO_WRITE, (uint64_t)j * block_bytes,
                        block_bytes));
        }
    }
}

/* Table 2: m writes a segment apart, and once more. */
static void log_list(struct bench *bench)
{
    fill_drive(bench, ZEROS, 8 * filled_bytes);
    fill_data(bench, ZEROS, block_bytes);
    for (int m = 3; m <= 4; m++) {
        char series[32];
        uint64_t from =
            filled_bytes + any_block(bench, 64 * MIB, segment_bytes);
        /* Logs of what came before make place for the first round. */
        for (int i = 0; i < 8; i++)
            request(bench, IO_WRITE, (uint64_t)i * segment_bytes, block_bytes);
        for (int round = 1; round <= 2; round++) {
            snprintf(series, sizeof(series), "m%d-round%d", m, round);
            for (int i = 0; i < m; i++)
                row(102, series, i + 1,
                    request(bench, IO_WRITE, from + (uint64_t)i * segment_bytes,
                            block_bytes));
        }
    }
}

static void large_reads(struct bench *bench)
{
    for (int blocks = 1; blocks <= LARGE_BLOCKS; blocks++) {
        double large = 0, small = 0;
        for (int i = 0; i < LARGE_TRIALS; i++) {
            large += request(
                bench, IO_READ,
                any_block(bench, bench->capacity_bytes - MIB, block_bytes),
                (uint64_t)blocks * block_bytes);
            for (int j = 0; j < blocks; j++)
                small += request(
                    bench, IO_READ,
                    any_block(bench, bench->capacity_bytes, block_bytes),
                    block_bytes);
        }
        row(16, "one request", blocks, large / LARGE_TRIALS);
        row(16, "blocks one by one", blocks, small / LARGE_TRIALS);
        row(17, "block", blocks, large / LARGE_TRIALS / blocks);
    }
}

/* Pairs: the first write has got a log, the second is what is measured. */
static void large_writes(struct bench *bench)
{
    fill_data(bench, ONES, LARGE_BLOCKS * block_bytes);
    for (int blocks = 1; blocks <= LARGE_BLOCKS; blocks++) {
        double large = 0, small = 0;
        for (int i = 0; i < LARGE_TRIALS; i++) {
            uint64_t at =
                any_block(bench, bench->capacity_bytes, segment_bytes);
            request(bench, IO_WRITE, at, block_bytes);
            large +=
                request(bench, IO_WRITE, at, (uint64_t)blocks * block_bytes);
            at = any_block(bench, bench->capacity_bytes, segment_bytes);
            request(bench, IO_WRITE, at, block_bytes);
            for (int j = 0; j < blocks; j++)
                small += request(bench, IO_WRITE,
                                 at + (uint64_t)j * block_bytes, block_bytes);
        }
        row(18, "one request", blocks, large / LARGE_TRIALS);
        row(18, "blocks one by one", blocks, small / LARGE_TRIALS);
        row(19, "block", blocks, large / LARGE_TRIALS / blocks);
    }
}

static void run(struct bench *bench)
{
    random_reads(bench);
    sequential(bench, IO_READ, 0, 3);
    /* A part was never written: its merges are the paper's few of 30 ms. */
    fill_drive(bench, ONES, bench->capacity_bytes / 32 * 31);
    random_writes(bench);
    fill_data(bench, ONES, block_bytes);
    sequential(bench, IO_WRITE, 5, 6);
    contents(bench);
    log_list(bench);
    large_reads(bench);
    large_writes(bench);
}

int main(int argc, char **argv)
{
    const struct device_options options = {.write = true};
    struct bench bench = {.device = NULL};
    struct fault why = {FAULT_NONE, ""};

    if (argc != 2 || device_open(argv[1], &options, &bench.device, &why) != 0) {
        fprintf(stderr, "%s\n",
                argc == 2 ? why.text : "papers_sun_zhang sim:DRIVE");
        return 1;
    }
    bench.capacity_bytes = device_info(bench.device)->capacity_bytes;
    const struct device_limits limits = {.region_length_bytes =
                                             bench.capacity_bytes,
                                         .write_budget_bytes = UINT64_MAX};
    device_limit(bench.device, &limits);
    bench.data = device_buffer(bench.device, LARGE_BLOCKS * block_bytes);
    random_seed(&bench.random, SEED);
    puts("figure,series,x,y");
    if (bench.data)
        run(&bench);
    device_close(bench.device);
    return fflush(stdout) == 0 && bench.data ? 0 : 1;
}
