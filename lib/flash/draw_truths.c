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

#include "lib/base/line.h"
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

/* A part of the time of a request that is less is lost beside the rest; times
 * that are farther from their line than this have none. As with what follows:
 * what lies near the limits of a probe may be seen or not, and is not asked. */
static const double part_least = 0.22, off_least = 0.08;
/* A part must be known within this (a standard error) from as many places as a
 * probe visits: it ends after 240, and writes once a minute has passed, which
 * is looked at after 36 places and then 54, the fewest that will do. Single
 * times vary by so much on any drive. */
static const double error_most = 0.02, times_vary = 0.05;
/* A slope may depend by so much on what is left out, see line.h. */
static const double depends_most = 0.05;
static const double visits_most = 240, visits_least = 54,
                    visits_before_last = 36, visits_longest_ns = 60e9;
static const uint64_t content_unit_least_bytes = 1024,
                      content_unit_most_bytes = 32 * KIB;

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
            .data = operation == FLASH_WRITE && bench->data
                        ? (char *)(uintptr_t)bench->data + sent
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

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
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

/* A write and its flush at random pages of one block, always the same ones: of
 * the cheapest eighth. Where cells have several levels, a median would fall on
 * any of them. */
static double page_write(struct bench *bench, uint64_t shift_bytes,
                         uint64_t length_bytes)
{
    uint64_t unit = bench->drive->clustered_page_bytes;
    uint64_t units = draw_block_bytes(bench->drive) / unit;
    uint64_t times[REPEATS];

    random_seed(&bench->random, bench->drive->seed);
    uint64_t block = some_block(bench);
    for (size_t i = 0; i < REPEATS; i++)
        times[i] = write_flushed(
            bench,
            block + unit * random_below(&bench->random, units) + shift_bytes,
            length_bytes);
    qsort(times, REPEATS, sizeof(times[0]), compare_times);
    const size_t eighth = REPEATS / 8;
    return (double)times[eighth];
}

/* Does a shift by a part of the page show, for each part that could be taken
 * for the page? One that costs nothing makes that part as good an answer. */
static int page_seen(const struct drive *drive, bool *seen, struct fault *why)
{
    uint64_t unit = drive->clustered_page_bytes, sectors = unit / 512;
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    double aligned = page_write(&bench, 0, unit);
    *seen = unit <= page_most_bytes;
    for (uint64_t q = 2; sectors > 1; q++) {
        if (sectors % q)
            continue;
        while (sectors % q == 0)
            sectors /= q;
        double shifted = page_write(&bench, unit / q, unit);
        *seen = *seen && shifted - aligned >= draw_effect_least * shifted;
    }
    bench_close(&bench);
    return bench.error;
}

/*
 * Would it show that the rest of a page is read first? A drive cannot be had
 * without that to compare with; but less to write costs more only if something
 * is read. Asked of the drive with the reading, whether it has it or not: if
 * it would not show, nobody can say that it is not there.
 */
static int rest_seen(const struct drive *drive, bool *seen, struct fault *why)
{
    uint64_t unit = drive->clustered_page_bytes;
    struct drive reading = *drive;
    struct bench bench;

    reading.sector_update = 0;
    int error = bench_open(&bench, &reading, why);
    if (error)
        return error;
    double whole = page_write(&bench, 0, unit);
    double half = page_write(&bench, 0, unit / 2 / 512 * 512);
    double most = page_write(&bench, 0, unit - 512);
    /* Block mapping rewrites the block, however much of a page is new. */
    *seen = unit <= page_most_bytes && drive->mapping != MAPPING_BLOCK &&
            fmax(half, most) - whole >= draw_effect_least * whole;
    bench_close(&bench);
    return bench.error;
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

static int levels_shown(const struct drive *drive, size_t *levels,
                        struct fault *why)
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
    *levels = levels_of(times, LEVEL_WRITES_MAX);
    bench_close(&bench);
    return bench.error;
}

/* One level is one bit a cell only where two would show: asked of the same
 * drive, but with slow pages. Where a unit has pages of all levels, all units
 * take one time, and nobody can say of how many levels it is made. */
