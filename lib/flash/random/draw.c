/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/random/draw.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/flash/drive/geometry.h"
#include "lib/flash/random/draw_sold.h"

#define GB UINT64_C(1000000000)
#define US UINT64_C(1000)

/* The model numbers every clustered page: more would cost memory, and show a
 * probe nothing. */
enum { CONTENT_UNIT_MAX_BYTES = 65536 };
enum { UNITS_MAX = 1 << 20, BLOCK_UNITS_MAX = 1024, BLOCKS_LEAST = 64 };

struct range {
    uint64_t low, high;
};

/* What sets the kinds apart. Everything else has one range for all. */
static const struct kind {
    const char *name;
    struct range capacity_bytes, page_bytes, block_bytes;
    struct range stripe_banks, groups;
    double log_block_share; /* the others map pages */
    double read_buffer_share, write_buffer_share;
    struct range buffer_bytes;
    double groups_share, content_share, sector_update_share, bypass_share;
    struct range interface_bytes_per_second, command_ns;
    uint64_t queue_depth_count;
    uint64_t request_limit_bytes[3];
} kinds[] = {
    {.name = "ssd",
     .capacity_bytes = {8 * GB, 256 * GB},
     .page_bytes = {4 * KIB, 1536 * KIB},
     .block_bytes = {512 * KIB, 64 * MIB},
     .stripe_banks = {1, 32},
     .groups = {1, 8},
     .log_block_share = 0.4,
     .read_buffer_share = 0.7,
     .write_buffer_share = 0.8,
     .buffer_bytes = {32 * KIB, 32 * MIB},
     .groups_share = 0,
     .content_share = 0,
     .sector_update_share = 0.15,
     .bypass_share = 0.1,
     .interface_bytes_per_second = {120 * MIB, 3000 * MIB},
     .command_ns = {10 * US, 150 * US},
     .queue_depth_count = 32,
     .request_limit_bytes = {128 * KIB, 512 * KIB, 1280 * KIB}},
    {.name = "usb",
     .capacity_bytes = {1 * GB, 64 * GB},
     .page_bytes = {2 * KIB, 256 * KIB},
     .block_bytes = {128 * KIB, 32 * MIB},
     .stripe_banks = {1, 4},
     .groups = {1, 4},
     .log_block_share = 0.8,
     .read_buffer_share = 0.3,
     .write_buffer_share = 0.4,
     .buffer_bytes = {8 * KIB, 1 * MIB},
     .groups_share = 0.5,
     .content_share = 0.4,
     .sector_update_share = 0.1,
     .bypass_share = 0,
     .interface_bytes_per_second = {20 * MIB, 400 * MIB},
     .command_ns = {100 * US, 600 * US},
     .queue_depth_count = 1,
     .request_limit_bytes = {64 * KIB, 120 * KIB, 1024 * KIB}},
    {.name = "sd",
     .capacity_bytes = {1 * GB, 128 * GB},
     .page_bytes = {2 * KIB, 256 * KIB},
     .block_bytes = {128 * KIB, 64 * MIB},
     .stripe_banks = {1, 4},
     .groups = {1, 2},
     .log_block_share = 0.8,
     .read_buffer_share = 0.3,
     .write_buffer_share = 0.3,
     .buffer_bytes = {8 * KIB, 512 * KIB},
     .groups_share = 0.3,
     .content_share = 0.2,
     .sector_update_share = 0.1,
     .bypass_share = 0,
     .interface_bytes_per_second = {10 * MIB, 100 * MIB},
     .command_ns = {50 * US, 500 * US},
     .queue_depth_count = 1,
     .request_limit_bytes = {64 * KIB, 256 * KIB, 512 * KIB}},
    {.name = "emmc",
     .capacity_bytes = {4 * GB, 64 * GB},
     .page_bytes = {4 * KIB, 128 * KIB},
     .block_bytes = {512 * KIB, 32 * MIB},
     .stripe_banks = {1, 8},
     .groups = {1, 2},
     .log_block_share = 0.6,
     .read_buffer_share = 0.4,
     .write_buffer_share = 0.6,
     .buffer_bytes = {16 * KIB, 4 * MIB},
     .groups_share = 0.1,
     .content_share = 0.1,
     .sector_update_share = 0.15,
     .bypass_share = 0.05,
     .interface_bytes_per_second = {50 * MIB, 400 * MIB},
     .command_ns = {30 * US, 200 * US},
     .queue_depth_count = 1,
     .request_limit_bytes = {128 * KIB, 512 * KIB, 512 * KIB}},
};

