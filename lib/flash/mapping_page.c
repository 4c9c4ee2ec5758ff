/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Page mapping: every unit may lie anywhere. Units of one level of hotness
 * share blocks; when few blocks are free, victims are cleaned in the
 * foreground, one at a time (Lee & Kim, algorithm 1; Dirik 6.8).
 */
#include "lib/flash/mapping.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/flash/divisor.h"
#include "lib/flash/hotness.h"
#include "lib/flash/ledger.h"
#include "lib/flash/table.h"

#define NOWHERE UINT32_MAX

/* A block that takes units. */
struct open_block {
    uint32_t block, slot; /* slot == block_units_count: full, not closed yet */
};

struct page_mapping {
    struct mapping base;
    struct ledger ledger;
    struct divisor units;   /* of a block */
    uint32_t *slot_of_unit; /* block * block_units + slot, or NOWHERE */
    uint32_t *unit_of_slot; /* what was put there; valid if that agrees */
    uint32_t *free_blocks;  /* a ring: erased longest ago is used first */
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
    uint32_t imposed_pages_count; /* that cleaning copies; NOWHERE: the valid */
    uint32_t first_slot; /* of the first write: the phase of the blocks */
    uint32_t wear_gap_count, wear_cursor;
    uint64_t cleaning_free_ns, erased_ns; /* of the block cleaned last */
};

static struct page_mapping *page_mapping(struct mapping *mapping)
{
    return (struct page_mapping *)mapping;
}

static void release(struct page_mapping *map, uint32_t block)
{
    uint32_t blocks = map->base.array->blocks_count;
    uint32_t tail = map->free_head + map->free_count;

    map->free_blocks[tail < blocks ? tail : tail - blocks] = block;
    map->free_count++;
}

/* A free block for units of a level. */
static uint32_t take_free(struct page_mapping *map, uint32_t level)
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

/* The unit is no longer where it was. */
static void invalidate(struct page_mapping *map, uint64_t unit)
{
    uint32_t slot = map->slot_of_unit[unit];

    if (slot == NOWHERE)
        return;
    ledger_lose(&map->ledger, quotient(slot, map->units), 1);
    map->slot_of_unit[unit] = NOWHERE;
}

static void validate(struct page_mapping *map, uint64_t unit, uint32_t block,
                     uint32_t block_slot)
{
    uint32_t slot = block * map->base.block_units_count + block_slot;

    map->slot_of_unit[unit] = slot;
    map->unit_of_slot[slot] = (uint32_t)unit;
    map->ledger.blocks[block].valid_count++;
}

/* ---- cleaning ----------------------------------------------------------- */

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
        open->block = take_free(map, level);
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
    if (map->imposed_pages_count != NOWHERE) {
        array_note_moves(map->base.array, map->moves, count, to_block);
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
    uint32_t to = NOWHERE;
    const uint32_t *unit_at = &map->unit_of_slot[(size_t)from * units];

    for (uint32_t slot = 0; slot < units; slot++)
        if (unit_at[slot] != NOWHERE)
            __builtin_prefetch(&map->slot_of_unit[unit_at[slot]], 1);
    for (uint32_t slot = 0; slot < units; slot++) {
        uint32_t unit = unit_at[slot];
        if (unit == NOWHERE || map->slot_of_unit[unit] != from * units + slot)
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
        validate(map, unit, to, open->slot++);
    }
    return copy_run(map, count, to, begin_ns);
}

/* Cleans one block; false when none has anything to gain. */
static bool clean_one(struct page_mapping *map, uint64_t *begin_ns)
{
    uint32_t from = worn_least(map);

    if (from == LEDGER_NONE)
        from = map->victim->choose(&map->ledger);
    if (from == LEDGER_NONE)
        return false;
    ledger_reopen(&map->ledger, from);
    uint64_t began = *begin_ns;
    *begin_ns = move_units(map, from, began);
    if (map->imposed_pages_count != NOWHERE)
        *begin_ns = array_burden(map->base.array, from,
                                 map->imposed_pages_count, began);
    assert(map->ledger.blocks[from].valid_count == 0);
    /* The host need not wait for the erase; the banks are busy with it. */
    map->erased_ns = array_erase(map->base.array, from, *begin_ns);
    memset(&map->unit_of_slot[(size_t)from * map->base.block_units_count], 0xff,
           map->base.block_units_count * sizeof(uint32_t));
    release(map, from);
    map->base.array->statistics->blocks_cleaned_count++;
    return true;
}

