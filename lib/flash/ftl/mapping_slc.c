/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pseudo-SLC cache: some blocks whose cells hold one bit, in front of another
 * mapping. Fewer pages of a block are used so, and each is programmed and read
 * faster. They take what the host writes, in order; when nobody asks for
 * anything, or when all are full, the oldest is folded: what is still valid
 * there goes to the mapping behind, through the controller, at the pace of
 * cells with all their bits. Writes may also go past a full cache; and a drive
 * that fills up takes blocks back, which are folded while it is written to.
 */
#include "lib/flash/ftl/mapping.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/flash/drive/geometry.h"
#include "lib/flash/nand/divisor.h"
#include "lib/flash/ftl/table.h"

#define NOWHERE UINT32_MAX

struct slc_mapping {
    struct mapping base;
    struct mapping *behind;
    struct table slot_of_unit; /* NOWHERE: it is behind */
    struct table unit_of_slot;
    struct divisor units;    /* of a block used so */
    uint32_t oldest, filled; /* a ring of blocks; the one behind them is open */
    uint32_t open_slot;
    uint32_t turn_blocks_count, fast_blocks_count;
    bool bypass, gives_back;
    uint32_t past_block; /* that the last write past it went to; NOWHERE */
    /* Blocks that a full drive leaves; units that are in use, where that is
     * less than all. */
    uint32_t least_blocks_count;
    uint64_t used_count, shrink_from_count;
    uint64_t folded_ns; /* one after the other */
};

static struct slc_mapping *slc_mapping(struct mapping *mapping)
{
    return (struct slc_mapping *)mapping;
}

static uint64_t slots_count(const struct slc_mapping *map)
{
    return (uint64_t)map->base.array->slc_blocks_count * map->units.by;
}

static uint32_t ring_block(const struct slc_mapping *map, uint32_t place)
{
    uint32_t at = map->oldest + place;
    uint32_t blocks = map->base.array->slc_blocks_count;

    return at < blocks ? at : at - blocks;
}

static bool shrinks(const struct slc_mapping *map)
{
    return map->least_blocks_count < map->base.array->slc_blocks_count;
}

/* The blocks that the cache has now: the emptier the drive, the more. */
static uint32_t blocks_now(const struct slc_mapping *map)
{
    uint32_t all = map->base.array->slc_blocks_count;
    uint32_t least = map->least_blocks_count;
    uint64_t empty = map->base.units_count - map->used_count;
    uint64_t range = map->base.units_count - map->shrink_from_count;

    if (!shrinks(map) || empty > range)
        return all;
    return least + (uint32_t)((all - least) * empty / range);
}

static bool is_full(const struct slc_mapping *map)
{
    return map->filled >= blocks_now(map);
}

static bool locate(const struct mapping *mapping, uint64_t unit, uint32_t page,
                   uint32_t *block, uint32_t *block_page)
{
    const struct slc_mapping *map = (const struct slc_mapping *)mapping;
    uint32_t slot = table_get(&map->slot_of_unit, unit);

    if (slot == NOWHERE)
        return map->behind->ops->locate(map->behind, unit, page, block,
                                        block_page);
    uint32_t at = quotient(slot, map->units);
    *block = mapping->array->blocks_count + at;
    *block_page =
        (slot - at * map->units.by) * mapping->unit_pages_count + page;
    return true;
}

static bool is_used(const struct slc_mapping *map, uint64_t unit)
{
    uint32_t block, page;

    return locate(&map->base, unit, 0, &block, &page);
}

static void expect(const struct mapping *mapping, uint64_t unit)
{
    const struct slc_mapping *map = (const struct slc_mapping *)mapping;

    table_expect(&map->slot_of_unit, unit);
    if (map->behind->ops->expect)
        map->behind->ops->expect(map->behind, unit);
}

/* Each unit goes to the mapping behind as a write of its own. */
static uint64_t write_behind(struct slc_mapping *map, uint64_t unit,
                             uint64_t begin_ns)
{
    struct mapping *behind = map->behind;

    if (behind->ops->begin_write)
        behind->ops->begin_write(behind);
    return behind->ops->write(behind, unit, 0, behind->unit_bytes, begin_ns);
}

/* A unit from its slot to the mapping behind. */
static uint64_t fold_unit(struct slc_mapping *map, uint32_t unit,
                          uint64_t begin_ns)
{
    struct mapping *behind = map->behind;
    uint32_t block, page;
    uint64_t read_ns = begin_ns;

    for (uint32_t i = 0; i < behind->unit_pages_count; i++) {
        locate(&map->base, unit, i, &block, &page);
        uint64_t one = array_read(map->base.array, block, page, begin_ns);
        read_ns = one > read_ns ? one : read_ns;
    }
    array_then(map->base.array);
    map->base.array->statistics->pages_copied_count += behind->unit_pages_count;
    table_put(&map->slot_of_unit, unit, NOWHERE);
    return write_behind(map, unit, read_ns);
}

