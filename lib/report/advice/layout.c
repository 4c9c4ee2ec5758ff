/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where to begin a partition, and how to make a file system in it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/report/advice/parts.h"

static const uint64_t SECTOR_BYTES = 512;
static const uint64_t EXT4_BLOCK_BYTES = 4 * KIB;
/* ext4 does not follow a stripe that is longer than a block group. */
static const uint64_t EXT4_STRIPE_MAX_BYTES = 128 * MIB;
static const uint64_t FAT_CLUSTER_MAX_BYTES = 32 * KIB;
static const uint64_t FAT_CLUSTERS_LEAST = 66000; /* fewer would be FAT16 */
static const uint64_t FAT_RESERVED_LEAST = 32, FAT_RESERVED_MAX = 65535;
static const uint64_t FAT_SECTORS_MAX = UINT32_MAX;

/* The first of them that was found; *from is its name. */
static uint64_t first_of(const struct findings *findings,
                         const char *const names[], const char **from)
{
    for (; *names; names++) {
        uint64_t value = advice_value(findings, *names);
        if (value) {
            *from = *names;
            return value;
        }
    }
    return 0;
}

void advice_find_base(const struct findings *findings,
                      const struct device_info *device,
                      struct advice_base *base)
{
    static const char *const pages[] = {"clustered_page", "read_page", NULL};
    static const char *const units[] = {"clustered_block", "log_block",
                                        "read_boundary", NULL};

    memset(base, 0, sizeof(*base));
    base->page_bytes = first_of(findings, pages, &base->page_from);
    base->unit_bytes = first_of(findings, units, &base->unit_from);
    base->sector_bytes = SECTOR_BYTES;
    if (device && device->logical_block_bytes)
        base->sector_bytes = device->logical_block_bytes;
    if (device)
        base->capacity_bytes = device->capacity_bytes;
    if (base->unit_bytes % base->sector_bytes)
        base->unit_bytes = 0; /* no partition could begin there */
    if (base->unit_bytes == 0)
        return;
    base->start_bytes = round_up(MIB, base->unit_bytes);
    /* The copy of a GPT lies at the end. */
    if (base->capacity_bytes > 2 * base->start_bytes + MIB)
        base->length_bytes = (base->capacity_bytes - base->start_bytes - MIB) /
                             base->unit_bytes * base->unit_bytes;
}

static void advise_partition(const struct advice_base *base,
                             struct advice_list *list)
{
    if (base->unit_bytes == 0)
        return;
    struct advice *advice =
        advice_add(list, "partition", base->unit_from, NULL);
    const char *unit = TEXT_BYTES(base->unit_bytes);
    const char *start = TEXT_BYTES(base->start_bytes);
    advice_say(
        advice,
        "Begin and end partitions at multiples of %s, the first at %s%s. "
        "Then no two partitions share an erase unit.",
        unit, start,
        base->start_bytes == MIB ? " (the default of partitioning tools)" : "");
    advice_brief(advice, "start partitions at multiples of %s", unit);
    if (base->length_bytes)
        advice_command(advice,
                       "echo 'start=%" PRIu64 ", size=%" PRIu64
                       "' | sfdisk --label gpt DEVICE",
                       base->start_bytes / base->sector_bytes,
                       base->length_bytes / base->sector_bytes);
}

/* Where partitions that are there begin within an erase unit. */
static void advise_existing(const struct advice_base *base,
                            const struct device_info *device,
                            struct advice_list *list)
{
    const struct device_declared *first = NULL;
    uint64_t within_bytes = 0;
    size_t count = 0;
    char others[48] = "";

    for (size_t i = 0; device && i < device->declared_count; i++) {
        const struct device_declared *row = &device->declared[i];
        if (strcmp(row->source, DECLARED_PARTITIONS) != 0 ||
            base->unit_bytes == 0 || row->bytes % base->unit_bytes == 0)
            continue;
        if (count++ == 0) {
            first = row;
            within_bytes = row->bytes % base->unit_bytes;
        }
    }
    if (count == 0)
        return;
    struct advice *advice =
        advice_add(list, "existing partitions", base->unit_from, NULL);
    const char *name = first->name + strlen("start_of_");
    const char *within = TEXT_BYTES(within_bytes);
    const char *unit = TEXT_BYTES(base->unit_bytes);
    if (count > 1)
        snprintf(others, sizeof(others), ", and so do %zu more", count - 1);
    advice_brief(advice, "%s begins %s into an erase unit", name, within);
    advice_say(
        advice,
        "%s begins %s into an erase unit of %s%s: that unit is shared "
        "with whatever is before it, and file systems place nothing "
        "right. Moving a partition takes a backup and as long as copying "
        "it, which can wait until the drive is set up again.",
        name, within, unit, others);
}

static void advise_ext4(const struct advice_base *base,
                        struct advice_list *list)
{
    uint64_t page = base->page_bytes, unit = base->unit_bytes;

