/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A write buffer before banks that have queues: what leaves it becomes drains,
 * whose end is open, and a piece of a write waits for the room of earlier ones
 * (interleave.h). */
#include "lib/flash/controller/serve_parts.h"

#include "lib/flash/controller/serve_link.h"
#include "lib/flash/nand/interleave.h"

/* A part of a unit leaves the buffer. Where the unit is on its way already, all
 * of it is still in memory, and nothing has to be read. */
static void send_off(struct flash *flash, const struct dirty *part,
                     uint64_t begin_ns)
{
    struct interleave *interleave = flash->array.interleave;
    struct dirty run = *part;

    if (interleave_is_draining(interleave, run.unit)) {
        run.first_byte = 0;
        run.length_bytes = flash->mapping->unit_bytes;
    }
    interleave_begin_drain(interleave, run.unit);
    serve_program(flash, &run, begin_ns);
    interleave_end_drain(interleave, part->length_bytes);
}

void serve_settle_queued(struct flash *flash, uint64_t begin_ns)
{
    struct mapping *mapping = flash->mapping;

    interleave_begin_drain(flash->array.interleave, INTERLEAVE_ALL_UNITS);
    if (mapping->ops->settle)
        mapping->ops->settle(mapping, begin_ns);
    interleave_end_drain(flash->array.interleave, 0);
}

void serve_drain_queued(struct flash *flash, uint64_t begin_ns)
{
    struct dirty run;

    while (write_buffer_take(flash->write_buffer, &run))
        send_off(flash, &run, begin_ns);
}

/* What the buffer keeps for later, with this piece. */
static uint64_t kept_bytes(const struct flash *flash, const struct dirty *run)
{
    return write_buffer_dirty_bytes(flash->write_buffer) +
           write_buffer_growth(flash->write_buffer, run) +
           interleave_gathered_bytes(flash->array.interleave);
}

/* Nothing that waits for more to come may keep this piece out for ever. */
static void make_room(struct flash *flash, const struct dirty *run,
                      uint64_t begin_ns)
{
    uint64_t all = flash->drive.write_buffer_bytes;
    struct dirty oldest;

    if (kept_bytes(flash, run) > all &&
        interleave_gathered_bytes(flash->array.interleave) > 0)
        serve_settle_queued(flash, begin_ns);
    while (kept_bytes(flash, run) > all &&
           write_buffer_take(flash->write_buffer, &oldest))
        send_off(flash, &oldest, begin_ns);
    /* What was sent off may wait for the rest of a program itself. */
    if (kept_bytes(flash, run) > all &&
        interleave_gathered_bytes(flash->array.interleave) > 0)
        serve_settle_queued(flash, begin_ns);
}

uint64_t serve_buffer_queued(struct flash *flash, const struct dirty *run,
                             uint64_t link_bytes, uint64_t begin_ns)
{
    struct write_buffer *buffer = flash->write_buffer;
    struct dirty whole = {.unit = run->unit,
                          .length_bytes = flash->mapping->unit_bytes};
    struct dirty part;

    make_room(flash, run, begin_ns);
    uint64_t there_ns = interleave_admit(
        flash->array.interleave,
        &(struct interleave_piece){.bytes = write_buffer_growth(buffer, run),
                                   .transfer_ns =
                                       serve_transfer_ns(flash, link_bytes),
                                   .begin_ns = begin_ns});
    write_buffer_put(buffer, run);
    if (!write_buffer_covers(buffer, &whole))
        return there_ns;
    uint64_t taken_bytes = 0;
    while (write_buffer_take_unit(buffer, run->unit, &part))
        taken_bytes += part.length_bytes;
    send_off(flash, &whole, there_ns);
    /* Older parts that lay apart and are covered now had room of their own. */
    if (taken_bytes > whole.length_bytes)
        interleave_release(flash->array.interleave,
                           taken_bytes - whole.length_bytes);
    return there_ns;
}
