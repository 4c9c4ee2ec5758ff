/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/forecast/costs.h"

#include <math.h>
#include <string.h>

#include "lib/base/units.h"

/* Defaults until they are measured: common log blocks of sticks and cards, and
 * a few segment groups. */
enum { LOGS_USUAL = 4, PARTS_USUAL = 4 };
static const uint64_t block_usual_bytes = MIB, page_usual_bytes = 16 * KIB;
/* Times that a mean stands for: later ones replace it. */
static const double mean_most = 256;
/* Who takes so many times as long as usual waits for something. */
static const double wait_least = 1.5;
/* Waits of earlier writes count half after so many bytes. */
static const double wait_half_bytes = 32 * (double)MIB;
/* Each time moves the typical one by this factor: about to the median. */
static const double usual_step = 1.02;
/* Less is gained by chance. */
static const double speedup_least = 1.2;
/* Requests sent together of which the mean pace counts. */
static const uint32_t together_count = 16;

void costs_init(struct costs *costs, const struct setting *setting,
                unsigned queue_depth)
{
    memset(costs, 0, sizeof(*costs));
    costs->region_offset_bytes = setting->region_offset_bytes;
    costs->region_length_bytes = setting->region_length_bytes;
    costs->queue_depth = queue_depth;
    costs->parts_count = PARTS_USUAL;
    costs->block_bytes = block_usual_bytes;
    costs->logs_count = LOGS_USUAL;
    costs->page_bytes = page_usual_bytes;
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

static enum cost_kind write_kind(const struct costs *costs,
                                 struct cost_place *place,
                                 uint64_t offset_bytes, uint64_t length_bytes)
{
    const bool order = offset_bytes == place->write_end_bytes;
    const uint64_t block = offset_bytes / costs->block_bytes;
    const bool near = touch(costs, place, block);
    const bool more = place->flush != COST_FLUSH_NOTHING;

    place->scattered_bytes += order || near ? 0 : length_bytes;
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
        place->flush_bytes = 0;
        break;
    case OPERATION_IDLE:
        break;
    }
    return kind;
}

/* ---- times ------------------------------------------------------------- */

void costs_pass(struct costs *costs, const struct sample *sample)
{
    uint64_t bytes = sample->length_bytes;

    (void)costs_kind(costs, &costs->place, sample->operation,
                     sample->offset_bytes, &bytes);
    costs->place.read_ns = 0;
}

/* Records the time of a repeated read / the time of the first. */
static void note_again(struct costs *costs, uint64_t bytes, double ratio)
{
    struct cost_again *again = &costs->again[costs_class((double)bytes)];

    again->ratios[again->count++ % COST_AGAINS] = ratio;
}

/* Records how much longer a write or flush took than usual: it waited for
 * merges or cleaning, which come by what is written, of whatever kind. */
static void note_wait(struct costs *costs, enum cost_kind kind, uint64_t bytes,
                      double ns)
{
    const bool writes = kind <= COST_MORE_FAR;
    const double used_bytes =
        writes ? (double)larger_of(bytes, costs->page_bytes) : 0;
    const double kept = exp2(-used_bytes / wait_half_bytes);

    costs->wait_ns = kept * costs->wait_ns + ns;
    costs->wait_bytes = kept * costs->wait_bytes + used_bytes;
}

