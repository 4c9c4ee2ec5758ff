/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What no single key of a drive file can show: a drive that cannot be. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/drive/geometry.h"

/* Clustered blocks that a drive has at least. */
enum { BLOCKS_LEAST = 8 };
/* For each page of these the model has 30 bytes. */
static const uint64_t FORGETS_MOST_BYTES = 64 * GIB;

/* Sections of the planes of a bank, a bit each (array_sense). */
enum { SECTIONS_MOST = 32 };

uint64_t drive_inside_bytes(const struct drive *drive)
{
    uint64_t least = drive->mapping == MAPPING_DIRECT
                         ? 0
                         : BLOCKS_LEAST * drive_block_bytes(drive);
    uint64_t real = drive->real_capacity_bytes;

    real = real < least ? least : real;
    return drive->real_capacity_bytes && real < drive->capacity_bytes
               ? real
               : drive->capacity_bytes;
}

uint64_t drive_wrap_bytes(const struct drive *drive)
{
    uint64_t wrap = 1;

    if (drive->fake_capacity == FAKE_WRAPS)
        return drive->real_capacity_bytes;
    if (drive->fake_capacity != FAKE_CHAIN)
        return UINT64_MAX;
    while (wrap <= drive->real_capacity_bytes)
        wrap *= 2;
    return drive->fake_wrap_bytes ? drive->fake_wrap_bytes : wrap;
}

/* What something does not go with, and why, where it is used. */
struct other {
    const char *name, *why;
    bool used;
};

static int refuse_others(const struct drive *drive, const char *what,
                         const struct other others[], size_t count,
                         struct fault *why)
{
    for (size_t i = 0; i < count; i++)
        if (others[i].used)
            return fault_set(why, FAULT_OPEN, -EINVAL,
                             "%s: %s does not go with %s: %s", drive->name,
                             what, others[i].name, others[i].why);
    return 0;
}

/* A fake keeps the last writes in whole pages, beside the part that is in its
 * place, and without a second record of them. */
static int check_late(const struct drive *drive, struct fault *why)
{
    const bool forgets =
        drive->fake_capacity == FAKE_FORGETS && drive->real_capacity_bytes;
    const bool loses = drive->fake_capacity == FAKE_DROPS ||
                       drive->fake_capacity == FAKE_CHAIN;
    const uint64_t cache = drive->fake_cache_bytes;
    const struct other others[] = {
        {"power_cut_at_ns", "what a cut loses is not kept for it",
         drive->power_cut_at_ns > 0},
        {"content_unit_bytes", "the contents it forgets are not counted",
         forgets && drive->content_unit_bytes > 0},
    };

    if (forgets && (drive->real_capacity_bytes < 4096 ||
                    drive->real_capacity_bytes > FORGETS_MOST_BYTES))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: real_capacity_bytes must be 4 KiB to 64 GiB with "
                         "fake_capacity = forgets",
                         drive->name);
    if (cache &&
        (!loses || drive->real_capacity_bytes == 0 || cache % 4096 ||
         cache + 4096 > drive->capacity_bytes - drive_inside_bytes(drive)))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: fake_cache_bytes goes with fake_capacity = drops "
                         "or chain, is a multiple of 4096, and less than what "
                         "is lost",
                         drive->name);
    return forgets || cache
               ? refuse_others(drive, "a fake that keeps what was written last",
                               others, sizeof(others) / sizeof(others[0]), why)
               : 0;
}

static int check_fake(const struct drive *drive, struct fault *why)
{
    const uint64_t real = drive->real_capacity_bytes;

    if (real % 512 || real > drive->capacity_bytes)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: real_capacity_bytes must be a multiple of 512 "
                         "and at most capacity_bytes",
                         drive->name);
    if (drive->fake_wrap_bytes &&
        (drive->fake_wrap_bytes % 512 || drive->fake_wrap_bytes < real))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: fake_wrap_bytes must be a multiple of 512 and at "
                         "least real_capacity_bytes",
                         drive->name);
    return check_late(drive, why);
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
    if (drive->outlier_factor_low > drive->outlier_factor_high)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: outlier_factor_low is above outlier_factor_high",
                         drive->name);
    return 0;
}

