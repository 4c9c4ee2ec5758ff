/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/forecast/costs.h"

#include <math.h>
#include <string.h>

#include "lib/base/units.h"

/* Defaults until they are measured: common log blocks of sticks and cards, and
 * a few segment groups. */
enum { LOGS_USUAL = 4, PARTS_USUAL = 4 };
static const uint64_t block_usual_bytes = MIB;

void costs_init(struct costs *costs, const struct setting *setting)
{
    memset(costs, 0, sizeof(*costs));
    costs->region_offset_bytes = setting->region_offset_bytes;
    costs->region_length_bytes = setting->region_length_bytes;
    costs->parts_count = PARTS_USUAL;
    costs->block_bytes = block_usual_bytes;
    costs->logs_count = LOGS_USUAL;
    costs->place.flush = COST_FLUSH_NOTHING;
}

/* ---- kinds ------------------------------------------------------------- */

size_t costs_class(double bytes)
{
    const int power = bytes > 512 ? ilogb(bytes / 512) : 0;

    return power < COST_SIZES ? (size_t)power : COST_SIZES - 1;
}

static uint64_t part_of(const struct costs *costs, uint64_t offset_bytes)
{
    return (offset_bytes - costs->region_offset_bytes) /
           (costs->region_length_bytes / costs->parts_count + 1);
}

static enum cost_kind read_kind(const struct costs *costs,
                                struct cost_place *place, uint64_t offset_bytes,
                                uint64_t length_bytes)
{
    const bool near =
        part_of(costs, offset_bytes) == part_of(costs, place->read_at_bytes);

    place->read_at_bytes = offset_bytes;
    place->read_end_bytes = offset_bytes + length_bytes;
    return near ? COST_READ_NEAR : COST_READ_FAR;
}

bool costs_again(const struct cost_place *place, enum operation operation,
                 uint64_t offset_bytes, uint64_t length_bytes)
{
    return operation == OPERATION_READ &&
           offset_bytes == place->read_at_bytes &&
           offset_bytes + length_bytes == place->read_end_bytes;
}

/* Moves the block to the front of the list of latest blocks. Returns whether it
 * was in the list. */
static bool touch(const struct costs *costs, struct cost_place *place,
                  uint64_t block)
{
    size_t at = 0;

    if (place->blocks_count > costs->logs_count)
        /* a finding lowered the number of logs */
        place->blocks_count = costs->logs_count;
    while (at < place->blocks_count && place->blocks[at] != block)
        at++;
    const bool known = at < place->blocks_count;
    if (!known && place->blocks_count < costs->logs_count)
        place->blocks_count++;
    if (at >= place->blocks_count)
        at = place->blocks_count - 1;
    memmove(&place->blocks[1], &place->blocks[0], at * sizeof(*place->blocks));
    place->blocks[0] = block;
    return known;
}

/* Tracks the fill level of the latest log block. A log is filled from its first
 * page on, so the first write to a new log always meets the same page. `begun`:
 * the write begins a new log; `same`: it goes to the block of the previous
 * write. */
static void fill_block(const struct costs *costs, struct cost_place *place,
                       bool begun, bool same, uint64_t length_bytes)
{
    const uint64_t page = costs->page_bytes ? costs->page_bytes : 4 * KIB;

    if (!begun && !same)
        place->filled_bytes = 0;
    place->page = begun ? 0 : (place->filled_bytes + page - 1) / page;
    if (begun)
        place->filled_bytes = length_bytes;
    else if (place->filled_bytes)
        place->filled_bytes += length_bytes;
}