static void note(struct costs *costs, enum cost_kind kind, uint64_t bytes,
                 double ns)
{
    struct cost_class *class =
        &costs->classes[kind][costs_class((double)bytes)];

    if (class->count == 0) {
        class->bytes = (double)bytes;
        class->usual_ns = ns;
    }
    if (class->bytes < (double)bytes || class->bytes > (double)bytes)
        return;
    class->ns[class->count++ % COST_TIMES] = ns;
    class->mean_ns += (ns - class->mean_ns) / fmin(class->count, mean_most);
    class->usual_ns *= ns > class->usual_ns ? usual_step : 1 / usual_step;
    if (kind >= COST_WRITE_ORDER && kind != COST_FLUSH_NOTHING)
        note_wait(costs, kind, bytes,
                  ns > wait_least * class->usual_ns ? ns - class->usual_ns : 0);
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
        return;
    }
    if (costs_again(&costs->place, sample->operation, sample->offset_bytes,
                    bytes)) {
        if (costs->place.read_ns > 0)
            note_again(costs, bytes, ns / costs->place.read_ns);
        return;
    }
    const enum cost_kind kind = costs_kind(
        costs, &costs->place, sample->operation, sample->offset_bytes, &bytes);
    if (sample->operation == OPERATION_READ)
        costs->place.read_ns = ns;
    note(costs, kind, bytes, ns);
}

static size_t depth_class(uint32_t depth)
{
    const size_t power = (size_t)ilogb(depth);

    return power < COST_DEPTHS ? power : COST_DEPTHS - 1;
}

/* Do the requests that were counted differ from this one? */
static bool is_other(const struct cost_together *together,
                     const struct sample *sample)
{
    return together->operation != sample->operation ||
           together->bytes != sample->length_bytes ||
           together->depth != sample->depth;
}

void costs_learn_together(struct costs *costs, const struct sample *sample)
{
    struct cost_together *together = &costs->together;
    const uint64_t begin_ns = larger_of(together->landed_ns, sample->submit_ns);
    uint64_t bytes = sample->length_bytes;
    const enum cost_kind kind = costs_kind(
        costs, &costs->place, sample->operation, sample->offset_bytes, &bytes);

    costs->place.read_ns = 0;
    if (is_other(together, sample))
        *together = (struct cost_together){.operation = sample->operation,
                                           .bytes = sample->length_bytes,
                                           .depth = sample->depth,
                                           .landed_ns = together->landed_ns};
    together->landed_ns = larger_of(together->landed_ns, sample->complete_ns);
    together->ns += (double)(together->landed_ns -
                             smaller_of(begin_ns, together->landed_ns));
    if (++together->count < together_count)
        return;
    const double ns = together->ns / together_count;
    const struct cost_class *alone =
        &costs->classes[kind][costs_class((double)bytes)];
    if (sample->operation == OPERATION_WRITE)
        note(costs, kind, bytes, ns);
    else if (sample->operation == OPERATION_READ && alone->count && ns > 0)
        costs->speedups[depth_class(sample->depth)] = alone->mean_ns / ns;
    together->count = 0;
    together->ns = 0;
}

double costs_speedup(const struct costs *costs, uint32_t depth)
{
    const size_t power = depth_class(depth);
    double speedup = 0;

    for (size_t apart = 0; speedup <= 0 && apart < COST_DEPTHS; apart++) {
        if (power >= apart)
            speedup = costs->speedups[power - apart];
        if (speedup <= 0 && power + apart < COST_DEPTHS)
            speedup = costs->speedups[power + apart];
    }
    if (speedup <= 0)
        speedup = sqrt(depth < costs->queue_depth ? depth : costs->queue_depth);
    return speedup < speedup_least ? 1 : speedup;
}

void costs_know(struct costs *costs, const struct findings *known)
{
    const uint64_t page = findings_integer(known, "clustered_page");
    const struct finding *about_page = findings_get(known, "clustered_page");
    const uint64_t block = findings_integer(known, "log_block");
    const uint64_t logs = findings_integer(known, "log_list");
    const uint64_t parts = findings_integer(known, "segment_groups");

    if (page || (about_page && about_page->verdict == VERDICT_ABSENT))
        costs->page_bytes = page;
    costs->erase_bytes = findings_integer(known, "clustered_block");
    costs->parts_count = parts ? parts : costs->parts_count;
    costs->merges = logs || block;
    if (block)
        costs->block_bytes = block;
    if (logs)
        costs->logs_count = logs < COST_BLOCKS_MAX ? logs : COST_BLOCKS_MAX;
}
