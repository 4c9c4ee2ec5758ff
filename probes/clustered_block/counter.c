/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clustered-block: which drives explain how often the writes of several sweeps
 * are slow. */
#include "probes/clustered_block/counter.h"

#include <math.h>

#include "lib/base/units.h"

enum {
    PAGES_LEAST = 4, /* of a block */
    FIRST_PAGE_BYTES = 512
};

static const uint64_t longest_page_bytes = 4 * MIB,
                      longest_unit_bytes = 8 * MIB;

/* Pages of a unit, and parts of a page: planes, bits of a cell, chips. */
static const uint64_t multiples[] = {1,  2,  3,  4,  5,  6, 8,
                                     12, 16, 24, 32, 48, 64};
/* Odd factors of a page, for chips in threes and fives. */
static const uint64_t odds[] = {1, 3, 5};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- what a write uses up ------------------------------------------------ */

static uint64_t used_at(const struct counter_model *model,
                        const struct counter_cut *cut, uint64_t begin_bytes)
{
    const uint64_t page = model->page_bytes, unit = model->unit_bytes;
    const uint64_t pages =
        (begin_bytes + cut->write_bytes - 1) / page - begin_bytes / page + 1;

    return (cut->gather_count * pages * page + unit - 1) / unit * unit;
}

/* Is it more than the drive takes as it comes? */
static bool is_long(const struct counter_model *model,
                    const struct counter_cut *cut)
{
    return model->part_bytes &&
           (cut->write_bytes > model->part_bytes || cut->gather_count > 1);
}

double counter_used(const struct counter_model *model,
                    const struct counter_cut *cut, bool *steady)
{
    const uint64_t page = model->page_bytes, pitch = cut->pitch_bytes;
    /* In which the writes of the sweep lie in a page. */
    uint64_t ways = page / common_divisor(pitch, page);
    uint64_t sum = 0, first = 0;

    *steady = true;
    if (is_long(model, cut))
        return 0;
    if (cut->shift_bytes == 0 && page % pitch == 0 && cut->write_bytes <= pitch)
        ways = 1; /* each within a page */
    for (uint64_t i = 0; i < ways; i++) {
        const uint64_t used =
            used_at(model, cut, (i * pitch + cut->shift_bytes) % page);
        first = i ? first : used;
        *steady = *steady && used == first;
        sum += used;
    }
    return (double)sum / (double)ways;
}

/* ---- predictions --------------------------------------------------------- */

double counter_length(const struct counter_model *model,
                      const struct counter_cut *cut)
{
    bool steady;
    const double used = counter_used(model, cut, &steady);
    const double length = used > 0 ? model->block_bytes / used : 0;

    /* In order, what the writes of a block use up is the same each time even
     * where they differ. */
    return (steady || !cut->scattered) && length == floor(length) ? length : 0;
}

/* Sets the block of a model by a sweep that it speaks of. False: there is no
 * such block. */
static bool set_block(struct counter_model *model,
                      const struct counter_item *item)
{
    bool steady;

    model->block_bytes =
        (double)item->length * counter_used(model, &item->cut, &steady);
    const uint64_t block = (uint64_t)model->block_bytes;
    return model->block_bytes == (double)block &&
           block % model->page_bytes == 0 && block % model->unit_bytes == 0 &&
           block / model->page_bytes >= PAGES_LEAST &&
           (steady || !item->cut.scattered);
}

/* Writes that are taken in parts: twice as much uses up more. */
static bool grows(const struct counter_model *model,
                  const struct counter_item *one,
                  const struct counter_item *other)
{
    const uint64_t a = one->cut.write_bytes * one->cut.gather_count,
                   b = other->cut.write_bytes * other->cut.gather_count;

    if (other->shown != COUNTER_LENGTH || !is_long(model, &other->cut))
        return true;
    return (a < 2 * b || one->length < other->length) &&
           (b < 2 * a || other->length < one->length);
}

/* What is longer than a part uses up two pages or more, however it is taken. */
static bool explains_long(const struct counter *counter,
                          const struct counter_model *model,
                          const struct counter_item *item)
{
    if (item->shown != COUNTER_LENGTH)
        return true;
    for (size_t i = 0; i < counter->items_count; i++)
        if (!grows(model, item, &counter->items[i]))
            return false;
    return model->block_bytes <= 0 ||
           2 * (double)model->page_bytes * (double)item->length <=
               model->block_bytes;
}