static enum cost_kind write_kind(const struct costs *costs,
                                 struct cost_place *place,
                                 uint64_t offset_bytes, uint64_t length_bytes)
{
    const bool order = offset_bytes == place->write_end_bytes;
    const uint64_t block = offset_bytes / costs->block_bytes;
    const bool same = place->blocks_count && place->blocks[0] == block;
    const bool near = touch(costs, place, block);
    const bool more = place->flush != COST_FLUSH_NOTHING;

    fill_block(costs, place, !near, same, length_bytes);
    place->scattered_bytes += order || near ? 0 : length_bytes;
    place->unflushed_bytes += length_bytes;
    place->written_bytes += length_bytes;
    place->write_end_bytes = offset_bytes + length_bytes;
    place->flush_bytes = length_bytes;
    place->flush = order  ? COST_FLUSH_ORDER
                   : near ? COST_FLUSH_NEAR
                          : COST_FLUSH_FAR;
    if (order)
        return more ? COST_MORE_ORDER : COST_WRITE_ORDER;
    if (near)
        return more ? COST_MORE_NEAR : COST_WRITE_NEAR;
    return more ? COST_MORE_FAR : COST_WRITE_FAR;
}

enum cost_kind costs_kind(const struct costs *costs, struct cost_place *place,
                          enum operation operation, uint64_t offset_bytes,
                          uint64_t *bytes)
{
    enum cost_kind kind = place->flush;

    switch (operation) {
    case OPERATION_READ:
        return read_kind(costs, place, offset_bytes, *bytes);
    case OPERATION_DISCARD: /* a discard transfers no data */
        *bytes = 0;
        return COST_FLUSH_NOTHING;
    case OPERATION_WRITE:
        return write_kind(costs, place, offset_bytes, *bytes);
    case OPERATION_FLUSH:
        *bytes = place->flush_bytes;
        place->flush = COST_FLUSH_NOTHING;
        place->flush_bytes = place->unflushed_bytes = 0;
        break;
    case OPERATION_IDLE:
        break;
    }
    return kind;
}

/* ---- times ------------------------------------------------------------- */

bool costs_straddles(const struct costs *costs, uint64_t offset_bytes,
                     uint64_t length_bytes)
{
    const uint64_t page = costs->page_bytes;

    if (!page || !length_bytes)
        return false;
    const uint64_t touched =
        (offset_bytes + length_bytes - 1) / page - offset_bytes / page + 1;
    return touched > (length_bytes + page - 1) / page;
}

/* Old times lose weight: writes may have used up the spare area since, and a
 * drive that cleans is slower. */
double costs_kept(uint64_t written_bytes)
{
    const double half_bytes = 256 * (double)MIB;

    return exp2(-(double)written_bytes / half_bytes);
}

void costs_pass(struct costs *costs, const struct sample *sample)
{
    uint64_t bytes = sample->length_bytes;

    cost_reach_learn(&costs->reach, sample);
    cost_erases_learn(&costs->erases, sample);
    (void)costs_kind(costs, &costs->place, sample->operation,
                     sample->offset_bytes, &bytes);
}

/* Records the time of a repeated read / the time of the first. */
static void note_again(struct costs *costs, uint64_t bytes, double ratio)
{
    struct cost_again *again = &costs->again[costs_class((double)bytes)];

    again->ratios[again->count++ % COST_AGAINS] = ratio;
}

static void note(struct costs *costs, enum cost_kind kind, uint64_t bytes,
                 double ns)
{
    const uint64_t written_bytes = costs->place.written_bytes;
    const double weight_most = 2048;
    struct cost_class *class =
        &costs->classes[kind][costs_class((double)bytes)];

    if (class->count == 0)
        class->bytes = (double)bytes;
    if (class->bytes < (double)bytes || class->bytes > (double)bytes)
        return;
    class->ns[class->count++ % COST_TIMES] = ns;
    if (kind >= COST_WRITE_ORDER)
        class->weight *= costs_kept(written_bytes - class->written_bytes);
    class->weight = fmin(class->weight + 1, weight_most);
    class->mean_ns += (ns - class->mean_ns) / class->weight;
    class->written_bytes = written_bytes;
}

