/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Page mapping: every unit may lie anywhere. Writes go to one open block, valid
 * units of a victim to another; when few blocks are free, the block with the
 * fewest valid units is cleaned (greedy), in the foreground, one at a time.
 */
#include "lib/flash/mapping.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/base/random.h"

#define NOWHERE UINT32_MAX

struct block_state {
    uint32_t valid_count;
    uint32_t previous, next; /* in the list of its valid count, or NOWHERE */
    bool listed;
};

struct page_mapping {
    struct mapping base;
    uint32_t *slot_of_unit; /* block * block_units + slot, or NOWHERE */
    uint32_t *unit_of_slot;
    struct block_state *blocks;
    uint32_t *first_with_valid; /* head of the list for each valid count */
    uint32_t lowest_valid;      /* no list below this one has a member */
    uint32_t *free_blocks;      /* a ring: erased longest ago is used first */
    uint32_t free_head, free_count;
    struct {
        uint32_t block, slot;
    } host, cleaning;
    struct array_move *moves; /* scratch of one victim */
    uint32_t threshold_count;
    uint32_t first_slot; /* of the first write: the phase of the blocks */
    uint64_t cleaning_free_ns;
};

static struct page_mapping *page_mapping(struct mapping *mapping)
{
    return (struct page_mapping *)mapping;
}

static void unlist(struct page_mapping *map, uint32_t block)
{
    struct block_state *state = &map->blocks[block];

    if (!state->listed)
        return;
    if (state->previous != NOWHERE)
        map->blocks[state->previous].next = state->next;
    else
        map->first_with_valid[state->valid_count] = state->next;
    if (state->next != NOWHERE)
        map->blocks[state->next].previous = state->previous;
    state->listed = false;
}

static void list(struct page_mapping *map, uint32_t block)
{
    struct block_state *state = &map->blocks[block];
    uint32_t *head = &map->first_with_valid[state->valid_count];

    state->previous = NOWHERE;
    state->next = *head;
    if (*head != NOWHERE)
        map->blocks[*head].previous = block;
    *head = block;
    state->listed = true;
    if (state->valid_count < map->lowest_valid)
        map->lowest_valid = state->valid_count;
}

static void release(struct page_mapping *map, uint32_t block)
{
    uint32_t blocks = map->base.array->blocks_count;
    uint32_t tail = (map->free_head + map->free_count) % blocks;

    map->free_blocks[tail] = block;
    map->free_count++;
}

static uint32_t take_free(struct page_mapping *map)
{
    assert(map->free_count > 0 && map->base.array->blocks_count > 0);
    uint32_t block = map->free_blocks[map->free_head];

    map->free_head = (map->free_head + 1) % map->base.array->blocks_count;
    map->free_count--;
    return block;
}

static void invalidate(struct page_mapping *map, uint64_t unit)
{
    uint32_t slot = map->slot_of_unit[unit];

    if (slot == NOWHERE)
        return;
    uint32_t block = slot / map->base.block_units_count;
    bool listed = map->blocks[block].listed;
    unlist(map, block);
    map->blocks[block].valid_count--;
    if (listed)
        list(map, block);
    map->unit_of_slot[slot] = NOWHERE;
    map->slot_of_unit[unit] = NOWHERE;
}

static void validate(struct page_mapping *map, uint64_t unit, uint32_t block,
                     uint32_t block_slot)
{
    uint32_t slot = block * map->base.block_units_count + block_slot;

    map->slot_of_unit[unit] = slot;
    map->unit_of_slot[slot] = (uint32_t)unit;
    map->blocks[block].valid_count++;
}

static uint32_t victim(struct page_mapping *map)
{
    while (map->lowest_valid < map->base.block_units_count &&
           map->first_with_valid[map->lowest_valid] == NOWHERE)
        map->lowest_valid++;
    uint32_t block = map->first_with_valid[map->lowest_valid];
    /* The spare blocks promise a victim with something to gain. */
    assert(block != NOWHERE);
    assert(map->blocks[block].valid_count < map->base.block_units_count);
    return block;
}

