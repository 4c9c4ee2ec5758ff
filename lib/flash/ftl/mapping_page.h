/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_MAPPING_PAGE_H
#define SSDPROBE_FLASH_MAPPING_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/flash/nand/array.h"
#include "lib/flash/nand/divisor.h"
#include "lib/flash/ftl/hotness.h"
#include "lib/flash/ftl/ledger.h"
#include "lib/flash/ftl/mapping.h"
#include "lib/flash/ftl/table.h"

/*
 * Page mapping: every unit may lie anywhere. Units of one level of hotness
 * share blocks; when few blocks are free, victims are cleaned in the
 * foreground, one at a time (Lee & Kim, algorithm 1; Dirik 6.8). What the
 * host's side of it (mapping_page.c) and cleaning (mapping_page_clean.c) share.
 */

#define PAGE_NOWHERE UINT32_MAX

/* A block that takes units. */
struct open_block {
    uint32_t block, slot; /* slot == block_units_count: full, not closed yet */
};

struct page_mapping {
    struct mapping base;
    struct ledger ledger;
    struct divisor units;      /* of a block */
    struct table slot_of_unit; /* block * block_units + slot, PAGE_NOWHERE */
    struct table unit_of_slot; /* what was put there; valid if that agrees */
    uint32_t *free_blocks;     /* a ring: erased longest ago is used first */
    uint32_t free_head, free_count;
    const struct victim_ops *victim;
    struct hotness *hotness; /* NULL: one level */
    uint32_t levels_count;
    /* For the host's writes by level, then for cleaning's: the same ones where
     * they share their blocks. */
    struct open_block open[2 * HOTNESS_LEVELS_MAX];
    uint32_t cleaning_offset; /* of cleaning's in `open` */
    struct array_move *moves; /* scratch of one victim */
    uint32_t threshold_count, idle_target_count;
    uint32_t
        imposed_pages_count; /* that cleaning copies; PAGE_NOWHERE: the valid */
    uint32_t first_slot;     /* of the first write: the phase of the blocks */
    uint32_t wear_gap_count, wear_cursor;
    uint64_t cleaning_free_ns, erased_ns; /* of the block cleaned last */
};

static inline struct page_mapping *page_mapping(struct mapping *mapping)
{
    return (struct page_mapping *)mapping;
}

/* A free block for units of a level, and one that is free again. */
uint32_t page_mapping_take(struct page_mapping *map, uint32_t level);
void page_mapping_release(struct page_mapping *map, uint32_t block);

/* Cleans until enough blocks are free; `*begin_ns` moves to when they are. */
void page_mapping_clean(struct page_mapping *map, uint64_t *begin_ns);

/* Cleans in the background for as long as nobody asks for anything. */
void page_mapping_clean_idle(struct mapping *mapping, uint64_t from_ns,
                             uint64_t until_ns);

/* The unit lies there now. */
static inline void page_mapping_put(struct page_mapping *map, uint64_t unit,
                                    uint32_t block, uint32_t block_slot)
{
    uint32_t slot = block * map->base.block_units_count + block_slot;

    table_put(&map->slot_of_unit, unit, slot);
    table_put(&map->unit_of_slot, slot, (uint32_t)unit);
    table_expect_put(&map->unit_of_slot, slot + 64);
    map->ledger.blocks[block].valid_count++;
}

#endif
