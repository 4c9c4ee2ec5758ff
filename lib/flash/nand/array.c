/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/nand/array.h"

#include <assert.h>

#include "lib/base/random.h"
#include "lib/flash/nand/array_inside.h"
#include "lib/flash/nand/interleave.h"

uint64_t array_sense_ns(const struct array *array, uint32_t block,
                        uint32_t page, uint64_t at_ns)
{
    const struct spot spot = spot_of(array, block, page);

    return sense_ns(array, &spot, at_ns);
}

void array_begin_block(struct array *array, uint32_t block, uint64_t now_ns)
{
    struct array_retry *retry = array->retry;

    if (retry)
        retry->begun_ns[block] = now_ns + retry->initial_age_ns;
}

uint64_t array_retry_ns(const struct array *array, uint32_t block,
                        uint64_t at_ns)
{
    const struct array_retry *retry = array->retry;
    uint64_t now_ns = at_ns + retry->initial_age_ns;
    bool old = retry->retention_ns &&
               now_ns > retry->begun_ns[block] + retry->retention_ns;

    return old || random_mix(retry->seed ^ block) < retry->weak_below
               ? retry->retry_ns
               : 0;
}

/* Banks alternate over the channels, so that neighbours can transfer at once.
 */
static uint64_t *channel_of(struct array *array, uint32_t bank)
{
    return &array->channel_free_ns[array->banks[bank].channel];
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

/* When a page is in its register, in a bank with planes. A page of another
 * plane that has the same number, and was asked for before its sense began, is
 * sensed along with it; `*start_ns` is then when the bank was free. */
static uint64_t sense_plane(const struct array *array, const struct spot *spot,
                            uint64_t begin_ns, uint64_t *start_ns)
{
    const struct array_bank *at = &array->banks[spot->bank];
    uint32_t plane = 1u << spot->place->plane;
    struct array_sense *sense = at->sense;

    if (sense->planes && !(sense->planes & plane) &&
        sense->block == spot->block && sense->position == spot->position &&
        begin_ns <= sense->begin_ns) {
        sense->planes |= plane;
        *start_ns = at->free_ns;
        return sense->end_ns;
    }
    sense->block = spot->block;
    sense->position = spot->position;
    sense->planes = plane;
    sense->begin_ns = *start_ns;
    sense->end_ns = *start_ns + lasting(array, sense_ns(array, spot, begin_ns));
    return sense->end_ns;
}

/* ---- steps of banks that have queues ------------------------------------ */

void array_occupy(struct array *array, uint32_t bank, uint64_t ns,
                  uint64_t begin_ns)
{
    const struct step step = {.kind = STEP_BUSY,
                              .block = UINT32_MAX,
                              .work_ns = lasting(array, ns),
                              .begin_ns = begin_ns};

    interleave_ask(array->interleave, bank, &step);
}

/* A page is to be sensed, and to come over the bus. */
static inline uint64_t queue_read(struct array *array, const struct spot *spot,
                                  struct step *step)
{
    array->statistics->pages_read_count++;
    array->banks[spot->bank].did.pages_read_count++;
    step->work_ns = lasting(array, sense_ns(array, spot, step->begin_ns));
    if (spot->place) {
        step->sense = (uint64_t)spot->block << 32 | spot->position;
        step->plane = 1u << spot->place->plane;
    }
    interleave_ask(array->interleave, spot->bank, step);
    return step->begin_ns;
}

/* ---- reads and programs ------------------------------------------------- */

static inline uint64_t fetch(struct array *array, const struct spot *spot,
                             uint64_t bus_ns, uint64_t begin_ns)
{
    uint64_t *channel = channel_of(array, spot->bank);
    struct array_bank *at = &array->banks[spot->bank];
    uint64_t ready_ns = array->bus_held ? later(begin_ns, *channel) : begin_ns;
    uint64_t start = later(ready_ns, at->free_ns);
    uint64_t sensed =
        at->sense ? sense_plane(array, spot, begin_ns, &start)
                  : start + lasting(array, sense_ns(array, spot, begin_ns));

    array->statistics->pages_read_count++;
    at->did.pages_read_count++;
    if (!array->cache_read) {
        *channel = later(sensed, *channel) + lasting(array, bus_ns);
        at->free_ns = *channel; /* its register held the page until now */
        at->did.busy_ns += at->free_ns - start;
        return *channel;
    }
    uint64_t *cache = next_register(array, spot->bank);
    at->free_ns = later(sensed, *cache) + lasting(array, array->cache_copy_ns);
    at->did.busy_ns += at->free_ns - start;
    *channel = later(at->free_ns, *channel) + lasting(array, bus_ns);
    *cache = *channel;
    return *channel;
}

uint64_t array_fetch(struct array *array, const struct spot *spot,
                     uint64_t copy_ns, bool awaited, uint64_t begin_ns)
{
    if (array->interleave) {
        struct step step = {.kind = STEP_READ,
                            .begin_ns = begin_ns,
                            .bus_ns = lasting(array, array->bus_ns),
                            .controller_ns = (uint32_t)lasting(array, copy_ns),
                            .awaited = awaited};
        return queue_read(array, spot, &step);
    }
    uint64_t out = fetch(array, spot, array->bus_ns, begin_ns);
    if (copy_ns)
        out = array->controller_free_ns =
            later(out, array->controller_free_ns) + lasting(array, copy_ns);
    return out;
}

/* Apart, so that a drive without queues need not save registers for it. */
__attribute__((noinline)) static uint64_t
queue_program(struct array *array, const struct spot *spot,
              uint32_t pages_count, uint64_t bus_ns, uint64_t work_ns,
              uint64_t begin_ns)
{
    const struct step step = {.kind = STEP_PROGRAM,
                              .block = spot->block,
                              .bytes =
                                  pages_count * (uint32_t)array->page_bytes,
                              .begin_ns = begin_ns,
                              .bus_ns = lasting(array, bus_ns),
                              .work_ns = lasting(array, work_ns)};

    array->banks[spot->bank].did.pages_programmed_count += pages_count;
    interleave_ask(array->interleave, spot->bank, &step);
    return begin_ns;
}

/* One program, of `pages_count` pages that come over the bus. */
static inline uint64_t store(struct array *array, const struct spot *spot,
                             uint32_t pages_count, uint32_t zero_parts,
                             uint64_t begin_ns)
{
    uint64_t bus_ns =
        without_zeros(array, array->bus_ns * pages_count, zero_parts);
    uint64_t work_ns = program_part_ns(array, spot, zero_parts);

    if (array->interleave)
        return queue_program(array, spot, pages_count, bus_ns, work_ns,
                             begin_ns);
    uint64_t *channel = channel_of(array, spot->bank);
    uint64_t *cache =
        array->cache_program ? next_register(array, spot->bank) : NULL;
    struct array_bank *at = &array->banks[spot->bank];
    uint64_t room = cache ? *cache : at->free_ns;
    uint64_t from = later(later(begin_ns, *channel), room);
    uint64_t in = from + lasting(array, bus_ns);
    uint64_t start = in;
    if (cache) {
        from = later(in, at->free_ns); /* the bank itself is free until then */
        *cache = start = from + lasting(array, array->cache_copy_ns);
    }
    uint64_t done = start + lasting(array, work_ns);

    *channel = in;
    array->transferred_ns = later(array->transferred_ns, in);
    at->free_ns = done;
    at->did.busy_ns += done - from;
    at->did.pages_programmed_count += pages_count;
    array->programmed_ns = later(array->programmed_ns, done);
    return done;
}

static inline uint64_t put(struct array *array, const struct spot *spot,
                           uint32_t zero_parts, uint64_t begin_ns)
{
    if (!array->layout)
        return store(array, spot, 1, zero_parts, begin_ns);
    struct array_bank *at = &array->banks[spot->bank];
    uint32_t pages = programmed_by(array, spot);

    at->gathered_ns = spot->place->before_count == 0
                          ? begin_ns
                          : later(at->gathered_ns, begin_ns);
    if (pages == 0)
        return begin_ns;
    return store(array, spot, pages, zero_parts, at->gathered_ns);
}

uint64_t array_put(struct array *array, const struct spot *spot,
                   uint32_t zero_parts, uint64_t begin_ns)
{
    return put(array, spot, zero_parts, begin_ns);
}

/* Is the page still in the controller's memory? */
static bool is_gathered(const struct array *array, const struct spot *spot,
                        uint32_t page)
{
    if (!spot->place)
        return false;
    const struct layout_place *row = layout_of(array, spot->block)->places;
    return page - (uint32_t)(spot->place - row) + spot->place->last >=
           array->blocks[spot->block].next_page;
}

/* The share of a step that moves `bytes` of a page. */
static uint64_t share(const struct array *array, uint64_t ns, uint64_t bytes)
{
    return bytes == array->page_bytes ? ns : ns * bytes / array->page_bytes;
}

static inline uint64_t read_page(struct array *array, uint32_t block,
                                 uint32_t page, uint64_t bytes, bool to_host,
                                 uint64_t begin_ns)
{
    const struct spot spot = spot_of(array, block, page);
    bool gathered = is_gathered(array, &spot, page);
    uint64_t host_bytes = bytes;

    if (!array->partial_read)
        bytes = array->page_bytes;
    if (array->interleave && !gathered) {
        struct step step = {
            .kind = STEP_READ,
            .begin_ns = begin_ns,
            .bus_ns = lasting(array, share(array, array->bus_ns, bytes)),
            .to_host = to_host,
            .awaited = !to_host};
        if (to_host) { /* who reads for himself pays with the bus */
            step.controller_ns = (uint32_t)lasting(
                array, share(array, array->controller_read_ns, bytes));
            step.bytes = (uint32_t)host_bytes;
        }
        return queue_read(array, &spot, &step);
    }
    uint64_t bus_ns = share(array, array->bus_ns, bytes), out = begin_ns;
    uint64_t controller_ns = share(array, array->controller_read_ns, bytes);

    if (gathered)
        bus_ns = 0;
    else
        out = fetch(array, &spot, bus_ns, begin_ns);
    array->controller_free_ns =
        later(out, array->controller_free_ns) + lasting(array, controller_ns);
    if (array->why)
        note_path(
            array, spot.bank, begin_ns, array->controller_free_ns,
            (struct flash_why){
                .sense_ns =
                    gathered ? 0
                             : lasting(array, sense_ns(array, &spot, begin_ns)),
                .bus_ns = lasting(array, bus_ns),
                .controller_ns = lasting(array, controller_ns)});
    return array->controller_free_ns;
}

uint64_t array_read_part(struct array *array, uint32_t block, uint32_t page,
                         uint64_t bytes, uint64_t begin_ns)
{
    return read_page(array, block, page, bytes, true, begin_ns);
}

uint64_t array_read(struct array *array, uint32_t block, uint32_t page,
                    uint64_t begin_ns)
{
    return read_page(array, block, page, array->page_bytes, false, begin_ns);
}

uint64_t array_program(struct array *array, uint32_t block, uint32_t page,
                       uint64_t begin_ns)
{
    const struct spot spot = spot_of(array, block, page);

    note_begun(array, block, begin_ns);
    array_note_program(array, block, page);
    array->controller_free_ns = later(begin_ns, array->controller_free_ns) +
                                lasting(array, array->controller_write_ns);
    uint64_t done = put(array, &spot, 0, array->controller_free_ns);
    if (array->why) {
        uint32_t pages = programmed_by(array, &spot);
        uint64_t page_ns = pages ? program_ns(array, &spot) : 0;
        note_path(
            array, spot.bank, begin_ns, done,
            (struct flash_why){.controller_ns =
                                   lasting(array, array->controller_write_ns),
                               .bus_ns = lasting(array, array->bus_ns * pages),
                               .program_ns = lasting(array, page_ns)});
    }
    return done;
}

uint64_t array_program_part(struct array *array, uint32_t block, uint32_t page,
                            uint64_t bytes, uint64_t begin_ns)
{
    const uint64_t page_ns = array->bus_ns;

    if (array->partial_program)
        array->bus_ns = share(array, page_ns, bytes);
    const uint64_t done = array_program(array, block, page, begin_ns);
    array->bus_ns = page_ns;
    return done;
}

uint64_t array_complete_row(struct array *array, uint32_t block, uint32_t *page,
                            uint64_t begin_ns)
{
    const struct layout *layout = layout_of(array, block);
    uint64_t done = begin_ns;

    if (!layout)
        return done;
    uint32_t at = remainder_of(*page, layout->row), row = *page - at;
    uint32_t end = layout->whole_from[at];
    for (uint32_t i = at; i < end; i++) {
        const struct layout_place *place = &layout->places[i];
        if (place->before_count == 0 || place->previous >= at)
            continue; /* nothing came for this bank, or it was seen to */
        const struct spot spot = spot_of(array, block, row + i);
        done =
            later(done, store(array, &spot, place->before_count, 0, begin_ns));
        array->statistics->pages_programmed_count +=
            layout->bank_pages - place->before_count;
    }
    *page = row + end;
    array->blocks[block].next_page = *page;
    return done;
}

uint64_t array_program_run(struct array *array, uint32_t block, uint32_t page,
                           uint32_t units_count, uint32_t unit_pages,
                           struct array_arrival *arrival)
{
    const uint32_t stripe = array->stripe_banks_count;
    const uint32_t first = remainder_of(block, array->groups) * stripe;
    const uint64_t controller_ns = lasting(array, array->controller_write_ns);
    const uint64_t bus_ns = lasting(array, array->bus_ns);
    uint32_t column = remainder_of(page, array->stripe);
    uint32_t position = quotient(page, array->stripe);
    uint64_t work_ns = lasting(array, array->program_ns[position]);
    uint64_t controller_free_ns = array->controller_free_ns, done_ns = 0;
    uint64_t transferred_ns = array->transferred_ns;

    for (uint32_t unit = 0; unit < units_count; unit++) {
        arrival->free_ns =
            later(arrival->begin_ns, arrival->free_ns) + arrival->step_ns;
        for (uint32_t i = 0; i < unit_pages; i++) {
            struct array_bank *at = &array->banks[first + column];
            uint64_t *channel = channel_of(array, first + column);
            controller_free_ns =
                later(arrival->free_ns, controller_free_ns) + controller_ns;
            *channel = later(later(controller_free_ns, *channel), at->free_ns) +
                       bus_ns;
            at->free_ns = *channel + work_ns;
            at->did.busy_ns += bus_ns + work_ns;
            at->did.pages_programmed_count++;
            transferred_ns = later(transferred_ns, *channel);
            done_ns = later(done_ns, at->free_ns);
            if (++column < stripe)
                continue;
            column = 0;
            if (++position < array->pages_per_block_count)
                work_ns = lasting(array, array->program_ns[position]);
        }
    }
    note_begun(array, block, arrival->begin_ns);
    array_note_program(array, block, page + units_count * unit_pages - 1);
    array->statistics->pages_programmed_count += units_count * unit_pages - 1;
    array->controller_free_ns = controller_free_ns;
    array->transferred_ns = transferred_ns;
    array->programmed_ns = later(array->programmed_ns, done_ns);
    return done_ns;
}

void array_preset(struct array *array, uint32_t block, uint32_t pages_count)
{
    assert(array->blocks[block].next_page == 0);
    array->blocks[block].next_page = pages_count;
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
    uint32_t first =
        remainder_of(block, array->groups) * array->stripe_banks_count;
    uint64_t done = begin_ns;

    assert(block < array_all_blocks(array));
    if (array->interleave) {
        array_note_erase(array, block);
        for (uint32_t i = 0; i < array->stripe_banks_count; i++)
            array->banks[first + i].did.blocks_erased_count++;
        interleave_ask_erase(
            array->interleave, first, array->stripe_banks_count,
            &(struct step){.kind = STEP_ERASE,
                           .block = block,
                           .work_ns = lasting(array, array->erase_ns),
                           .begin_ns = begin_ns});
        return begin_ns;
    }
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