void costs_learn(struct costs *costs, const struct sample *sample)
{
    uint64_t bytes = sample->length_bytes;
    const double ns = (double)(sample->complete_ns - sample->submit_ns);

    if (sample->error || sample->operation == OPERATION_IDLE ||
        sample->operation == OPERATION_DISCARD)
        return;
    /* A read behind unflushed writes waits for them, which says nothing about
     * reads. */
    if (sample->operation == OPERATION_READ &&
        costs->place.flush != COST_FLUSH_NOTHING) {
        costs_pass(costs, sample);
        costs->place.read_ns = 0;
        return;
    }
    cost_reach_learn(&costs->reach, sample);
    cost_erases_learn(&costs->erases, sample);
    if (costs_again(&costs->place, sample->operation, sample->offset_bytes,
                    bytes)) {
        if (costs->place.read_ns > 0)
            note_again(costs, bytes, ns / costs->place.read_ns);
        return;
    }
    const enum cost_kind kind = costs_kind(
        costs, &costs->place, sample->operation, sample->offset_bytes, &bytes);
    costs->place.read_ns =
        sample->operation == OPERATION_READ ? ns : costs->place.read_ns;
    cost_walks_learn(&costs->walks, sample,
                     kind == COST_WRITE_ORDER || kind == COST_MORE_ORDER);
    if (sample->operation == OPERATION_WRITE &&
        costs_straddles(costs, sample->offset_bytes, sample->length_bytes))
        return; /* page_extra_ns covers the straddle */
    note(costs, kind, bytes, ns);
}

/* ---- what is found ------------------------------------------------------ */

static bool is_whole(const struct costs *costs,
                     const struct cost_reach_write *write)
{
    return !costs_straddles(costs, write->offset_bytes, write->length_bytes);
}

/* Sorts the remembered short writes again after the block size or the log count
 * changed: some recorded as near may have waited for a merge. Other lengths
 * keep their times. */
static void learn_kinds_again(struct costs *costs)
{
    const size_t count = cost_reach_count(&costs->reach);
    const struct cost_class none = {.count = 0};
    struct cost_place place = {.flush = COST_FLUSH_NOTHING};

    for (size_t i = 0; i < count; i++) {
        const struct cost_reach_write *write = cost_reach_at(&costs->reach, i);
        const size_t size = costs_class((double)write->length_bytes);
        for (int far = 0; is_whole(costs, write) && far < 2; far++) {
            costs->classes[COST_WRITE_NEAR + far][size] = none;
            costs->classes[COST_FLUSH_NEAR + far][size] = none;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const struct cost_reach_write *write = cost_reach_at(&costs->reach, i);
        const enum cost_kind kind =
            write_kind(costs, &place, write->offset_bytes, write->length_bytes);
        place.flush = COST_FLUSH_NOTHING;
        if (kind == COST_WRITE_ORDER || !is_whole(costs, write))
            continue;
        note(costs, kind, write->length_bytes, write->ns - write->flush_ns);
        note(costs, kind + COST_FLUSH_NEAR - COST_WRITE_NEAR,
             write->length_bytes, write->flush_ns);
    }
}

void costs_know(struct costs *costs, const struct findings *known)
{
    const uint64_t page = findings_integer(known, "clustered_page");
    const uint64_t block = findings_integer(known, "log_block");
    const uint64_t logs = findings_integer(known, "log_list");
    const uint64_t block_before = costs->block_bytes;
    const uint64_t logs_before = costs->logs_count;
    const uint64_t parts = findings_integer(known, "segment_groups");

    if (page && page != costs->page_bytes)
        costs->erase.pages = 0; /* the period was counted in pages of another
                                   size */
    costs->page_bytes = page ? page : costs->page_bytes;
    costs->erase_bytes = findings_integer(known, "clustered_block");
    cost_erases_find(&costs->erases, costs->page_bytes, &costs->erase);
    costs->run_pages = cost_runs_find(&costs->erases, costs->page_bytes);
    costs->parts_count = parts ? parts : costs->parts_count;
    costs->merges = logs || block;
    if (!logs && !block)
        cost_reach_find(&costs->reach, &costs->block_bytes, &costs->logs_count);
    if (block)
        costs->block_bytes = block;
    if (logs)
        costs->logs_count = logs < COST_BLOCKS_MAX ? logs : COST_BLOCKS_MAX;
    if (costs->block_bytes != block_before || costs->logs_count != logs_before)
        learn_kinds_again(costs);
}
