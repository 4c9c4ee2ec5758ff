/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Page mapping with a pool of blocks for each bank (Dirik 5.2, 5.4): the Nth
 * write request goes to bank N modulo their number, whole, or each unit to the
 * bank that its address says (striping = hashed); and each bank cleans
 * by itself when few of its blocks are free, or nobody asks for anything,
 * copying inside (6.8). Its banks
 * have queues (lib/flash/nand/interleave.h).
 */
#include "lib/flash/ftl/mapping.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/flash/ftl/ledger.h"
#include "lib/flash/ftl/table.h"

#define NOWHERE UINT32_MAX

/* The blocks of one group of banks; a block's number there is its number in the
 * array divided by the number of groups. */
struct pool {
    struct ledger ledger;
    uint32_t *free_blocks; /* a ring: erased longest ago is used first */
    uint32_t free_head, free_count;
    uint32_t open_block, open_slot;
    uint64_t gained_pages; /* by cleaning of imposed efficiency */
};

struct striped_mapping {
    struct mapping base;
    struct pool *pools;
    uint32_t pools_count, pool_blocks_count, turn;
    struct table slot_of_unit, unit_of_slot;
    const struct victim_ops *victim;
    struct array_move *moves; /* scratch of one victim */
    uint32_t threshold_count, idle_target_count, efficiency_percent;
    bool hashed;
};

static struct striped_mapping *striped_mapping(struct mapping *mapping)
{
    return (struct striped_mapping *)mapping;
}

static uint32_t pool_of(const struct striped_mapping *map, uint32_t block)
{
    return block % map->pools_count;
}

static uint32_t block_of(const struct striped_mapping *map, uint32_t pool,
                         uint32_t local)
{
    return local * map->pools_count + pool;
}

static void release(struct striped_mapping *map, struct pool *pool,
                    uint32_t local)
{
    uint32_t tail = pool->free_head + pool->free_count;
    uint32_t size = map->pool_blocks_count;

    pool->free_blocks[tail < size ? tail : tail - size] = local;
    pool->free_count++;
}

static void open_another(struct striped_mapping *map, struct pool *pool)
{
    assert(pool->free_count > 0);
    ledger_close(&pool->ledger, pool->open_block);
    pool->open_block = pool->free_blocks[pool->free_head];
    pool->open_slot = 0;
    if (++pool->free_head == map->pool_blocks_count)
        pool->free_head = 0;
    pool->free_count--;
}

static void invalidate(struct striped_mapping *map, uint64_t unit)
{
    uint32_t slot = table_get(&map->slot_of_unit, unit);

    if (slot == NOWHERE)
        return;
    uint32_t block = slot / map->base.block_units_count;
    ledger_lose(&map->pools[pool_of(map, block)].ledger,
                block / map->pools_count, 1);
    table_put(&map->slot_of_unit, unit, NOWHERE);
}

/* Where a unit goes next; takes it there in the books. */
static uint32_t place(struct striped_mapping *map, uint32_t at, uint64_t unit)
{
    struct pool *pool = &map->pools[at];
    uint32_t slot =
        block_of(map, at, pool->open_block) * map->base.block_units_count +
        pool->open_slot++;

    table_put(&map->slot_of_unit, unit, slot);
    table_put(&map->unit_of_slot, slot, (uint32_t)unit);
    pool->ledger.blocks[pool->open_block].valid_count++;
    return slot;
}

/* ---- cleaning ----------------------------------------------------------- */

/* Moves the victim's units to the open block; how long that takes inside each
 * bank, where they do not leave it. */
static uint64_t move_units(struct striped_mapping *map, uint32_t at,
                           uint32_t from, uint64_t begin_ns)
{
    struct array *array = map->base.array;
    struct pool *pool = &map->pools[at];
    uint32_t units = map->base.block_units_count;
    uint32_t pages = map->base.unit_pages_count;
    uint64_t ns = 0, sense_ns = 0;

    assert(array->stripe_banks_count > 0);
    for (uint32_t slot = from * units; slot < (from + 1) * units; slot++) {
        uint32_t unit = table_get(&map->unit_of_slot, slot);
        if (unit == NOWHERE || table_get(&map->slot_of_unit, unit) != slot)
            continue;
        if (pool->open_slot == units)
            open_another(map, pool);
        uint32_t to = block_of(map, at, pool->open_block);
        uint32_t first = pool->open_slot * pages;
        for (uint32_t page = 0; page < pages; page++)
            map->moves[page] = (struct array_move){
                from, slot % units * pages + page, first + page};
        if (!map->base.copy_inside && !map->efficiency_percent) {
            array_copy(array, map->moves, pages, to, false, begin_ns);
        } else {
            if (ns == 0)
                sense_ns = array_sense_ns(array, from, map->moves[0].from_page,
                                          begin_ns);
            array_note_moves(array, map->moves, pages, to, begin_ns);
            ns += array->program_ns[first / array->stripe_banks_count] +
                  array->cache_copy_ns;
        }
        pool->ledger.blocks[from / map->pools_count].valid_count--;
        place(map, at, unit);
    }
    return ns + sense_ns;
}

