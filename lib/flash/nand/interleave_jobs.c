/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests under way, what the drive does by itself, and the memory that writes
 * wait in until they are programmed. */
#include "lib/flash/nand/interleave_inside.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/random.h"

/* ---- jobs ---------------------------------------------------------------- */

static bool overlaps(const struct job *a, const struct job *b)
{
    return a->offset_bytes < b->end_bytes && b->offset_bytes < a->end_bytes;
}

void job_list(struct interleave *il, uint32_t at)
{
    struct job *job = &il->jobs[at];

    job->previous = il->newest;
    job->next = NONE;
    job->parts = touched_parts_of(job->offset_bytes, job->end_bytes);
    if (touched_by_others(&il->touched, &job->parts))
        for (uint32_t i = il->newest; i != NONE; i = il->jobs[i].previous) {
            bool follows = overlaps(job, &il->jobs[i]);
            job->older_count += follows;
            il->jobs[i].followers_count += follows;
        }
    touched_note(&il->touched, &job->parts, 1);
    *(il->newest == NONE ? &il->oldest : &il->jobs[il->newest].next) = at;
    il->newest = at;
    if (!job->flushes)
        return;
    uint32_t *link = &il->flush;
    while (*link != NONE)
        link = &il->jobs[*link].next_flush;
    job->next_flush = NONE;
    *link = at;
}

/* The job is complete: are those that waited for it? A flush is once it is the
 * oldest. */
static void unlist(struct interleave *il, uint32_t at)
{
    const struct job *job = &il->jobs[at];
    uint32_t left = job->followers_count;

    *(job->previous == NONE ? &il->oldest : &il->jobs[job->previous].next) =
        job->next;
    *(job->next == NONE ? &il->newest : &il->jobs[job->next].previous) =
        job->previous;
    for (uint32_t i = job->next; left > 0 && i != NONE;) {
        const uint32_t next = il->jobs[i].next;
        if (overlaps(&il->jobs[i], job)) {
            left--;
            il->jobs[i].older_count--;
            job_settle(il, i);
        }
        i = next;
    }
    /* Nothing but what was drained last says what a flush behind it did. */
    if (job->drains && il->explains)
        for (uint32_t i = il->flush; i != NONE; i = il->jobs[i].next_flush)
            if (job->order <= il->jobs[i].order)
                il->job_whys[i] = il->job_whys[at];
    if (il->oldest != NONE && il->jobs[il->oldest].flushes)
        job_settle(il, il->oldest);
}

/* Where the drains of a unit are, among few others. */
static uint32_t draining_hash(uint64_t unit)
{
    return (uint32_t)random_mix(unit) & ((1u << DRAINING_BITS) - 1);
}

static void forget_draining(struct interleave *il, const struct job *drain)
{
    uint32_t *link = &il->room.draining[draining_hash(drain->unit)];

    while (&il->jobs[*link] != drain)
        link = &il->jobs[*link].draining_next;
    *link = drain->draining_next;
}

static void finish_chore(struct interleave *il, uint32_t at)
{
    struct job *job = &il->jobs[at];

    if (job->drains) {
        unlist(il, at);
        forget_draining(il, job);
        interleave_release(il, job->room_bytes);
    }
    job->next = il->free_chore;
    il->free_chore = at;
    il->chores_count--;
}

/* Is the job complete, and then those that waited for it? */
void job_settle(struct interleave *il, uint32_t at)
{
    struct job *job = &il->jobs[at];

    if (!job->closed || job->steps_left_count || job->older_count ||
        job->tickets_left_count || (job->flushes && at != il->oldest))
        return;
    if (job->chore) {
        finish_chore(il, at);
        return;
    }
    if (job->linger_ns > 0) {
        job->least_ns = later(job->least_ns, il->now_ns) + job->linger_ns;
        il->job_whys[at].program_ns += job->linger_ns;
        job->linger_ns = 0;
    }
    if (job->least_ns > il->now_ns) {
        if (!job->timed)
            expect(il, LANE_LINK, job->least_ns, EVENT_LEAST, at);
        job->timed = true;
        return;
    }
    touched_note(&il->touched, &job->parts, -1);
    job->done.complete_ns = il->now_ns;
    il->complete[il->complete_count++] = at;
    if (job->flushes)
        il->flush = job->next_flush;
    unlist(il, at);
}