static int levels_seen(const struct drive *drive, bool *seen, struct fault *why)
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
    const uint64_t pitch = 3 * MIB, away = 32 * MIB;
    uint64_t first[PLACES_COUNT], second[PLACES_COUNT];
    uint64_t room = bench->drive->capacity_bytes - length_bytes - 2 * away;

    /* Where pages begin, and after a read nearby: the way back from another
     * group would count as a profit. */
    for (size_t i = 0; i < PLACES_COUNT; i++) {
        uint64_t place = random_below(&bench->random, room / pitch) * pitch;
        act(bench, FLASH_READ, place + away, 4 * KIB);
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
            act(&bench, FLASH_READ,
                place + (other * group + beyond) / MIB * MIB, 4 * KIB);
            times[other][i] = act(&bench, FLASH_READ, place, 4 * KIB);
        }
    double near = median(times[0], PLACES_COUNT);
    double far = median(times[1], PLACES_COUNT);
    *seen = far - near >= draw_effect_least * far;
    bench_close(&bench);
    return bench.error;
}

/* A write of a part of a block that holds `contents`, if they matter. */
static uint64_t write_contents(struct bench *bench, const char *contents,
                               uint64_t block, uint64_t at, uint64_t bytes)
{
    uint64_t size = draw_block_bytes(bench->drive);

    bench->data = contents ? contents + at : NULL;
    return act(bench, FLASH_WRITE, block * size + at, bytes);
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
    uint64_t block = draw_block_bytes(drive);
    uint64_t page = drive->clustered_page_bytes;
    uint64_t blocks = drive->log_blocks_count + 1, turns = 4;
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
        flush(&bench);
    }
    *mean_ns =
        (double)(bench.now_ns - begin_ns) / (double)((turns - 1) * blocks);
    bench_close(&bench);
    return bench.error;
}

/* Blocks of zeros against others; and with half of the units of zeros. */
static int content_seen(const struct drive *drive, bool *seen, bool *unit_seen,
                        struct fault *why)
{
    uint64_t part = drive->content_unit_bytes;
    uint64_t bytes = draw_block_bytes(drive);
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
    *seen = fabs(others - zeros) >= draw_effect_least * others;
    *unit_seen = *seen && part >= content_unit_least_bytes &&
                 part <= content_unit_most_bytes &&
                 fabs(others - halves) >= draw_effect_least * others;
    return error;
}

/* Would contents show if they mattered? Asked of the same drive, but one that
 * moves pages of zeros for next to nothing. */
static int content_would_show(const struct drive *drive, bool *seen,
                              struct fault *why)
{
    struct drive other = *drive;
    bool unit_seen;

    other.content_unit_bytes = drive->page_bytes;
    other.zero_copy_ns = 0;
    return content_seen(&other, seen, &unit_seen, why);
}

/* ---- costs ------------------------------------------------------------- */

/* The time of one request of a size, as line.h has it. */
static uint64_t cost_once(struct bench *bench, enum flash_operation operation,
                          uint64_t length_bytes)
{
    const uint64_t pitch = 4 * MIB, small = 4 * KIB;
    uint64_t choices = bench->drive->capacity_bytes / pitch;
    uint64_t place = random_below(&bench->random, choices) * pitch;

    if (operation == FLASH_READ) {
        act(bench, FLASH_READ, place + pitch / 2, small);
        return act(bench, FLASH_READ, place, length_bytes);
    }
    write_flushed(bench, place, (1 + random_below(&bench->random, 4)) * small);
    return write_flushed(bench, place, length_bytes);
}

/* What requests cost: the line, and which of its parts can be told: neither
 * where the rest hides it, nor where it differs from place to place so much
 * that more would be needed than a probe visits. Where a line begins cannot be
 * told either where the times lie on none. */
struct costs {
    struct line line;
    bool overhead_seen, data_seen;
};

enum { BATCHES = 16, BATCH_PLACES = 24, COST_PLACES = BATCHES * BATCH_PLACES };

static struct line fit_line(const uint64_t sizes[LINE_SIZES],
                            double single[LINE_SIZES][COST_PLACES],
                            size_t first, size_t count, double *off)
{
    double sorted[COST_PLACES], times[LINE_SIZES];

    for (int i = 0; i < LINE_SIZES; i++) {
        memcpy(sorted, &single[i][first], count * sizeof(sorted[0]));
        qsort(sorted, count, sizeof(sorted[0]), compare_doubles);
        times[i] = line_middle_mean(sorted, count);
    }
    return line_of_sizes(sizes, times, off);
}

/* The error of what `visits` places say of a part of the times that is `share`
 * of them, as a share of `value`: places differ, as the batches do, and times
 * vary. */