/* Each bank of the pool copies, or erases, for so long. */
static void occupy(struct striped_mapping *map, uint32_t at, uint64_t ns,
                   uint64_t begin_ns)
{
    struct array *array = map->base.array;
    const uint32_t first = at * array->stripe_banks_count;

    for (uint32_t i = 0; ns > 0 && i < array->stripe_banks_count; i++)
        array_occupy(array, first + i, ns, begin_ns);
}

/* Frees a victim; false when none has anything to gain. */
static bool reclaim(struct striped_mapping *map, uint32_t at, uint64_t begin_ns)
{
    struct pool *pool = &map->pools[at];
    uint32_t local = map->victim->choose(&pool->ledger);
    uint32_t units = map->base.block_units_count;

    if (local == LEDGER_NONE)
        return false;
    uint32_t block = block_of(map, at, local);
    ledger_reopen(&pool->ledger, local);
    const uint64_t copy_ns = move_units(map, at, block, begin_ns);
    assert(pool->ledger.blocks[local].valid_count == 0);
    occupy(map, at, map->efficiency_percent ? 0 : copy_ns, begin_ns);
    array_erase(map->base.array, block, begin_ns);
    for (uint32_t slot = 0; slot < units; slot++)
        table_put(&map->unit_of_slot, (uint64_t)block * units + slot, NOWHERE);
    release(map, pool, local);
    return true;
}

/* Dirik 6.8: a victim is taken to hold so many valid pages, whatever it holds,
 * and cleaning it gains the others; a block is free when as many are gained. */
static bool impose(struct striped_mapping *map, uint32_t at, uint64_t begin_ns)
{
    struct array *array = map->base.array;
    struct pool *pool = &map->pools[at];
    uint64_t pages = array->pages_per_block_count;
    uint64_t valid = ((100 - map->efficiency_percent) * pages + 50) / 100;

    valid = valid < pages ? valid : pages - 1;
    uint64_t ns = valid ? array->read_ns[0] : 0;
    for (uint64_t page = 0; page < valid; page++)
        ns += array->program_ns[page] + array->cache_copy_ns;
    pool->gained_pages += pages - valid;
    const bool gained = pool->gained_pages >= pages;
    pool->gained_pages -= gained ? pages : 0;
    if (gained && map->victim->choose(&pool->ledger) == LEDGER_NONE)
        return false;
    occupy(map, at, ns, begin_ns);
    if (gained)
        return reclaim(map, at, begin_ns);
    occupy(map, at, array->erase_ns, begin_ns);
    for (uint32_t i = 0; i < array->stripe_banks_count; i++)
        array->banks[at * array->stripe_banks_count + i]
            .did.blocks_erased_count++;
    return true;
}

/* Cleans one block; false when none has anything to gain. */
static bool clean_one(struct striped_mapping *map, uint32_t at,
                      uint64_t begin_ns)
{
    struct array *array = map->base.array;

    array_begin_chore(array);
    const bool found = map->efficiency_percent ? impose(map, at, begin_ns)
                                               : reclaim(map, at, begin_ns);
    array_end_chore(array);
    array->statistics->blocks_cleaned_count += found;
    return found;
}

/* Cleans one block after the other until enough are free. */
static void clean_to_threshold(struct striped_mapping *map, uint32_t at,
                               uint64_t begin_ns)
{
    while (map->pools[at].free_count < map->threshold_count)
        if (!clean_one(map, at, begin_ns))
            return;
}

/* A block of each group of banks that wants free ones, all at once; it is asked
 * again when they are clean. */
static void clean_idle(struct mapping *mapping, uint64_t from_ns,
                       uint64_t until_ns)
{
    struct striped_mapping *map = striped_mapping(mapping);

    for (uint32_t i = 0; from_ns < until_ns && i < map->pools_count; i++)
        if (map->pools[i].free_count < map->idle_target_count)
            clean_one(map, i, from_ns);
}

/* ---- the host's side ---------------------------------------------------- */