/* The oldest block; when what was valid there is safe elsewhere. */
static uint64_t fold(struct slc_mapping *map, uint64_t begin_ns)
{
    struct array *array = map->base.array;
    uint32_t first = map->oldest * map->units.by;
    bool waits = map->folded_ns > begin_ns && !array->interleave;
    uint64_t from_ns = waits ? map->folded_ns : begin_ns, done = from_ns;

    assert(map->filled > 0);
    array_begin_chore(array);
    for (uint32_t slot = first; slot < first + map->units.by; slot++) {
        uint32_t unit = table_get(&map->unit_of_slot, slot);
        if (unit != NOWHERE)
            expect(&map->base, unit);
    }
    for (uint32_t slot = first; slot < first + map->units.by; slot++) {
        uint32_t unit = table_get(&map->unit_of_slot, slot);
        if (unit == NOWHERE || table_get(&map->slot_of_unit, unit) != slot)
            continue;
        uint64_t one = fold_unit(map, unit, from_ns);
        done = one > done ? one : done;
    }
    for (uint32_t slot = first; slot < first + map->units.by; slot++)
        table_put(&map->unit_of_slot, slot, NOWHERE);
    /* The host need not wait for the erase; the banks are busy with it. */
    array_erase(array, array->blocks_count + map->oldest, done);
    array_end_chore(array);
    array->statistics->blocks_folded_count++;
    map->oldest = ring_block(map, 1);
    map->filled--;
    map->folded_ns = array->interleave ? from_ns + array->chore_ns : done;
    return done;
}

/* A write that must wait for it: all that counts as cleaning. */
static uint64_t fold_for_room(struct slc_mapping *map, uint64_t begin_ns)
{
    struct flash_why *why = map->base.array->why;
    struct flash_why before = why ? *why : (struct flash_why){0};
    uint32_t first = map->base.array->blocks_count, folded = map->oldest;
    uint64_t done = fold(map, begin_ns);

    /* What comes next waits for the erase: in the cache, which may have other
     * blocks after it shrank but no room for more, or behind it. */
    array_replace(map->base.array,
                  map->past_block == NOWHERE
                      ? first + ring_block(map, map->filled)
                      : map->past_block,
                  first + folded);

    if (why) {
        *why = before;
        why->clean_ns += done - begin_ns;
        array_part_begin(map->base.array);
    }
    return done;
}

static void forget(struct slc_mapping *map, uint64_t unit)
{
    table_put(&map->slot_of_unit, unit, NOWHERE);
}

/* The slots before it are taken; the next block follows the last one. */
static void use_until(struct slc_mapping *map, uint32_t slot)
{
    bool ends = slot == map->units.by;

    map->open_slot = ends ? 0 : slot;
    map->filled += ends;
}

/* Past the cache. */
static uint64_t write_past(struct slc_mapping *map, uint64_t unit,
                           uint64_t begin_ns)
{
    struct mapping *behind = map->behind;
    uint32_t page;

    while (map->gives_back && map->filled > blocks_now(map))
        begin_ns = fold_for_room(map, begin_ns);
    forget(map, unit); /* what it did not cover was read */
    const uint64_t done = write_behind(map, unit, begin_ns);
    behind->ops->locate(behind, unit, 0, &map->past_block, &page);
    return done;
}

static uint64_t write_unit(struct mapping *mapping, uint64_t unit,
                           uint32_t first_byte, uint32_t length_bytes,
                           uint64_t begin_ns)
{
    struct slc_mapping *map = slc_mapping(mapping);
    struct mapping *behind = map->behind;

    begin_ns =
        mapping_read_rest(mapping, unit, first_byte, length_bytes, begin_ns);
    if (shrinks(map) && !is_used(map, unit))
        map->used_count++;
    if (is_full(map) && map->bypass)
        return write_past(map, unit, begin_ns);
    map->past_block = NOWHERE;
    while (is_full(map))
        for (uint32_t i = 0; i < map->turn_blocks_count && map->filled > 0; i++)
            begin_ns = fold_for_room(map, begin_ns);
    uint32_t open = ring_block(map, map->filled);
    uint32_t slot = open * map->units.by + map->open_slot;
    if (map->open_slot == 0)
        mapping->array->slc_slow[open] = map->filled >= map->fast_blocks_count;
    behind->ops->discard(behind, unit);
    table_put(&map->slot_of_unit, unit, slot);
    table_put(&map->unit_of_slot, slot, (uint32_t)unit);
    uint32_t block = mapping->array->blocks_count + open;
    mapping_note_content(mapping, unit, block, map->open_slot);
    uint64_t done = mapping_program(mapping, block, map->open_slot, begin_ns);
    use_until(map, map->open_slot + 1);
    return done;
}