/* Bits per cell: how often, and the times of data sheets. */
static const struct cell {
    double share;
    struct range read_ns, program_ns, erase_ns;
    double step_low, step_high; /* the next level takes so many times longer */
} cells[] = {
    {0.25,
     {20 * US, 30 * US},
     {150 * US, 300 * US},
     {1500 * US, 2500 * US},
     1,
     1},
    {0.35,
     {40 * US, 75 * US},
     {200 * US, 600 * US},
     {2000 * US, 5000 * US},
     1.02,
     4},
    {0.25,
     {60 * US, 100 * US},
     {300 * US, 700 * US},
     {3000 * US, 8000 * US},
     1.02,
     2.5},
    {0.15,
     {90 * US, 180 * US},
     {400 * US, 900 * US},
     {5000 * US, 12000 * US},
     1.02,
     2.2},
};

/* How often a drive has it. */
static const double lazy_share = 0.7, empty_share = 0.5, bank_copy_share = 0.6,
                    switch_merge_share = 0.85, controller_cost_share = 0.6,
                    smallest_request_share = 0.3, odd_kib_share = 0.3,
                    decimal_capacity_share = 0.5, copy_cost_share = 0.2,
                    write_command_share = 0.3, log_switch_share = 0.2,
                    recent_victim_share = 0.4, phase_share = 0.3,
                    half_content_share = 0.5, block_share = 0.06,
                    ahead_share = 0.1, partial_read_share = 0.05,
                    transferred_share = 0.08, two_levels_share = 0.02,
                    slc_cache_share = 0.05, flush_lies_share = 0.03,
                    random_victim_share = 0.06, newest_victim_share = 0.03,
                    shared_logs_share = 0.08, all_share_share = 0.5;

static const char *const sold_kinds[] = {"nvme", "sata", "card", "stick"};
static const char old_kind[] = "old"; /* any of `kinds` */
enum {
    SOLD_COUNT = sizeof(sold_kinds) / sizeof(sold_kinds[0]),
    KINDS_COUNT = sizeof(kinds) / sizeof(kinds[0])
};

const char *draw_kind_name(size_t index)
{
    if (index < SOLD_COUNT)
        return sold_kinds[index];
    if (index == SOLD_COUNT)
        return old_kind;
    index -= SOLD_COUNT + 1;
    return index < KINDS_COUNT ? kinds[index].name : NULL;
}

/* ---- chance ------------------------------------------------------------ */

static bool chance(struct random *random, double share)
{
    return random_unit(random) < share;
}

/* Log-uniform, rounded down to a multiple of `step`. */
static uint64_t spread(struct random *random, struct range range, uint64_t step)
{
    double ratio = (double)range.high / (double)range.low;
    double value = (double)range.low * pow(ratio, random_unit(random));
    uint64_t steps = (uint64_t)value / step;

    return (steps ? steps : 1) * step;
}

/* A power of two, half as much again (a third of the next but one), or with
 * `fifths` a quarter more. All within the range are equally likely. */
static uint64_t round_number(struct random *random, struct range range,
                             bool fifths)
{
    uint64_t found[200];
    size_t count = 0;

    for (uint64_t power = 1; power <= range.high; power *= 2)
        for (uint64_t quarters = 4; quarters <= 6; quarters++) {
            uint64_t value = power * quarters / 4;
            bool wanted =
                quarters == 4 || (power % 4 == 0 && (quarters == 6 || fifths));
            if (wanted && value >= range.low && value <= range.high)
                found[count++] = value;
        }
    assert(count > 0);
    return found[random_below(random, count)];
}

/* A divisor of `number` within the range; `range.low` must be 1. */
static uint64_t divisor(struct random *random, uint64_t number,
                        struct range range)
{
    uint64_t found[64];
    size_t count = 0;

    for (uint64_t i = range.low; i <= range.high && i <= number; i++)
        if (number % i == 0 && count < sizeof(found) / sizeof(found[0]))
            found[count++] = i;
    return found[random_below(random, count)];
}

/* ---- the drive --------------------------------------------------------- */

static uint64_t bank_page_bytes(const struct drive *drive)
{
    return drive->page_bytes * drive->superblock_chips_count;
}

/* Page and block: the page is chips in lock step times pages in a row, the
 * block so many of these over some banks. False when they do not fit. */
