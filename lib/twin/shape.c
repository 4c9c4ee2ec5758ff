/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/shape.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/flash/drive/geometry.h"
#include "lib/flash/drive/keys.h"

/* Where nothing was found: a page and a block as many drives have them. */
enum { PAGE_USUAL_BYTES = 16 << 10, BLOCK_USUAL_BYTES = 4 << 20 };
enum { UNIT_TODAY_BYTES = 4 << 10, CHIP_PAGE_TODAY_BYTES = 16 << 10 };

/* A page of one chip; larger ones are chips in lock step. */
enum { CHIP_PAGE_BYTES = 16 << 10, CHIPS_MAX = 64, PAGES_LEAST = 4 };

/* Chips have had no smaller pages for twenty years, and to replay many of them
 * takes long. */
enum { CHIP_PAGE_LEAST_BYTES = 2 << 10 };

/* Stripes beside each other, so that one can erase while another works. More
 * banks than any drive has cost time and explain nothing. */
enum { STRIPES_COUNT = 4, BANKS_MAX = 512, STRIPE_MAX = 256 };

/* ---- geometry ---------------------------------------------------------- */

struct twin_shape twin_shape_of(const struct drive *drive)
{
    struct twin_shape shape = {.page_bytes = drive->clustered_page_bytes,
                               .block_bytes = drive_block_bytes(drive),
                               .bank_page_bytes = drive_page_bytes(drive),
                               .planes_count = drive->planes_count,
                               .stripe_count = drive->stripe_banks_count,
                               .stripes_count = drive_banks_count(drive) /
                                                drive->stripe_banks_count,
                               .channels_count = drive->channels_count};

    return shape;
}

/* The fewest chips in lock step whose pages make up a bank's page. */
static bool set_bank_page(uint64_t bytes, struct drive *drive)
{
    for (uint64_t chips = 1; chips <= CHIPS_MAX; chips++)
        if (bytes % chips == 0 && bytes / chips <= CHIP_PAGE_BYTES &&
            bytes / chips % 512 == 0) {
            drive->superblock_chips_count = chips;
            drive->page_bytes = bytes / chips;
            return true;
        }
    return false;
}

/* Within the limits that a drive file has. */
static bool set_count(const char *key, uint64_t count, struct drive *drive)
{
    struct fault why;
    char value[24];

    snprintf(value, sizeof(value), "%llu", (unsigned long long)count);
    return drive_key_set(drive, NULL, key, value, &why) == 0;
}

/* Is a unit a page, a part of one, or all that one program of a bank holds? The
 * model lays out no others over planes and one-shot programs. */
static bool programs_whole_units(const struct drive *drive)
{
    const uint64_t page_bytes = drive_page_bytes(drive);
    const uint64_t at_once = drive->planes_count * drive->program_pages_count;

    return at_once == 1 || drive->clustered_page_bytes <= page_bytes ||
           drive->clustered_page_bytes % (page_bytes * at_once) == 0;
}

/* What a block of the SLC cache holds, with one bit a cell. */
static uint64_t slc_block_bytes(const struct drive *drive)
{
    return drive_block_bytes(drive) / drive->pages_per_block_count *
           (drive->pages_per_block_count / drive->program_levels_count);
}

void twin_shape_set_slc(uint64_t bytes, struct drive *drive)
{
    const uint64_t block_bytes = larger_of(slc_block_bytes(drive), 1);

    drive->slc_blocks_count =
        bytes ? larger_of((bytes + block_bytes / 2) / block_bytes, 1) : 0;
}

/* The cache of flash stays as large where its blocks become others. */
static void keep_slc(const struct drive *before, struct drive *drive)
{
    if (before->slc_blocks_count == drive->slc_blocks_count)
        twin_shape_set_slc(before->slc_blocks_count * slc_block_bytes(before),
                           drive);
}

