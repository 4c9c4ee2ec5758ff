/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages that cleaning and merges move, inside their bank or over the bus. */
#include "lib/flash/nand/array.h"

#include <string.h>

#include "lib/flash/nand/array_inside.h"

static uint8_t *other_parts_of(const struct array *array, uint32_t block,
                               uint32_t page)
{
    return &array
                ->other_parts[(size_t)block * array->stripe_pages_count + page];
}

void array_set_zero_parts(struct array *array, uint32_t block, uint32_t page,
                          uint32_t count)
{
    *other_parts_of(array, block, page) =
        (uint8_t)(array->page_parts_count - count);
}

/* A copy has the contents of its source. */
static uint32_t carry_zero_parts(struct array *array,
                                 const struct array_move *move,
                                 uint32_t to_block)
{
    if (!array->other_parts)
        return 0;
    uint8_t parts = *other_parts_of(array, move->from_block, move->from_page);
    *other_parts_of(array, to_block, move->to_page) = parts;
    return array->page_parts_count - parts;
}

/* ---- inside a bank ------------------------------------------------------- */

/* Of a copy that takes so long, `pages_count` pages being programmed by it. */
static uint64_t occupy(struct array *array, const struct spot *to,
                       uint64_t work_ns, uint32_t pages_count,
                       uint64_t begin_ns)
{
    struct array_bank *at = &array->banks[to->bank];

    array->statistics->pages_read_count++;
    at->did.pages_read_count++;
    at->did.pages_programmed_count += pages_count;
    if (array->interleave) {
        const struct step step = {.kind = STEP_BUSY,
                                  .block = to->block,
                                  .begin_ns = begin_ns,
                                  .work_ns = work_ns};
        interleave_ask(array->interleave, to->bank, &step);
        return begin_ns;
    }
    at->free_ns += work_ns;
    at->did.busy_ns += work_ns;
    return at->free_ns;
}

/* The first copy of a run waits for its sense; the later ones are sensed while
 * the one before is programmed. */
static uint64_t copy_inside(struct array *array, const struct spot *to,
                            uint64_t read_ns, uint32_t zero_parts,
                            uint64_t begin_ns)
{
    struct array_bank *at = &array->banks[to->bank];
    uint64_t work_ns = lasting(array, program_part_ns(array, to, zero_parts) +
                                          array->cache_copy_ns);

    if (!array->sensing[to->column]) {
        at->free_ns = later(at->free_ns, begin_ns);
        work_ns += lasting(array, read_ns);
    }
    array->sensing[to->column] = true;
    return occupy(array, to, work_ns, 1, begin_ns);
}

/* The same where one program takes several pages: each is sensed by itself, and
 * the last begins the program. */
static uint64_t gather_inside(struct array *array, const struct spot *to,
                              uint64_t read_ns, uint64_t begin_ns)
{
    uint32_t pages = programmed_by(array, to);
    struct array_bank *at = &array->banks[to->bank];
    uint64_t work_ns = read_ns;

    if (pages > 0)
        work_ns += program_ns(array, to) + array->cache_copy_ns;
    at->free_ns = later(at->free_ns, begin_ns);
    return occupy(array, to, lasting(array, work_ns), pages, begin_ns);
}

/* Can the page be copied without leaving its bank, and its plane? */
static bool stays_inside(const struct spot *from, const struct spot *to)
{
    return from->bank == to->bank &&
           (!from->place || from->place->plane == to->place->plane);
}

uint64_t array_burden(struct array *array, uint32_t block, uint32_t pages_count,
                      uint64_t begin_ns)
{
    uint64_t done = begin_ns;

    memset(array->sensing, 0,
           array->stripe_banks_count * sizeof(array->sensing[0]));
    for (uint32_t page = 0; page < pages_count; page++) {
        const struct spot spot = spot_of(array, block, page);
        if (programmed_by(array, &spot) == 0)
            continue; /* its program is the last one's */
        done = later(done,
                     copy_inside(array, &spot, sense_ns(array, &spot, begin_ns),
                                 0, begin_ns));
    }
    array->programmed_ns = later(array->programmed_ns, done);
    return done;
}

/* Does a copy inside take what its program takes, and the first one's sense,
 * whatever else there is? */
static bool copies_plainly(const struct array *array, uint32_t to_block,
                           bool inside)
{
    return inside && !array->layout && !array->retry && !array->other_parts &&
           !array->interleave && array->slowness == 1.0 &&
           to_block < array->blocks_count;
}

/* How many moves, from the first on, bring neighbours to neighbours inside
 * their banks. */