static bool draw_block(struct random *random, const struct kind *kind,
                       struct drive *drive)
{
    uint64_t unit = round_number(random, kind->page_bytes, false);
    uint64_t units =
        round_number(random, (struct range){8, BLOCK_UNITS_MAX}, true);
    uint64_t page = 2 * KIB << random_below(random, 4);

    if (unit % page || unit * units < kind->block_bytes.low ||
        unit * units > kind->block_bytes.high)
        return false;
    drive->clustered_page_bytes = unit;
    drive->page_bytes = page;
    drive->superblock_chips_count =
        divisor(random, unit / page, (struct range){1, 64});
    uint64_t pages = unit / bank_page_bytes(drive) * units;
    drive->stripe_banks_count = divisor(random, pages, kind->stripe_banks);
    drive->pages_per_block_count = pages / drive->stripe_banks_count;
    return drive->pages_per_block_count >= 8 &&
           drive->pages_per_block_count <= 8192;
}

static void draw_capacity(struct random *random, const struct kind *kind,
                          struct drive *drive)
{
    struct range range = kind->capacity_bytes;
    uint64_t least = drive_block_bytes(drive) * BLOCKS_LEAST;
    uint64_t most = drive->clustered_page_bytes * UNITS_MAX;
    uint64_t step = chance(random, decimal_capacity_share) ? GB / 8 : 128 * MIB;

    if (range.high > most)
        range.high = most;
    if (range.low > range.high)
        range.low = range.high;
    drive->capacity_bytes = spread(random, range, step);
    /* A decimal capacity ends in a part of 4 KiB. */
    drive->capacity_bytes -= drive->capacity_bytes % 4096;
    if (drive->capacity_bytes < least)
        drive->capacity_bytes = least;
}

static void draw_array(struct random *random, const struct kind *kind,
                       struct drive *drive)
{
    while (!draw_block(random, kind, drive))
        ;
    uint64_t groups = UINT64_C(1) << random_below(random, 4);
    if (groups > kind->groups.high)
        groups = kind->groups.high;
    uint64_t banks = groups * drive->stripe_banks_count;
    drive->channels_count = divisor(random, banks, (struct range){1, 16});
    drive->banks_per_channel_count = banks / drive->channels_count;
    drive->spare_permille = 20 + random_below(random, 280);
    draw_capacity(random, kind, drive);
}

static void draw_timing(struct random *random, struct drive *drive)
{
    double share = random_unit(random);
    size_t bits = 0;

    while (bits + 1 < DRIVE_LEVELS_MAX && share >= cells[bits].share)
        share -= cells[bits++].share;
    const struct cell *cell = &cells[bits];
    drive->program_levels_count = bits + 1;
    drive->read_ns[0] = spread(random, cell->read_ns, US);
    drive->erase_ns = spread(random, cell->erase_ns, 10 * US);
    drive->program_ns[0] = spread(random, cell->program_ns, US);
    for (size_t i = 1; i < DRIVE_LEVELS_MAX; i++) {
        double step = cell->step_low +
                      (cell->step_high - cell->step_low) * random_unit(random);
        double next = (double)drive->program_ns[i - 1] * step;
        drive->program_ns[i] = (uint64_t)next / US * US;
    }
    drive->cache_copy_ns = 3 * US;
    drive->bus_width_bits = 8 * drive->superblock_chips_count;
    drive->bus_mhz = spread(random, (struct range){20, 400}, 5);
    if (!chance(random, controller_cost_share))
        return;
    struct range cost = {2 * US, 150 * US};
    drive->controller_read_page_ns = spread(random, cost, US);
    drive->controller_write_page_ns = spread(random, cost, US);
    if (chance(random, copy_cost_share))
        drive->controller_copy_page_ns = spread(random, cost, US);
}

static void draw_mapping(struct random *random, const struct kind *kind,
                         struct drive *drive)
{
    drive->mapping = chance(random, kind->log_block_share) ? MAPPING_LOG_BLOCK
                                                           : MAPPING_PAGE;
    if (chance(random, block_share))
        drive->mapping = MAPPING_BLOCK;
    drive->log_blocks_count = spread(random, (struct range){1, 33}, 1);
    drive->switch_merge = chance(random, switch_merge_share);
    drive->merge_copy =
        chance(random, bank_copy_share) ? MERGE_COPY_BANK : MERGE_COPY_BUS;
    drive->log_victim =
        chance(random, recent_victim_share) ? LOG_LEAST_RECENT : LOG_OLDEST;
    if (chance(random, log_switch_share))
        drive->log_switch_ns =
            spread(random, (struct range){50 * US, 2000 * US}, US);
    drive->sector_update = chance(random, kind->sector_update_share);
    if (chance(random, phase_share))
        drive->initial_phase = PHASE_SEED;
}

