/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/costs.h"

#include <math.h>
#include <string.h>

#include "lib/infer/stats.h"

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
    const bool near =
        part_of(costs, offset_bytes) == part_of(costs, place->read_at_bytes);

    place->read_at_bytes = offset_bytes;
    place->read_end_bytes = offset_bytes + length_bytes;
    return near ? COST_READ_NEAR : COST_READ_FAR;
}

static bool is_again(const struct cost_place *place, enum operation operation,
                     uint64_t offset_bytes, uint64_t length_bytes)
{
    return operation == OPERATION_READ &&
           offset_bytes == place->read_at_bytes &&
           offset_bytes + length_bytes == place->read_end_bytes;
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

/* How much of the last read's time the same one takes: a running mean. */
static void learn_again(struct costs *costs, uint64_t bytes, double ratio)
{
    double *again = &costs->again[class_of((double)bytes)];

    *again = *again > 0 ? *again + (ratio - *again) / 4 : ratio;
}

void costs_learn(struct costs *costs, const struct sample *sample)
{
    uint64_t bytes = sample->length_bytes;
    const double ns = (double)(sample->complete_ns - sample->submit_ns);

    if (sample->error || sample->operation == OPERATION_IDLE)
        return;
    if (is_again(&costs->place, sample->operation, sample->offset_bytes,
                 bytes)) {
        if (costs->place.read_ns > 0)
            learn_again(costs, bytes, ns / costs->place.read_ns);
        return;
    }
    const enum cost_kind kind = kind_of(costs, &costs->place, sample->operation,
                                        sample->offset_bytes, &bytes);
    costs->place.read_ns =
        sample->operation == OPERATION_READ ? ns : costs->place.read_ns;
    if (sample->operation == OPERATION_WRITE &&
        straddles(costs, sample->offset_bytes, sample->length_bytes))
        return; /* what it costs more is known apart */
    struct cost_class *class = &costs->classes[kind][class_of((double)bytes)];
    if (class->count == 0)
        class->bytes = (double)bytes;
    if (class->bytes < (double)bytes || class->bytes > (double)bytes)
        return;
    class->ns[class->count++ % COST_TIMES] = ns;
    class->sum_ns += ns;
}

/* ---- curves ------------------------------------------------------------ */

/*
 * What is typical of a class lies in the middle of its last times: so much is
 * left out on each side. What is far or in order has more that is not: the first
 * write to a new log, the page that opens a block.
 */
static size_t left_out(size_t count, enum cost_kind kind)
{
    if (kind == COST_WRITE_FAR || kind == COST_FLUSH_FAR)
        return 3 * count / 8;
    if (kind == COST_WRITE_ORDER || kind == COST_FLUSH_ORDER)
        return count / 4;
    return count / 8;
}

/* Puts the typical times in rising order; returns how many. */
static size_t typical(const struct cost_class *class, enum cost_kind kind,
                      double ns[COST_TIMES])
{
    const size_t count = held(class), out = left_out(count, kind);

    memcpy(ns, class->ns, count * sizeof(*ns));
    stats_sort(ns, count);
    memmove(ns, ns + out, (count - 2 * out) * sizeof(*ns));
    return count - 2 * out;
}

/* A point of the curve of typical times over sizes. */
struct point {
    double bytes, ns;
};

static size_t points_of(const struct cost_class classes[COST_SIZES],
                        enum cost_kind kind, struct point points[COST_SIZES])
{
    double ns[COST_TIMES];
    size_t count = 0;

    for (size_t i = 0; i < COST_SIZES; i++) {
        if (classes[i].count == 0)
            continue;
        points[count].bytes = classes[i].bytes;
        points[count++].ns = mean(ns, typical(&classes[i], kind, ns));
    }
    return count;
}

/* How much more a request takes on average than is typical: rare ones are slow,
 * whatever their size, and no one size has been seen often enough. */
static double excess(const struct cost_class classes[COST_SIZES],
                     enum cost_kind kind)
{
    double ns[COST_TIMES], sum_ns = 0, count = 0;

    for (size_t i = 0; i < COST_SIZES; i++) {
        if (classes[i].count == 0)
            continue;
        sum_ns += classes[i].sum_ns -
                  classes[i].count * mean(ns, typical(&classes[i], kind, ns));
        count += classes[i].count;
    }
    return count > 0 ? fmax(sum_ns / count, 0) : 0;
}

/*
 * On straight lines through the points. Where one rises much faster than the
 * line before it, there is a step in it, as at the end of a buffer: half way.
 */
static double curve(const struct point points[], size_t count, double bytes)
{
    const double steep = 1.3;
    size_t i = 1;

    if (count == 0)
        return 0;
    if (count == 1 || bytes <= points[0].bytes)
        return bytes > points[0].bytes ? points[0].ns * bytes / points[0].bytes
                                       : points[0].ns;
    while (i + 1 < count && points[i].bytes < bytes)
        i++;
    const struct point a = points[i - 1], b = points[i];
    const double slope = (b.ns - a.ns) / (b.bytes - a.bytes);
    if (i > 1 && bytes <= b.bytes) {
        const struct point z = points[i - 2];
        const double before = fmax((a.ns - z.ns) / (a.bytes - z.bytes), 0);
        if (b.ns > steep * (a.ns + before * (b.bytes - a.bytes)))
            return bytes < (a.bytes + b.bytes) / 2
                       ? a.ns + before * (bytes - a.bytes)
                       : b.ns - before * (b.bytes - bytes);
    }
    return fmax(a.ns + slope * (bytes - a.bytes), fmin(a.ns, b.ns));
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
        [COST_READ_FAR] = {COST_READ_NEAR, COST_READ_NEAR},
        [COST_READ_NEAR] = {COST_READ_FAR, COST_READ_FAR},
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

static const struct cost_class *
nearest_class(const struct cost_class classes[COST_SIZES], double bytes)
{
    const size_t wanted = class_of(bytes);

    for (size_t apart = 0; apart < COST_SIZES; apart++) {
        if (wanted >= apart && classes[wanted - apart].count)
            return &classes[wanted - apart];
        if (wanted + apart < COST_SIZES && classes[wanted + apart].count)
            return &classes[wanted + apart];
    }
    return NULL;
}

/* The curve's time, and that varied as the times of the nearest size do. `chance`
 * says which of them. */
static struct cost draw(const struct costs *costs, enum cost_kind kind,
                        double bytes, uint64_t chance)
{
    const struct cost_class *classes = costs->classes[kind];
    const struct cost_class *class = nearest_class(classes, bytes);
    struct point points[COST_SIZES];
    double ns[COST_TIMES];

    if (!class)
        return (struct cost){.ns = 0};
    const size_t count = typical(class, kind, ns);
    const double middle = mean(ns, count), one = ns[chance % count];
    const double usual = curve(points, points_of(classes, kind, points), bytes);
    return (struct cost){.ns = middle > 0 ? usual * one / middle : usual,
                         .mean_ns = usual + excess(classes, kind)};
}

/* The same read again, relative to the first: as that of the nearest size. */
static double again_of(const struct costs *costs, uint64_t bytes)
{
    const double none = 0.97; /* what differs by less is the same */
    const size_t wanted = class_of((double)bytes);
    double ratio = 1;

    for (size_t apart = COST_SIZES; apart-- > 0;) {
        if (wanted >= apart && costs->again[wanted - apart] > 0)
            ratio = costs->again[wanted - apart];
        else if (wanted + apart < COST_SIZES &&
                 costs->again[wanted + apart] > 0)
            ratio = costs->again[wanted + apart];
    }
    return ratio < none ? ratio : 1;
}

struct cost costs_imagine(const struct costs *costs, const struct step *step,
                          struct cost_place *place, struct random *random)
{
    uint64_t bytes = step->length_bytes;

    if (step->operation == OPERATION_IDLE)
        return (struct cost){(double)step->idle_ns, (double)step->idle_ns};
    const bool again =
        is_again(place, step->operation, step->offset_bytes, bytes);
    const enum cost_kind kind =
        nearest_kind(costs, kind_of(costs, place, step->operation,
                                    step->offset_bytes, &bytes));
    /* Pages written in order differ by their place in a block. */
    const uint64_t chance = kind == COST_WRITE_ORDER || kind == COST_FLUSH_ORDER
                                ? place->write_end_bytes / (bytes ? bytes : 1)
                                : random_u64(random);
    struct cost cost = draw(costs, kind, (double)bytes, chance);
    if (again) {
        cost.ns *= again_of(costs, bytes);
        cost.mean_ns *= again_of(costs, bytes);
    }
    if (step->operation == OPERATION_WRITE &&
        straddles(costs, step->offset_bytes, step->length_bytes)) {
        cost.ns += costs->page_extra_ns;
        cost.mean_ns += costs->page_extra_ns;
    }
    return cost;
}
