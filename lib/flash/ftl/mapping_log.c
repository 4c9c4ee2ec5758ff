/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Log-block mapping (Kim, Kim, Noh 2002; Sun & Zhang 2.2): each logical block
 * has a data block with its units in order, and a few logical blocks have a log
 * block that takes their updates in the order of arrival. When logs run out, or
 * one is full, a log is merged with its data block:
 *   switch   the log was written once, in order, to the end: it becomes the
 * data partial  it was written in order so far: the rest is copied behind it
 *   full     the latest of every unit is copied to a fresh block
 */
#include "lib/flash/ftl/mapping.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "lib/flash/ftl/block_pool.h"

#define NOWHERE UINT32_MAX

struct log {
    uint32_t logical, block; /* NOWHERE: the log is not in use */
    uint32_t used_count;     /* units written into it */
    bool in_order;           /* unit i lies in slot i, for every slot */
    uint64_t age_stamp;      /* when it was opened, or used */
    uint32_t *slot_of_unit;  /* NOWHERE: the data block has the unit */
};

struct log_mapping {
    struct mapping base;
    uint32_t logical_count;
    uint32_t *data_block;     /* by logical block; NOWHERE: never written */
    uint32_t *log_of_logical; /* index of its log, or NOWHERE */
    struct log *logs;
    uint32_t logs_count;
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

/* Where slot `unit` of a merged log is now: in the log or in the data block. */
static bool latest(const struct log_mapping *map, const struct log *log,
                   uint32_t unit, uint32_t *block, uint32_t *slot)
{
    uint32_t data = map->data_block[log->logical];

    if (log->slot_of_unit[unit] != NOWHERE) {
        *block = log->block;
        *slot = log->slot_of_unit[unit];
        return true;
    }
    *block = data;
    *slot = unit;
    return data != NOWHERE;
}

/* Copies the units from `first` on to `to_block`, each to its own place. */
static uint64_t gather(struct log_mapping *map, const struct log *log,
                       uint32_t first, uint32_t to_block, uint64_t begin_ns)
{
    uint32_t pages = map->base.unit_pages_count, count = 0;

    for (uint32_t unit = first; unit < map->base.block_units_count; unit++) {
        uint32_t block, slot;
        if (!latest(map, log, unit, &block, &slot))
            continue;
        for (uint32_t page = 0; page < pages; page++)
            map->moves[count++] = (struct array_move){
                block, slot * pages + page, unit * pages + page};
    }
    return array_copy(map->base.array, map->moves, count, to_block,
                      map->base.copy_inside, begin_ns);
}

static uint64_t merge(struct log_mapping *map, struct log *log,
                      uint64_t begin_ns)
{
    struct flash_statistics *statistics = map->base.array->statistics;
    uint32_t units = map->base.block_units_count;
    uint32_t old = map->data_block[log->logical];
    uint64_t done = begin_ns;

    if (map->merge_free_ns > done)
        done = map->merge_free_ns;
    uint64_t began = done;
    if (log->in_order && map->switch_merge) {
        if (log->used_count == units)
            statistics->merges_switch_count++;
        else
            statistics->merges_partial_count++;
        done = gather(map, log, log->used_count, log->block, done);
        map->data_block[log->logical] = log->block;
        retire(map, old, done);
    } else {
        uint32_t fresh = take_free(map, log->logical);
        statistics->merges_full_count++;
        done = gather(map, log, 0, fresh, done);
        map->data_block[log->logical] = fresh;
        retire(map, old, done);
        retire(map, log->block, done);
    }
    if (map->last_log == (uint32_t)(log - map->logs))
        map->last_log = NOWHERE;
    map->log_of_logical[log->logical] = NOWHERE;
    log->logical = NOWHERE;
    map->merge_free_ns = done;
    if (map->base.array->why)
        map->base.array->why->merge_ns += done - began;
    return done;
}

/* Which log is merged when all are in use. */
static struct log *choose_victim(struct log_mapping *map)
{
    struct log *chosen = &map->logs[0];

