/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/array.h"

#include <assert.h>
#include <string.h>

#include "lib/flash/interleave.h"
#include "lib/flash/moment.h"

static uint64_t lasting(const struct array *array, uint64_t ns)
{
    if (array->slowness == 1.0)
        return ns;
    return (uint64_t)((double)ns * array->slowness);
}

uint32_t array_group(const struct array *array, uint32_t block)
{
    return remainder_of(block, array->groups);
}

uint32_t array_bank(const struct array *array, uint32_t block, uint32_t page)
{
    return array_group(array, block) * array->stripe_banks_count +
           remainder_of(page, array->stripe);
}

static uint32_t position_of(const struct array *array, uint32_t page)
{
    return quotient(page, array->stripe);
}

/* Banks alternate over the channels, so that neighbours can transfer at once.
 */
static uint64_t *channel_of(struct array *array, uint32_t bank)
{
    return &array->channel_free_ns[array->banks[bank].channel];
}

/* A page is programmed once, in order, after an erase: or the model is wrong.
 */
void array_note_program(struct array *array, uint32_t block, uint32_t page)
{
    assert(block < array_all_blocks(array));
    assert(page < array->stripe_pages_count);
    assert(page >= array->blocks[block].next_page);
    array->blocks[block].next_page = page + 1;
    array->statistics->pages_programmed_count++;
}

void array_part_begin(struct array *array)
{
    array->part = (struct flash_why){0};
    array->part_end_ns = 0;
}

void array_part_end(struct array *array)
{
    struct flash_why *why = array->why;
    const struct flash_why *part = &array->part;

    why->erase_ns += part->erase_ns;
    why->wait_ns += part->wait_ns;
    why->sense_ns += part->sense_ns;
    why->bus_ns += part->bus_ns;
    why->controller_ns += part->controller_ns;
    why->program_ns += part->program_ns;
    array_part_begin(array);
}

/* The path of one page from `begin` to `end`: what is not work is waiting, some
 * of it for the bank's last erase. */
static void note_path(struct array *array, uint32_t bank, uint64_t begin_ns,
                      uint64_t end_ns, struct flash_why path)
{
    uint64_t work =
        path.sense_ns + path.bus_ns + path.controller_ns + path.program_ns;
    uint64_t waited = end_ns - begin_ns - work;
    uint64_t erased = array->banks[bank].erased_ns;

    if (end_ns < array->part_end_ns)
        return;
    array->part_end_ns = end_ns;
    uint64_t from = later(begin_ns, array->banks[bank].erase_begin_ns);
    path.erase_ns = erased > from ? erased - from : 0;
    path.erase_ns = path.erase_ns < waited ? path.erase_ns : waited;
    path.wait_ns = waited - path.erase_ns;
    array->part = path;
}

/* The cache register of a bank whose turn it is. */
static uint64_t *next_register(struct array *array, uint32_t bank)
{
    uint32_t *next = &array->banks[bank].register_next, at = *next;

    *next = at + 1 < array->registers_count ? at + 1 : 0;
    return &array->register_free_ns[bank * array->registers_count + at];
}

/* What a page of a block takes: cells with one bit are faster. */
static uint64_t read_time(const struct array *array, uint32_t block)
{
    return block < array->blocks_count ? array->read_ns : array->slc_read_ns;
}

static uint64_t program_time(const struct array *array, uint32_t block,
                             uint32_t page)
{
    return block < array->blocks_count
               ? array->program_ns[position_of(array, page)]
               : array->slc_program_ns;
}

/* Sense and bring to the controller's side of the bus. */
static uint64_t fetch(struct array *array, uint32_t bank, uint64_t read_ns,
                      uint64_t bus_ns, uint64_t begin_ns)
{
    uint64_t *channel = channel_of(array, bank);
    struct array_bank *at = &array->banks[bank];

    if (array->bus_held)
        begin_ns = later(begin_ns, *channel);
    uint64_t start = later(begin_ns, at->free_ns);
    uint64_t sensed = start + lasting(array, read_ns);
    array->statistics->pages_read_count++;
    at->did.pages_read_count++;
    if (!array->cache_read) {
        *channel = later(sensed, *channel) + lasting(array, bus_ns);
        at->free_ns = *channel; /* its register held the page until now */
        at->did.busy_ns += at->free_ns - start;
        return *channel;
    }
    uint64_t *cache = next_register(array, bank);
    at->free_ns = later(sensed, *cache) + lasting(array, array->cache_copy_ns);
    at->did.busy_ns += at->free_ns - start;
    *channel = later(at->free_ns, *channel) + lasting(array, bus_ns);
    *cache = *channel;
    return *channel;
}