static void draw_quirks(struct random *random, const struct kind *kind,
                        struct drive *drive)
{
    if (chance(random, kind->groups_share)) {
        struct range pause = {20 * US, 500 * US};
        drive->segment_groups_count = 1 + random_below(random, 16);
        drive->group_switch_ns = spread(random, pause, US);
    }
    if (chance(random, kind->content_share)) {
        bool half = chance(random, half_content_share);
        drive->content_unit_bytes = bank_page_bytes(drive) / (half ? 2 : 1);
        while (drive->content_unit_bytes > CONTENT_UNIT_MAX_BYTES)
            drive->content_unit_bytes /= 2;
        drive->zero_copy_ns =
            spread(random, (struct range){10 * US, 200 * US}, US);
    }
}

static void draw_buffers(struct random *random, const struct kind *kind,
                         struct drive *drive)
{
    uint64_t page = bank_page_bytes(drive);

    if (chance(random, kind->read_buffer_share)) {
        uint64_t bytes = spread(random, kind->buffer_bytes, page);
        drive->read_buffer_bytes = bytes < 2 * page ? 2 * page : bytes;
        struct range smallest = {2 * page, drive->read_buffer_bytes / 2};
        if (smallest.high > 512 * KIB)
            smallest.high = 512 * KIB;
        if (smallest.low <= smallest.high &&
            chance(random, smallest_request_share))
            drive->read_buffer_smallest_request_bytes =
                spread(random, smallest, page);
    }
    if (chance(random, kind->write_buffer_share)) {
        bool odd = chance(random, odd_kib_share);
        drive->write_buffer_bytes =
            spread(random, kind->buffer_bytes, odd ? KIB : 4 * KIB);
    }
    drive->write_buffer_drain =
        chance(random, lazy_share) ? DRAIN_LAZY : DRAIN_EAGER;
    drive->write_buffer_overflow =
        chance(random, empty_share) ? OVERFLOW_EMPTY : OVERFLOW_MAKE_ROOM;
    if (chance(random, kind->bypass_share))
        drive->write_buffer_bypass_bytes = drive->clustered_page_bytes;
}

static void draw_host(struct random *random, const struct kind *kind,
                      struct drive *drive)
{
    drive->interface_bytes_per_second =
        spread(random, kind->interface_bytes_per_second, 1000000);
    drive->command_ns = spread(random, kind->command_ns, US);
    if (chance(random, write_command_share))
        drive->write_command_ns = spread(random, kind->command_ns, US);
    drive->flush_ns = spread(random, (struct range){10 * US, 2000 * US}, US);
    drive->request_limit_bytes =
        kind->request_limit_bytes[random_below(random, 3)];
    drive->queue_depth_count = kind->queue_depth_count;
}

/* Blocks that take writes with one bit a cell; a fourth of a block may be less
 * than a clustered page. */
static void draw_slc_cache(struct random *random, struct drive *drive)
{
    uint64_t pages = drive->pages_per_block_count /
                     drive->program_levels_count * drive->stripe_banks_count;

    if (drive->program_levels_count == 1 ||
        pages * bank_page_bytes(drive) < drive->clustered_page_bytes)
        return;
    drive->slc_blocks_count = spread(random, (struct range){4, 256}, 1);
    drive->slc_full = random_below(random, 2) ? SLC_BYPASS : SLC_FOLD;
    drive->slc_read_ns = spread(random, cells[0].read_ns, US);
    drive->slc_program_ns = spread(random, cells[0].program_ns, US);
    drive->idle_after_ns =
        spread(random, (struct range){10000 * US, 5000000 * US}, 1000 * US);
}

static void draw_two_levels(struct random *random, struct drive *drive)
{
    uint64_t unit = drive->clustered_page_bytes;

    drive->write_buffer_bytes = 0;
    drive->first_level_bytes = unit * spread(random, (struct range){1, 32}, 1);
    drive->second_level_bytes =
        drive->first_level_bytes * (1 + random_below(random, 8));
    drive->cache_idle_ns =
        spread(random, (struct range){10000 * US, 1000000 * US}, 1000 * US);
}

/* What few drives have. From a stream of its own, so that all others are what
 * the seed gave before these were drawn. */