static int more_jobs(struct interleave *il)
{
    uint32_t count = il->jobs_count, whys_count = il->jobs_count;
    struct job *jobs = interleave_more(il->jobs, &count, 1, sizeof(*jobs));

    if (!jobs)
        return -ENOMEM;
    il->jobs = jobs;
    struct flash_why *whys =
        interleave_more(il->job_whys, &whys_count, 1, sizeof(*whys));
    if (!whys)
        return -ENOMEM;
    il->job_whys = whys;
    for (uint32_t i = il->jobs_count; i < count; i++)
        jobs[i].next = i + 1 < count ? i + 1 : NONE;
    il->free_chore = il->jobs_count;
    il->jobs_count = count;
    return 0;
}

uint32_t job_enter(struct interleave *il)
{
    if (il->free_chore == NONE && more_jobs(il)) {
        il->error = -ENOMEM; /* its steps are those of what is around it then */
        il->lost_chores_count++;
        return NONE;
    }
    uint32_t at = il->free_chore;
    il->free_chore = il->jobs[at].next;
    il->jobs[at] = (struct job){.chore = true,
                                .previous = NONE,
                                .next = NONE,
                                .outer = il->open,
                                .outer_chore = il->chore,
                                .outer_gate = il->gate,
                                .outer_reading = il->reading,
                                .outer_work_ns = il->chore_work_ns};
    if (il->explains)
        il->job_whys[at] = (struct flash_why){0};
    il->chores_count++;
    il->chore_work_ns = 0;
    il->open = at;
    il->gate = il->reading = NO_READS;
    return at;
}

void job_leave(struct interleave *il, uint32_t at)
{
    struct job *job = &il->jobs[at];

    gate_leave(il, il->gate.gate);
    gate_leave(il, il->reading.gate);
    il->chore = job->outer_chore;
    il->open = job->outer;
    il->gate = job->outer_gate;
    il->reading = job->outer_reading;
    il->chore_work_ns += job->outer_work_ns;
    job->closed = true;
    job_settle(il, at);
}

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

    if (!tickets || agenda_reserve(&il->agenda,
                                   il->agenda.most_count + size - room->size)) {
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

/* What waits comes in, in order, as far as there is room: when something is
 * safe, or when a request is dispatched that covers what waited. */
static void let_in(struct interleave *il)
{
    const uint64_t now_ns = later(il->now_ns, il->opened_ns);
    struct room *room = &il->room;

    while (room->count > 0 && has_room(room, ticket_at(room, 0)->bytes)) {
        const struct ticket ticket = *ticket_at(room, 0);
        struct job *job = &il->jobs[ticket.job];
        room->head = room->head + 1 < room->size ? room->head + 1 : 0;
        room->count--;
        uint64_t begin_ns = later(ticket.begin_ns, now_ns);
        uint64_t from_ns = later(ticket.begin_ns, job->seen_ns);
        if (now_ns > from_ns)
            il->job_whys[ticket.job].buffer_ns += now_ns - from_ns;
        job->seen_ns = later(job->seen_ns, now_ns);
        uint64_t there_ns =
            transfer(il, ticket.bytes, ticket.transfer_ns, begin_ns);
        expect(il, LANE_LINK, there_ns, EVENT_ARRIVED, ticket.gate);
        room->coming_count++;
        job->least_ns = later(job->least_ns, there_ns);
        job->tickets_left_count--;
        job_settle(il, ticket.job);
    }
}

void room_arrived(struct interleave *il, uint32_t gate)
{
    if (il->room.arriving == gate)
        il->room.arriving = NONE;
    il->room.coming_count--;
    il->gates[gate].left_count--;
    gate_wake(il, gate);
    gate_leave(il, gate);
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
    uint32_t gate = gate_new(il);
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

uint64_t interleave_gathered_bytes(const struct interleave *il)
{
    return il->room.gathered_bytes;
}

/* Before the request that is open, so that a flush waits for it. */
void interleave_begin_drain(struct interleave *il, uint64_t unit)
{
    uint32_t request = il->open;

    assert(request != NONE && il->chore == NONE);
    uint32_t at = job_enter(il);
    if (at == NONE)
        return;
    struct job *job = &il->jobs[at], *behind = &il->jobs[request];
    job->drains = true;
    job->order = behind->order;
    job->unit = unit;
    job->next = request;
    job->previous = behind->previous;
    *(behind->previous == NONE ? &il->oldest
                               : &il->jobs[behind->previous].next) = at;
    behind->previous = at;
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
    uint32_t *draining = &room->draining[draining_hash(job->unit)];
    job->draining_next = *draining;
    *draining = il->open;
    job_leave(il, il->open);
}

bool interleave_is_draining(const struct interleave *il, uint64_t unit)
{
    uint32_t at = il->room.draining[draining_hash(unit)];

    while (at != NONE && il->jobs[at].unit != unit)
        at = il->jobs[at].draining_next;
    return at != NONE;
}
