/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Block mapping: the units of a logical block lie in one block, in order. A
 * write to a block that is not open takes a fresh block and copies what comes
 * before; writes that continue it cost a program each. Anything else closes it:
 * what comes after is copied, and the old block is erased (Dirik 6.9). A few
 * blocks may be open at once; the one used longest ago is closed for another.
 */
#include "lib/flash/ftl/mapping.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/flash/ftl/block_pool.h"

#define NOWHERE UINT32_MAX

struct open_block {
    uint32_t logical, block; /* NOWHERE: not in use */
    uint32_t next_unit;      /* the units before it are in `block` */
    uint64_t used_stamp;
};

struct block_mapping {
    struct mapping base;
    uint32_t logical_count;
    uint32_t *data_block; /* by logical block; NOWHERE: never written */
    struct open_block *open;
    uint32_t open_count;
    uint64_t stamps_count;
    struct block_pool pool;
    struct array_move *moves; /* scratch of one copy */
    uint64_t copy_free_ns;    /* one copy of a block at a time */
};

static struct block_mapping *block_mapping(struct mapping *mapping)
{
    return (struct block_mapping *)mapping;
}

/* Copies the units [first, end) of the old block behind the new ones. */
static uint64_t copy_units(struct block_mapping *map,
                           const struct open_block *open, uint32_t first,
                           uint32_t end, uint64_t begin_ns)
{
    uint32_t pages = map->base.unit_pages_count, count = 0;
    uint32_t old = map->data_block[open->logical];

    if (old == NOWHERE || first == end)
        return begin_ns;
    for (uint32_t page = first * pages; page < end * pages; page++)
        map->moves[count++] = (struct array_move){old, page, page};
    return array_copy(map->base.array, map->moves, count, open->block,
                      map->base.copy_inside, begin_ns);
}

static uint64_t close_block(struct block_mapping *map, struct open_block *open,
                            uint64_t begin_ns)
{
    struct flash_statistics *statistics = map->base.array->statistics;
    uint32_t units = map->base.block_units_count;
    uint32_t old = map->data_block[open->logical];

    if (open->next_unit == units)
        statistics->merges_switch_count++;
    else
        statistics->merges_partial_count++;
    if (map->copy_free_ns > begin_ns)
        begin_ns = map->copy_free_ns;
    begin_ns = copy_units(map, open, open->next_unit, units, begin_ns);
    map->copy_free_ns = begin_ns;
    map->data_block[open->logical] = open->block;
    open->logical = NOWHERE;
    if (old == NOWHERE)
        return begin_ns;
    /* The host need not wait for the erase; the banks are busy with it. */
    array_erase(map->base.array, old, begin_ns);
    block_pool_put(&map->pool, old);
    return begin_ns;
}

static struct open_block *find_open(const struct block_mapping *map,
                                    uint32_t logical)
{
    for (uint32_t i = 0; i < map->open_count; i++)
        if (map->open[i].logical == logical)
            return &map->open[i];
    return NULL;
}

/* A place for another open block. */
static struct open_block *free_place(struct block_mapping *map,
                                     uint64_t *begin_ns)
{
    struct open_block *oldest = &map->open[0];

    for (uint32_t i = 0; i < map->open_count; i++) {
        if (map->open[i].logical == NOWHERE)
            return &map->open[i];
        if (map->open[i].used_stamp < oldest->used_stamp)
            oldest = &map->open[i];
    }
    *begin_ns = close_block(map, oldest, *begin_ns);
    return oldest;
}

/* The logical block, open, with everything before `unit` in place. */
static struct open_block *open_at(struct block_mapping *map, uint32_t logical,
                                  uint32_t unit, uint64_t *begin_ns)
{
    struct open_block *open = find_open(map, logical);
    uint64_t began = *begin_ns;

    if (open && open->next_unit == unit)
        return open;
    if (open)
        *begin_ns = close_block(map, open, *begin_ns);
    else
        open = free_place(map, begin_ns);
    open->logical = logical;
    open->block =
        block_pool_take(&map->pool, logical % map->base.array->groups_count);
    *begin_ns = copy_units(map, open, 0, unit, *begin_ns);
    open->next_unit = unit;
    if (map->base.array->why)
        map->base.array->why->merge_ns += *begin_ns - began;
    return open;
}

