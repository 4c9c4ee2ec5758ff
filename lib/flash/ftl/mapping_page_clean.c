/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cleaning where pages are mapped: which block, where its units go, and
 * when. */
#include "lib/flash/ftl/mapping_page.h"

#include <assert.h>
#include <string.h>

void page_mapping_release(struct page_mapping *map, uint32_t block)
{
    uint32_t blocks = map->base.array->blocks_count;
    uint32_t tail = map->free_head + map->free_count;

    map->free_blocks[tail < blocks ? tail : tail - blocks] = block;
    map->free_count++;
}

uint32_t page_mapping_take(struct page_mapping *map, uint32_t level)
{
    uint32_t block = map->free_blocks[map->free_head];

    assert(map->free_count > 0);
    if (++map->free_head == map->base.array->blocks_count)
        map->free_head = 0;
    map->free_count--;
    if (map->hotness && map->hotness->ops->opened)
        map->hotness->ops->opened(map->hotness, block, level);
    return block;
}

/* One block each time is looked at: has it been spared for too long? */
static uint32_t worn_least(struct page_mapping *map)
{
    const struct array *array = map->base.array;
    uint32_t block = map->wear_cursor++ % array->blocks_count;
    uint64_t mean =
        array->statistics->blocks_erased_count / array->blocks_count;

    if (!map->wear_gap_count || !ledger_is_closed(&map->ledger, block) ||
        array->blocks[block].erase_count + map->wear_gap_count > mean)
        return LEDGER_NONE;
    return block;
}

/* The open block of cleaning for a level, with room. */
static struct open_block *cleaning_block(struct page_mapping *map,
                                         uint32_t level)
{
    struct open_block *open = &map->open[map->cleaning_offset + level];

    if (open->slot == map->base.block_units_count) {
        ledger_close(&map->ledger, open->block);
        open->block = page_mapping_take(map, level);
        open->slot = 0;
    }
    return open;
}

/* Does the copy take its own time, or is a share imposed (Dirik 6.8)? */
static uint64_t copy_run(struct page_mapping *map, uint32_t count,
                         uint32_t to_block, uint64_t begin_ns)
{
    if (count == 0)
        return begin_ns;
    if (map->imposed_pages_count != PAGE_NOWHERE) {
        array_note_moves(map->base.array, map->moves, count, to_block,
                         begin_ns);
        return begin_ns;
    }
    return array_copy(map->base.array, map->moves, count, to_block,
                      map->base.copy_inside, begin_ns);
}

/* Moves the victim's units, each to the open block of its level: in runs that
 * share a block. */
static uint64_t move_units(struct page_mapping *map, uint32_t from,
                           uint64_t begin_ns)
{
    uint32_t units = map->base.block_units_count;
    uint32_t pages = map->base.unit_pages_count, count = 0;
    uint32_t to = PAGE_NOWHERE;
    const uint64_t first = (uint64_t)from * units;

    for (uint32_t slot = 0; slot < units; slot++)
        if (table_get(&map->unit_of_slot, first + slot) != PAGE_NOWHERE)
            table_expect_put(&map->slot_of_unit,
                             table_get(&map->unit_of_slot, first + slot));
    for (uint32_t slot = 0; slot < units; slot++) {
        uint32_t unit = table_get(&map->unit_of_slot, first + slot);
        if (unit == PAGE_NOWHERE ||
            table_get(&map->slot_of_unit, unit) != from * units + slot)
            continue;
        uint32_t level =
            map->hotness ? map->hotness->ops->moved(map->hotness, unit, from)
                         : 0;
        struct open_block *open = cleaning_block(map, level);
        if (open->block != to) {
            begin_ns = copy_run(map, count, to, begin_ns);
            count = 0;
            to = open->block;
        }
        for (uint32_t page = 0; page < pages; page++)
            map->moves[count++] = (struct array_move){
                from, slot * pages + page, open->slot * pages + page};
        map->ledger.blocks[from].valid_count--;
        page_mapping_put(map, unit, to, open->slot++);
    }
    return copy_run(map, count, to, begin_ns);
}

/* Cleans one block; false when none has anything to gain. */
static bool clean_one(struct page_mapping *map, uint64_t *begin_ns)
{
    ledger_settle(&map->ledger);
    uint32_t from = worn_least(map);

    if (from == LEDGER_NONE)
        from = map->victim->choose(&map->ledger);
    if (from == LEDGER_NONE)
        return false;
    ledger_reopen(&map->ledger, from);
    uint64_t began = *begin_ns;
    array_begin_chore(map->base.array);
    *begin_ns = move_units(map, from, began);
    if (map->imposed_pages_count != PAGE_NOWHERE)
        *begin_ns = array_burden(map->base.array, from,
                                 map->imposed_pages_count, began);
    assert(map->ledger.blocks[from].valid_count == 0);
    /* The host need not wait for the erase; the banks are busy with it. */
    map->erased_ns = array_erase(map->base.array, from, *begin_ns);
    array_end_chore(map->base.array);
    if (map->base.array->interleave)
        map->erased_ns = began + map->base.array->chore_ns;
    for (uint32_t slot = 0; slot < map->base.block_units_count; slot++)
        table_put(&map->unit_of_slot,
                  (uint64_t)from * map->base.block_units_count + slot,
                  PAGE_NOWHERE);
    page_mapping_release(map, from);
    map->base.array->statistics->blocks_cleaned_count++;
    return true;
}

void page_mapping_clean(struct page_mapping *map, uint64_t *begin_ns)
{
    bool cleaned = true;
    uint64_t began = *begin_ns;

    if (map->free_count >= map->threshold_count)
        return;
    if (map->cleaning_free_ns > *begin_ns)
        *begin_ns = map->cleaning_free_ns;
    while (map->free_count < map->threshold_count && cleaned)
        cleaned = clean_one(map, begin_ns);
    /* The spare blocks promise a victim with something to gain. */
    assert(cleaned);
    map->cleaning_free_ns = *begin_ns;
    if (map->base.array->why)
        map->base.array->why->clean_ns += *begin_ns - began;
}

void page_mapping_clean_idle(struct mapping *mapping, uint64_t from_ns,
                             uint64_t until_ns)
{
    struct page_mapping *map = page_mapping(mapping);

    if (map->cleaning_free_ns > from_ns)
        from_ns = map->cleaning_free_ns;
    while (from_ns < until_ns && map->free_count < map->idle_target_count) {
        if (!clean_one(map, &from_ns))
            return;
        from_ns = map->cleaning_free_ns = map->erased_ns;
    }
}
