/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Page mapping: where units lie and where they are written to. */
#include "lib/flash/ftl/mapping_page.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/base/random.h"

/* The unit is no longer where it was. */
static void invalidate(struct page_mapping *map, uint64_t unit)
{
    uint32_t slot = table_get(&map->slot_of_unit, unit);

    if (slot == PAGE_NOWHERE)
        return;
    ledger_lose_late(&map->ledger, quotient(slot, map->units));
    table_put(&map->slot_of_unit, unit, PAGE_NOWHERE);
}

static void renew(struct page_mapping *map, uint32_t level)
{
    map->open[level] = (struct open_block){page_mapping_take(map, level), 0};
}

/* The open block of the host for a level, with room. */
static struct open_block *host_block(struct page_mapping *map, uint32_t level,
                                     uint64_t *begin_ns)
{
    struct open_block *open = &map->open[level];
    bool shared = map->cleaning_offset == 0;

    while (open->slot == map->base.block_units_count) {
        ledger_close(&map->ledger, open->block);
        if (shared)
            renew(map, level); /* cleaning may fill it again */
        page_mapping_clean(map, begin_ns);
        if (!shared)
            renew(map, level);
    }
    return open;
}

/* ---- the host's side ---------------------------------------------------- */

static bool locate(const struct mapping *mapping, uint64_t unit, uint32_t page,
                   uint32_t *block, uint32_t *block_page)
{
    const struct page_mapping *map = (const struct page_mapping *)mapping;
    uint32_t slot = table_get(&map->slot_of_unit, unit);

    if (slot == PAGE_NOWHERE)
        return false;
    *block = quotient(slot, map->units);
    *block_page = (slot - *block * mapping->block_units_count) *
                      mapping->unit_pages_count +
                  page;
    return true;
}

static void expect(const struct mapping *mapping, uint64_t unit)
{
    const struct page_mapping *map = (const struct page_mapping *)mapping;

    table_expect(&map->slot_of_unit, unit);
}

static uint32_t level_of(struct page_mapping *map, uint64_t unit)
{
    uint32_t slot = table_get(&map->slot_of_unit, unit);

    if (!map->hotness)
        return 0;
    return map->hotness->ops->written(
        map->hotness, unit,
        slot == PAGE_NOWHERE ? PAGE_NOWHERE : quotient(slot, map->units));
}

static uint64_t write_unit(struct mapping *mapping, uint64_t unit,
                           uint32_t first_byte, uint32_t length_bytes,
                           uint64_t begin_ns)
{
    struct page_mapping *map = page_mapping(mapping);

    begin_ns =
        mapping_read_rest(mapping, unit, first_byte, length_bytes, begin_ns);
    struct open_block *open = host_block(map, level_of(map, unit), &begin_ns);
    map->ledger.writes_stamp++;
    invalidate(map, unit);
    page_mapping_put(map, unit, open->block, open->slot);
    mapping_note_content(mapping, unit, open->block, open->slot);
    return mapping_program(mapping, open->block, open->slot++, begin_ns);
}

/* Units that lie one behind the other are forgotten in one go. */
static void invalidate_run(struct page_mapping *map, uint64_t unit,
                           uint32_t count)
{
    uint32_t units = map->base.block_units_count;

    ledger_settle(&map->ledger);
    while (count > 0) {
        const uint32_t slot = table_get(&map->slot_of_unit, unit);
        uint32_t run = 1;
        if (slot != PAGE_NOWHERE) {
            uint32_t block = quotient(slot, map->units);
            uint32_t room = units - (slot - block * units);
            uint32_t most = room < count ? room : count;
            while (run < most &&
                   table_get(&map->slot_of_unit, unit + run) == slot + run)
                run++;
            ledger_lose(&map->ledger, block, run);
        }
        unit += run;
        count -= run;
    }
}