bool twin_shape_apply(const struct twin_shape *shape, struct drive *drive)
{
    struct drive changed = *drive;
    struct fault why;
    uint64_t across =
        shape->bank_page_bytes * shape->planes_count * shape->stripe_count;
    uint64_t banks = shape->stripe_count * shape->stripes_count;

    if (across == 0 || shape->page_bytes == 0 ||
        (shape->page_bytes % shape->bank_page_bytes &&
         shape->bank_page_bytes % shape->page_bytes) ||
        (shape->bank_page_bytes < CHIP_PAGE_LEAST_BYTES &&
         shape->bank_page_bytes < shape->page_bytes) ||
        shape->block_bytes % across || shape->channels_count == 0 ||
        banks % shape->channels_count || banks > BANKS_MAX ||
        shape->stripe_count > STRIPE_MAX ||
        shape->block_bytes / across < PAGES_LEAST ||
        !set_bank_page(shape->bank_page_bytes, &changed) ||
        !set_count("pages_per_block_count", shape->block_bytes / across,
                   &changed) ||
        !set_count("planes_count", shape->planes_count, &changed) ||
        !set_count("stripe_banks_count", shape->stripe_count, &changed) ||
        !set_count("channels_count", shape->channels_count, &changed) ||
        !set_count("banks_per_channel_count", banks / shape->channels_count,
                   &changed))
        return false;
    changed.clustered_page_bytes = shape->page_bytes;
    keep_slc(drive, &changed);
    if (drive_check(&changed, &why) || !programs_whole_units(&changed))
        return false;
    *drive = changed;
    return true;
}

/* ---- start ------------------------------------------------------------- */

static const struct finding *stated(const struct findings *findings,
                                    const char *parameter)
{
    const struct finding *finding = findings_get(findings, parameter);

    return finding && (finding->verdict == VERDICT_FOUND ||
                       finding->verdict == VERDICT_ABSENT)
               ? finding
               : NULL;
}

static uint64_t levels_of(const struct findings *findings)
{
    static const char *const names[] = {"SLC", "MLC", "TLC", "QLC"};
    const struct finding *finding = stated(findings, "nand_type");

    for (uint64_t i = 0; i < 4 && finding; i++)
        if (finding->value.kind == VALUE_TEXT &&
            strcmp(finding->value.text, names[i]) == 0)
            return i + 1;
    return 1;
}

static uint64_t extra_integer(const struct finding *finding, const char *name)
{
    for (size_t i = 0; finding && i < finding->extras_count; i++)
        if (strcmp(finding->extras[i].name, name) == 0 &&
            finding->extras[i].value.kind == VALUE_INTEGER)
            return (uint64_t)finding->extras[i].value.integer;
    return 0;
}

static void set_mapping(const struct findings *findings, struct drive *drive)
{
    const struct finding *logs = stated(findings, "log_list");
    const struct finding *updates = stated(findings, "read_modify_write");
    uint64_t count = findings_integer(findings, "log_list");

    drive->mapping = logs && logs->verdict == VERDICT_ABSENT
                         ? MAPPING_PAGE
                         : MAPPING_LOG_BLOCK;
    if (count)
        drive->log_blocks_count = count;
    drive->sector_update =
        updates && updates->verdict == VERDICT_FOUND && !updates->value.boolean;
}

static void set_buffers(const struct findings *findings, struct drive *drive)
{
    const struct finding *reads = stated(findings, "read_buffer");

    drive->read_buffer_bytes = findings_integer(findings, "read_buffer");
    drive->read_buffer_smallest_request_bytes =
        extra_integer(reads, "smallest_request");
    drive->write_buffer_bytes = findings_integer(findings, "write_buffer");
    drive->segment_groups_count = findings_integer(findings, "segment_groups");
    if (drive->segment_groups_count == 0)
        drive->segment_groups_count = 1;
}

/* How far the part of the table reaches that the controller holds tells its
 * size: 4 bytes a page, in pieces of 4 KiB. */
static void set_reach(const struct findings *findings, struct drive *drive)
{
    const uint64_t piece_bytes = 4 * KIB;
    const uint64_t reach_bytes = findings_integer(findings, "mapping_reach");

    if (drive->mapping == MAPPING_PAGE && reach_bytes > 0)
        drive->mapping_cache_bytes =
            (reach_bytes / drive->clustered_page_bytes * 4 + piece_bytes - 1) /
            piece_bytes * piece_bytes;
}

/* As long as that, or the next longer one that holds whole pages. */
static uint64_t block_of_pages(uint64_t block_bytes, uint64_t page_bytes)
{
    uint64_t pages = PAGES_LEAST;

    if (block_bytes % page_bytes == 0)
        return block_bytes;
    while (pages * page_bytes < block_bytes)
        pages *= 2;
    return pages * page_bytes;
}

