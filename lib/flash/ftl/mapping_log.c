/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Log-block mapping: each logical block has a data block with its units in
 * order, and a few log blocks take updates in the order of arrival. Logical
 * blocks that share logs are a set. A set of one block with one log is BAST
 * (Kim, Kim, Noh 2002; Sun & Zhang 2.2). One set of all blocks is FAST (Lee et
 * al. 2007), without its log for writes in order. What lies between is set
 * associative (Park et al. 2008). When logs run out, or a set has as many as it
 * may have and all are full, a log is merged:
 *   switch   it holds one logical block in order to the end: it becomes the
 *            data block
 *   partial  it holds one logical block in order so far: the rest is copied
 *            behind it
 *   full     for each logical block whose latest data are in it, the latest of
 *            every unit, wherever it is, goes to a fresh block
 */
#include "lib/flash/ftl/mapping.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "lib/flash/ftl/block_pool.h"

#define NOWHERE UINT32_MAX

struct log {
    uint32_t set, block;    /* NOWHERE: the log is not in use */
    uint32_t used_count;    /* units written into it */
    bool in_order;          /* slot i holds unit i of one block, for all i */
    uint64_t age_stamp;     /* when it was opened, or used */
    uint32_t *unit_of_slot; /* of the host's units */
};

struct log_set {
    uint32_t open_log;   /* that takes its writes, or NOWHERE */
    uint32_t logs_count; /* in use for it */
};

struct log_mapping {
    struct mapping base;
    uint32_t logical_count;
    uint32_t *data_block; /* by logical block; NOWHERE: never written */
    /* By unit, 1 + its slot counted through all logs; 0: the data block has
     * the latest. */
    uint32_t *log_place;
    struct log *logs;
    uint32_t logs_count;
    struct log_set *sets;
    uint32_t set_blocks_count, set_logs_count;
    uint64_t stamps_count;
    uint32_t last_log; /* that was written into, or NOWHERE */
    uint64_t switch_ns;
    enum log_victim_kind victim;
    struct random random; /* which log is merged, where that is by chance */
    struct block_pool pool;
    struct array_move *moves; /* scratch of one merge */
    uint64_t merge_free_ns;   /* one merge at a time */
    bool switch_merge;
};

static struct log_mapping *log_mapping(struct mapping *mapping)
{
    return (struct log_mapping *)mapping;
}

/* A logical block stays in its group of banks, so that copies can too. */
static uint32_t take_free(struct log_mapping *map, uint32_t logical)
{
    return block_pool_take(&map->pool, logical % map->base.array->groups_count);
}

static void retire(struct log_mapping *map, uint32_t block, uint64_t begin_ns)
{
    if (block == NOWHERE)
        return;
    /* The host need not wait for the erase; the banks are busy with it. */
    array_erase(map->base.array, block, begin_ns);
    block_pool_put(&map->pool, block);
}

/* ---- where units are --------------------------------------------------- */

static uint32_t index_of(const struct log_mapping *map, const struct log *log)
{
    return (uint32_t)(log - map->logs);
}

static uint32_t logical_of(const struct log_mapping *map, uint32_t unit)
{
    return unit / map->base.block_units_count;
}

/* As log_place has it. */
static uint32_t place_of(const struct log_mapping *map, const struct log *log,
                         uint32_t slot)
{
    return 1 + index_of(map, log) * map->base.block_units_count + slot;
}

/* Where the latest of a unit is: in a log or in the data block. */
static bool latest(const struct log_mapping *map, uint32_t unit,
                   uint32_t *block, uint32_t *slot)
{
    const uint32_t units = map->base.block_units_count;
    const uint32_t place = map->log_place[unit];

    if (place > 0) {
        *block = map->logs[(place - 1) / units].block;
        *slot = (place - 1) % units;
        return true;
    }
    *block = map->data_block[unit / units];
    *slot = unit % units;
    return *block != NOWHERE;
}

/* ---- merges ------------------------------------------------------------ */

