/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/oracle/seen.h"

/* What probes look at. */
static const uint64_t read_buffer_most_bytes = 16 * MIB,
                      write_buffer_most_bytes = 8 * MIB;

/* No more than a few parts of the mapping. */
static const uint64_t near_bytes = 32 * MIB;

enum { PLACES_COUNT = 5 };

enum read_order { UPWARDS, DOWNWARDS }; /* of the parts that the host makes */

static uint64_t read_in(struct bench *bench, enum read_order order,
                        uint64_t place, uint64_t length_bytes)
{
    const uint64_t limit = bench->drive->request_limit_bytes;
    uint64_t ns = 0;

    if (order == UPWARDS)
        return bench_act(bench, FLASH_READ, place, length_bytes);
    for (uint64_t end = length_bytes; end > 0;) {
        const uint64_t begin = (end - 1) / limit * limit;
        ns += bench_act(bench, FLASH_READ, place + begin, end - begin);
        end = begin;
    }
    return ns;
}

/* What a second read of the same place saves, as a share of the first. */
static double second_read(struct bench *bench, enum read_order order,
                          uint64_t length_bytes)
{
    const uint64_t pitch = 3 * MIB, away = 32 * MIB;
    uint64_t first[PLACES_COUNT], second[PLACES_COUNT];
    uint64_t room = bench->drive->capacity_bytes - length_bytes - 2 * away;

    /* Where pages begin, and after a read nearby: the way back from another
     * group would count as a profit. */
    for (size_t i = 0; i < PLACES_COUNT; i++) {
        uint64_t place = random_below(&bench->random, room / pitch) * pitch;
        bench_act(bench, FLASH_READ, place + away, 4 * KIB);
        first[i] = read_in(bench, order, place, length_bytes);
        second[i] = read_in(bench, order, place, length_bytes);
    }
    double cold = bench_median(first, PLACES_COUNT);
    return 1 - bench_median(second, PLACES_COUNT) / cold;
}

static bool saves(struct bench *bench, uint64_t length_bytes)
{
    return second_read(bench, UPWARDS, length_bytes) >= ORACLE_EFFECT_LEAST;
}

int oracle_read_buffer_seen(const struct drive *drive, bool *seen,
                            bool *smallest_seen, struct fault *why)
{
    uint64_t smallest = drive->read_buffer_smallest_request_bytes;
    uint64_t page = drive->page_bytes * drive->superblock_chips_count;
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    /* Pages that are read ahead of parts take the place of the first ones, but
     * from the last part to the first nothing is continued. */
    *seen = drive->read_buffer_bytes <= read_buffer_most_bytes &&
            (saves(&bench, drive->read_buffer_bytes) ||
             second_read(&bench, DOWNWARDS, drive->read_buffer_bytes) >=
                 ORACLE_EFFECT_LEAST);
    *smallest_seen = *seen && smallest > page && saves(&bench, smallest) &&
                     !saves(&bench, smallest - page);
    bench_close(&bench);
    return bench.error;
}

static uint64_t parts_count(const struct bench *bench, uint64_t length_bytes)
{
    uint64_t limit = bench->drive->request_limit_bytes;
    return (length_bytes + limit - 1) / limit;
}

/*
 * The time of a write into an empty buffer, at multiples of `pitch_bytes`: at
 * once, or where `slowly` is said, its parts one by one with such pauses, which
 * do not count.
 */
static double buffered_write(struct bench *bench, uint64_t pitch_bytes,
                             uint64_t length_bytes, const uint64_t *slowly)
{
    uint64_t times[PLACES_COUNT];
    uint64_t room = bench->drive->capacity_bytes - length_bytes;
    uint64_t limit = slowly ? bench->drive->request_limit_bytes : length_bytes;

    /* Near each other, if each other place has to fetch its mapping. */
    if (bench->drive->mapping_cache_bytes && room > near_bytes)
        room = near_bytes;
    const uint64_t places = larger_of(room / pitch_bytes, 1);
    for (size_t i = 0; i < PLACES_COUNT; i++) {
        uint64_t place = random_below(&bench->random, places) * pitch_bytes;
        bench_flush(bench);
        times[i] = 0;
        for (uint64_t sent = 0; sent < length_bytes; sent += limit) {
            uint64_t rest = length_bytes - sent;
            times[i] += bench_act(bench, FLASH_WRITE, place + sent,
                                  rest < limit ? rest : limit);
            bench->now_ns += slowly ? *slowly : 0;
        }
    }
    return bench_median(times, PLACES_COUNT);
}