/* How long a step takes that leaves out the parts that are zeros. */
static uint64_t without_zeros(const struct array *array, uint64_t ns,
                              uint32_t zero_parts)
{
    uint32_t parts = array->page_parts_count;

    return zero_parts ? ns * (parts - zero_parts) / parts : ns;
}

static uint64_t store(struct array *array, uint32_t bank, uint64_t page_ns,
                      uint32_t zero_parts, uint64_t begin_ns)
{
    uint64_t bus_ns = without_zeros(array, array->bus_ns, zero_parts);
    uint64_t program_ns =
        without_zeros(array, page_ns, zero_parts) +
        array->zero_copy_ns * zero_parts / array->page_parts_count;
    uint64_t *channel = channel_of(array, bank);
    uint64_t *cache = array->cache_program ? next_register(array, bank) : NULL;
    struct array_bank *at = &array->banks[bank];
    uint64_t room = cache ? *cache : at->free_ns;
    uint64_t from = later(later(begin_ns, *channel), room);
    uint64_t in = from + lasting(array, bus_ns);
    uint64_t start = in;
    if (cache) {
        from = later(in, at->free_ns); /* the bank itself is free until then */
        *cache = start = from + lasting(array, array->cache_copy_ns);
    }
    uint64_t done = start + lasting(array, program_ns);

    *channel = in;
    array->transferred_ns = later(array->transferred_ns, in);
    at->free_ns = done;
    at->did.busy_ns += done - from;
    at->did.pages_programmed_count++;
    array->programmed_ns = later(array->programmed_ns, done);
    return done;
}

/* The share of a step that moves `bytes` of a page. */
static uint64_t share(const struct array *array, uint64_t ns, uint64_t bytes)
{
    return bytes == array->page_bytes ? ns : ns * bytes / array->page_bytes;
}

uint64_t array_read_part(struct array *array, uint32_t block, uint32_t page,
                         uint64_t bytes, uint64_t begin_ns)
{
    uint32_t bank = array_bank(array, block, page);
    if (!array->partial_read)
        bytes = array->page_bytes;
    if (array->interleave) {
        interleave_read(array->interleave, bank, bytes, begin_ns);
        array->statistics->pages_read_count++;
        return begin_ns;
    }
    uint64_t bus_ns = share(array, array->bus_ns, bytes);
    uint64_t controller_ns = share(array, array->controller_read_ns, bytes);
    uint64_t read_ns = read_time(array, block);
    uint64_t out = fetch(array, bank, read_ns, bus_ns, begin_ns);

    array->controller_free_ns =
        later(out, array->controller_free_ns) + lasting(array, controller_ns);
    if (array->why)
        note_path(
            array, bank, begin_ns, array->controller_free_ns,
            (struct flash_why){.sense_ns = lasting(array, read_ns),
                               .bus_ns = lasting(array, bus_ns),
                               .controller_ns = lasting(array, controller_ns)});
    return array->controller_free_ns;
}

uint64_t array_read(struct array *array, uint32_t block, uint32_t page,
                    uint64_t begin_ns)
{
    return array_read_part(array, block, page, array->page_bytes, begin_ns);
}

uint64_t array_program(struct array *array, uint32_t block, uint32_t page,
                       uint64_t begin_ns)
{
    array_note_program(array, block, page);
    array->controller_free_ns = later(begin_ns, array->controller_free_ns) +
                                lasting(array, array->controller_write_ns);
    uint32_t bank = array_bank(array, block, page);
    uint64_t page_ns = program_time(array, block, page);
    uint64_t done = store(array, bank, page_ns, 0, array->controller_free_ns);
    if (array->why)
        note_path(array, bank, begin_ns, done,
                  (struct flash_why){.controller_ns = lasting(
                                         array, array->controller_write_ns),
                                     .bus_ns = lasting(array, array->bus_ns),
                                     .program_ns = lasting(array, page_ns)});
    return done;
}

/* What a run of programs needs at every step, and what it adds up. */
struct program_run {
    uint64_t controller_ns, bus_ns;
    uint64_t controller_free_ns, transferred_ns, done_ns;
};

