/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What no single key of a drive file can show: a drive that cannot be. */
#include <errno.h>
#include <inttypes.h>

#include "lib/flash/drive.h"

static uint64_t bank_page_bytes(const struct drive *drive)
{
    return drive->page_bytes * drive->superblock_chips_count;
}

static uint64_t block_bytes(const struct drive *drive)
{
    return bank_page_bytes(drive) * drive->pages_per_block_count *
           drive->stripe_banks_count;
}

/* Sizes that hold for every drive. */
static int check_sizes(const struct drive *drive, struct fault *why)
{
    if (drive->capacity_bytes % 4096)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: capacity_bytes must be a multiple of 4096",
                         drive->name);
    if (drive->request_limit_bytes % 512 || drive->page_bytes % 512)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: request_limit_bytes and page_bytes must be "
                         "multiples of 512",
                         drive->name);
    if (drive->real_capacity_bytes % 4096 ||
        drive->real_capacity_bytes > drive->capacity_bytes)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: real_capacity_bytes must be a multiple of 4096 "
                         "and at most capacity_bytes",
                         drive->name);
    if (drive->outlier_factor_low > drive->outlier_factor_high)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: outlier_factor_low is above outlier_factor_high",
                         drive->name);
    return 0;
}

/* What stands between a request and its banks would have to know when they are
 * ready, which is open until they are. */
static int check_striped(const struct drive *drive, struct fault *why)
{
    const struct {
        const char *name;
        bool used;
    } others[] = {
        {"read_buffer_bytes", drive->read_buffer_bytes > 0},
        {"write_buffer_bytes", drive->write_buffer_bytes > 0},
        {"first_level_bytes", drive->first_level_bytes > 0},
        {"slc_blocks_count", drive->slc_blocks_count > 0},
        {"content_unit_bytes", drive->content_unit_bytes > 0},
        {"controller_read_page_ns", drive->controller_read_page_ns > 0},
        {"controller_write_page_ns", drive->controller_write_page_ns > 0},
        {"controller_copy_page_ns", drive->controller_copy_page_ns > 0},
        {"merge_copy=bus", drive->merge_copy == MERGE_COPY_BUS},
        {"power_cut_at_ns", drive->power_cut_at_ns > 0},
        {"noise", drive->jitter_sigma > 0 || drive->outlier_share > 0 ||
                      drive->drift_share > 0 || drive->background_share > 0 ||
                      drive->burst_share > 0 || drive->throttle_heat_ns > 0 ||
                      drive->sleep_after_ns > 0 || drive->bridge_share > 0 ||
                      drive->clock_step_ns > 0 ||
                      drive->stall_every_count > 0 || drive->pace_run_ns > 0 ||
                      drive->pause_every_ns > 0},
        {"neighbour_every_ns", drive->neighbour_every_ns > 0},
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i].used)
            return fault_set(why, FAULT_OPEN, -EINVAL,
                             "%s: mapping = page-striped does not go with %s",
                             drive->name, others[i].name);
    return 0;
}

static int check_noise(const struct drive *drive, struct fault *why)
{
    if (drive->pause_every_ns && drive->pause_every_ns <= drive->pause_ns)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: pause_ns (%" PRIu64
                         ") leaves no time of pause_every_ns (%" PRIu64 ")",
                         drive->name, drive->pause_ns, drive->pause_every_ns);
    if (drive->neighbour_every_ns &&
        (drive->neighbour_bytes % 512 ||
         drive->neighbour_bytes > drive->capacity_bytes))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: neighbour_bytes (%" PRIu64
                         ") is no number of sectors that the drive has",
                         drive->name, drive->neighbour_bytes);
    return 0;
}

static int check_geometry(const struct drive *drive, struct fault *why)
{
    uint64_t banks = drive->channels_count * drive->banks_per_channel_count;
    uint64_t bank_page = bank_page_bytes(drive), block = block_bytes(drive);

    if (banks % drive->stripe_banks_count)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: stripe_banks_count (%" PRIu64
                         ") does not divide the %" PRIu64 " banks",
                         drive->name, drive->stripe_banks_count, banks);
    if (drive->clustered_page_bytes % bank_page)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: clustered_page_bytes (%" PRIu64
                         ") is no multiple of a bank's page (%" PRIu64 ")",
                         drive->name, drive->clustered_page_bytes, bank_page);
    if (block % drive->clustered_page_bytes)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: a clustered block (%" PRIu64
                         " bytes) does not hold whole clustered pages",
                         drive->name, block);
    /* Numbers of 32 bits, with room for the blocks that every scheme adds. */
    if (drive->capacity_bytes / drive->clustered_page_bytes *
            (1000 + drive->spare_permille) / 1000 >
        UINT32_MAX - (UINT32_C(1) << 27))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: its clustered pages are more than the model can "
                         "number",
                         drive->name);
    if (drive->capacity_bytes < 8 * block)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: capacity_bytes holds fewer than 8 clustered "
                         "blocks of %" PRIu64 " bytes",
                         drive->name, block);
    return 0;
}

/* What stands before the flash, and what is judged by content. */
static int check_caches(const struct drive *drive, struct fault *why)
{
    uint64_t bank_page = bank_page_bytes(drive);

    if ((drive->first_level_bytes || drive->second_level_bytes) &&
        (drive->first_level_bytes < drive->clustered_page_bytes ||
         drive->second_level_bytes < drive->clustered_page_bytes))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: each level of the write cache must hold a "
                         "clustered page (%" PRIu64 " bytes)",
                         drive->name, drive->clustered_page_bytes);
    if (drive->slc_blocks_count && drive->pages_per_block_count /
                                           drive->program_levels_count *
                                           drive->stripe_banks_count <
                                       drive->clustered_page_bytes / bank_page)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: a block with one bit a cell does not hold a "
                         "clustered page",
                         drive->name);
    if (drive->content_unit_bytes && (drive->content_unit_bytes % 512 ||
                                      bank_page % drive->content_unit_bytes))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: content_unit_bytes must be a multiple of 512 "
                         "that divides a bank's page (%" PRIu64 ")",
                         drive->name, bank_page);
    if (drive->segment_group_bytes % 4096)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: segment_group_bytes must be a multiple of 4096",
                         drive->name);
    return 0;
}

int drive_check(const struct drive *drive, struct fault *why)
{
    int error = check_sizes(drive, why);

    if (!error)
        error = check_noise(drive, why);
    if (error || drive->mapping == MAPPING_DIRECT)
        return error;
    if (drive->mapping == MAPPING_STRIPED)
        error = check_striped(drive, why);
    if (!error)
        error = check_geometry(drive, why);
    return error ? error : check_caches(drive, why);
}