/* Moves as many of the victim's units as the cleaning block still holds. */
static uint64_t move_units(struct page_mapping *map, uint32_t from,
                           uint32_t *next_slot, uint64_t begin_ns)
{
    uint32_t units = map->base.block_units_count;
    uint32_t pages = map->base.unit_pages_count;
    uint32_t to = map->cleaning.block, count = 0;

    for (; *next_slot < units && map->cleaning.slot < units; (*next_slot)++) {
        uint32_t unit = map->unit_of_slot[from * units + *next_slot];
        if (unit == NOWHERE)
            continue;
        for (uint32_t page = 0; page < pages; page++)
            map->moves[count++] =
                (struct array_move){from, *next_slot * pages + page,
                                    map->cleaning.slot * pages + page};
        invalidate(map, unit);
        validate(map, unit, to, map->cleaning.slot++);
    }
    return array_copy(map->base.array, map->moves, count, to,
                      map->base.copy_inside, begin_ns);
}

static uint64_t clean_one(struct page_mapping *map, uint64_t begin_ns)
{
    uint32_t units = map->base.block_units_count, next_slot = 0;
    uint32_t from = victim(map);

    unlist(map, from);
    while (map->blocks[from].valid_count > 0) {
        if (map->cleaning.slot == units) {
            list(map, map->cleaning.block);
            map->cleaning.block = take_free(map);
            map->cleaning.slot = 0;
        }
        begin_ns = move_units(map, from, &next_slot, begin_ns);
    }
    /* The host need not wait for the erase; the banks are busy with it. */
    array_erase(map->base.array, from, begin_ns);
    release(map, from);
    return begin_ns;
}

static uint64_t make_room(struct page_mapping *map, uint64_t begin_ns)
{
    if (map->host.slot < map->base.block_units_count)
        return begin_ns;
    list(map, map->host.block);
    if (map->free_count < map->threshold_count &&
        map->cleaning_free_ns > begin_ns)
        begin_ns = map->cleaning_free_ns;
    while (map->free_count < map->threshold_count)
        begin_ns = map->cleaning_free_ns = clean_one(map, begin_ns);
    map->host.block = take_free(map);
    map->host.slot = 0;
    return begin_ns;
}

static bool locate(const struct mapping *mapping, uint64_t unit, uint32_t page,
                   uint32_t *block, uint32_t *block_page)
{
    const struct page_mapping *map = (const struct page_mapping *)mapping;
    uint32_t slot = map->slot_of_unit[unit];

    if (slot == NOWHERE)
        return false;
    *block = slot / mapping->block_units_count;
    *block_page =
        (slot % mapping->block_units_count) * mapping->unit_pages_count + page;
    return true;
}

static uint64_t write_unit(struct mapping *mapping, uint64_t unit,
                           uint32_t first_byte, uint32_t length_bytes,
                           uint64_t begin_ns)
{
    struct page_mapping *map = page_mapping(mapping);

    begin_ns =
        mapping_read_rest(mapping, unit, first_byte, length_bytes, begin_ns);
    begin_ns = make_room(map, begin_ns);
    invalidate(map, unit);
    validate(map, unit, map->host.block, map->host.slot);
    mapping_note_content(mapping, unit, map->host.block, map->host.slot);
    return mapping_program(mapping, map->host.block, map->host.slot++,
                           begin_ns);
}

static void discard_unit(struct mapping *mapping, uint64_t unit)
{
    invalidate(page_mapping(mapping), unit);
}

static uint32_t blocks_count(const struct drive *drive)
{
    uint32_t spared = mapping_spared_blocks(drive);
    /* Two open blocks, and one more so that a victim always has invalid units.
     */
    uint32_t least = mapping_logical_blocks(drive) +
                     (uint32_t)drive->free_blocks_threshold_count + 3;
    uint32_t groups =
        (uint32_t)(drive->channels_count * drive->banks_per_channel_count /
                   drive->stripe_banks_count);
    uint32_t blocks = spared > least ? spared : least;
    return (blocks + groups - 1) / groups * groups;
}