static struct twin_shape first_shape(const struct findings *findings)
{
    struct twin_shape shape = {.planes_count = 1,
                               .stripe_count = 1,
                               .stripes_count = STRIPES_COUNT,
                               .channels_count = 1};

    shape.page_bytes = findings_integer(findings, "clustered_page");
    shape.block_bytes = findings_integer(findings, "clustered_block");
    if (shape.block_bytes == 0)
        shape.block_bytes = findings_integer(findings, "log_block");
    if (shape.block_bytes == 0)
        shape.block_bytes = BLOCK_USUAL_BYTES;
    if (shape.page_bytes == 0)
        shape.page_bytes = PAGE_USUAL_BYTES;
    shape.block_bytes = block_of_pages(shape.block_bytes, shape.page_bytes);
    return shape;
}

/* A drive of today: units smaller than a page, all dies in one block, one-shot
 * programs, queues of dies, a buffer that drains at once. */
static bool apply_today(const struct findings *findings, uint64_t rest_ns,
                        struct drive *drive)
{
    enum { READ_USUAL_BYTES = 32 << 10, BUFFER_USUAL_BYTES = 4 << 20 };
    enum { DIES_USUAL = 8, LEVELS_USUAL = 3 };
    const struct finding *units = stated(findings, "parallel_units");
    uint64_t row = findings_integer(findings, "read_page");
    uint64_t dies = findings_integer(findings, "parallel_units");
    struct twin_shape shape = {.stripes_count = 1};
    struct fault why;

    if (!stated(findings, "nand_type"))
        drive->program_levels_count = LEVELS_USUAL;
    drive->read_levels_count = drive->program_pages_count =
        drive->program_levels_count;
    if (drive_set(drive,
                  "mapping=page,write_buffer_drain=steady,partial_read=on,"
                  "merge_copy=bus,allocation_order=pcwd,queue_depth_count=256,"
                  "slc_full=bypass,fua=on",
                  &why))
        return false;
    if (!stated(findings, "write_buffer"))
        drive->write_buffer_bytes = BUFFER_USUAL_BYTES;
    if (row == 0)
        row = READ_USUAL_BYTES;
    if (dies == 0)
        dies = units ? 1 : DIES_USUAL;
    shape.page_bytes = findings_integer(findings, "clustered_page");
    if (shape.page_bytes == 0)
        shape.page_bytes = UNIT_TODAY_BYTES;
    drive->clustered_page_bytes = shape.page_bytes;
    set_reach(findings, drive);
    for (; row >= CHIP_PAGE_LEAST_BYTES; row /= 2) {
        shape.planes_count =
            row > CHIP_PAGE_TODAY_BYTES && row % 2 == 0 ? 2 : 1;
        shape.bank_page_bytes = row / shape.planes_count;
        for (uint64_t count = dies; count > 0; count = units ? 0 : count / 2) {
            shape.stripe_count = count;
            shape.channels_count = count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1;
            shape.block_bytes = findings_integer(findings, "clustered_block");
            if (shape.block_bytes == 0)
                shape.block_bytes =
                    row * count * 8 * drive->program_pages_count;
            drive->die_queue =
                count > 1 ? DIE_QUEUE_READ_FIRST : DIE_QUEUE_NONE;
            if (twin_shape_apply(&shape, drive)) {
                twin_shape_set_slc(findings_integer(findings, "fast_cache"),
                                   drive);
                if (drive->slc_blocks_count > 0)
                    drive->idle_after_ns = rest_ns;
                return true;
            }
        }
    }
    return false;
}

int twin_shape_start(const struct twin_rows *rows,
                     const struct findings *findings, bool today,
                     struct drive *drive, struct fault *why)
{
    int error = drive_key_defaults(drive, why);