static double error_of(const double batches[BATCHES], double value,
                       double share, double visits)
{
    const double of_median = 1.25; /* times that of a mean */
    double mean = 0, sum = 0;

    for (int i = 0; i < BATCHES; i++)
        mean += batches[i] / BATCHES;
    for (int i = 0; i < BATCHES; i++)
        sum += (batches[i] - mean) * (batches[i] - mean);
    double places = sqrt(sum / (BATCHES - 1) * BATCH_PLACES / visits) / value;
    double noise = of_median * times_vary / share / sqrt(visits);
    return sqrt(places * places + noise * noise);
}

static bool depends_on_place(const uint64_t sizes[LINE_SIZES],
                             double single[LINE_SIZES][COST_PLACES])
{
    const double *sorted[LINE_SIZES];

    for (int i = 0; i < LINE_SIZES; i++) {
        qsort(single[i], COST_PLACES, sizeof(single[i][0]), compare_doubles);
        sorted[i] = single[i];
    }
    return line_depends_on_place(sizes, sorted, COST_PLACES, depends_most);
}

/* How many places a probe visits, of which all took so long here; NAN: fewer
 * than will do. */
static double visits_of(enum flash_operation operation, uint64_t elapsed_ns)
{
    double all = visits_longest_ns * COST_PLACES / (double)elapsed_ns;

    if (operation == FLASH_READ)
        return visits_most;
    if (all < visits_before_last)
        return NAN;
    return fmax(visits_least, fmin(visits_most, all));
}

static void fit_costs(struct bench *bench, enum flash_operation operation,
                      struct costs *costs)
{
    double single[LINE_SIZES][COST_PLACES];
    double overheads[BATCHES], slopes[BATCHES], off, any;
    uint64_t sizes[LINE_SIZES];
    size_t order[LINE_SIZES];

    uint64_t begin_ns = bench->now_ns;
    line_sizes(bench->drive->request_limit_bytes, sizes);
    for (size_t j = 0; j < COST_PLACES; j++) {
        random_order(&bench->random, order, LINE_SIZES);
        for (size_t i = 0; i < LINE_SIZES; i++)
            single[order[i]][j] =
                (double)cost_once(bench, operation, sizes[order[i]]);
    }
    for (size_t i = 0; i < BATCHES; i++) {
        struct line line =
            fit_line(sizes, single, i * BATCH_PLACES, BATCH_PLACES, &any);
        overheads[i] = line.intercept;
        slopes[i] = line.slope;
    }
    costs->line = fit_line(sizes, single, 0, COST_PLACES, &off);
    double overhead = costs->line.intercept, slope = costs->line.slope;
    double visits = visits_of(operation, bench->now_ns - begin_ns);
    double first = slope * (double)sizes[0] / (4 * KIB);
    double last = slope * (double)sizes[LINE_SIZES - 1] / (4 * KIB);
    double overhead_share = overhead / (overhead + first);
    double data_share = last / (overhead + last);
    costs->overhead_seen =
        off < off_least && overhead_share >= part_least &&
        error_of(overheads, overhead, overhead_share, visits) <= error_most;
    costs->data_seen =
        data_share >= part_least && !depends_on_place(sizes, single) &&
        error_of(slopes, slope, data_share, visits) <= error_most;
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
          !rest                  ? "unidentifiable"
          : drive->sector_update ? "false"
                                 : "true");
    state_number(drive, "clustered_block", block, draw_block_bytes(drive));
    /* Who does not know the page cannot write pages one by one. */
    state(drive, "nand_type",
          page && levels ? types[drive->program_levels_count - 1]
                         : "unidentifiable");
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
    if (!error && drive->content_unit_bytes == 0)
        error = content_would_show(drive, &seen, why);
    if (error || drive->content_unit_bytes == 0) {
        state(drive, "content_dependence", seen ? "false" : "unidentifiable");
        state(drive, "content_unit", seen ? "absent" : "unidentifiable");
        return error;
    }
    error = content_seen(drive, &seen, &unit_seen, why);
    state(drive, "content_dependence", seen ? "true" : "unidentifiable");
    state_number(drive, "content_unit", unit_seen, drive->content_unit_bytes);
    return error;
}

static int state_costs(struct drive *drive, struct fault *why)
{
    struct costs reads, writes;
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    fit_costs(&bench, FLASH_READ, &reads);
    fit_costs(&bench, FLASH_WRITE, &writes);
    state_number(drive, "request_overhead", reads.overhead_seen,
                 (uint64_t)llround(reads.line.intercept));
    state_number(drive, "read_cost_4k", reads.data_seen,
                 (uint64_t)llround(reads.line.slope));
    state_number(drive, "write_cost_4k", writes.data_seen,
                 (uint64_t)llround(writes.line.slope));
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
