/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The truth about a drawn drive. What the keys say is the value; whether it
 * could be seen is asked of the model, without noise, by the pattern in which
 * it shows best.
 */
#include "lib/flash/draw.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/flash/flash.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)

const double draw_effect_least = 0.05;

/* Two program levels nearer than this are one (Kim II-A has 3 times). */
static const double level_gap_least = 0.08;
/* What probes look at. */
static const uint64_t page_most_bytes = MIB, read_buffer_most_bytes = 16 * MIB,
                      write_buffer_most_bytes = 8 * MIB;

enum { REPEATS = 33, PLACES_COUNT = 5, LEVEL_WRITES_MAX = 64 };

/* ---- the bench: one request at a time ---------------------------------- */

struct bench {
    const struct drive *drive;
    struct flash *flash;
    struct random random;
    const void *data; /* of writes; NULL: something that is not zero */
    uint64_t now_ns;
    int error;
};

static int bench_open(struct bench *bench, const struct drive *drive,
                      struct fault *why)
{
    memset(bench, 0, sizeof(*bench));
    bench->drive = drive;
    random_seed(&bench->random, drive->seed);
    return flash_create(drive, &bench->flash, why);
}

static void bench_close(struct bench *bench)
{
    flash_destroy(bench->flash);
    bench->flash = NULL;
}

/* One host request, in the parts that the request limit asks for; how long it
 * took. */
static uint64_t act(struct bench *bench, enum flash_operation operation,
                    uint64_t offset_bytes, uint64_t length_bytes)
{
    uint64_t limit = bench->drive->request_limit_bytes, sent = 0;
    uint64_t begin_ns = bench->now_ns;

    do {
        uint64_t part = length_bytes - sent;
        struct flash_request request = {
            .operation = operation,
            .offset_bytes = offset_bytes + sent,
            .data = operation == FLASH_WRITE ? (void *)(uintptr_t)bench->data
                                             : NULL,
            .length_bytes = part < limit ? part : limit};
        int error = flash_submit(bench->flash, begin_ns, &request);
        if (error)
            bench->error = error;
        sent += request.length_bytes;
    } while (sent < length_bytes);
    for (;;) {
        struct flash_done done;
        size_t count;
        uint64_t next_ns = flash_next_event_ns(bench->flash);
        if (next_ns == UINT64_MAX)
            break;
        bench->now_ns = next_ns > bench->now_ns ? next_ns : bench->now_ns;
        flash_advance(bench->flash, bench->now_ns, &done, 1, &count);
    }
    return bench->now_ns - begin_ns;
}

static uint64_t flush(struct bench *bench)
{
    return act(bench, FLASH_FLUSH, 0, 0);
}

static uint64_t write_flushed(struct bench *bench, uint64_t offset_bytes,
                              uint64_t length_bytes)
{
    uint64_t ns = act(bench, FLASH_WRITE, offset_bytes, length_bytes);
    return ns + flush(bench);
}

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static double median(uint64_t times[], size_t count)
{
    qsort(times, count, sizeof(times[0]), compare_times);
    size_t middle = count / 2;
    return (double)times[middle];
}

/* A block in the middle of the drive, away from what was written last. */
static uint64_t some_block(struct bench *bench)
{
    const struct drive *drive = bench->drive;
    uint64_t block = draw_block_bytes(drive);
    uint64_t blocks = drive->capacity_bytes / block - 1;

    return random_below(&bench->random, blocks) * block;
}

/* ---- pages ------------------------------------------------------------- */

/* Median of a write and its flush, at random pages of one block. */
static double page_write(struct bench *bench, uint64_t shift_bytes,
                         uint64_t length_bytes)
{
    uint64_t unit = bench->drive->clustered_page_bytes;
    uint64_t units = draw_block_bytes(bench->drive) / unit;
    uint64_t block = some_block(bench), times[REPEATS];

    for (size_t i = 0; i < REPEATS; i++)
        times[i] = write_flushed(
            bench,
            block + unit * random_below(&bench->random, units) + shift_bytes,
            length_bytes);
    return median(times, REPEATS);
}

static int page_seen(const struct drive *drive, bool *seen, struct fault *why)
{
    uint64_t unit = drive->clustered_page_bytes;
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    double aligned = page_write(&bench, 0, unit);
    double shifted = page_write(&bench, unit / 2 / 512 * 512, unit);
    *seen = unit <= page_most_bytes &&
            shifted - aligned >= draw_effect_least * shifted;
    bench_close(&bench);
    return bench.error;
}