static bool locate(const struct mapping *mapping, uint64_t unit, uint32_t page,
                   uint32_t *block, uint32_t *block_page)
{
    const struct block_mapping *map = (const struct block_mapping *)mapping;
    uint32_t logical = (uint32_t)(unit / mapping->block_units_count);
    uint32_t in_block = (uint32_t)(unit % mapping->block_units_count);
    const struct open_block *open = find_open(map, logical);

    *block = open && in_block < open->next_unit ? open->block
                                                : map->data_block[logical];
    *block_page = in_block * mapping->unit_pages_count + page;
    return *block != NOWHERE;
}

static uint64_t write_unit(struct mapping *mapping, uint64_t unit,
                           uint32_t first_byte, uint32_t length_bytes,
                           uint64_t begin_ns)
{
    struct block_mapping *map = block_mapping(mapping);
    uint32_t logical = (uint32_t)(unit / mapping->block_units_count);
    uint32_t in_block = (uint32_t)(unit % mapping->block_units_count);

    begin_ns =
        mapping_read_rest(mapping, unit, first_byte, length_bytes, begin_ns);
    struct open_block *open = open_at(map, logical, in_block, &begin_ns);
    open->used_stamp = ++map->stamps_count;
    open->next_unit++;
    mapping_note_content(mapping, unit, open->block, in_block);
    return mapping_program(mapping, open->block, in_block, begin_ns);
}

/* A data block keeps its place; the flash translation layer learns nothing. */
static void discard_unit(struct mapping *mapping, uint64_t unit)
{
    (void)mapping;
    (void)unit;
}

static uint32_t blocks_count(const struct drive *drive)
{
    /* Every open block may be in one group, and one is about to be opened. */
    return mapping_grouped_blocks(drive,
                                  (uint32_t)drive->open_blocks_count + 1);
}

static void destroy(struct mapping *mapping)
{
    struct block_mapping *map = block_mapping(mapping);

    if (!map)
        return;
    block_pool_destroy(&map->pool);
    free(map->data_block);
    free(map->open);
    free(map->moves);
    free(map);
}

static void lay_out(struct block_mapping *map, bool written)
{
    struct array *array = map->base.array;

    for (uint32_t i = 0; i < map->open_count; i++)
        map->open[i].logical = NOWHERE;
    for (uint32_t i = 0; i < map->logical_count; i++) {
        map->data_block[i] = written ? i : NOWHERE;
        if (written)
            array_preset(array, i, array->stripe_pages_count);
    }
    for (uint32_t i = written ? map->logical_count : 0; i < array->blocks_count;
         i++)
        block_pool_put(&map->pool, i);
}

static int create(const struct drive *drive, struct array *array,
                  struct mapping **mapping)
{
    struct block_mapping *map = calloc(1, sizeof(*map));

    if (!map)
        return -ENOMEM;
    mapping_init(&map->base, &mapping_block_ops, drive, array);
    map->logical_count = mapping_logical_blocks(drive);
    map->open_count = (uint32_t)drive->open_blocks_count;
    map->data_block = calloc(map->logical_count, sizeof(uint32_t));
    map->open = calloc(map->open_count, sizeof(*map->open));
    map->moves = malloc(array->stripe_pages_count * sizeof(*map->moves));
    if (!map->data_block || !map->open || !map->moves ||
        block_pool_create(&map->pool, array->blocks_count,
                          array->groups_count)) {
        destroy(&map->base);
        return -ENOMEM;
    }
    lay_out(map, drive->initial_state == INITIAL_WRITTEN);
    *mapping = &map->base;
    return 0;
}

static uint64_t memory_bytes(const struct mapping *mapping)
{
    const struct block_mapping *map = (const struct block_mapping *)mapping;

    return ((uint64_t)map->logical_count + mapping->array->blocks_count) *
           sizeof(uint32_t);
}

const struct mapping_ops mapping_block_ops = {
    .name = "block",
    .blocks_count = blocks_count,
    .create = create,
    .destroy = destroy,
    .locate = locate,
    .write = write_unit,
    .discard = discard_unit,
    .memory_bytes = memory_bytes,
};
