/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_DRIVE_GEOMETRY_H
#define SSDPROBE_FLASH_DRIVE_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lib/flash/drive/drive.h"

/* Sizes that follow from several keys of a drive file. */

/* A page of one plane of a bank: its chips work in lock step. */
static inline uint64_t drive_page_bytes(const struct drive *drive)
{
    return drive->page_bytes * drive->superblock_chips_count;
}

/* Parts of such a page that are mapped apart: 4 where pages of 16 KiB hold
 * clustered pages of 4 KiB, and 1 where these are no smaller than the page. */
static inline uint64_t drive_sections_count(const struct drive *drive)
{
    const uint64_t page_bytes = drive_page_bytes(drive);

    return drive->clustered_page_bytes < page_bytes
               ? page_bytes / drive->clustered_page_bytes
               : 1;
}

/* The smallest part of the array that the model numbers. */
static inline uint64_t drive_section_bytes(const struct drive *drive)
{
    return drive_page_bytes(drive) / drive_sections_count(drive);
}

/* A clustered block: the same block of all planes of the banks that it
 * stripes over. */
static inline uint64_t drive_block_bytes(const struct drive *drive)
{
    return drive_page_bytes(drive) * drive->planes_count *
           drive->pages_per_block_count * drive->stripe_banks_count;
}

/* Does a clustered page wait in the drive for others that are programmed with
 * it? Until then it is held as in a write buffer. */
static inline bool drive_holds_pages(const struct drive *drive)
{
    return drive->planes_count * drive->program_pages_count *
                   drive_sections_count(drive) >
               1 &&
           drive->clustered_page_bytes %
                   (drive_page_bytes(drive) * drive->planes_count *
                    drive->program_pages_count * drive->stripe_banks_count) !=
               0;
}

/* How many units one fetch of the mapping table knows. */
static inline uint64_t drive_fetch_units(const struct drive *drive)
{
    const uint64_t units =
        drive->mapping_fetch_bytes / drive->mapping_entry_bytes;

    return units > 0 ? units : 1;
}

/* How much of the drive the parts of the mapping table in the controller and in
 * the host's memory know. */
static inline uint64_t drive_mapping_reach_bytes(const struct drive *drive)
{
    return (drive->mapping_cache_bytes / drive->mapping_fetch_bytes +
            drive->host_memory_bytes / drive->mapping_fetch_bytes) *
           drive_fetch_units(drive) * drive->clustered_page_bytes;
}

/* Banks of all channels. */
static inline uint64_t drive_banks_count(const struct drive *drive)
{
    return drive->channels_count * drive->banks_per_channel_count;
}

/* Do pages lie otherwise than alternating over the banks (nand/layout.h)? */
static inline bool drive_has_layout(const struct drive *drive)
{
    return drive->planes_count > 1 || drive->program_pages_count > 1 ||
           drive_sections_count(drive) > 1 ||
           drive->striping == STRIPING_PERMUTED ||
           strcmp(drive->allocation_order, "cwdp") != 0;
}

#endif
