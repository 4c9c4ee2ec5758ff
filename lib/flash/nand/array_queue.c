/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/nand/array_queue.h"

#include <assert.h>

#include "lib/flash/nand/interleave.h"

void array_then(struct array *array)
{
    if (array->queued)
        interleave_then(array->interleave);
}

void array_replace(struct array *array, uint32_t block, uint32_t other)
{
    if (array->queued && block != other)
        interleave_replace(array->interleave, block, other);
}

void array_begin_chore(struct array *array)
{
    if (array->queued)
        interleave_begin_chore(array->interleave);
}

void array_end_chore(struct array *array)
{
    if (array->queued)
        array->chore_ns =
            interleave_end_chore(array->interleave) / array->stripe_banks_count;
}

static struct interleave_step step_of(const struct array *array,
                                      const struct array_queued *asked)
{
    return (struct interleave_step){
        .bank = array_bank(array, asked->block, asked->page),
        .block = asked->block,
        .bytes = asked->bytes,
        .bus_ns = asked->bus_ns,
        .controller_ns = asked->controller_ns,
        .work_ns = asked->work_ns,
        .begin_ns = asked->begin_ns,
        .to_host = asked->to_host};
}

void array_queue_read(struct array *array, const struct array_queued *asked)
{
    struct interleave_step step = step_of(array, asked);
    const struct layout *layout =
        asked->block < array->blocks_count ? array->layout : array->slc_layout;

    step.block = UINT32_MAX;
    if (layout) {
        uint64_t row = quotient(asked->page, layout->row);
        const struct layout_place *place = layout_place(layout, asked->page);
        step.sense =
            ((uint64_t)asked->block * array->stripe_pages_count + row) *
                layout->program_pages +
            place->stage;
        step.plane = 1u << place->plane;
    }
    interleave_ask_read(array->interleave, &step);
}

void array_queue_program(struct array *array, const struct array_queued *asked)
{
    const struct interleave_step step = step_of(array, asked);

    array->banks[step.bank].did.pages_programmed_count += asked->pages_count;
    interleave_ask_program(array->interleave, &step);
}

void array_queue_copy(struct array *array, const struct array_queued *asked)
{
    const struct interleave_step step = step_of(array, asked);

    array->banks[step.bank].did.pages_programmed_count += asked->pages_count;
    interleave_ask_copy(array->interleave, &step);
}

void array_queue_erase(struct array *array, const struct array_queued *asked)
{
    struct interleave_step step = step_of(array, asked);

    step.bank = array_group(array, asked->block) * array->stripe_banks_count;
    interleave_ask_erase(array->interleave, &step, array->stripe_banks_count);
}
