/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drives of today: what they have beside the mechanisms of draw.c. */
#include "lib/flash/random/draw_today.h"

#include "lib/base/random.h"
#include "lib/base/units.h"

enum { US = 1000, MS = 1000000 };

/* How often a drive has it. */
static const double map_cache_share = 0.35, host_memory_share = 0.5,
                    power_states_share = 0.3, steady_share = 0.5,
                    protected_share = 0.2, shrinks_share = 0.6,
                    planes_share = 0.5, one_shot_share = 0.5,
                    read_levels_share = 0.6, queues_share = 0.3,
                    fua_share = 0.6, unmap_share = 0.4, correlated_share = 0.25,
                    bridge_share = 0.6, fake_share = 0.05;

static bool chance(struct random *random, double share)
{
    return random_unit(random) < share;
}

/* As many of each order of magnitude. */
static uint64_t between(struct random *random, uint64_t low, uint64_t high)
{
    uint64_t value = low;

    while (value * 2 <= high && random_below(random, 2))
        value *= 2;
    return value + random_below(random, value);
}

/* Keeps a change that the drive can have. */
static void keep(struct drive *drive, const struct drive *changed)
{
    struct fault why;

    if (drive_check(changed, &why) == 0)
        *drive = *changed;
}

static void draw_mapping(struct random *random, struct drive *drive)
{
    struct drive with = *drive;

    if (!chance(random, map_cache_share))
        return;
    with.mapping_cache_bytes = 4 * KIB * between(random, 2, 256);
    if (chance(random, host_memory_share))
        with.host_memory_bytes =
            with.mapping_cache_bytes * between(random, 2, 64);
    with.host_memory_ns = between(random, 1 * US, 10 * US);
    keep(drive, &with);
}

static void draw_buffer(struct random *random, struct drive *drive)
{
    struct drive with = *drive;

    if (with.write_buffer_bytes == 0)
        return;
    if (chance(random, steady_share)) {
        with.write_buffer_drain = DRAIN_STEADY;
        with.write_buffer_bytes = between(random, 256 * KIB, 16 * MIB);
        with.write_buffer_bytes -= with.write_buffer_bytes % (4 * KIB);
    }
    with.write_buffer_protected = chance(random, protected_share);
    keep(drive, &with);
}

static void draw_array(struct random *random, struct drive *drive)
{
    struct drive with = *drive;
    uint64_t levels = drive->program_levels_count;

    if (chance(random, read_levels_share) && levels > 1) {
        with.read_levels_count = levels;
        for (uint64_t i = 1; i < levels; i++)
            with.read_ns[i] = with.read_ns[i - 1] * 5 / 4;
        keep(drive, &with);
    }
    with = *drive;
    if (chance(random, planes_share))
        with.planes_count = 2;
    if (chance(random, one_shot_share))
        with.program_pages_count = levels;
    keep(drive, &with);
}

/* A buffer that drains steadily and a flash cache stand before queues of dies;
 * what takes the turn of a whole request does not. */
static void draw_queues(struct random *random, struct drive *drive)
{
    struct drive with = *drive;

    if (!chance(random, queues_share))
        return;
    with.die_queue = DIE_QUEUE_READ_FIRST;
    with.suspend = random_below(random, 3);
    with.cleaning_yields = random_below(random, 2);
    if (with.write_buffer_bytes > 0)
        with.write_buffer_drain = DRAIN_STEADY;
    with.read_ahead_bytes = with.cache_program = 0;
    with.first_level_bytes = with.second_level_bytes = 0;
    with.controller_copy_page_ns = 0;
    keep(drive, &with);
}

static void draw_commands(struct random *random, struct drive *drive)
{
    drive->fua = chance(random, fua_share);
    drive->write_zeroes =
        chance(random, unmap_share) ? ZEROES_UNMAP : ZEROES_WRITE;
    drive->discard = random_below(random, DISCARD_IGNORED + 1);
    drive->discard_ns = between(random, 1 * US, 500 * US);
    drive->discard_page_ns = between(random, 10, 1 * US);
}

static void draw_sleep(struct random *random, struct drive *drive)
{
    struct drive with = *drive;

    if (!chance(random, power_states_share))
        return;
    with.sleep_after_ns[0] = between(random, 20 * MS, 500 * MS);
    with.wake_ns[0] = between(random, 500 * US, 10 * MS);
    if (chance(random, power_states_share)) {
        with.sleep_after_ns[1] = 8 * with.sleep_after_ns[0];
        with.wake_ns[1] = 4 * with.wake_ns[0];
    }
    keep(drive, &with);
}

/* Requests that are slow come together. */
static void draw_noise(struct random *random, struct drive *drive)
{
    struct drive with = *drive;

    if (chance(random, correlated_share)) {
        with.background_share = 0.1 + 0.3 * random_unit(random);
        with.background_factor = 1.1 + random_unit(random);
    }
    if (chance(random, correlated_share)) {
        with.burst_share = 0.02 + 0.05 * random_unit(random);
        with.burst_factor = 2 + 6 * random_unit(random);
    }
    if (chance(random, correlated_share)) {
        with.pause_every_ns = between(random, 50 * MS, 2000 * MS);
        with.pause_ns = between(random, 200 * US, 5 * MS);
    }
    if (with.queue_depth_count == 1 && chance(random, bridge_share)) {
        with.bridge_share = 0.02 + 0.1 * random_unit(random);
        with.bridge_ns = between(random, 50 * US, 1 * MS);
    }
    keep(drive, &with);
}

static void draw_fake(struct random *random, struct drive *drive)
{
    struct drive with = *drive;

    if (with.queue_depth_count > 1 || !chance(random, fake_share))
        return;
    with.real_capacity_bytes = with.capacity_bytes / 8;
    with.real_capacity_bytes -= with.real_capacity_bytes % (4 * MIB);
    with.fake_capacity = chance(random, 0.5) ? FAKE_DROPS : FAKE_WRAPS;
    keep(drive, &with);
}

void draw_today(uint64_t seed, struct drive *drive)
{
    const uint64_t own = UINT64_C(0x746f646179);
    struct random random;

    random_seed(&random, random_mix(seed ^ own));
    if (drive->slc_blocks_count > 1 && chance(&random, shrinks_share))
        drive->slc_least_blocks_count =
            1 + random_below(&random, drive->slc_blocks_count / 2);
    draw_mapping(&random, drive);
    draw_buffer(&random, drive);
    draw_array(&random, drive);
    draw_queues(&random, drive);
    draw_commands(&random, drive);
    draw_sleep(&random, drive);
    draw_noise(&random, drive);
    draw_fake(&random, drive);
}