static uint32_t run_of(const struct array *array,
                       const struct array_move moves[], uint32_t count,
                       uint32_t to_block)
{
    const struct array_move *first = moves;
    uint32_t run = 1;

    if (remainder_of(first->from_block, array->groups) !=
            remainder_of(to_block, array->groups) ||
        remainder_of(first->from_page, array->stripe) !=
            remainder_of(first->to_page, array->stripe))
        return 1;
    while (run < count && moves[run].from_block == first->from_block &&
           moves[run].from_page == first->from_page + run &&
           moves[run].to_page == first->to_page + run)
        run++;
    return run;
}

/* A run of such moves: its pages alternate over the banks, and each bank is
 * busy for the sum of its own. */
static uint64_t copy_run(struct array *array, const struct array_move *first,
                         uint32_t count, uint32_t to_block, uint64_t begin_ns)
{
    const uint32_t stripe = array->stripe_banks_count;
    uint64_t done = begin_ns;

    for (uint32_t i = 0; i < count && i < stripe; i++) {
        const struct spot to = spot_of(array, to_block, first->to_page + i);
        const uint32_t pages = (count - i + stripe - 1) / stripe;
        struct array_bank *at = &array->banks[to.bank];
        uint64_t work_ns = array->programs_ns[to.position + pages] -
                           array->programs_ns[to.position] +
                           pages * array->cache_copy_ns;
        if (!array->sensing[to.column]) {
            const struct spot from =
                spot_of(array, first->from_block, first->from_page + i);
            at->free_ns = later(at->free_ns, begin_ns);
            work_ns += sense_ns(array, &from, begin_ns);
            array->sensing[to.column] = true;
        }
        at->free_ns += work_ns;
        at->did.busy_ns += work_ns;
        at->did.pages_read_count += pages;
        at->did.pages_programmed_count += pages;
        done = later(done, at->free_ns);
    }
    array_note_program(array, to_block, first->to_page + count - 1);
    array->statistics->pages_programmed_count += count - 1;
    array->statistics->pages_read_count += count;
    return done;
}

/* ---- over the bus -------------------------------------------------------- */

/* Out over the bus, through the controller, and in again. */
static uint64_t copy_outside(struct array *array, const struct spot *from,
                             const struct spot *to, uint32_t zero_parts,
                             uint64_t begin_ns)
{
    uint64_t copy_ns = array->controller_copy_ns;
    if (copy_ns)
        copy_ns = without_zeros(array, copy_ns, zero_parts);
    /* Where banks have queues the program waits for the last of its reads. */
    const bool awaited = array->interleave && programmed_by(array, to) > 0;
    const uint64_t out = array_fetch(array, from, copy_ns, awaited, begin_ns);
    if (awaited)
        array_then(array);
    const uint64_t done = array_put(array, to, zero_parts, out);
    if (awaited)
        array_then(array);
    return array->interleave ? begin_ns : done;
}

uint64_t array_copy(struct array *array, const struct array_move moves[],
                    uint32_t count, uint32_t to_block, bool inside,
                    uint64_t begin_ns)
{
    const struct layout *layout = layout_of(array, to_block);
    bool gathers = layout && layout->bank_pages > 1;
    bool plainly = copies_plainly(array, to_block, inside);
    uint64_t done = begin_ns;

    memset(array->sensing, 0,
           array->stripe_banks_count * sizeof(array->sensing[0]));
    for (uint32_t i = 0, run; i < count; i += run) {
        run = plainly ? run_of(array, &moves[i], count - i, to_block) : 1;
        if (run > 1) {
            done = later(done,
                         copy_run(array, &moves[i], run, to_block, begin_ns));
            continue;
        }
        const struct array_move *move = &moves[i];
        const struct spot to = spot_of(array, to_block, move->to_page);
        const struct spot from =
            spot_of(array, move->from_block, move->from_page);
        uint32_t zero_parts = carry_zero_parts(array, move, to_block);
        uint64_t stored;

        note_begun(array, to_block, begin_ns);
        array_note_program(array, to_block, move->to_page);
        if (!inside || !stays_inside(&from, &to))
            stored = copy_outside(array, &from, &to, zero_parts, begin_ns);
        else if (gathers)
            stored = gather_inside(array, &to, sense_ns(array, &from, begin_ns),
                                   begin_ns);
        else
            stored = copy_inside(array, &to, sense_ns(array, &from, begin_ns),
                                 zero_parts, begin_ns);
        done = later(done, stored);
    }
    array->statistics->pages_copied_count += count;
    array->programmed_ns = later(array->programmed_ns, done);
    return done;
}

void array_note_moves(struct array *array, const struct array_move moves[],
                      uint32_t count, uint32_t to_block, uint64_t begin_ns)
{
    for (uint32_t i = 0; i < count; i++) {
        carry_zero_parts(array, &moves[i], to_block);
        note_begun(array, to_block, begin_ns);
        array_note_program(array, to_block, moves[i].to_page);
    }
    array->statistics->pages_copied_count += count;
}
