/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/costs.h"

#include <math.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

/* Until they are known: logs of most sticks and cards, and a few parts. */
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

void costs_know(struct costs *costs, const struct findings *known)
{
    const uint64_t page = findings_integer(known, "clustered_page");
    const uint64_t block = findings_integer(known, "log_block");
    const uint64_t logs = findings_integer(known, "log_list");
    const uint64_t parts = findings_integer(known, "segment_groups");

    costs->page_bytes = page ? page : costs->page_bytes;
    costs->parts_count = parts ? parts : costs->parts_count;
    if (block)
        costs->block_bytes = block;
    if (logs)
        costs->logs_count = logs < COST_BLOCKS_MAX ? logs : COST_BLOCKS_MAX;
}

/* ---- kinds ------------------------------------------------------------- */

static size_t class_of(double bytes)
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
    const bool again = offset_bytes == place->read_at_bytes &&
                       place->read_end_bytes == offset_bytes + length_bytes;
    const bool near =
        part_of(costs, offset_bytes) == part_of(costs, place->read_at_bytes);

    place->read_at_bytes = offset_bytes;
    place->read_end_bytes = offset_bytes + length_bytes;
    if (again)
        return COST_READ_AGAIN;
    return near ? COST_READ_NEAR : COST_READ_FAR;
}

/* Puts the block in front; was it among those that were written last? */
static bool touch(const struct costs *costs, struct cost_place *place,
                  uint64_t block)
{
    size_t at = 0;

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
    const bool near = touch(costs, place, offset_bytes / costs->block_bytes);

    place->write_end_bytes = offset_bytes + length_bytes;
    place->flush_bytes = length_bytes;
    place->flush = order  ? COST_FLUSH_ORDER
                   : near ? COST_FLUSH_NEAR
                          : COST_FLUSH_FAR;
    return order ? COST_WRITE_ORDER : near ? COST_WRITE_NEAR : COST_WRITE_FAR;
}