/* Every unit mapped by one sequential pass over the drive. */
static void fill(struct page_mapping *map)
{
    uint32_t units = map->base.block_units_count;

    for (uint64_t unit = 0; unit < map->base.units_count; unit++)
        validate(map, unit, (uint32_t)(unit / units), (uint32_t)(unit % units));
}

static void lay_out(struct page_mapping *map, bool written)
{
    struct array *array = map->base.array;
    uint32_t units = map->base.block_units_count;
    uint32_t filled = 0;

    if (written) {
        fill(map);
        filled = (uint32_t)((map->base.units_count + units - 1) / units);
    }
    for (uint32_t block = 0; block < array->blocks_count; block++) {
        if (block < filled) {
            array_preset(array, block, array->stripe_pages_count);
            list(map, block);
        } else {
            release(map, block);
        }
    }
    map->host.block = take_free(map);
    map->cleaning.block = take_free(map);
    map->host.slot = map->first_slot;
}

static void destroy(struct mapping *mapping)
{
    struct page_mapping *map = page_mapping(mapping);

    if (!map)
        return;
    free(map->slot_of_unit);
    free(map->unit_of_slot);
    free(map->blocks);
    free(map->first_with_valid);
    free(map->free_blocks);
    free(map->moves);
    free(map);
}

static int create(const struct drive *drive, struct array *array,
                  struct mapping **mapping)
{
    struct page_mapping *map = calloc(1, sizeof(*map));

    if (!map)
        return -ENOMEM;
    mapping_init(&map->base, &mapping_page_ops, drive, array);
    uint32_t units = map->base.block_units_count;
    assert(units > 0 && array->blocks_count > 0);
    size_t slots = (size_t)array->blocks_count * units;
    map->slot_of_unit = malloc(map->base.units_count * sizeof(uint32_t));
    map->unit_of_slot = malloc(slots * sizeof(uint32_t));
    map->blocks = calloc(array->blocks_count, sizeof(*map->blocks));
    map->first_with_valid = malloc((units + 1) * sizeof(uint32_t));
    map->free_blocks = calloc(array->blocks_count, sizeof(uint32_t));
    map->moves = malloc(array->stripe_pages_count * sizeof(*map->moves));
    if (!map->slot_of_unit || !map->unit_of_slot || !map->blocks ||
        !map->first_with_valid || !map->free_blocks || !map->moves) {
        destroy(&map->base);
        return -ENOMEM;
    }
    for (uint64_t i = 0; i < map->base.units_count; i++)
        map->slot_of_unit[i] = NOWHERE;
    for (size_t i = 0; i < slots; i++)
        map->unit_of_slot[i] = NOWHERE;
    for (uint32_t i = 0; i <= units; i++)
        map->first_with_valid[i] = NOWHERE;
    map->lowest_valid = units;
    map->threshold_count = (uint32_t)drive->free_blocks_threshold_count;
    if (drive->initial_phase == PHASE_SEED)
        map->first_slot = (uint32_t)(random_mix(drive->seed) % units);
    lay_out(map, drive->initial_state == INITIAL_WRITTEN);
    *mapping = &map->base;
    return 0;
}

static uint64_t memory_bytes(const struct mapping *mapping)
{
    uint64_t blocks = mapping->array->blocks_count;

    return mapping->units_count * sizeof(uint32_t) +
           blocks * mapping->block_units_count * sizeof(uint32_t) +
           blocks * (sizeof(struct block_state) + sizeof(uint32_t));
}

const struct mapping_ops mapping_page_ops = {
    .name = "page",
    .blocks_count = blocks_count,
    .create = create,
    .destroy = destroy,
    .locate = locate,
    .write = write_unit,
    .discard = discard_unit,
    .memory_bytes = memory_bytes,
};