    if (map->victim == LOG_RANDOM)
        return &map->logs[random_below(&map->random, map->logs_count)];
    for (uint32_t i = 1; i < map->logs_count; i++) {
        struct log *log = &map->logs[i];
        const bool newer = log->age_stamp > chosen->age_stamp;
        if (newer == (map->victim == LOG_NEWEST))
            chosen = log;
    }
    return chosen;
}

/* An unused log, or the victim after its merge. */
static struct log *free_log(struct log_mapping *map, uint64_t *begin_ns)
{
    for (uint32_t i = 0; i < map->logs_count; i++)
        if (map->logs[i].logical == NOWHERE)
            return &map->logs[i];
    struct log *victim = choose_victim(map);
    *begin_ns = merge(map, victim, *begin_ns);
    return victim;
}

/* The log of a logical block with room for a unit. */
static struct log *log_with_room(struct log_mapping *map, uint32_t logical,
                                 uint64_t *begin_ns)
{
    uint32_t units = map->base.block_units_count;
    uint32_t index = map->log_of_logical[logical];

    if (index != NOWHERE && map->logs[index].used_count < units)
        return &map->logs[index];
    if (index != NOWHERE)
        *begin_ns = merge(map, &map->logs[index], *begin_ns);
    struct log *log = free_log(map, begin_ns);
    log->logical = logical;
    log->block = take_free(map, logical);
    log->used_count = 0;
    log->in_order = true;
    log->age_stamp = ++map->stamps_count;
    for (uint32_t unit = 0; unit < units; unit++)
        log->slot_of_unit[unit] = NOWHERE;
    map->log_of_logical[logical] = (uint32_t)(log - map->logs);
    return log;
}

static bool locate(const struct mapping *mapping, uint64_t unit, uint32_t page,
                   uint32_t *block, uint32_t *block_page)
{
    const struct log_mapping *map = (const struct log_mapping *)mapping;
    uint32_t logical = (uint32_t)(unit / mapping->block_units_count);
    uint32_t slot = (uint32_t)(unit % mapping->block_units_count);
    uint32_t index = map->log_of_logical[logical];

    if (index != NOWHERE) {
        if (!latest(map, &map->logs[index], slot, block, &slot))
            return false;
    } else {
        *block = map->data_block[logical];
        if (*block == NOWHERE)
            return false;
    }
    *block_page = slot * mapping->unit_pages_count + page;
    return true;
}

static uint64_t write_unit(struct mapping *mapping, uint64_t unit,
                           uint32_t first_byte, uint32_t length_bytes,
                           uint64_t begin_ns)
{
    struct log_mapping *map = log_mapping(mapping);
    uint32_t logical = (uint32_t)(unit / mapping->block_units_count);
    uint32_t in_block = (uint32_t)(unit % mapping->block_units_count);

    begin_ns =
        mapping_read_rest(mapping, unit, first_byte, length_bytes, begin_ns);
    struct log *log = log_with_room(map, logical, &begin_ns);
    if (map->victim == LOG_LEAST_RECENT)
        log->age_stamp = ++map->stamps_count;
    if (map->last_log != (uint32_t)(log - map->logs))
        begin_ns = array_delay(map->base.array, map->switch_ns, begin_ns);
    map->last_log = (uint32_t)(log - map->logs);
    uint32_t slot = log->used_count++;
    log->slot_of_unit[in_block] = slot;
    if (slot != in_block)
        log->in_order = false;
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
        map->log_of_logical[i] = NOWHERE;
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
        free(map->logs[i].slot_of_unit);
    free(map->logs);
    free(map->data_block);
    free(map->log_of_logical);
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
        map->logs[i].logical = NOWHERE;
        map->logs[i].slot_of_unit =
            calloc(map->base.block_units_count, sizeof(uint32_t));
        if (!map->logs[i].slot_of_unit)
            return -ENOMEM;
    }
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
    map->log_of_logical = calloc(map->logical_count, sizeof(uint32_t));
    map->moves = malloc(array->stripe_pages_count * sizeof(*map->moves));
    if (!map->data_block || !map->log_of_logical || !map->moves ||
        create_logs(map) ||
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

    return (uint64_t)map->logical_count * 2 * sizeof(uint32_t) +
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