    if (error)
        return error;
    snprintf(drive->name, sizeof(drive->name), "twin");
    drive->capacity_bytes = rows->capacity_bytes / 4096 * 4096;
    drive->request_limit_bytes = rows->request_limit_bytes;
    if (drive->request_limit_bytes == 0 ||
        drive->request_limit_bytes > 1024 * MIB)
        drive->request_limit_bytes = 1024 * MIB;
    drive->program_levels_count = levels_of(findings);
    set_mapping(findings, drive);
    set_buffers(findings, drive);
    if (today)
        return apply_today(findings, rows->cache_rest_ns, drive) ? 0 : -ENOENT;
    struct twin_shape shape = first_shape(findings);
    drive->clustered_page_bytes = shape.page_bytes;
    set_reach(findings, drive);
    for (uint64_t parts = 1; parts <= 64; parts++) {
        shape.bank_page_bytes = shape.page_bytes / parts;
        if (shape.page_bytes % parts == 0 && twin_shape_apply(&shape, drive))
            return 0;
    }
    return fault_set(why, FAULT_OPEN, -EINVAL,
                     "the model has no drive with pages of %llu and blocks of "
                     "%llu bytes",
                     (unsigned long long)shape.page_bytes,
                     (unsigned long long)shape.block_bytes);
}

/* ---- aspects ----------------------------------------------------------- */

static bool has_logs(const struct drive *drive)
{
    return drive->mapping == MAPPING_LOG_BLOCK;
}

static bool has_write_buffer(const struct drive *drive)
{
    return drive->write_buffer_bytes > 0;
}

static bool has_read_buffer(const struct drive *drive)
{
    return drive->read_buffer_bytes > 0;
}

static bool maps_pages(const struct drive *drive)
{
    return drive->mapping == MAPPING_PAGE;
}

static bool has_queues(const struct drive *drive)
{
    return drive->die_queue == DIE_QUEUE_READ_FIRST;
}

static bool has_levels(const struct drive *drive)
{
    return drive->program_levels_count > 1;
}

static bool has_slc(const struct drive *drive)
{
    return drive->slc_blocks_count > 0;
}

#define ON_OFF                                                                 \
    {                                                                          \
        "off", "on"                                                            \
    }

/* A value of "mapping" that no drive file has: log blocks that all data blocks
 * share, as in FAST (Lee et al.). The k-th write then waits for a merge,
 * wherever it goes, so that no number of blocks side by side shows them. */
#define SHARED_LOGS "shared-logs"

static const struct twin_aspect aspects[] = {
    {"write_buffer_protected", NULL, has_write_buffer, ON_OFF},
    {"fua", NULL, NULL, ON_OFF},
    {"slc_blocks_count",
     "fast_cache",
     has_levels,
     {"0", "8", "32", "128", "512"}},
    {"slc_full", NULL, has_slc, {"fold", "bypass", "bypass-fold"}},
    {"queue_depth_count", NULL, NULL, {"1", "32", "256"}},
    {"write_buffer_bytes",
     "write_buffer",
     NULL,
     {"0", "16KiB", "32KiB", "64KiB", "128KiB", "256KiB", "512KiB", "1024KiB",
      "2048KiB", "4096KiB", "8192KiB", "16384KiB", "65536KiB"}},
    {"block",
     "clustered_block",
     NULL,
     {"128KiB",   "192KiB",   "256KiB",   "384KiB",   "512KiB",
      "640KiB",   "768KiB",   "1024KiB",  "1280KiB",  "1536KiB",
      "2048KiB",  "2560KiB",  "3072KiB",  "4096KiB",  "5120KiB",
      "6144KiB",  "8192KiB",  "10240KiB", "12288KiB", "16384KiB",
      "20480KiB", "24576KiB", "32768KiB", "49152KiB", "65536KiB"}},
    {"clustered_page_bytes",
     "clustered_page",
     NULL,
     {"2KiB", "4KiB", "6KiB", "8KiB", "12KiB", "16KiB", "24KiB", "32KiB",
      "48KiB", "64KiB", "96KiB", "128KiB", "192KiB", "256KiB", "384KiB",
      "512KiB", "768KiB", "1024KiB", "1536KiB"}},
    {"read_buffer_bytes",
     "read_buffer",
     NULL,
     {"0", "16KiB", "32KiB", "64KiB", "128KiB", "256KiB", "512KiB", "1024KiB",
      "2048KiB", "4096KiB", "8192KiB", "16384KiB"}},
    {"program_levels_count", "nand_type", NULL, {"1", "2", "3", "4"}},
    {"planes_count", NULL, maps_pages, {"1", "2", "4"}},
    {"program_pages_count", NULL, maps_pages, {"1", "2", "3", "4"}},
    {"die_queue", NULL, maps_pages, {"none", "read-first"}},
    {"suspend", NULL, has_queues, {"none", "program"}},
    {"mapping_cache_bytes",
     "mapping_reach",
     maps_pages,
     {"0", "4KiB", "8KiB", "16KiB", "32KiB", "64KiB", "128KiB", "256KiB",
      "512KiB", "1024KiB", "4096KiB"}},
    {"merge_copy", NULL, NULL, {"bank", "bus"}},
    {"sector_update", "read_modify_write", NULL, ON_OFF},
    {"write_buffer_drain", NULL, has_write_buffer, {"lazy", "eager", "steady"}},
    {"write_buffer_overflow", NULL, has_write_buffer, {"make-room", "empty"}},
    {"write_buffer_release",
     NULL,
     has_write_buffer,
     {"programmed", "transferred"}},
    {"write_buffer_bypass_bytes", NULL, has_write_buffer, {"0", "page"}},
    {"read_ahead_bytes", NULL, has_read_buffer, {"0", "16KiB", "64KiB"}},
    {"read_levels_count", NULL, has_levels, {"1", "2", "3", "4"}},
    {"partial_read", NULL, NULL, ON_OFF},
    /* After what pages have: a drive whose pages do not fit yet looks like
     * blocks. */
    {"mapping", "log_list", NULL, {"log-block", "page", "block", SHARED_LOGS}},
    {"log_blocks_count", "log_list", has_logs, {"1",  "2",  "3",  "4",  "5",
                                                "6",  "7",  "8",  "9",  "10",
                                                "11", "12", "13", "14", "15",
                                                "16", "20", "24", "28", "32"}},
    {"log_victim", NULL, has_logs, {"oldest", "lru", "random", "newest"}},
    {"switch_merge", NULL, has_logs, ON_OFF},
};