static int check_map_cache(const struct drive *drive, struct fault *why)
{
    uint64_t own = drive->mapping_cache_bytes, host = drive->host_memory_bytes;
    uint64_t fetch = drive->mapping_fetch_bytes;

    if (own % fetch || host % fetch || (host && !own))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: mapping_cache_bytes and host_memory_bytes must "
                         "be multiples of mapping_fetch_bytes, and there is "
                         "none of the second without the first",
                         drive->name);
    return 0;
}

/* Where banks have queues a request has no end when its turn comes: that is
 * open until its last step is done. */
static int check_queues(const struct drive *drive, struct fault *why)
{
    const bool striped = drive->mapping == MAPPING_STRIPED;
    const bool read_first = drive->die_queue == DIE_QUEUE_READ_FIRST;
    const struct other others[] = {
        {"another mapping than page or page-striped", "a merge is one chain",
         drive->mapping != MAPPING_PAGE && !striped},
        {"a write buffer that does not drain steadily",
         "what comes in would wait for an end that is open",
         drive->first_level_bytes > 0 ||
             (drive->write_buffer_bytes > 0 &&
              drive->write_buffer_drain != DRAIN_STEADY)},
        {"power_cut_at_ns", "whom a cut hits is open when it is served",
         drive->power_cut_at_ns > 0},
        {"neighbour_every_ns", "when the other asks again is open",
         drive->neighbour_every_ns > 0},
        {"both cache_program and suspend = program",
         "a read needs the cache register, which holds the next page",
         drive->cache_program && drive->suspend == SUSPEND_PROGRAMS},
    };

    if (!read_first && (drive->suspend || drive->cleaning_yields))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: suspend and cleaning_yields need die_queue = "
                         "read-first",
                         drive->name);
    if (drive->die_queue == DIE_QUEUE_NONE && !striped)
        return 0;
    return refuse_others(drive,
                         striped ? "mapping = page-striped" : "die_queue",
                         others, sizeof(others) / sizeof(others[0]), why);
}

static int check_noise(const struct drive *drive, struct fault *why)
{
    if (drive->pause_every_ns && drive->pause_every_ns <= drive->pause_ns)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: pause_ns (%" PRIu64
                         ") leaves no time of pause_every_ns (%" PRIu64 ")",
                         drive->name, drive->pause_ns, drive->pause_every_ns);
    if (drive->throttle_heat_ns[1] &&
        (drive->throttle_heat_ns[0] == 0 ||
         drive->throttle_heat_ns[1] <= drive->throttle_heat_ns[0]))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: throttle_second_heat_ns must be above "
                         "throttle_heat_ns, which must be set",
                         drive->name);
    for (int i = 1; i < DRIVE_SLEEPS_MAX; i++)
        if (drive->sleep_after_ns[i] &&
            (drive->sleep_after_ns[i - 1] == 0 ||
             drive->sleep_after_ns[i] <= drive->sleep_after_ns[i - 1]))
            return fault_set(why, FAULT_OPEN, -EINVAL,
                             "%s: each power state (sleep_after_ns) must be "
                             "entered later than the one before",
                             drive->name);
    if (drive->neighbour_every_ns &&
        (drive->neighbour_bytes % 512 ||
         drive->neighbour_bytes > drive->capacity_bytes))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: neighbour_bytes (%" PRIu64
                         ") is no number of sectors that the drive has",
                         drive->name, drive->neighbour_bytes);
    return 0;
}

static bool is_whole_part(uint64_t a, uint64_t b)
{
    return a % b == 0 || b % a == 0;
}

static int check_geometry(const struct drive *drive, struct fault *why)
{
    uint64_t banks = drive_banks_count(drive);
    uint64_t bank_page = drive_page_bytes(drive);
    uint64_t block = drive_block_bytes(drive);

    if (banks % drive->stripe_banks_count)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: stripe_banks_count (%" PRIu64
                         ") does not divide the %" PRIu64 " banks",
                         drive->name, drive->stripe_banks_count, banks);
    if (!is_whole_part(drive->clustered_page_bytes, bank_page) ||
        drive->clustered_page_bytes % 512)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: clustered_page_bytes (%" PRIu64
                         ") is neither a multiple nor a whole part of a bank's "
                         "page (%" PRIu64 ")",
                         drive->name, drive->clustered_page_bytes, bank_page);
    if (drive->planes_count * drive_sections_count(drive) > SECTIONS_MOST)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: the pages of a bank's planes hold more than %d "
                         "clustered pages",
                         drive->name, SECTIONS_MOST);
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
    if (drive->mapping == MAPPING_LOG_BLOCK &&
        drive->log_blocks_count >=
            UINT32_MAX / (block / drive->clustered_page_bytes))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: its log blocks hold more clustered pages than "
                         "the model can number",
                         drive->name);
    if (drive->capacity_bytes < BLOCKS_LEAST * block)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: capacity_bytes holds fewer than %d clustered "
                         "blocks of %" PRIu64 " bytes",
                         drive->name, BLOCKS_LEAST, block);
    return 0;
}