/* As many whole units as the open block takes, at the pace of the link. */
static uint32_t write_run(struct mapping *mapping, uint64_t unit,
                          uint32_t count, struct array_arrival *arrival,
                          uint64_t *done_ns)
{
    struct page_mapping *map = page_mapping(mapping);
    uint32_t pages = mapping->unit_pages_count;

    if (map->hotness || mapping->content || mapping->array->cache_program ||
        mapping->array->layout || mapping->array->interleave)
        return 0;
    struct open_block *open = &map->open[0];
    uint32_t room = mapping->block_units_count - open->slot;
    count = room < count ? room : count;
    if (count < 2)
        return 0;
    map->ledger.writes_stamp += count;
    invalidate_run(map, unit, count);
    uint32_t slot = open->block * mapping->block_units_count + open->slot;
    for (uint32_t i = 0; i < count; i++) {
        table_put(&map->slot_of_unit, unit + i, slot + i);
        table_put(&map->unit_of_slot, slot + i, (uint32_t)(unit + i));
    }
    map->ledger.blocks[open->block].valid_count += count;
    *done_ns = array_program_run(mapping->array, open->block,
                                 open->slot * pages, count, pages, arrival);
    open->slot += count;
    return count;
}

/* What cleaning moved is not waited for: its source is lost only with the
 * controller's memory. */
static uint64_t settle(struct mapping *mapping, uint64_t begin_ns)
{
    struct page_mapping *map = page_mapping(mapping);
    uint32_t pages = mapping->unit_pages_count;
    uint64_t done = begin_ns;

    for (uint32_t i = 0; i < map->levels_count; i++) {
        struct open_block *open = &map->open[i];
        uint32_t page = open->slot * pages;
        if (open->slot == mapping->block_units_count)
            continue;
        uint64_t one =
            array_complete_row(mapping->array, open->block, &page, begin_ns);
        done = one > done ? one : done;
        open->slot = page / pages;
    }
    return done;
}

static void discard_unit(struct mapping *mapping, uint64_t unit)
{
    invalidate(page_mapping(mapping), unit);
}

/* ---- making and unmaking ------------------------------------------------ */

static uint32_t levels_of(const struct drive *drive)
{
    const struct hotness_ops *ops = hotness_ops(drive);
    return ops ? ops->levels_count(drive) : 1;
}

static uint32_t open_blocks_of(const struct drive *drive)
{
    return levels_of(drive) * (drive->cleaning_blocks == CLEANING_OWN ? 2 : 1);
}

/* While a victim is cleaned each level may need a block of its own. */
static uint32_t threshold_of(const struct drive *drive)
{
    uint32_t least = levels_of(drive) + 1;
    uint32_t asked = (uint32_t)drive->free_blocks_threshold_count;
    return asked > least ? asked : least;
}

static uint32_t blocks_count(const struct drive *drive)
{
    uint32_t spared = mapping_spared_blocks(drive);
    /* The open blocks, and one more so that a victim always has invalid units;
     * the first block may begin in its middle. */
    uint32_t least = mapping_logical_blocks(drive) + threshold_of(drive) +
                     open_blocks_of(drive) + 1 + (drive->initial_phase != 0);
    uint32_t groups =
        (uint32_t)(drive->channels_count * drive->banks_per_channel_count /
                   drive->stripe_banks_count);
    uint32_t blocks = spared > least ? spared : least;
    return (blocks + groups - 1) / groups * groups;
}

/* Every unit mapped by one sequential pass over the drive, as the tables have
 * it. */
static void fill(struct page_mapping *map)
{
    uint32_t units = map->base.block_units_count, block = 0;
    uint64_t left = map->base.units_count;

    for (; left > 0; left -= map->ledger.blocks[block++].valid_count)
        map->ledger.blocks[block].valid_count =
            left < units ? (uint32_t)left : units;
}

static void lay_out(struct page_mapping *map, bool written)
{
    struct array *array = map->base.array;
    uint32_t units = map->base.block_units_count;
    uint32_t filled = 0, opened = map->levels_count + map->cleaning_offset;

    assert(units > 0);
    if (written) {
        fill(map);
        filled = (uint32_t)((map->base.units_count + units - 1) / units);
    }
    for (uint32_t block = 0; block < array->blocks_count; block++) {
        if (block < filled) {
            array_preset(array, block, array->stripe_pages_count);
            ledger_close(&map->ledger, block);
        } else {
            page_mapping_release(map, block);
        }
    }
    for (uint32_t i = 0; i < opened; i++)
        map->open[i].block = page_mapping_take(map, i % map->levels_count);
    map->open[0].slot = map->first_slot;
}