static int rest_seen(const struct drive *drive, bool *seen, struct fault *why)
{
    uint64_t unit = drive->clustered_page_bytes;
    struct drive fresh = *drive;
    double times[2] = {0, 0};
    struct bench bench;

    fresh.initial_state = INITIAL_FRESH;
    for (int i = 0; i < 2; i++) {
        int error = bench_open(&bench, i ? drive : &fresh, why);
        if (error)
            return error;
        times[i] = page_write(&bench, 0, unit / 2 / 512 * 512);
        bench_close(&bench);
        if (bench.error)
            return bench.error;
    }
    /* Block mapping rewrites the block, however much of a page is new. */
    *seen = unit <= page_most_bytes && drive->mapping != MAPPING_BLOCK &&
            times[1] - times[0] >= draw_effect_least * times[1];
    return 0;
}

/* How many levels the times of single pages in a row have. */
static size_t levels_of(uint64_t times[], size_t count)
{
    size_t low = count / 16, high = count - count / 8, levels = 1;

    qsort(times, count, sizeof(times[0]), compare_times);
    /* The first and the last may hold a merge, an erase, an empty register. */
    for (size_t i = low + 1; i < high; i++)
        if ((double)times[i] > (1 + level_gap_least) * (double)times[i - 1])
            levels++;
    return levels;
}

static int levels_seen(const struct drive *drive, bool *seen, struct fault *why)
{
    uint64_t unit = drive->clustered_page_bytes;
    uint64_t units = draw_block_bytes(drive) / unit;
    uint64_t times[LEVEL_WRITES_MAX];
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    uint64_t block = some_block(&bench);
    for (size_t i = 0; i < LEVEL_WRITES_MAX; i++)
        times[i] = write_flushed(&bench, block + i % units * unit, unit);
    *seen = levels_of(times, LEVEL_WRITES_MAX) == drive->program_levels_count;
    bench_close(&bench);
    return bench.error;
}

/* ---- blocks and logs --------------------------------------------------- */

/* Time a byte of writes at the start of random blocks, once the drive has
 * settled. */
static double block_write(struct bench *bench, uint64_t length_bytes)
{
    uint64_t blocks =
        bench->drive->capacity_bytes / draw_block_bytes(bench->drive);
    uint64_t rounds = 2 * blocks, counted = rounds - blocks, begin_ns = 0;

    for (uint64_t i = 0; i < rounds; i++) {
        if (i == blocks)
            begin_ns = bench->now_ns;
        act(bench, FLASH_WRITE, some_block(bench), length_bytes);
    }
    return (double)(bench->now_ns - begin_ns) /
           ((double)length_bytes * (double)counted);
}

static int block_seen(const struct drive *drive, bool *seen, struct fault *why)
{
    enum { BLOCKS = 32 };
    uint64_t block = draw_block_bytes(drive);
    struct drive small = *drive;
    struct bench bench;

    /* Cleaning is the same on a small drive, but settles sooner. */
    small.capacity_bytes = BLOCKS * block;
    int error = bench_open(&bench, &small, why);
    if (error)
        return error;
    double whole = block_write(&bench, block);
    double half = block_write(&bench, block / 2 / 4096 * 4096);
    *seen = half - whole >= draw_effect_least * half;
    bench_close(&bench);
    return bench.error;
}

/* Mean time of writes that go on, in turn, in `count` blocks. */
static double stream_write(struct bench *bench, uint64_t count)
{
    uint64_t unit = bench->drive->clustered_page_bytes, total_ns = 0;
    uint64_t block = draw_block_bytes(bench->drive);
    uint64_t rounds = block / unit < 16 ? block / unit : 16;
    uint64_t counted = (rounds - rounds / 2) * count;

    for (uint64_t round = 0; round < rounds; round++)
        for (uint64_t i = 0; i < count; i++) {
            uint64_t ns = write_flushed(bench, i * block + round * unit, unit);
            if (round >= rounds / 2)
                total_ns += ns;
        }
    return (double)total_ns / (double)counted;
}

static int logs_seen(const struct drive *drive, bool *seen, struct fault *why)
{
    double times[2] = {0, 0};
    struct bench bench;

    for (uint64_t more = 0; more < 2; more++) {
        int error = bench_open(&bench, drive, why);
        if (error)
            return error;
        times[more] = stream_write(&bench, drive->log_blocks_count + more);
        bench_close(&bench);
        if (bench.error)
            return bench.error;
    }
    *seen = times[1] - times[0] >= draw_effect_least * times[1];
    return 0;
}