static void program_next(struct array *array, struct program_run *run,
                         uint32_t bank, uint64_t program_ns, uint64_t begin_ns)
{
    uint64_t *channel = channel_of(array, bank);
    struct array_bank *at = &array->banks[bank];

    run->controller_free_ns =
        later(begin_ns, run->controller_free_ns) + run->controller_ns;
    uint64_t in = later(later(run->controller_free_ns, *channel), at->free_ns) +
                  run->bus_ns;
    *channel = in;
    at->free_ns = in + program_ns;
    at->did.busy_ns += run->bus_ns + program_ns;
    at->did.pages_programmed_count++;
    run->transferred_ns = later(run->transferred_ns, in);
    run->done_ns = later(run->done_ns, in + program_ns);
}

uint64_t array_program_run(struct array *array, uint32_t block, uint32_t page,
                           uint32_t units_count, uint32_t unit_pages,
                           struct array_arrival *arrival)
{
    uint32_t stripe = array->stripe_banks_count;
    uint32_t first = array_group(array, block) * stripe;
    uint32_t column = remainder_of(page, array->stripe);
    uint32_t position = position_of(array, page);
    struct program_run run = {.controller_ns =
                                  lasting(array, array->controller_write_ns),
                              .bus_ns = lasting(array, array->bus_ns),
                              .controller_free_ns = array->controller_free_ns,
                              .transferred_ns = array->transferred_ns};
    uint64_t program_ns = lasting(array, array->program_ns[position]);

    for (uint32_t unit = 0; unit < units_count; unit++) {
        arrival->free_ns =
            later(arrival->begin_ns, arrival->free_ns) + arrival->step_ns;
        for (uint32_t i = 0; i < unit_pages; i++) {
            program_next(array, &run, first + column, program_ns,
                         arrival->free_ns);
            if (++column < stripe)
                continue;
            column = 0;
            if (++position < array->pages_per_block_count)
                program_ns = lasting(array, array->program_ns[position]);
        }
    }
    array_note_program(array, block, page + units_count * unit_pages - 1);
    array->statistics->pages_programmed_count += units_count * unit_pages - 1;
    array->controller_free_ns = run.controller_free_ns;
    array->transferred_ns = run.transferred_ns;
    array->programmed_ns = later(array->programmed_ns, run.done_ns);
    return run.done_ns;
}

void array_preset(struct array *array, uint32_t block, uint32_t pages_count)
{
    assert(array->blocks[block].next_page == 0);
    array->blocks[block].next_page = pages_count;
}

/* The first copy of a run waits for its sense; the later ones are sensed while
 * the one before is programmed. */
static uint64_t copy_inside(struct array *array, uint32_t bank,
                            uint32_t position, uint32_t zero_parts,
                            bool *sensing, uint64_t begin_ns)
{
    struct array_bank *at = &array->banks[bank];
    uint64_t program_ns =
        without_zeros(array, array->program_ns[position], zero_parts) +
        array->zero_copy_ns * zero_parts / array->page_parts_count +
        array->cache_copy_ns;
    uint64_t work_ns = lasting(array, program_ns);

    if (!*sensing) {
        at->free_ns = later(at->free_ns, begin_ns);
        work_ns += lasting(array, array->read_ns);
    }
    *sensing = true;
    at->free_ns += work_ns;
    at->did.busy_ns += work_ns;
    at->did.pages_read_count++;
    at->did.pages_programmed_count++;
    array->statistics->pages_read_count++;
    return at->free_ns;
}

static uint8_t *zero_parts_of(const struct array *array, uint32_t block,
                              uint32_t page)
{
    return &array->zero_parts[(size_t)block * array->stripe_pages_count + page];
}

void array_set_zero_parts(struct array *array, uint32_t block, uint32_t page,
                          uint32_t count)
{
    *zero_parts_of(array, block, page) = (uint8_t)count;
}

/* A copy has the contents of its source. */
static uint32_t carry_zero_parts(struct array *array,
                                 const struct array_move *move,
                                 uint32_t to_block)
{
    if (!array->zero_parts)
        return 0;
    uint8_t parts = *zero_parts_of(array, move->from_block, move->from_page);
    *zero_parts_of(array, to_block, move->to_page) = parts;
    return parts;
}