/* Copies the units of a logical block from `first` on to `to_block`, each to
 * its own place, which is then its data block. */
static uint64_t gather(struct log_mapping *map, uint32_t logical,
                       uint32_t first, uint32_t to_block, uint64_t begin_ns)
{
    const uint32_t units = map->base.block_units_count;
    uint32_t pages = map->base.unit_pages_count, count = 0;

    for (uint32_t unit = first; unit < units; unit++) {
        const uint32_t of_host = logical * units + unit;
        uint32_t block, slot;
        if (!latest(map, of_host, &block, &slot))
            continue;
        for (uint32_t page = 0; page < pages; page++)
            map->moves[count++] = (struct array_move){
                block, slot * pages + page, unit * pages + page};
        map->log_place[of_host] = 0;
    }
    const uint32_t old = map->data_block[logical];
    const uint64_t done = array_copy(map->base.array, map->moves, count,
                                     to_block, map->base.copy_inside, begin_ns);
    map->data_block[logical] = to_block;
    retire(map, old, done);
    return done;
}

/* The log becomes the data block of what it holds. */
static uint64_t merge_by_switch(struct log_mapping *map, struct log *log,
                                uint64_t begin_ns)
{
    struct flash_statistics *statistics = map->base.array->statistics;

    if (log->used_count == map->base.block_units_count)
        statistics->merges_switch_count++;
    else
        statistics->merges_partial_count++;
    for (uint32_t slot = 0; slot < log->used_count; slot++) {
        uint32_t *place = &map->log_place[log->unit_of_slot[slot]];
        if (*place == place_of(map, log, slot))
            *place = 0; /* else a later log has the unit */
    }
    return gather(map, logical_of(map, log->unit_of_slot[0]), log->used_count,
                  log->block, begin_ns);
}

static uint64_t merge_in_full(struct log_mapping *map, struct log *log,
                              uint64_t begin_ns)
{
    uint64_t done = begin_ns;

    for (uint32_t slot = 0; slot < log->used_count; slot++) {
        const uint32_t unit = log->unit_of_slot[slot];
        if (map->log_place[unit] != place_of(map, log, slot))
            continue; /* it was written again, or is merged already */
        const uint32_t logical = logical_of(map, unit);
        map->base.array->statistics->merges_full_count++;
        done = gather(map, logical, 0, take_free(map, logical), done);
    }
    retire(map, log->block, done);
    return done;
}

static uint64_t merge(struct log_mapping *map, struct log *log,
                      uint64_t begin_ns)
{
    uint64_t done = begin_ns;

    if (map->merge_free_ns > done)
        done = map->merge_free_ns;
    uint64_t began = done;
    if (log->in_order && map->switch_merge)
        done = merge_by_switch(map, log, done);
    else
        done = merge_in_full(map, log, done);
    struct log_set *set = &map->sets[log->set];
    if (map->last_log == index_of(map, log))
        map->last_log = NOWHERE;
    if (set->open_log == index_of(map, log))
        set->open_log = NOWHERE;
    set->logs_count--;
    log->set = NOWHERE;
    map->merge_free_ns = done;
    if (map->base.array->why)
        map->base.array->why->merge_ns += done - began;
    return done;
}

/* ---- logs -------------------------------------------------------------- */

/* Which log of a set is merged, or of all sets (NOWHERE), of which `count` are
 * in use. */
static struct log *choose_victim(struct log_mapping *map, uint32_t set,
                                 uint32_t count)
{
    struct log *chosen = NULL;
    uint64_t skip = map->victim == LOG_RANDOM && count > 1
                        ? random_below(&map->random, count)
                        : 0;

    for (uint32_t i = 0; i < map->logs_count; i++) {
        struct log *log = &map->logs[i];
        if (log->set == NOWHERE || (set != NOWHERE && log->set != set))
            continue;
        if (map->victim == LOG_RANDOM) {
            if (skip-- == 0)
                return log;
            continue;
        }
        const bool newer = chosen && log->age_stamp > chosen->age_stamp;
        if (!chosen || newer == (map->victim == LOG_NEWEST))
            chosen = log;
    }
    assert(chosen);
    return chosen;
}

