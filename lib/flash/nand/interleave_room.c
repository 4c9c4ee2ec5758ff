/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Die queues: the memory that writes wait in until they are programmed. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "lib/flash/nand/interleave_inside.h"

/* ---- coming in ---------------------------------------------------------- */

static struct ticket *ticket_at(const struct room *room, uint32_t index)
{
    uint32_t at = room->head + index;

    return &room->tickets[at < room->size ? at : at - room->size];
}

/* Each ticket may have an event, also when it has its room already: what it
 * brings is there. */
static int more_tickets(struct interleave *il)
{
    struct room *room = &il->room;
    uint32_t size = room->size ? 2 * room->size : 64;
    struct ticket *tickets = malloc(size * sizeof(*tickets));

    if (!tickets ||
        agenda_reserve(&il->agenda, il->events_count + size - room->size +
                                        il->steps_count)) {
        free(tickets);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < room->count; i++)
        tickets[i] = *ticket_at(room, i);
    free(room->tickets);
    il->events_count += size - room->size;
    room->tickets = tickets;
    room->size = size;
    room->head = 0;
    return 0;
}

static bool has_room(const struct room *room, uint64_t bytes)
{
    return room->used_bytes + (int64_t)bytes <= room->all_bytes;
}

/* It has room: over the link, once that is free. When it is there. */
static uint64_t transfer(struct interleave *il, uint64_t bytes,
                         uint64_t transfer_ns, uint64_t begin_ns)
{
    il->room.used_bytes += (int64_t)bytes;
    *il->link_free_ns = later(begin_ns, *il->link_free_ns) + transfer_ns;
    return *il->link_free_ns;
}

/* What waits comes in, in order, as far as there is room. */
static void let_in(struct interleave *il)
{
    struct room *room = &il->room;

    while (room->count > 0 && has_room(room, ticket_at(room, 0)->bytes)) {
        const struct ticket ticket = *ticket_at(room, 0);
        struct job *job = &il->jobs[ticket.job];
        room->head = room->head + 1 < room->size ? room->head + 1 : 0;
        room->count--;
        uint64_t begin_ns = later(ticket.begin_ns, il->now_ns);
        uint64_t from_ns = later(ticket.begin_ns, job->seen_ns);
        if (il->now_ns > from_ns)
            job->why.buffer_ns += il->now_ns - from_ns;
        job->seen_ns = later(job->seen_ns, il->now_ns);
        uint64_t there_ns =
            transfer(il, ticket.bytes, ticket.transfer_ns, begin_ns);
        expect(il, there_ns, EVENT_ARRIVED, ticket.gate);
        room->coming_count++;
        job->least_ns = later(job->least_ns, there_ns);
        job->tickets_left_count--;
        interleave_settle(il, ticket.job);
    }
}

void interleave_arrived(struct interleave *il, uint32_t gate)
{
    if (il->room.arriving == gate)
        il->room.arriving = NONE;
    il->room.coming_count--;
    il->gates[gate].left_count--;
    interleave_wake(il, gate);
    interleave_leave_gate(il, &gate);
}

uint64_t interleave_admit(struct interleave *il,
                          const struct interleave_piece *piece)
{
    struct room *room = &il->room;

    if (room->count == 0 && has_room(room, piece->bytes))
        return transfer(il, piece->bytes, piece->transfer_ns, piece->begin_ns);
    if (room->count + room->coming_count >= room->size && more_tickets(il)) {
        il->error = -ENOMEM;
        return piece->begin_ns;
    }
    uint32_t gate = interleave_new_gate(il);
    if (gate == NONE)
        return piece->begin_ns;
    il->gates[gate].left_count = 1;
    room->arriving = gate;
    *ticket_at(room, room->count++) = (struct ticket){
        piece->bytes, piece->transfer_ns, piece->begin_ns, il->open, gate};
    il->jobs[il->open].tickets_left_count++;
    return piece->begin_ns;
}

void interleave_release(struct interleave *il, uint64_t bytes)
{
    il->room.used_bytes -= (int64_t)bytes;
    let_in(il);
}

/* ---- going out ---------------------------------------------------------- */

static uint16_t *draining_of(const struct interleave *il, uint64_t unit)
{
    const uint64_t mask = (1u << DRAINING_BITS) - 1;

    return (uint16_t *)&il->room.draining[random_mix(unit) & mask];
}

void interleave_note_program(struct interleave *il, uint64_t bytes)
{
    il->jobs[il->open].programmed_bytes += bytes;
}

uint64_t interleave_gathered_bytes(const struct interleave *il)
{
    return il->room.gathered_bytes;
}

/* Before the request that is open, so that a flush waits for it. */
void interleave_begin_drain(struct interleave *il, uint64_t unit)
{
    uint32_t request = il->open;

    assert(request != NONE && il->chore == NONE);
    uint32_t at = interleave_enter(il);
    if (at == NONE)
        return;
    struct job *job = &il->jobs[at], *behind = &il->jobs[request];
    job->drains = true;
    job->unit = unit;
    job->next = request;
    job->previous = behind->previous;
    if (behind->previous != NONE)
        il->jobs[behind->previous].next = at;
    behind->previous = at;
    behind->older_count += behind->flushes;
    job->followers_count = behind->flushes;
}

void interleave_end_drain(struct interleave *il, uint64_t bytes)
{
    struct room *room = &il->room;
    struct job *job = &il->jobs[il->open];

    room->gathered_bytes += bytes;
    if (il->lost_chores_count > 0) {
        il->lost_chores_count--;
        return;
    }
    /* A program makes all safe that it holds. */
    job->room_bytes = room->gathered_bytes;
    if (job->unit != INTERLEAVE_ALL_UNITS &&
        job->programmed_bytes < room->gathered_bytes)
        job->room_bytes = job->programmed_bytes;
    room->gathered_bytes -= job->room_bytes;
    ++*draining_of(il, job->unit);
    interleave_leave(il, il->open);
}

void interleave_drained(struct interleave *il, const struct job *drain)
{
    --*draining_of(il, drain->unit);
    interleave_release(il, drain->room_bytes);
}

bool interleave_is_draining(const struct interleave *il, uint64_t unit)
{
    if (il->chores_count == 0 || *draining_of(il, unit) == 0)
        return false;
    for (uint32_t i = il->newest; i != NONE; i = il->jobs[i].previous)
        if (il->jobs[i].drains && il->jobs[i].unit == unit)
            return true;
    return false;
}