/* Out over the bus, through the controller, and in again. */
static uint64_t copy_outside(struct array *array, const struct array_move *move,
                             uint32_t bank, uint64_t page_ns,
                             uint32_t zero_parts, uint64_t begin_ns)
{
    uint64_t out =
        fetch(array, array_bank(array, move->from_block, move->from_page),
              read_time(array, move->from_block), array->bus_ns, begin_ns);

    if (array->controller_copy_ns)
        out = array->controller_free_ns =
            later(out, array->controller_free_ns) +
            lasting(array, without_zeros(array, array->controller_copy_ns,
                                         zero_parts));
    return store(array, bank, page_ns, zero_parts, out);
}

uint64_t array_copy(struct array *array, const struct array_move moves[],
                    uint32_t count, uint32_t to_block, bool inside,
                    uint64_t begin_ns)
{
    uint32_t stripe = array->stripe_banks_count;
    uint32_t group = array_group(array, to_block);
    uint64_t done = begin_ns;

    memset(array->sensing, 0, stripe * sizeof(array->sensing[0]));
    for (uint32_t i = 0; i < count; i++) {
        const struct array_move *move = &moves[i];
        uint32_t position = position_of(array, move->to_page);
        uint32_t bank = array_bank(array, to_block, move->to_page);
        uint64_t stored;
        uint32_t zero_parts = carry_zero_parts(array, move, to_block);
        array_note_program(array, to_block, move->to_page);
        array->statistics->pages_copied_count++;
        if (inside && array_group(array, move->from_block) == group &&
            move->from_page % stripe == move->to_page % stripe)
            stored =
                copy_inside(array, bank, position, zero_parts,
                            &array->sensing[move->to_page % stripe], begin_ns);
        else
            stored = copy_outside(array, move, bank,
                                  program_time(array, to_block, move->to_page),
                                  zero_parts, begin_ns);
        done = later(done, stored);
    }
    array->programmed_ns = later(array->programmed_ns, done);
    return done;
}

void array_note_moves(struct array *array, const struct array_move moves[],
                      uint32_t count, uint32_t to_block)
{
    for (uint32_t i = 0; i < count; i++) {
        carry_zero_parts(array, &moves[i], to_block);
        array_note_program(array, to_block, moves[i].to_page);
    }
    array->statistics->pages_copied_count += count;
}

uint64_t array_burden(struct array *array, uint32_t block, uint32_t pages_count,
                      uint64_t begin_ns)
{
    uint32_t stripe = array->stripe_banks_count;
    uint32_t first = array_group(array, block) * stripe;
    uint64_t done = begin_ns;

    memset(array->sensing, 0, stripe * sizeof(array->sensing[0]));
    for (uint32_t page = 0; page < pages_count; page++) {
        uint32_t column = remainder_of(page, array->stripe);
        done = later(done, copy_inside(array, first + column,
                                       position_of(array, page), 0,
                                       &array->sensing[column], begin_ns));
    }
    array->programmed_ns = later(array->programmed_ns, done);
    return done;
}

uint64_t array_delay(struct array *array, uint64_t ns, uint64_t begin_ns)
{
    if (ns == 0)
        return begin_ns;
    uint64_t start = later(begin_ns, array->controller_free_ns);
    array->controller_free_ns = start + lasting(array, ns);
    if (array->why) {
        array->why->wait_ns += start - begin_ns;
        array->why->controller_ns += array->controller_free_ns - start;
    }
    return array->controller_free_ns;
}

uint64_t array_erase(struct array *array, uint32_t block, uint64_t begin_ns)
{
    uint32_t first = array_group(array, block) * array->stripe_banks_count;
    uint64_t done = begin_ns;

    assert(block < array_all_blocks(array));
    for (uint32_t i = 0; i < array->stripe_banks_count; i++) {
        struct array_bank *at = &array->banks[first + i];
        uint64_t start = later(at->free_ns, begin_ns);
        if (start > at->erased_ns) /* or it follows another erase at once */
            at->erase_begin_ns = start;
        at->free_ns = start + lasting(array, array->erase_ns);
        at->erased_ns = at->free_ns;
        at->did.busy_ns += at->free_ns - start;
        at->did.blocks_erased_count++;
        done = later(done, at->free_ns);
    }
    array_note_erase(array, block);
    return done;
}

void array_note_erase(struct array *array, uint32_t block)
{
    array->blocks[block].next_page = 0;
    array->blocks[block].erase_count++;
    array->statistics->blocks_erased_count++;
}