/* An unused log, or the victim after its merge. */
static struct log *free_log(struct log_mapping *map, uint64_t *begin_ns)
{
    for (uint32_t i = 0; i < map->logs_count; i++)
        if (map->logs[i].set == NOWHERE)
            return &map->logs[i];
    struct log *victim = choose_victim(map, NOWHERE, map->logs_count);
    *begin_ns = merge(map, victim, *begin_ns);
    return victim;
}

/* A log with room for a unit of a logical block. */
static struct log *log_with_room(struct log_mapping *map, uint32_t logical,
                                 uint64_t *begin_ns)
{
    const uint32_t number = logical / map->set_blocks_count;
    struct log_set *set = &map->sets[number];

    if (set->open_log != NOWHERE) {
        struct log *open = &map->logs[set->open_log];
        if (open->used_count < map->base.block_units_count)
            return open;
    }
    if (set->logs_count == map->set_logs_count) {
        struct log *victim = choose_victim(map, number, set->logs_count);
        *begin_ns = merge(map, victim, *begin_ns);
    }
    struct log *log = free_log(map, begin_ns);
    log->set = number;
    log->block = take_free(map, logical);
    log->used_count = 0;
    log->in_order = true;
    log->age_stamp = ++map->stamps_count;
    set->open_log = index_of(map, log);
    set->logs_count++;
    return log;
}

/* ---- the scheme -------------------------------------------------------- */

static bool locate(const struct mapping *mapping, uint64_t unit, uint32_t page,
                   uint32_t *block, uint32_t *block_page)
{
    const struct log_mapping *map = (const struct log_mapping *)mapping;
    uint32_t slot;

    if (!latest(map, (uint32_t)unit, block, &slot))
        return false;
    *block_page = slot * mapping->unit_pages_count + page;
    return true;
}

static void note_unit(struct log_mapping *map, struct log *log, uint32_t unit)
{
    const uint32_t slot = log->used_count++;

    if (unit % map->base.block_units_count != slot ||
        logical_of(map, unit) !=
            logical_of(map, slot ? log->unit_of_slot[0] : unit))
        log->in_order = false;
    log->unit_of_slot[slot] = unit;
    map->log_place[unit] = place_of(map, log, slot);
}

static uint64_t write_unit(struct mapping *mapping, uint64_t unit,
                           uint32_t first_byte, uint32_t length_bytes,
                           uint64_t begin_ns)
{
    struct log_mapping *map = log_mapping(mapping);

    begin_ns =
        mapping_read_rest(mapping, unit, first_byte, length_bytes, begin_ns);
    struct log *log =
        log_with_room(map, logical_of(map, (uint32_t)unit), &begin_ns);
    if (map->victim == LOG_LEAST_RECENT)
        log->age_stamp = ++map->stamps_count;
    if (map->last_log != index_of(map, log))
        begin_ns = array_delay(map->base.array, map->switch_ns, begin_ns);
    map->last_log = index_of(map, log);
    const uint32_t slot = log->used_count;
    note_unit(map, log, (uint32_t)unit);
    mapping_note_content(mapping, unit, log->block, slot);
    return mapping_program(mapping, log->block, slot, begin_ns);
}

/* A data block keeps its place; the flash translation layer learns nothing. */
static void discard_unit(struct mapping *mapping, uint64_t unit)
{
    (void)mapping;
    (void)unit;
}

static uint32_t blocks_count(const struct drive *drive)
{
    /* Every log may be in one group, and a merge needs a fresh block there. */
    return mapping_grouped_blocks(drive, (uint32_t)drive->log_blocks_count + 1);
}