const struct twin_aspect *twin_aspect_at(size_t index)
{
    return index < sizeof(aspects) / sizeof(aspects[0]) ? &aspects[index]
                                                        : NULL;
}

const struct twin_aspect *twin_aspect_find(const char *key)
{
    size_t i = 0;

    while (strcmp(aspects[i].key, key) != 0)
        i++;
    return &aspects[i];
}

/* A page, a block, or planes: keeps what it can of the rest of the geometry, as
 * many pages a bank as before. */
static bool apply_shape(const char *key, uint64_t bytes, struct drive *drive)
{
    struct twin_shape shape = twin_shape_of(drive);

    if (strcmp(key, "clustered_page_bytes") != 0) {
        if (strcmp(key, "block") == 0)
            shape.block_bytes = bytes;
        else
            shape.planes_count = bytes;
        return twin_shape_apply(&shape, drive);
    }
    shape.page_bytes = bytes;
    shape.block_bytes = block_of_pages(shape.block_bytes, bytes);
    for (uint64_t parts = 1; parts <= 64; parts++) {
        uint64_t part_bytes = bytes / parts;
        if (bytes % parts || part_bytes > twin_shape_of(drive).bank_page_bytes)
            continue;
        shape.bank_page_bytes = part_bytes;
        if (twin_shape_apply(&shape, drive))
            return true;
    }
    return false;
}

/* Only pages that are mapped one by one may lie in planes, or be programmed
 * together. */
static bool lay_out_plainly(struct drive *drive)
{
    struct twin_shape shape = twin_shape_of(drive);

    drive->program_pages_count = 1;
    if (shape.planes_count == 1)
        return true;
    shape.planes_count = 1;
    return twin_shape_apply(&shape, drive);
}

/* Who has logs, and whether each is of one data block. */
static bool set_mapping_key(const char *value, struct drive *drive)
{
    const bool shared = strcmp(value, SHARED_LOGS) == 0;
    struct fault why;

    drive->log_set_blocks_count = drive->log_set_logs_count = shared ? 0 : 1;
    return drive_key_set(drive, NULL, "mapping", shared ? "log-block" : value,
                         &why) == 0;
}

bool twin_aspect_apply(const struct twin_aspect *aspect, const char *value,
                       struct drive *drive)
{
    const bool maps = strcmp(aspect->key, "mapping") == 0;
    struct drive changed = *drive;
    struct fault why;
    char page[32];
    uint64_t bytes;