/* Planes, programs of several pages, and in what neighbours differ first. */
static int check_layout(const struct drive *drive, struct fault *why)
{
    uint64_t banks = drive->stripe_banks_count;
    uint64_t columns =
        drive->channels_count < banks ? drive->channels_count : banks;
    uint64_t row = drive_page_bytes(drive) * banks * drive->planes_count;

    if (strlen(drive->allocation_order) != 4 ||
        !strchr(drive->allocation_order, 'c') ||
        !strchr(drive->allocation_order, 'w') ||
        !strchr(drive->allocation_order, 'd') ||
        !strchr(drive->allocation_order, 'p'))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: allocation_order (%s) must hold each of c, w, d "
                         "and p",
                         drive->name, drive->allocation_order);
    if (drive->striping == STRIPING_HASHED && drive->mapping != MAPPING_STRIPED)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: striping = hashed goes with mapping = "
                         "page-striped",
                         drive->name);
    if (!drive_has_layout(drive))
        return 0;
    if (drive->mapping != MAPPING_PAGE || drive->content_unit_bytes)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: planes_count, program_pages_count, "
                         "allocation_order, striping = permuted and clustered "
                         "pages smaller than a page go with mapping = page, "
                         "and not with content_unit_bytes",
                         drive->name);
    if (banks % columns || banks / columns % drive->dies_per_way_count)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: the %" PRIu64 " banks of a clustered block are "
                         "no whole number of ways on %" PRIu64
                         " channels, with %" PRIu64 " dies each",
                         drive->name, banks, columns,
                         drive->dies_per_way_count);
    if (drive->pages_per_block_count % drive->program_pages_count)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: program_pages_count (%" PRIu64
                         ") does not divide pages_per_block_count",
                         drive->name, drive->program_pages_count);
    if (!is_whole_part(drive->clustered_page_bytes, row) ||
        !is_whole_part(drive->clustered_page_bytes,
                       row * drive->program_pages_count))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: clustered_page_bytes is no whole part of what "
                         "one program in each bank holds (%" PRIu64 " bytes)",
                         drive->name, row * drive->program_pages_count);
    return 0;
}

/* What stands before the flash, and what is judged by content. */
static int check_caches(const struct drive *drive, struct fault *why)
{
    uint64_t bank_page = drive_page_bytes(drive);

    if ((drive->first_level_bytes || drive->second_level_bytes) &&
        (drive->first_level_bytes < drive->clustered_page_bytes ||
         drive->second_level_bytes < drive->clustered_page_bytes))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: each level of the write cache must hold a "
                         "clustered page (%" PRIu64 " bytes)",
                         drive->name, drive->clustered_page_bytes);
    const uint64_t slc_block = drive->pages_per_block_count /
                               drive->program_levels_count *
                               drive->stripe_banks_count * bank_page;
    if (drive->slc_blocks_count && slc_block < drive->clustered_page_bytes)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: a block with one bit a cell does not hold a "
                         "clustered page",
                         drive->name);
    if (drive->slc_least_blocks_count > drive->slc_blocks_count ||
        drive->slc_fast_blocks_count > drive->slc_blocks_count)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: slc_least_blocks_count or slc_fast_blocks_count "
                         "is above slc_blocks_count",
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
        error = check_fake(drive, why);
    if (!error)
        error = check_noise(drive, why);
    if (error || drive->mapping == MAPPING_DIRECT)
        return error;
    error = check_geometry(drive, why);
    if (!error)
        error = check_map_cache(drive, why);
    if (!error)
        error = check_layout(drive, why);
    if (!error)
        error = check_queues(drive, why);
    return error ? error : check_caches(drive, why);
}
