/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/draw_seen.h"

/* What probes look at. */
static const uint64_t read_buffer_most_bytes = 16 * MIB,
                      write_buffer_most_bytes = 8 * MIB;

enum { PLACES_COUNT = 5 };

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
        bench_act(bench, FLASH_READ, place + away, 4 * KIB);
        first[i] = bench_act(bench, FLASH_READ, place, length_bytes);
        second[i] = bench_act(bench, FLASH_READ, place, length_bytes);
    }
    double cold = bench_median(first, PLACES_COUNT);
    return 1 - bench_median(second, PLACES_COUNT) / cold;
}

int draw_read_buffer_seen(const struct drive *drive, bool *seen,
                          bool *smallest_seen, struct fault *why)
{
    uint64_t smallest = drive->read_buffer_smallest_request_bytes;
    uint64_t page = drive->page_bytes * drive->superblock_chips_count;
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    *seen = drive->read_buffer_bytes <= read_buffer_most_bytes &&
            second_read(&bench, drive->read_buffer_bytes) >= DRAW_EFFECT_LEAST;
    *smallest_seen = *seen && smallest > page &&
                     second_read(&bench, smallest) >= DRAW_EFFECT_LEAST &&
                     second_read(&bench, smallest - page) < DRAW_EFFECT_LEAST;
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
        bench_flush(bench);
        times[i] = bench_act(bench, FLASH_WRITE, place, length_bytes);
    }
    return bench_median(times, PLACES_COUNT);
}

/* Does a write of this size take longer than the line through two small ones
 * says? `line` is the time of nothing, which each part that the host makes of it
 * takes, and of a byte. */
static bool leaves(struct bench *bench, const double line[2],
                   uint64_t length_bytes)
{
    uint64_t limit = bench->drive->request_limit_bytes;
    uint64_t parts = (length_bytes + limit - 1) / limit;
    double expected = (double)parts * line[0] + line[1] * (double)length_bytes;
    return buffered_write(bench, length_bytes) >
           (1 + DRAW_EFFECT_LEAST) * expected;
}

/* The longest write that the buffer takes at once: its bytes, and what it
 * drains meanwhile. */
static uint64_t absorbed_bytes(struct bench *bench)
{
    uint64_t low = bench->drive->write_buffer_bytes / KIB, high = 4 * low;
    uint64_t large = low / 2 * KIB, limit = bench->drive->request_limit_bytes;

    if (low < 8)
        return bench->drive->write_buffer_bytes;
    large = large < limit ? large : limit;
    uint64_t small = large / 2;
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
int draw_write_buffer_seen(const struct drive *drive, bool *seen,
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
    /* Where each of the host's requests passes it by, nothing is ever in it. Where
     * each does that could fill it, it is never full. */
    *seen = edge <= write_buffer_most_bytes &&
            drive->write_buffer_bypass_bytes < drive->request_limit_bytes &&
            drive->write_buffer_bypass_bytes < edge &&
            beyond - full - (full - below) >= DRAW_EFFECT_LEAST * full;
    bench_close(&bench);
    return bench.error;
}