    if (strcmp(aspect->key, "block") == 0 ||
        strcmp(aspect->key, "planes_count") == 0 ||
        strcmp(aspect->key, "clustered_page_bytes") == 0)
        return parse_bytes(value, &bytes) == 0 &&
               apply_shape(aspect->key, bytes, drive);
    if (strcmp(value, "page") == 0 && !maps) {
        snprintf(page, sizeof(page), "%llu",
                 (unsigned long long)drive->clustered_page_bytes);
        value = page;
    }
    if (maps ? !set_mapping_key(value, &changed)
             : drive_key_set(&changed, NULL, aspect->key, value, &why) != 0)
        return false;
    if (changed.mapping != MAPPING_PAGE && !lay_out_plainly(&changed))
        return false;
    keep_slc(drive, &changed);
    if (drive_check(&changed, &why) || !programs_whole_units(&changed))
        return false;
    *drive = changed;
    return true;
}

bool twin_aspect_is_size(const struct twin_aspect *aspect)
{
    return strcmp(aspect->key, "write_buffer_bytes") == 0 ||
           strcmp(aspect->key, "read_buffer_bytes") == 0 ||
           strcmp(aspect->key, "slc_blocks_count") == 0 ||
           strcmp(aspect->key, "mapping_cache_bytes") == 0;
}

bool twin_aspect_scale(const struct twin_aspect *aspect, double factor,
                       struct drive *drive)
{
    const uint64_t unit_bytes = strstr(aspect->key, "bytes") ? 4 * KIB : 1;
    char now[64], value[32];
    uint64_t bytes;

    twin_aspect_value(aspect, drive, now, sizeof(now));
    if (parse_bytes(now, &bytes) || bytes == 0)
        return false;
    uint64_t units =
        (uint64_t)((double)bytes * factor / (double)unit_bytes + 0.5);
    bytes = units * unit_bytes;
    snprintf(value, sizeof(value), "%" PRIu64, bytes);
    return units > 0 && twin_aspect_apply(aspect, value, drive);
}

void twin_aspect_value(const struct twin_aspect *aspect,
                       const struct drive *drive, char *value, size_t size)
{
    struct drive_key key;

    if (strcmp(aspect->key, "block") == 0) {
        snprintf(value, size, "%lluKiB",
                 (unsigned long long)(twin_shape_of(drive).block_bytes / KIB));
        return;
    }
    if (strcmp(aspect->key, "mapping") == 0 && has_logs(drive) &&
        drive->log_set_blocks_count == 0) {
        snprintf(value, size, SHARED_LOGS);
        return;
    }
    for (size_t i = 0; drive_key_at(drive, i, &key); i++)
        if (strcmp(key.name, aspect->key) == 0) {
            snprintf(value, size, "%s", key.value);
            return;
        }
    snprintf(value, size, "?");
}

bool twin_shape_allows(const struct twin_shape *before,
                       const struct twin_shape *after,
                       const struct findings *findings)
{
    return before->stripe_count == after->stripe_count ||
           before->page_bytes > before->bank_page_bytes ||
           findings_integer(findings, "parallel_units") == 0;
}

bool twin_aspect_allows(const struct twin_aspect *aspect, const char *value,
                        const struct findings *findings)
{
    const struct finding *logs = stated(findings, "log_list");

    /* A part of the table that is too small for any reach shows none. */
    if (strcmp(aspect->key, "mapping_cache_bytes") == 0 &&
        stated(findings, "mapping_reach"))
        return strcmp(value, "0") == 0 || strcmp(value, "4KiB") == 0;
    if (strcmp(aspect->key, "mapping") != 0 || !logs)
        return true;
    return strcmp(value, logs->verdict == VERDICT_FOUND ? SHARED_LOGS
                                                        : "log-block") != 0;
}

bool twin_aspect_is_known(const struct twin_aspect *aspect,
                          const struct findings *findings)
{
    const struct finding *finding =
        aspect->parameter ? stated(findings, aspect->parameter) : NULL;

    if (!finding && strcmp(aspect->key, "block") == 0)
        finding = stated(findings, "log_block");
    if (!finding)
        return false;
    /* That there is none says nothing of how large it would be; of a buffer it
     * does. Shared logs look as if there were none. */
    return finding->verdict == VERDICT_FOUND ||
           strcmp(aspect->key, "write_buffer_bytes") == 0 ||
           strcmp(aspect->key, "read_buffer_bytes") == 0;
}