    /* A page of one block needs no stride. */
    if (page % EXT4_BLOCK_BYTES || page == EXT4_BLOCK_BYTES)
        page = 0;
    if (unit % EXT4_BLOCK_BYTES || unit > EXT4_STRIPE_MAX_BYTES ||
        (page && unit % page))
        unit = 0;
    if (!page && !unit)
        return;
    struct advice *advice =
        advice_add(list, "ext4", page ? base->page_from : base->unit_from,
                   page && unit ? base->unit_from : NULL);
    const char *unit_text = TEXT_BYTES(unit ? unit : page);
    advice_brief(advice, "tell mkfs.ext4 the %s of %s (-E)",
                 unit ? "erase unit" : "write unit", unit_text);
    if (page)
        advice_say(advice, "stride spreads the tables over write units of %s. ",
                   TEXT_BYTES(page));
    advice_say(advice,
               "stripe-width places large files at multiples of %s. Both count "
               "blocks of 4 KiB.",
               unit_text);
    advice_command(advice, "mkfs.ext4 -b 4096 -E ");
    if (page)
        advice_command(advice, "stride=%" PRIu64 ",", page / EXT4_BLOCK_BYTES);
    advice_command(advice, "stripe-width=%" PRIu64 " PARTITION",
                   (unit ? unit : page) / EXT4_BLOCK_BYTES);
}

/* Sectors of one FAT: each cluster takes its data and 4 bytes in each of two
 * tables, and the tables have two entries more than there are clusters. */
static uint64_t fat_sectors(uint64_t sectors, uint64_t reserved,
                            uint64_t cluster_bytes)
{
    uint64_t clusters =
        ((sectors - reserved) * SECTOR_BYTES + 16) / (cluster_bytes + 8);

    return ((clusters + 2) * 4 + SECTOR_BYTES - 1) / SECTOR_BYTES;
}

/* The fewest reserved sectors with which the data begin at a multiple of
 * `unit` sectors; 0: there are none. */
static uint64_t fat_reserved(uint64_t sectors, uint64_t cluster_bytes,
                             uint64_t unit)
{
    uint64_t reserved = FAT_RESERVED_LEAST;

    /* More reserved sectors can shorten the tables, so it may take a step or
     * two. */
    for (int i = 0; i < 8 && reserved <= FAT_RESERVED_MAX; i++) {
        uint64_t data =
            reserved + 2 * fat_sectors(sectors, reserved, cluster_bytes);
        if (data % unit == 0)
            return reserved;
        reserved += unit - data % unit;
    }
    return 0;
}

/* The largest cluster that a page holds without a rest, and that leaves enough
 * of them. */
static uint64_t fat_cluster(const struct advice_base *base, uint64_t most_bytes)
{
    uint64_t cluster = base->page_bytes & (~base->page_bytes + 1);

    if (cluster > most_bytes)
        cluster = most_bytes;
    while (cluster > SECTOR_BYTES &&
           base->length_bytes / cluster < FAT_CLUSTERS_LEAST)
        cluster /= 2;
    return cluster >= SECTOR_BYTES &&
                   base->length_bytes / cluster >= FAT_CLUSTERS_LEAST
               ? cluster
               : 0;
}

static void advise_fat(const struct advice_base *base, struct advice_list *list)
{
    uint64_t sectors = base->length_bytes / SECTOR_BYTES, cluster, reserved;

    if (base->page_bytes == 0 || base->unit_bytes == 0 ||
        base->sector_bytes != SECTOR_BYTES || sectors > FAT_SECTORS_MAX)
        return;
    cluster = fat_cluster(base, FAT_CLUSTER_MAX_BYTES);
    if (cluster == 0)
        return;
    reserved = fat_reserved(sectors, cluster, base->unit_bytes / SECTOR_BYTES);
    if (reserved == 0)
        return;
    struct advice *advice =
        advice_add(list, "FAT", base->page_from, base->unit_from);
    const char *cluster_text = TEXT_BYTES(cluster);
    advice_brief(advice, "make FAT clusters of %s", cluster_text);
    advice_say(advice,
               "In the partition above: clusters of %s, and as many reserved "
               "sectors as bring the first of them to a multiple of %s.",
               cluster_text, TEXT_BYTES(base->unit_bytes));
    advice_command(advice,
                   "mkfs.fat -F 32 -a -s %" PRIu64 " -R %" PRIu64 " PARTITION",
                   cluster / SECTOR_BYTES, reserved);
}

void advise_layout(const struct findings *findings,
                   const struct device_info *device, struct advice_list *list)
{
    struct advice_base base;

    advice_find_base(findings, device, &base);
    advise_partition(&base, list);
    advise_existing(&base, device, list);
    advise_ext4(&base, list);
    advise_fat(&base, list);
}