static bool explains(const struct counter *counter, struct counter_model *model,
                     const struct counter_item *item)
{
    const size_t first = counter->items[0].length;
    bool steady;

    if (counter_used(model, &item->cut, &steady) <= 0)
        return explains_long(counter, model, item);
    /* The first was too long: this one uses up less. */
    if (model->block_bytes <= 0)
        return item->shown == COUNTER_LENGTH && item->length >= 2 * first &&
               set_block(model, item);
    const double length = counter_length(model, &item->cut);
    const bool half = 2 * length == (double)first;
    switch (item->shown) {
    case COUNTER_LENGTH:
        return length == (double)item->length;
    case COUNTER_HALF:
        return half;
    case COUNTER_OTHER:
        break;
    }
    return !half;
}

struct counter_parting counter_parting(const struct counter *counter,
                                       const struct counter_cut *cut)
{
    const double unknown_length = 2 * (double)counter->items[0].length;
    struct counter_parting parting = {.parts = false};
    double block = 0, first = 0;

    for (size_t i = 0; i < counter->models_count; i++) {
        const struct counter_model *model = &counter->models[i];
        const double length = counter_length(model, cut);
        bool steady;
        if (counter_used(model, cut, &steady) <= 0)
            continue; /* it does not say */
        if (model->block_bytes <= 0) {
            parting.parts = true;
            parting.longest = fmax(parting.longest, unknown_length);
            continue;
        }
        if (block <= 0) {
            block = model->block_bytes;
            first = length;
        }
        parting.parts =
            parting.parts || (length != first && model->block_bytes != block);
        if (length > 0 && (parting.shortest <= 0 || length < parting.shortest))
            parting.shortest = length;
        parting.longest = fmax(parting.longest, length);
    }
    return parting;
}

uint64_t counter_says(const struct counter *counter, bool whole)
{
    double said = 0;

    for (size_t i = 0; i < counter->models_count; i++) {
        const struct counter_model *model = &counter->models[i];
        const double block = model->block_bytes;
        if (whole && model->part_bytes)
            continue;
        if (block <= 0 || (said > 0 && block != said))
            return 0;
        said = block;
    }
    return (uint64_t)said;
}

/* ---- the models ---------------------------------------------------------- */

static void keep(struct counter *counter, struct counter_model model)
{
    const struct counter_item *first = &counter->items[0];
    bool steady;

    if (counter->models_count < COUNTER_MODELS_MAX &&
        (counter_used(&model, &first->cut, &steady) <= 0 ||
         set_block(&model, first)))
        counter->models[counter->models_count++] = model;
}

/* A page of this length, with units and parts of it. `odd`: it is no power of
 * two already, and its unit is as many times as long as one. */
static void keep_page(struct counter *counter, uint64_t page_bytes, bool odd,
                      uint64_t least_bytes)
{
    for (size_t i = 0; i < COUNT(multiples); i++) {
        const uint64_t unit = multiples[i] * page_bytes;
        const uint64_t part = page_bytes / multiples[i];
        const bool doubles = (multiples[i] & (multiples[i] - 1)) == 0;
        if (unit <= longest_unit_bytes && (doubles || !odd))
            keep(counter, (struct counter_model){page_bytes, unit, 0, 0});
        if (part * multiples[i] == page_bytes && part % FIRST_PAGE_BYTES == 0 &&
            part >= least_bytes)
            keep(counter,
                 (struct counter_model){page_bytes, page_bytes, part, 0});
    }
}

void counter_begin(struct counter *counter, uint64_t page_bytes,
                   uint64_t least_bytes, const struct counter_item *first)
{
    counter->items[0] = *first;
    counter->items_count = 1;
    counter->models_count = 0;
    if (page_bytes) {
        keep_page(counter, page_bytes, false, least_bytes);
        for (size_t i = 1; i < COUNT(multiples); i++) {
            const uint64_t page = multiples[i] * page_bytes;
            keep(counter, (struct counter_model){page, page, 0, 0});
        }
        return;
    }
    for (size_t i = 0; i < COUNT(odds); i++)
        for (uint64_t page = odds[i] * FIRST_PAGE_BYTES;
             page <= longest_page_bytes; page *= 2)
            keep_page(counter, page, odds[i] > 1, least_bytes);
}

void counter_add(struct counter *counter, const struct counter_item *item)
{
    size_t count = 0;

    if (counter->items_count == COUNTER_ITEMS_MAX)
        return;
    for (size_t i = 0; i < counter->models_count; i++)
        if (explains(counter, &counter->models[i], item))
            counter->models[count++] = counter->models[i];
    counter->items[counter->items_count++] = *item;
    counter->models_count = count;
}