static bool locate(const struct mapping *mapping, uint64_t unit, uint32_t page,
                   uint32_t *block, uint32_t *block_page)
{
    const struct striped_mapping *map = (const struct striped_mapping *)mapping;
    uint32_t slot = table_get(&map->slot_of_unit, unit);

    if (slot == NOWHERE)
        return false;
    *block = slot / mapping->block_units_count;
    *block_page =
        slot % mapping->block_units_count * mapping->unit_pages_count + page;
    return true;
}

static void begin_write(struct mapping *mapping)
{
    struct striped_mapping *map = striped_mapping(mapping);

    map->turn = map->turn + 1 < map->pools_count ? map->turn + 1 : 0;
}

/* The pool that a unit is written to. */
static uint32_t choose_pool(const struct striped_mapping *map, uint64_t unit)
{
    return map->hashed ? (uint32_t)(random_mix(unit) % map->pools_count)
                       : map->turn;
}

/* Has the pool room for a unit, and keeps one block for cleaning? */
static bool make_room(struct striped_mapping *map, uint32_t at,
                      uint64_t begin_ns)
{
    struct pool *pool = &map->pools[at];

    if (pool->open_slot < map->base.block_units_count)
        return true;
    clean_to_threshold(map, at, begin_ns);
    if (pool->open_slot < map->base.block_units_count)
        return true;
    if (pool->free_count < 2)
        return false;
    open_another(map, pool);
    return true;
}

static void program(struct striped_mapping *map, uint32_t slot,
                    uint32_t first_byte, uint32_t length_bytes,
                    uint64_t begin_ns)
{
    struct array *array = map->base.array;
    uint32_t pages = map->base.unit_pages_count;
    uint32_t block = slot / map->base.block_units_count;
    uint32_t first = slot % map->base.block_units_count * pages;
    uint64_t end_byte = first_byte + (uint64_t)length_bytes;

    for (uint32_t page = 0; page < pages; page++) {
        uint64_t from = page * array->page_bytes;
        uint64_t to = from + array->page_bytes;
        uint64_t bytes = array->page_bytes;
        if (array->partial_program) {
            from = from > first_byte ? from : first_byte;
            to = to < end_byte ? to : end_byte;
            bytes = to > from ? to - from : 0;
        }
        array_program_part(array, block, first + page, bytes, begin_ns);
    }
}

static uint64_t write_unit(struct mapping *mapping, uint64_t unit,
                           uint32_t first_byte, uint32_t length_bytes,
                           uint64_t begin_ns)
{
    struct striped_mapping *map = striped_mapping(mapping);
    uint32_t at = choose_pool(map, unit), tried = 0;

    mapping_read_rest(mapping, unit, first_byte, length_bytes, begin_ns);
    invalidate(map, unit);
    /* Requests differ in size: a bank may be full of valid units. */
    while (!make_room(map, at, begin_ns)) {
        at = at + 1 < map->pools_count ? at + 1 : 0;
        tried++;
        assert(tried < map->pools_count); /* the spare blocks promise it */
    }
    map->pools[at].ledger.writes_stamp++;
    program(map, place(map, at, unit), first_byte, length_bytes, begin_ns);
    array_then(map->base.array);
    return begin_ns;
}

static void discard_unit(struct mapping *mapping, uint64_t unit)
{
    invalidate(striped_mapping(mapping), unit);
}

/* ---- making and unmaking ------------------------------------------------ */

static uint32_t threshold_of(const struct drive *drive)
{
    uint32_t asked = (uint32_t)drive->free_blocks_threshold_count;
    return asked > 2 ? asked : 2;
}

static uint32_t blocks_count(const struct drive *drive)
{
    /* What cleaning keeps free, the open block, and one with something to gain.
     */
    return mapping_grouped_blocks(drive, threshold_of(drive) + 2);
}

/* As one pass in order leaves it, and the tables have it: blocks of units that
 * follow each other. */
static void lay_out(struct striped_mapping *map, bool written)
{
    struct array *array = map->base.array;
    uint32_t units = map->base.block_units_count;
    uint32_t all = written ? (uint32_t)map->base.units_count : 0;
    uint32_t filled = (all + units - 1) / units;

    for (uint32_t block = 0; block < filled; block++) {
        uint32_t left = all - block * units;
        map->pools[pool_of(map, block)]
            .ledger.blocks[block / map->pools_count]
            .valid_count = left < units ? left : units;
    }
    for (uint32_t block = 0; block < array->blocks_count; block++) {
        struct pool *pool = &map->pools[pool_of(map, block)];
        if (block >= filled) {
            release(map, pool, block / map->pools_count);
            continue;
        }
        array_preset(array, block, array->stripe_pages_count);
        ledger_close(&pool->ledger, block / map->pools_count);
    }
    for (uint32_t i = 0; i < map->pools_count; i++) {
        struct pool *pool = &map->pools[i];
        pool->open_block = pool->free_blocks[pool->free_head++];
        pool->free_count--;
    }
}