static void destroy(struct mapping *mapping)
{
    struct page_mapping *map = page_mapping(mapping);

    if (!map)
        return;
    if (map->hotness)
        map->hotness->ops->destroy(map->hotness);
    table_free(&map->slot_of_unit);
    table_free(&map->unit_of_slot);
    ledger_destroy(&map->ledger);
    free(map->free_blocks);
    free(map->moves);
    free(map);
}

static void configure(struct page_mapping *map, const struct drive *drive)
{
    uint32_t units = map->base.block_units_count;

    map->units = divisor_of(units);
    map->levels_count = levels_of(drive);
    map->cleaning_offset =
        drive->cleaning_blocks == CLEANING_OWN ? map->levels_count : 0;
    map->threshold_count = threshold_of(drive);
    map->idle_target_count = (uint32_t)drive->idle_free_blocks_count;
    map->victim = victim_ops(drive->victim);
    map->wear_gap_count = (uint32_t)drive->wear_gap_count;
    map->imposed_pages_count = PAGE_NOWHERE;
    if (drive->cleaning_efficiency_percent)
        map->imposed_pages_count =
            (uint32_t)(((100 - drive->cleaning_efficiency_percent) *
                            map->base.array->stripe_pages_count +
                        50) /
                       100);
    if (drive->initial_phase == PHASE_SEED)
        map->first_slot = (uint32_t)(random_mix(drive->seed) % units);
}

static int create_hotness(struct page_mapping *map, const struct drive *drive)
{
    const struct hotness_ops *ops = hotness_ops(drive);
    const struct hotness_geometry geometry = {map->base.units_count,
                                              map->base.array->blocks_count};

    return ops ? ops->create(drive, &geometry, &map->hotness) : 0;
}

static int create(const struct drive *drive, struct array *array,
                  struct mapping **mapping)
{
    struct page_mapping *map = calloc(1, sizeof(*map));

    if (!map)
        return -ENOMEM;
    mapping_init(&map->base, &mapping_page_ops, drive, array);
    configure(map, drive);
    const bool written = drive->initial_state == INITIAL_WRITTEN;
    const uint64_t filled = written ? map->base.units_count : 0;
    const uint64_t slots_count =
        (uint64_t)array->blocks_count * map->base.block_units_count;
    map->free_blocks = malloc(array->blocks_count * sizeof(uint32_t));
    map->moves = malloc(array->stripe_pages_count * sizeof(*map->moves));
    if (table_create(&map->slot_of_unit, map->base.units_count, filled) ||
        table_create(&map->unit_of_slot, slots_count, filled) ||
        !map->free_blocks || !map->moves || create_hotness(map, drive) ||
        ledger_create(&map->ledger, array->blocks_count,
                      map->base.block_units_count)) {
        destroy(&map->base);
        return -ENOMEM;
    }
    lay_out(map, written);
    *mapping = &map->base;
    return 0;
}

static uint64_t memory_bytes(const struct mapping *mapping)
{
    const struct page_mapping *map = (const struct page_mapping *)mapping;
    uint64_t blocks = mapping->array->blocks_count;

    return mapping->units_count * sizeof(uint32_t) +
           blocks * mapping->block_units_count * sizeof(uint32_t) +
           blocks * sizeof(uint32_t) + ledger_memory_bytes(&map->ledger);
}

static const struct hotness *hotness_of(const struct mapping *mapping)
{
    return ((const struct page_mapping *)mapping)->hotness;
}

const struct mapping_ops mapping_page_ops = {
    .name = "page",
    .blocks_count = blocks_count,
    .create = create,
    .destroy = destroy,
    .locate = locate,
    .expect = expect,
    .write = write_unit,
    .write_run = write_run,
    .settle = settle,
    .discard = discard_unit,
    .idle = page_mapping_clean_idle,
    .memory_bytes = memory_bytes,
    .hotness = hotness_of,
};