static void clean_to_threshold(struct page_mapping *map, uint64_t *begin_ns)
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

static void renew(struct page_mapping *map, uint32_t level)
{
    map->open[level] = (struct open_block){take_free(map, level), 0};
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
        clean_to_threshold(map, begin_ns);
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
    uint32_t slot = map->slot_of_unit[unit];

    if (slot == NOWHERE)
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

    __builtin_prefetch(&map->slot_of_unit[unit]);
}

static uint32_t level_of(struct page_mapping *map, uint64_t unit)
{
    uint32_t slot = map->slot_of_unit[unit];

    if (!map->hotness)
        return 0;
    return map->hotness->ops->written(
        map->hotness, unit,
        slot == NOWHERE ? NOWHERE : quotient(slot, map->units));
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
    validate(map, unit, open->block, open->slot);
    mapping_note_content(mapping, unit, open->block, open->slot);
    return mapping_program(mapping, open->block, open->slot++, begin_ns);
}

/* Units that lie one behind the other are forgotten in one go. */
static void invalidate_run(struct page_mapping *map, uint64_t unit,
                           uint32_t count)
{
    uint32_t units = map->base.block_units_count;

    while (count > 0) {
        const uint32_t *slots = &map->slot_of_unit[unit];
        uint32_t run = 1;
        if (slots[0] != NOWHERE) {
            uint32_t block = quotient(slots[0], map->units);
            uint32_t room = units - (slots[0] - block * units);
            uint32_t most = room < count ? room : count;
            while (run < most && slots[run] == slots[0] + run)
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

    if (map->hotness || mapping->content || mapping->array->cache_program)
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
        map->slot_of_unit[unit + i] = slot + i;
        map->unit_of_slot[slot + i] = (uint32_t)(unit + i);
    }
    map->ledger.blocks[open->block].valid_count += count;
    *done_ns = array_program_run(mapping->array, open->block,
                                 open->slot * pages, count, pages, arrival);
    open->slot += count;
    return count;
}

static void discard_unit(struct mapping *mapping, uint64_t unit)
{
    invalidate(page_mapping(mapping), unit);
}

/* Cleans in the background for as long as nobody asks for anything. */
static void clean_when_idle(struct mapping *mapping, uint64_t from_ns,
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

/* Every unit mapped by one sequential pass over the drive. */
static void fill(struct page_mapping *map)
{
    uint32_t units = map->base.block_units_count, block = 0;
    uint64_t left = map->base.units_count;

    for (uint32_t unit = 0; unit < left; unit++)
        map->slot_of_unit[unit] = map->unit_of_slot[unit] = unit;
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
            release(map, block);
        }
    }
    for (uint32_t i = 0; i < opened; i++)
        map->open[i].block = take_free(map, i % map->levels_count);
    map->open[0].slot = map->first_slot;
}

static void destroy(struct mapping *mapping)
{
    struct page_mapping *map = page_mapping(mapping);

    if (!map)
        return;
    if (map->hotness)
        map->hotness->ops->destroy(map->hotness);
    table_free(map->slot_of_unit, map->base.units_count);
    table_free(map->unit_of_slot, (uint64_t)map->base.array->blocks_count *
                                      map->base.block_units_count);
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
    map->imposed_pages_count = NOWHERE;
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
    map->slot_of_unit = table_of(map->base.units_count, NOWHERE);
    map->unit_of_slot = table_of(
        (uint64_t)array->blocks_count * map->base.block_units_count, NOWHERE);
    map->free_blocks = malloc(array->blocks_count * sizeof(uint32_t));
    map->moves = malloc(array->stripe_pages_count * sizeof(*map->moves));
    if (!map->slot_of_unit || !map->unit_of_slot || !map->free_blocks ||
        !map->moves || create_hotness(map, drive) ||
        ledger_create(&map->ledger, array->blocks_count,
                      map->base.block_units_count)) {
        destroy(&map->base);
        return -ENOMEM;
    }
    lay_out(map, drive->initial_state == INITIAL_WRITTEN);
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
    .discard = discard_unit,
    .idle = clean_when_idle,
    .memory_bytes = memory_bytes,
    .hotness = hotness_of,
};