/* ---- buffers ----------------------------------------------------------- */

/* What a second read of the same place saves, as a share of the first. */
static double second_read(struct bench *bench, uint64_t length_bytes)
{
    uint64_t first[PLACES_COUNT], second[PLACES_COUNT];
    uint64_t room = bench->drive->capacity_bytes - length_bytes;

    for (size_t i = 0; i < PLACES_COUNT; i++) {
        uint64_t place = random_below(&bench->random, room / MIB) * MIB;
        act(bench, FLASH_READ, bench->drive->capacity_bytes - 4 * KIB, 4 * KIB);
        first[i] = act(bench, FLASH_READ, place, length_bytes);
        second[i] = act(bench, FLASH_READ, place, length_bytes);
    }
    double cold = median(first, PLACES_COUNT);
    return 1 - median(second, PLACES_COUNT) / cold;
}

static int read_buffer_seen(const struct drive *drive, bool *seen,
                            bool *smallest_seen, struct fault *why)
{
    uint64_t smallest = drive->read_buffer_smallest_request_bytes;
    uint64_t page = drive->page_bytes * drive->superblock_chips_count;
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    *seen = drive->read_buffer_bytes <= read_buffer_most_bytes &&
            second_read(&bench, drive->read_buffer_bytes) >= draw_effect_least;
    *smallest_seen = *seen && smallest > page &&
                     second_read(&bench, smallest) >= draw_effect_least &&
                     second_read(&bench, smallest - page) < draw_effect_least;
    bench_close(&bench);
    return bench.error;
}

static double buffered_write(struct bench *bench, uint64_t length_bytes)
{
    uint64_t times[PLACES_COUNT];
    uint64_t room = bench->drive->capacity_bytes - length_bytes;
    uint64_t block = draw_block_bytes(bench->drive);

    for (size_t i = 0; i < PLACES_COUNT; i++) {
        uint64_t place = random_below(&bench->random, room / block) * block;
        flush(bench);
        times[i] = act(bench, FLASH_WRITE, place, length_bytes);
    }
    return median(times, PLACES_COUNT);
}

/* Does a write of this size take longer than the line through two small ones
 * says? `line` is the time of nothing, and of a byte. */
static bool leaves(struct bench *bench, const double line[2],
                   uint64_t length_bytes)
{
    double expected = line[0] + line[1] * (double)length_bytes;
    return buffered_write(bench, length_bytes) >
           (1 + draw_effect_least) * expected;
}

/* The longest write that the buffer takes at once: its bytes, and what it
 * drains meanwhile. */
static uint64_t absorbed_bytes(struct bench *bench)
{
    uint64_t low = bench->drive->write_buffer_bytes / KIB, high = 4 * low;
    uint64_t small = low / 4 * KIB, large = low / 2 * KIB;

    if (low < 8)
        return bench->drive->write_buffer_bytes;
    double first = buffered_write(bench, small);
    double second = buffered_write(bench, large);
    double slope = (second - first) / (double)(large - small);
    double line[2] = {second - slope * (double)large, slope};

    if (!leaves(bench, line, high * KIB) || leaves(bench, line, low * KIB))
        return bench->drive->write_buffer_bytes;
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if (leaves(bench, line, middle * KIB))
            high = middle;
        else
            low = middle;
    }
    return low * KIB;
}

/* `bytes` is at first what the keys say. */
static int write_buffer_seen(const struct drive *drive, bool *seen,
                             uint64_t *bytes, struct fault *why)
{
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    if (drive->write_buffer_drain == DRAIN_EAGER)
        *bytes = absorbed_bytes(&bench);
    uint64_t edge = *bytes / KIB * KIB;
    double below = buffered_write(&bench, edge - KIB);
    double full = buffered_write(&bench, edge);
    double beyond = buffered_write(&bench, edge + KIB);
    *seen = edge <= write_buffer_most_bytes &&
            beyond - full - (full - below) >= draw_effect_least * full;
    bench_close(&bench);
    return bench.error;
}

/* ---- quirks ------------------------------------------------------------ */

static int groups_seen(const struct drive *drive, bool *seen, struct fault *why)
{
    uint64_t group = drive->capacity_bytes / drive->segment_groups_count;
    uint64_t times[2][PLACES_COUNT];
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    for (size_t i = 0; i < PLACES_COUNT; i++)
        for (uint64_t other = 0; other < 2; other++) {
            uint64_t place = (2 * i + other + 1) * MIB / 4;
            act(&bench, FLASH_READ, place + other * (group + MIB) / MIB * MIB,
                4 * KIB);
            times[other][i] = act(&bench, FLASH_READ, place, 4 * KIB);
        }
    double near = median(times[0], PLACES_COUNT);
    double far = median(times[1], PLACES_COUNT);
    *seen = far - near >= draw_effect_least * far;
    bench_close(&bench);
    return bench.error;
}