static uint64_t settle(struct mapping *mapping, uint64_t begin_ns)
{
    struct slc_mapping *map = slc_mapping(mapping);
    struct mapping *behind = map->behind;
    uint64_t done = begin_ns;

    if (map->open_slot > 0) {
        uint32_t block =
            mapping->array->blocks_count + ring_block(map, map->filled);
        uint32_t page = map->open_slot * mapping->unit_pages_count;
        done = array_complete_row(mapping->array, block, &page, begin_ns);
        use_until(map, page / mapping->unit_pages_count);
    }
    uint64_t other =
        behind->ops->settle ? behind->ops->settle(behind, begin_ns) : begin_ns;
    return other > done ? other : done;
}

static void discard_unit(struct mapping *mapping, uint64_t unit)
{
    struct slc_mapping *map = slc_mapping(mapping);

    if (shrinks(map) && is_used(map, unit))
        map->used_count--;
    forget(map, unit);
    map->behind->ops->discard(map->behind, unit);
}

/* Folds what is full, then lets the mapping behind do what it does. */
static void fold_when_idle(struct mapping *mapping, uint64_t from_ns,
                           uint64_t until_ns)
{
    struct slc_mapping *map = slc_mapping(mapping);

    while (map->filled > 0 && from_ns < until_ns) {
        fold(map, from_ns);
        from_ns = map->folded_ns;
    }
    if (map->behind->ops->idle && from_ns < until_ns)
        map->behind->ops->idle(map->behind, from_ns, until_ns);
}

static void destroy(struct mapping *mapping)
{
    struct slc_mapping *map = slc_mapping(mapping);

    map->behind->ops->destroy(map->behind);
    table_free(&map->slot_of_unit);
    table_free(&map->unit_of_slot);
    free(map);
}

static uint64_t memory_bytes(const struct mapping *mapping)
{
    const struct slc_mapping *map = (const struct slc_mapping *)mapping;

    return map->behind->ops->memory_bytes(map->behind) +
           (mapping->units_count + slots_count(map)) * sizeof(uint32_t);
}

static const struct hotness *hotness_of(const struct mapping *mapping)
{
    const struct mapping *behind =
        ((const struct slc_mapping *)mapping)->behind;

    return behind->ops->hotness ? behind->ops->hotness(behind) : NULL;
}

static const struct mapping_ops mapping_slc_ops = {
    .name = "pseudo-SLC cache",
    .destroy = destroy,
    .locate = locate,
    .expect = expect,
    .write = write_unit,
    .settle = settle,
    .discard = discard_unit,
    .idle = fold_when_idle,
    .memory_bytes = memory_bytes,
    .hotness = hotness_of,
};

uint32_t mapping_slc_units(const struct drive *drive)
{
    uint64_t unit_pages =
        drive->clustered_page_bytes / drive_section_bytes(drive);

    return (uint32_t)(drive->pages_per_block_count /
                      drive->program_levels_count * drive->stripe_banks_count *
                      drive->planes_count * drive_sections_count(drive) /
                      unit_pages);
}

int mapping_put_slc(const struct drive *drive, struct mapping **mapping)
{
    struct slc_mapping *map = calloc(1, sizeof(*map));

    if (!map)
        return -ENOMEM;
    map->behind = *mapping;
    map->base = **mapping;
    map->base.ops = &mapping_slc_ops;
    map->bypass = drive->slc_full != SLC_FOLD;
    map->gives_back = drive->slc_full == SLC_BYPASS_FOLD;
    map->past_block = NOWHERE;
    map->turn_blocks_count = (uint32_t)drive->slc_turn_blocks_count;
    map->fast_blocks_count =
        (uint32_t)(drive->slc_fast_blocks_count ? drive->slc_fast_blocks_count
                                                : drive->slc_blocks_count);
    map->shrink_from_count =
        map->base.units_count * drive->slc_shrink_from_permille / 1000;
    map->least_blocks_count =
        (uint32_t)(drive->slc_least_blocks_count ? drive->slc_least_blocks_count
                                                 : drive->slc_blocks_count);
    if (drive->initial_state == INITIAL_WRITTEN)
        map->used_count = map->base.units_count;
    map->units = divisor_of(mapping_slc_units(drive));
    if (table_create(&map->slot_of_unit, map->base.units_count, 0) ||
        table_create(&map->unit_of_slot, slots_count(map), 0)) {
        table_free(&map->slot_of_unit);
        table_free(&map->unit_of_slot);
        free(map);
        return -ENOMEM;
    }
    *mapping = &map->base;
    return 0;
}