static void lay_out(struct log_mapping *map, bool written)
{
    struct array *array = map->base.array;

    for (uint32_t i = 0; i < map->logical_count; i++) {
        map->data_block[i] = written ? i : NOWHERE;
        if (written)
            array_preset(array, i, array->stripe_pages_count);
    }
    for (uint32_t i = written ? map->logical_count : 0; i < array->blocks_count;
         i++)
        block_pool_put(&map->pool, i);
}

static void destroy(struct mapping *mapping)
{
    struct log_mapping *map = log_mapping(mapping);

    if (!map)
        return;
    for (uint32_t i = 0; map->logs && i < map->logs_count; i++)
        free(map->logs[i].unit_of_slot);
    free(map->logs);
    free(map->sets);
    free(map->data_block);
    free(map->log_place);
    block_pool_destroy(&map->pool);
    free(map->moves);
    free(map);
}

static int create_logs(struct log_mapping *map)
{
    map->logs = calloc(map->logs_count, sizeof(*map->logs));
    if (!map->logs)
        return -ENOMEM;
    for (uint32_t i = 0; i < map->logs_count; i++) {
        map->logs[i].set = NOWHERE;
        map->logs[i].unit_of_slot =
            calloc(map->base.block_units_count, sizeof(uint32_t));
        if (!map->logs[i].unit_of_slot)
            return -ENOMEM;
    }
    return 0;
}

static uint32_t sets_count(const struct log_mapping *map)
{
    return (map->logical_count + map->set_blocks_count - 1) /
           map->set_blocks_count;
}

/* Which logical blocks share logs, and how many. */
static int create_sets(struct log_mapping *map, const struct drive *drive)
{
    const uint64_t blocks = drive->log_set_blocks_count;
    const uint64_t logs = drive->log_set_logs_count;

    map->set_blocks_count = blocks == 0 || blocks > map->logical_count
                                ? map->logical_count
                                : (uint32_t)blocks;
    map->set_logs_count =
        logs == 0 || logs > map->logs_count ? map->logs_count : (uint32_t)logs;
    const uint32_t count = sets_count(map);
    map->sets = malloc(count * sizeof(*map->sets));
    if (!map->sets)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        map->sets[i] = (struct log_set){.open_log = NOWHERE};
    return 0;
}

static int create(const struct drive *drive, struct array *array,
                  struct mapping **mapping)
{
    struct log_mapping *map = calloc(1, sizeof(*map));

    if (!map)
        return -ENOMEM;
    mapping_init(&map->base, &mapping_log_ops, drive, array);
    map->logical_count = mapping_logical_blocks(drive);
    map->logs_count = (uint32_t)drive->log_blocks_count;
    map->switch_merge = drive->switch_merge != 0;
    map->switch_ns = drive->log_switch_ns;
    map->victim = (enum log_victim_kind)drive->log_victim;
    random_seed(&map->random, drive->seed);
    map->last_log = NOWHERE;
    map->data_block = calloc(map->logical_count, sizeof(uint32_t));
    map->log_place =
        calloc((size_t)map->logical_count * map->base.block_units_count,
               sizeof(uint32_t));
    map->moves = malloc(array->stripe_pages_count * sizeof(*map->moves));
    if (!map->data_block || !map->log_place || !map->moves ||
        create_logs(map) || create_sets(map, drive) ||
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
    const struct log_mapping *map = (const struct log_mapping *)mapping;

    return (uint64_t)map->logical_count * sizeof(uint32_t) +
           (uint64_t)map->logical_count * mapping->block_units_count *
               sizeof(uint32_t) +
           (uint64_t)sets_count(map) * sizeof(struct log_set) +
           (uint64_t)map->logs_count * mapping->block_units_count *
               sizeof(uint32_t) +
           (uint64_t)mapping->array->blocks_count * sizeof(uint32_t);
}

const struct mapping_ops mapping_log_ops = {
    .name = "log-block",
    .blocks_count = blocks_count,
    .create = create,
    .destroy = destroy,
    .locate = locate,
    .write = write_unit,
    .discard = discard_unit,
    .memory_bytes = memory_bytes,
};