/* Mean of writes of random pages of a full drive, each flushed: what is copied
 * shows as well as what is written. */
static int content_write_ns(const struct drive *drive, const void *data,
                            double *mean_ns, struct fault *why)
{
    enum { BLOCKS = 16 };
    uint64_t unit = drive->clustered_page_bytes;
    uint64_t units = BLOCKS * draw_block_bytes(drive) / unit;
    struct drive small = *drive;
    struct bench bench;

    small.capacity_bytes = units * unit;
    int error = bench_open(&bench, &small, why);
    if (error)
        return error;
    bench.data = data;
    for (uint64_t i = 0; i < units; i++)
        act(&bench, FLASH_WRITE, i * unit, unit);
    uint64_t begin_ns = bench.now_ns;
    for (uint64_t i = 0; i < units; i++)
        write_flushed(&bench, random_below(&bench.random, units) * unit, unit);
    *mean_ns = (double)(bench.now_ns - begin_ns) / (double)units;
    bench_close(&bench);
    return bench.error;
}

/* Pages of zeros against others; and with every other unit of zeros. */
static int content_seen(const struct drive *drive, bool *seen, bool *unit_seen,
                        struct fault *why)
{
    uint64_t part = drive->content_unit_bytes;
    uint64_t bytes = drive->clustered_page_bytes;
    char *data = calloc(1, bytes);
    double zeros = 0, others = 0, halves = 0;

    if (!data)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "%s: no memory",
                         drive->name);
    int error = content_write_ns(drive, NULL, &others, why);
    if (!error)
        error = content_write_ns(drive, data, &zeros, why);
    for (uint64_t at = 0; at < bytes; at += 2 * part)
        memset(data + at, 1, part < bytes - at ? part : bytes - at);
    if (!error)
        error = content_write_ns(drive, data, &halves, why);
    free(data);
    *seen = fabs(others - zeros) >= draw_effect_least * others;
    *unit_seen = *seen && bytes > part &&
                 fabs(others - halves) >= draw_effect_least * others;
    return error;
}

/* ---- costs ------------------------------------------------------------- */

/* The line through requests of 8, 16 and 24 times 4 KiB. False: it is none. */
static bool fit_line(struct bench *bench, enum flash_operation operation,
                     double *overhead_ns, double *cost_ns)
{
    double times[3];

    for (uint64_t size = 0; size < 3; size++) {
        uint64_t single[PLACES_COUNT], bytes = (size + 1) * 32 * KIB;
        for (size_t i = 0; i < PLACES_COUNT; i++) {
            uint64_t place = some_block(bench);
            single[i] = act(bench, operation, place, bytes);
            if (operation == FLASH_WRITE)
                single[i] += flush(bench);
        }
        times[size] = median(single, PLACES_COUNT);
    }
    double first = (times[1] - times[0]) / 8,
           second = (times[2] - times[1]) / 8;
    *cost_ns = (first + second) / 2;
    *overhead_ns = times[1] - 16 * *cost_ns;
    return *cost_ns > 0 && *overhead_ns > 0 &&
           bench->drive->request_limit_bytes >= 96 * KIB &&
           fabs(first - second) <= draw_effect_least * *cost_ns;
}

/* ---- stating ----------------------------------------------------------- */

static void state(struct drive *drive, const char *parameter, const char *value)
{
    struct drive_truth *truth = &drive->truths[drive->truths_count++];

    snprintf(truth->parameter, sizeof(truth->parameter), "%s", parameter);
    snprintf(truth->value, sizeof(truth->value), "%s", value);
}

static void state_number(struct drive *drive, const char *parameter, bool seen,
                         uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    state(drive, parameter, seen ? text : "unidentifiable");
}

