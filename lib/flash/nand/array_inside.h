/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_ARRAY_INSIDE_H
#define SSDPROBE_FLASH_ARRAY_INSIDE_H

#include "lib/flash/nand/array.h"
#include "lib/flash/nand/interleave.h"
#include "lib/flash/request/moment.h"

/*
 * What only the files of the array see. Each page of the host's and of cleaning
 * goes through it, so the small parts are inlined.
 */

/* Where a page lies. */
struct spot {
    uint32_t block;
    uint32_t column, bank; /* of the block's banks, of all */
    uint32_t position;     /* in its plane's block: which program time */
    const struct layout_place *place; /* NULL: banks alternate */
};

static inline uint64_t lasting(const struct array *array, uint64_t ns)
{
    if (array->slowness == 1.0)
        return ns;
    return (uint64_t)((double)ns * array->slowness);
}

static inline const struct layout *layout_of(const struct array *array,
                                             uint32_t block)
{
    return block < array->blocks_count ? array->layout : array->slc_layout;
}

static inline struct spot spot_of(const struct array *array, uint32_t block,
                                  uint32_t page)
{
    uint32_t group = remainder_of(block, array->groups);
    struct spot spot = {.block = block};

    if (array->layout) {
        const struct layout *layout = layout_of(array, block);
        const uint32_t row = quotient(page, layout->row);
        const uint32_t in_row = page - row * layout->row.by;
        spot.place = &layout->places[in_row];
        spot.column = layout_bank(layout, (uint64_t)block << 32 | row, in_row);
        spot.position = row * layout->program_pages + spot.place->stage;
    } else {
        spot.position = quotient(page, array->stripe);
        spot.column = page - spot.position * array->stripe.by;
    }
    spot.bank = group * array->stripe_banks_count + spot.column;
    return spot;
}

/* What reading takes more where it is repeated. */
uint64_t array_retry_ns(const struct array *array, uint32_t block,
                        uint64_t at_ns);

/* What a page takes: cells with one bit are faster. */
static inline uint64_t level_ns(const struct array *array,
                                const struct spot *spot)
{
    if (spot->block >= array->blocks_count)
        return array->slc_read_ns;
    if (array->read_levels_count == 1)
        return array->read_ns[0];
    return array->read_ns[spot->position % array->read_levels_count];
}

static inline uint64_t sense_ns(const struct array *array,
                                const struct spot *spot, uint64_t at_ns)
{
    uint64_t ns = level_ns(array, spot);

    return array->retry ? ns + array_retry_ns(array, spot->block, at_ns) : ns;
}

static inline uint64_t program_ns(const struct array *array,
                                  const struct spot *spot)
{
    if (spot->block < array->blocks_count)
        return array->program_ns[spot->position];
    return array->slc_slow[spot->block - array->blocks_count]
               ? array->slc_slow_program_ns
               : array->slc_program_ns;
}

/* How long a step takes that leaves out the parts that are zeros. */
static inline uint64_t without_zeros(const struct array *array, uint64_t ns,
                                     uint32_t zero_parts)
{
    uint32_t parts = array->page_parts_count;

    return zero_parts ? ns * (parts - zero_parts) / parts : ns;
}

/* The same for a program: zeros are put down in a time of their own. */
static inline uint64_t program_part_ns(const struct array *array,
                                       const struct spot *spot,
                                       uint32_t zero_parts)
{
    uint64_t ns = program_ns(array, spot);

    return zero_parts
               ? without_zeros(array, ns, zero_parts) +
                     array->zero_copy_ns * zero_parts / array->page_parts_count
               : ns;
}

/* How many pages are programmed when this one has come: those of its bank's
 * program once it is whole. */
static inline uint32_t programmed_by(const struct array *array,
                                     const struct spot *spot)
{
    if (!array->layout)
        return 1;
    const struct layout *layout = layout_of(array, spot->block);
    return spot->place == &layout->places[spot->place->last]
               ? layout->bank_pages
               : 0;
}

/* Sense and bring to the controller's side of the bus; what the controller does
 * to a page that is copied. `awaited`: what is asked for next may wait. */
uint64_t array_fetch(struct array *array, const struct spot *spot,
                     uint64_t copy_ns, bool awaited, uint64_t begin_ns);

/* Programs a page, or keeps it in the controller's memory for the rest of its
 * program. */
uint64_t array_put(struct array *array, const struct spot *spot,
                   uint32_t zero_parts, uint64_t begin_ns);

/* Before a page is noted as programmed. */
static inline void note_begun(struct array *array, uint32_t block,
                              uint64_t now_ns)
{
    if (array->retry && array->blocks[block].next_page == 0)
        array_begin_block(array, block, now_ns);
}

#endif