/* The same where each unit has a bank of its own. */
static void lay_out_hashed(struct striped_mapping *map)
{
    struct array *array = map->base.array;
    uint32_t units = map->base.block_units_count;

    for (uint64_t unit = 0; unit < map->base.units_count; unit++) {
        uint32_t at = choose_pool(map, unit);
        /* Banks have not equally many; all together have room. */
        while (map->pools[at].open_slot == units &&
               map->pools[at].free_count <= map->threshold_count)
            at = at + 1 < map->pools_count ? at + 1 : 0;
        if (map->pools[at].open_slot == units)
            open_another(map, &map->pools[at]);
        place(map, at, unit);
    }
    for (uint32_t block = 0; block < array->blocks_count; block++) {
        const struct pool *pool = &map->pools[pool_of(map, block)];
        uint32_t local = block / map->pools_count;
        if (ledger_is_closed(&pool->ledger, local))
            array_preset(array, block, array->stripe_pages_count);
        else if (local == pool->open_block)
            array_preset(array, block,
                         pool->open_slot * map->base.unit_pages_count);
    }
}

static void destroy(struct mapping *mapping)
{
    struct striped_mapping *map = striped_mapping(mapping);

    if (!map)
        return;
    for (uint32_t i = 0; map->pools && i < map->pools_count; i++) {
        ledger_destroy(&map->pools[i].ledger);
        free(map->pools[i].free_blocks);
    }
    free(map->pools);
    table_free(&map->slot_of_unit);
    table_free(&map->unit_of_slot);
    free(map->moves);
    free(map);
}

static int create_pools(struct striped_mapping *map)
{
    map->pools = calloc(map->pools_count, sizeof(*map->pools));
    for (uint32_t i = 0; map->pools && i < map->pools_count; i++) {
        struct pool *pool = &map->pools[i];
        pool->free_blocks = malloc(map->pool_blocks_count * sizeof(uint32_t));
        if (!pool->free_blocks ||
            ledger_create(&pool->ledger, map->pool_blocks_count,
                          map->base.block_units_count))
            return -ENOMEM;
    }
    return map->pools ? 0 : -ENOMEM;
}

static int create(const struct drive *drive, struct array *array,
                  struct mapping **mapping)
{
    struct striped_mapping *map = calloc(1, sizeof(*map));

    if (!map)
        return -ENOMEM;
    mapping_init(&map->base, &mapping_striped_ops, drive, array);
    map->pools_count = array->groups_count;
    map->pool_blocks_count = array->blocks_count / map->pools_count;
    map->turn = map->pools_count - 1;
    map->victim = victim_ops(drive->victim);
    map->threshold_count = threshold_of(drive);
    map->idle_target_count = (uint32_t)drive->idle_free_blocks_count;
    map->efficiency_percent = (uint32_t)drive->cleaning_efficiency_percent;
    map->hashed = drive->striping == STRIPING_HASHED;
    const bool written = drive->initial_state == INITIAL_WRITTEN;
    const uint64_t in_order =
        written && !map->hashed ? map->base.units_count : 0;
    const uint64_t slots_count =
        (uint64_t)array->blocks_count * map->base.block_units_count;
    map->moves = malloc(map->base.unit_pages_count * sizeof(*map->moves));
    if (table_create(&map->slot_of_unit, map->base.units_count, in_order) ||
        table_create(&map->unit_of_slot, slots_count, in_order) ||
        !map->moves || create_pools(map)) {
        destroy(&map->base);
        return -ENOMEM;
    }
    lay_out(map, written && !map->hashed);
    if (written && map->hashed)
        lay_out_hashed(map);
    *mapping = &map->base;
    return 0;
}

static uint64_t memory_bytes(const struct mapping *mapping)
{
    const struct striped_mapping *map = (const struct striped_mapping *)mapping;
    uint64_t blocks = mapping->array->blocks_count;

    return mapping->units_count * sizeof(uint32_t) +
           blocks * mapping->block_units_count * sizeof(uint32_t) +
           blocks * sizeof(uint32_t) +
           map->pools_count * ledger_memory_bytes(&map->pools[0].ledger);
}

const struct mapping_ops mapping_striped_ops = {
    .name = "page-striped",
    .blocks_count = blocks_count,
    .create = create,
    .destroy = destroy,
    .locate = locate,
    .begin_write = begin_write,
    .write = write_unit,
    .discard = discard_unit,
    .idle = clean_idle,
    .memory_bytes = memory_bytes,
};