static int state_page(struct drive *drive, struct fault *why)
{
    static const char *const types[] = {"SLC", "MLC", "TLC", "QLC"};
    bool page = false, rest = false, block = false, levels = false;
    int error = page_seen(drive, &page, why);

    if (!error)
        error = rest_seen(drive, &rest, why);
    if (!error)
        error = block_seen(drive, &block, why);
    if (!error)
        error = levels_seen(drive, &levels, why);
    state_number(drive, "clustered_page", page, drive->clustered_page_bytes);
    state(drive, "read_modify_write",
          drive->sector_update ? "false"
          : rest               ? "true"
                               : "unidentifiable");
    state_number(drive, "clustered_block", block, draw_block_bytes(drive));
    state(drive, "nand_type",
          levels ? types[drive->program_levels_count - 1] : "unidentifiable");
    if (error || drive->mapping != MAPPING_LOG_BLOCK) {
        state(drive, "log_block", "absent");
        state(drive, "log_list", "absent");
        return error;
    }
    bool logs = false;
    error = logs_seen(drive, &logs, why);
    state_number(drive, "log_block", logs || block, draw_block_bytes(drive));
    state_number(drive, "log_list", logs, drive->log_blocks_count);
    return error;
}

static int state_buffers(struct drive *drive, struct fault *why)
{
    uint64_t page = drive->page_bytes * drive->superblock_chips_count;
    uint64_t smallest = drive->read_buffer_smallest_request_bytes;
    bool seen = false, smallest_seen = false;
    int error = 0;

    if (drive->read_buffer_bytes < page) {
        state(drive, "read_buffer", "absent");
        state(drive, "smallest_request", "absent");
    } else {
        error = read_buffer_seen(drive, &seen, &smallest_seen, why);
        state_number(drive, "read_buffer", seen,
                     drive->read_buffer_bytes / page * page);
        if (seen && smallest == 0)
            state(drive, "smallest_request", "absent");
        else
            state_number(drive, "smallest_request", smallest_seen, smallest);
    }
    state(drive, "write_buffer_levels", "absent");
    if (error || drive->write_buffer_bytes < 512) {
        state(drive, "write_buffer", "absent");
        return error;
    }
    uint64_t bytes = drive->write_buffer_bytes;
    error = write_buffer_seen(drive, &seen, &bytes, why);
    state_number(drive, "write_buffer", seen, bytes);
    return error;
}

static int state_quirks(struct drive *drive, struct fault *why)
{
    bool seen = false, unit_seen = false;
    int error = 0;

    if (drive->segment_groups_count > 1) {
        error = groups_seen(drive, &seen, why);
        state_number(drive, "segment_groups", seen,
                     drive->segment_groups_count);
        state_number(drive, "group_switch", seen, drive->group_switch_ns);
    } else {
        state(drive, "segment_groups", "absent");
        state(drive, "group_switch", "absent");
    }
    if (error || drive->content_unit_bytes == 0) {
        state(drive, "content_dependence", "false");
        state(drive, "content_unit", "absent");
        return error;
    }
    error = content_seen(drive, &seen, &unit_seen, why);
    state(drive, "content_dependence", seen ? "true" : "unidentifiable");
    state_number(drive, "content_unit", unit_seen, drive->content_unit_bytes);
    return error;
}

static int state_costs(struct drive *drive, struct fault *why)
{
    double overhead[2], cost[2];
    bool line[2];
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    line[0] = fit_line(&bench, FLASH_READ, &overhead[0], &cost[0]);
    line[1] = fit_line(&bench, FLASH_WRITE, &overhead[1], &cost[1]);
    state_number(drive, "request_overhead", line[0],
                 line[0] ? (uint64_t)overhead[0] : 0);
    state_number(drive, "read_cost_4k", line[0],
                 line[0] ? (uint64_t)cost[0] : 0);
    state_number(drive, "write_cost_4k", line[1],
                 line[1] ? (uint64_t)cost[1] : 0);
    bench_close(&bench);
    return bench.error;
}

int draw_truths(struct drive *drive, struct fault *why)
{
    struct drive *quiet = malloc(sizeof(*quiet));

    if (!quiet)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "%s: no memory",
                         drive->name);
    *quiet = *drive;
    quiet->truths_count = 0;
    quiet->contents = 0;
    quiet->jitter_sigma = quiet->outlier_share = quiet->drift_share = 0;
    int error = state_page(quiet, why);
    if (!error)
        error = state_buffers(quiet, why);
    if (!error)
        error = state_quirks(quiet, why);
    if (!error)
        error = state_costs(quiet, why);
    memcpy(drive->truths, quiet->truths, sizeof(drive->truths));
    drive->truths_count = quiet->truths_count;
    free(quiet);
    if (error && why->kind == FAULT_NONE)
        fault_set(why, FAULT_OPEN, error, "%s: the model refused a request",
                  drive->name);
    return error;
}