/* How an eager buffer is filled: at places that are good for any page. */
struct filling {
    struct bench *bench;
    uint64_t pitch_bytes;
    double part_ns, byte_ns; /* of what fits */
};

static double fill_once(const struct filling *filling, uint64_t length_bytes,
                        const uint64_t *slowly)
{
    return buffered_write(filling->bench, filling->pitch_bytes, length_bytes,
                          slowly);
}

/* Does a write of this size take longer than the line through two small ones
 * says, with what each part takes that the host makes of it? */
static bool leaves(const struct filling *filling, uint64_t length_bytes,
                   const uint64_t *slowly)
{
    double parts = (double)parts_count(filling->bench, length_bytes);
    double expected =
        parts * filling->part_ns + filling->byte_ns * (double)length_bytes;
    return fill_once(filling, length_bytes, slowly) >
           (1 + ORACLE_EFFECT_LEAST) * expected;
}

/*
 * Is one KiB more too long also where the host's parts come at half the speed?
 * If not, this is no property of the drive. There is no speed where the host
 * sends one part, or all at once.
 */
static bool stands_slowly(const struct filling *filling, uint64_t edge_bytes)
{
    uint64_t beyond = edge_bytes + KIB, at_once = 0;
    uint64_t pauses = parts_count(filling->bench, beyond) - 1;

    if (pauses == 0 || !leaves(filling, beyond, &at_once))
        return true;
    uint64_t pause =
        (uint64_t)(fill_once(filling, edge_bytes, NULL) / (double)pauses);
    return leaves(filling, beyond, &pause);
}

/* The longest write that the buffer takes at once: its bytes, and what it
 * drains meanwhile. 0 where none is the longest. */
static uint64_t absorbed_bytes(struct bench *bench)
{
    const struct drive *drive = bench->drive;
    const uint64_t own = drive->write_buffer_bytes / KIB, most = 4 * own;
    uint64_t low = own, high = own, large = own / 2 * KIB;
    struct filling filling = {bench, drive->clustered_page_bytes, 0, 0};

    if (own < 8)
        return drive->write_buffer_bytes;
    if (large > drive->request_limit_bytes)
        large = drive->request_limit_bytes;
    const uint64_t small = large / 2;
    double first = fill_once(&filling, small, NULL);
    double second = fill_once(&filling, large, NULL);
    filling.byte_ns = (second - first) / (double)(large - small);
    filling.part_ns = second - filling.byte_ns * (double)large;
    if (leaves(&filling, low * KIB, NULL))
        return 0;
    do {
        low = high;
        high += own / 8;
    } while (high <= most && !leaves(&filling, high * KIB, NULL));
    if (high > most)
        return 0;
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if (leaves(&filling, middle * KIB, NULL))
            high = middle;
        else
            low = middle;
    }
    return stands_slowly(&filling, low * KIB) ? low * KIB : 0;
}

/* `bytes` is at first what the keys say. */
int oracle_write_buffer_seen(const struct drive *drive, bool *seen,
                             uint64_t *bytes, struct fault *why)
{
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    uint64_t pitch = oracle_block_bytes(drive), absorbed = *bytes;
    if (drive->write_buffer_drain == DRAIN_EAGER ||
        drive->write_buffer_drain == DRAIN_STEADY) {
        absorbed = absorbed_bytes(&bench);
        pitch = drive->clustered_page_bytes;
    }
    if (absorbed > 0)
        *bytes = absorbed;
    uint64_t edge = *bytes / KIB * KIB;
    double below = buffered_write(&bench, pitch, edge - KIB, NULL);
    double full = buffered_write(&bench, pitch, edge, NULL);
    double beyond = buffered_write(&bench, pitch, edge + KIB, NULL);
    /* Where each of the host's requests passes it by, nothing is ever in it.
     * Where each does that could fill it, it is never full. */
    *seen = absorbed > 0 && edge <= write_buffer_most_bytes &&
            drive->write_buffer_bypass_bytes < drive->request_limit_bytes &&
            drive->write_buffer_bypass_bytes < edge &&
            beyond - full - (full - below) >= ORACLE_EFFECT_LEAST * full;
    bench_close(&bench);
    return bench.error;
}