/* Which kind a request is, and how many bytes count for it. */
static enum cost_kind kind_of(const struct costs *costs,
                              struct cost_place *place,
                              enum operation operation, uint64_t offset_bytes,
                              uint64_t *bytes)
{
    enum cost_kind kind = place->flush;

    switch (operation) {
    case OPERATION_READ:
        return read_kind(costs, place, offset_bytes, *bytes);
    case OPERATION_WRITE:
    case OPERATION_DISCARD:
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

static size_t held(const struct cost_class *class)
{
    return class->count < COST_TIMES ? class->count : COST_TIMES;
}

static double mean(const double values[], size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* Does a write touch a page more than it has to? */
static bool straddles(const struct costs *costs, uint64_t offset_bytes,
                      uint64_t length_bytes)
{
    const uint64_t page = costs->page_bytes;

    if (!page || !length_bytes)
        return false;
    const uint64_t touched =
        (offset_bytes + length_bytes - 1) / page - offset_bytes / page + 1;
    return touched > (length_bytes + page - 1) / page;
}

void costs_pass(struct costs *costs, const struct sample *sample)
{
    uint64_t bytes = sample->length_bytes;

    (void)kind_of(costs, &costs->place, sample->operation, sample->offset_bytes,
                  &bytes);
}

void costs_learn(struct costs *costs, const struct sample *sample)
{
    uint64_t bytes = sample->length_bytes;

    if (sample->error || sample->operation == OPERATION_IDLE)
        return;
    const enum cost_kind kind = kind_of(costs, &costs->place, sample->operation,
                                        sample->offset_bytes, &bytes);
    if (sample->operation == OPERATION_WRITE &&
        straddles(costs, sample->offset_bytes, sample->length_bytes))
        return; /* what it costs more is known apart */
    struct cost_class *class = &costs->classes[kind][class_of((double)bytes)];
    const size_t at = class->count++ % COST_TIMES;
    class->bytes[at] = (double)bytes;
    class->ns[at] = (double)(sample->complete_ns - sample->submit_ns);
}

/* A point of the curve of times over sizes; false where there is none. */
static bool point(const struct cost_class *class, double *bytes, double *ns)
{
    if (class->count == 0)
        return false;
    *bytes = mean(class->bytes, held(class));
    *ns = mean(class->ns, held(class));
    return true;
}

/* The mean time, on straight lines through the sizes that were seen. */
static double curve(const struct cost_class classes[COST_SIZES], double bytes)
{
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0, x, y;
    int points = 0;

    for (size_t i = 0; i < COST_SIZES; i++) {
        if (!point(&classes[i], &x, &y))
            continue;
        x0 = x1;
        y0 = y1;
        x1 = x;
        y1 = y;
        if (++points > 1 && x1 >= bytes)
            break;
        if (points == 1 && x1 >= bytes)
            return y1;
    }
    if (points < 2 || x1 <= x0)
        return points && x1 > 0 && bytes > x1 ? y1 * bytes / x1 : y1;
    return fmax(y0 + (y1 - y0) * (bytes - x0) / (x1 - x0), fmin(y0, y1));
}

static bool seen(const struct costs *costs, enum cost_kind kind)
{
    for (size_t i = 0; i < COST_SIZES; i++)
        if (costs->classes[kind][i].count)
            return true;
    return false;
}

/* The kind most like it that was seen. */
static enum cost_kind nearest_kind(const struct costs *costs,
                                   enum cost_kind kind)
{
    static const enum cost_kind others[COST_KINDS][2] = {
        [COST_READ_FAR] = {COST_READ_NEAR, COST_READ_AGAIN},
        [COST_READ_NEAR] = {COST_READ_FAR, COST_READ_AGAIN},
        [COST_READ_AGAIN] = {COST_READ_NEAR, COST_READ_FAR},
        [COST_WRITE_ORDER] = {COST_WRITE_NEAR, COST_WRITE_FAR},
        [COST_WRITE_NEAR] = {COST_WRITE_ORDER, COST_WRITE_FAR},
        [COST_WRITE_FAR] = {COST_WRITE_NEAR, COST_WRITE_ORDER},
        [COST_FLUSH_ORDER] = {COST_FLUSH_NEAR, COST_FLUSH_FAR},
        [COST_FLUSH_NEAR] = {COST_FLUSH_ORDER, COST_FLUSH_FAR},
        [COST_FLUSH_FAR] = {COST_FLUSH_NEAR, COST_FLUSH_ORDER},
        [COST_FLUSH_NOTHING] = {COST_FLUSH_NEAR, COST_FLUSH_ORDER}};

    for (int i = 0; i < 2 && !seen(costs, kind); i++)
        if (seen(costs, others[kind][i]))
            return others[kind][i];
    return kind;
}

/* One of the times of the nearest size that was seen, as if of this size: so
 * what varies on the drive varies here. `chance` says which. */
static double draw(const struct cost_class classes[COST_SIZES], double bytes,
                   uint64_t chance)
{
    const struct cost_class *best = NULL;
    const size_t wanted = class_of(bytes);

    for (size_t apart = 0; apart < COST_SIZES && !best; apart++) {
        if (wanted >= apart && classes[wanted - apart].count)
            best = &classes[wanted - apart];
        else if (wanted + apart < COST_SIZES && classes[wanted + apart].count)
            best = &classes[wanted + apart];
    }
    if (!best)
        return 0;
    const size_t at = (size_t)(chance % held(best));
    const double usual = curve(classes, best->bytes[at]);
    return usual > 0 ? best->ns[at] * curve(classes, bytes) / usual
                     : best->ns[at];
}

double costs_imagine(const struct costs *costs, const struct step *step,
                     struct cost_place *place, struct random *random)
{
    uint64_t bytes = step->length_bytes;

    if (step->operation == OPERATION_IDLE)
        return (double)step->idle_ns;
    const enum cost_kind kind =
        nearest_kind(costs, kind_of(costs, place, step->operation,
                                    step->offset_bytes, &bytes));
    /* Pages written in order differ by their place in a block. */
    const uint64_t chance =
        kind == COST_WRITE_ORDER || kind == COST_FLUSH_ORDER
            ? random_mix(place->write_end_bytes % costs->block_bytes)
            : random_u64(random);
    double ns = draw(costs->classes[kind], (double)bytes, chance);
    if (step->operation == OPERATION_WRITE &&
        straddles(costs, step->offset_bytes, step->length_bytes))
        ns += costs->page_extra_ns;
    return ns;
}