static void draw_rarities(uint64_t seed, struct drive *drive)
{
    const uint64_t own = UINT64_C(0x72617265);
    uint64_t page = bank_page_bytes(drive);
    struct random random;

    random_seed(&random, random_mix(seed ^ own));
    if (chance(&random, ahead_share) && drive->read_buffer_bytes >= 4 * page)
        drive->read_ahead_bytes = spread(
            &random, (struct range){page, drive->read_buffer_bytes / 2}, page);
    if (chance(&random, partial_read_share))
        drive->partial_read = 1;
    if (chance(&random, transferred_share) && drive->write_buffer_bytes)
        drive->write_buffer_release = RELEASE_TRANSFERRED;
    if (chance(&random, two_levels_share))
        draw_two_levels(&random, drive);
    if (chance(&random, slc_cache_share))
        draw_slc_cache(&random, drive);
}

/* What goes against what a probe takes for granted: that a flush flushes, and
 * that a block which was just written to has its log. From another stream of
 * its own, for the same reason. */
static void draw_oddities(uint64_t seed, struct drive *drive)
{
    const uint64_t own = UINT64_C(0x6f646473);
    struct random random;

    random_seed(&random, random_mix(seed ^ own));
    if (chance(&random, flush_lies_share))
        drive->flush_lies = 1;
    const bool any = chance(&random, random_victim_share);
    const bool newest = chance(&random, newest_victim_share);
    if (drive->mapping == MAPPING_LOG_BLOCK && (any || newest))
        drive->log_victim = newest ? LOG_NEWEST : LOG_RANDOM;
}

/* Log blocks that neighbouring blocks share, or all do. From another stream of
 * its own, for the same reason. */
static void draw_sharing(uint64_t seed, struct drive *drive)
{
    const uint64_t own = UINT64_C(0x73686172);
    struct random random;

    random_seed(&random, random_mix(seed ^ own));
    if (drive->mapping != MAPPING_LOG_BLOCK || drive->log_victim == LOG_NEWEST)
        return;
    if (!chance(&random, shared_logs_share))
        return;
    if (chance(&random, all_share_share)) {
        drive->log_set_blocks_count = drive->log_set_logs_count = 0;
        return;
    }
    drive->log_set_blocks_count = 2 + random_below(&random, 7);
    drive->log_set_logs_count = 1 + random_below(&random, 3);
}

/* The kind is a chance of its own: naming it gives the same drive. */
static const char *kind_of(uint64_t seed, const char *name)
{
    const uint64_t chosen = random_mix(~seed);

    if (!name)
        return sold_kinds[chosen % SOLD_COUNT];
    if (strcmp(name, old_kind) == 0)
        return kinds[chosen % KINDS_COUNT].name;
    for (size_t i = 0; draw_kind_name(i); i++)
        if (strcmp(draw_kind_name(i), name) == 0)
            return name;
    return NULL;
}

static const struct kind *old_kind_of(const char *name)
{
    for (size_t i = 0; i < KINDS_COUNT; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

/* A drive of 2010. */
static void draw_old(uint64_t seed, const struct kind *kind,
                     struct drive *drive)
{
    struct random random;

    random_seed(&random, seed);
    snprintf(drive->description, sizeof(drive->description),
             "drawn by flashemu random --seed=%" PRIu64 " --kind=%s", seed,
             kind->name);
    draw_array(&random, kind, drive);
    draw_timing(&random, drive);
    draw_mapping(&random, kind, drive);
    draw_buffers(&random, kind, drive);
    draw_host(&random, kind, drive);
    draw_quirks(&random, kind, drive);
    draw_rarities(seed, drive);
    draw_oddities(seed, drive);
    draw_sharing(seed, drive);
}

int draw_drive(uint64_t seed, const char *name, const char *keys,
               struct drive *drive, struct fault *why)
{
    const char *kind = kind_of(seed, name);

    if (!kind)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "there is no kind of drive '%.40s'", name);
    /* Any drive without flash has the default of every key that this file does
     * not know. */
    int error = drive_load("ram-disk,mapping=page", drive, why);
    if (error)
        return error;
    drive->truths_count = 0;
    drive->seed = seed;
    snprintf(drive->name, sizeof(drive->name), "%s-%" PRIu64, kind, seed);
    if (old_kind_of(kind))
        draw_old(seed, old_kind_of(kind), drive);
    else
        error = draw_sold(seed, kind, drive, why);
    if (!error && keys)
        error = drive_set(drive, keys, why);
    if (!error)
        error = drive_check(drive, why);
    return error;
}
