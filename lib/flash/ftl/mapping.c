/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/ftl/mapping.h"

#include <stddef.h>

#include "lib/flash/drive/geometry.h"

static const struct mapping_ops *const schemes[] = {
    [MAPPING_DIRECT] = NULL,
    [MAPPING_PAGE] = &mapping_page_ops,
    [MAPPING_BLOCK] = &mapping_block_ops,
    [MAPPING_LOG_BLOCK] = &mapping_log_ops,
    [MAPPING_STRIPED] = &mapping_striped_ops,
};

const struct mapping_ops *mapping_ops(const struct drive *drive)
{
    return schemes[drive->mapping];
}

uint32_t mapping_logical_blocks(const struct drive *drive)
{
    uint64_t block = drive_block_bytes(drive);
    return (uint32_t)((drive->capacity_bytes + block - 1) / block);
}

uint32_t mapping_spared_blocks(const struct drive *drive)
{
    uint64_t logical = mapping_logical_blocks(drive);
    return (uint32_t)(logical + logical * drive->spare_permille / 1000);
}

uint32_t mapping_grouped_blocks(const struct drive *drive, uint32_t least_spare)
{
    uint32_t groups =
        (uint32_t)(drive_banks_count(drive) / drive->stripe_banks_count);
    uint32_t logical = mapping_logical_blocks(drive);
    uint32_t spared = mapping_spared_blocks(drive);
    uint32_t least = (logical + groups - 1) / groups + least_spare;
    uint32_t per_group = (spared + groups - 1) / groups;

    return (per_group > least ? per_group : least) * groups;
}

void mapping_init(struct mapping *mapping, const struct mapping_ops *ops,
                  const struct drive *drive, struct array *array)
{
    uint64_t unit_bytes = drive->clustered_page_bytes;

    mapping->ops = ops;
    mapping->array = array;
    mapping->unit_bytes = (uint32_t)unit_bytes;
    mapping->unit_pages_count = (uint32_t)(unit_bytes / array->page_bytes);
    mapping->block_units_count = (uint32_t)(array->block_bytes / unit_bytes);
    mapping->units_count =
        (drive->capacity_bytes + unit_bytes - 1) / unit_bytes;
    mapping->reads_rest = !drive->sector_update;
    mapping->copy_inside = drive->merge_copy == MERGE_COPY_BANK;
}

uint64_t mapping_read_rest(struct mapping *mapping, uint64_t unit,
                           uint32_t first_byte, uint32_t length_bytes,
                           uint64_t begin_ns)
{
    uint64_t page_bytes = mapping->array->page_bytes;
    uint64_t done = begin_ns;

    if (!mapping->reads_rest || length_bytes == mapping->unit_bytes)
        return begin_ns;
    for (uint32_t page = 0; page < mapping->unit_pages_count; page++) {
        uint64_t from = page * page_bytes, to = from + page_bytes;
        uint32_t block, block_page;
        if (first_byte <= from && first_byte + (uint64_t)length_bytes >= to)
            continue;
        if (!mapping->ops->locate(mapping, unit, page, &block, &block_page))
            continue;
        uint64_t read = array_read(mapping->array, block, block_page, begin_ns);
        done = read > done ? read : done;
    }
    array_then(mapping->array);
    if (mapping->array->why)
        array_part_end(mapping->array);
    return done;
}

void mapping_note_content(struct mapping *mapping, uint64_t unit,
                          uint32_t block, uint32_t slot)
{
    uint64_t page_bytes = mapping->array->page_bytes;
    uint32_t pages = mapping->unit_pages_count;

    if (!mapping->content)
        return;
    for (uint32_t page = 0; page < pages; page++)
        array_set_zero_parts(
            mapping->array, block, slot * pages + page,
            content_zero_units(mapping->content,
                               unit * mapping->unit_bytes + page * page_bytes,
                               page_bytes));
}

uint64_t mapping_program(struct mapping *mapping, uint32_t block, uint32_t slot,
                         uint64_t begin_ns)
{
    uint64_t done = begin_ns;

    for (uint32_t page = 0; page < mapping->unit_pages_count; page++) {
        uint64_t programmed =
            array_program(mapping->array, block,
                          slot * mapping->unit_pages_count + page, begin_ns);
        done = programmed > done ? programmed : done;
    }
    array_then(mapping->array);
    if (mapping->array->why)
        array_part_end(mapping->array);
    return done;
}
