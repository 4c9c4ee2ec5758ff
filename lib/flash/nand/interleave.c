/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/nand/interleave.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/flash/nand/interleave_inside.h"

/* ---- requests ---------------------------------------------------------- */

bool interleave_has_room(const struct interleave *il)
{
    return il->free_job != NONE;
}

uint32_t interleave_count(const struct interleave *il)
{
    return il->requests_count;
}

bool interleave_is_busy(const struct interleave *il)
{
    return il->newest != NONE || il->chores_count > 0;
}

bool interleave_is_due(const struct interleave *il, uint64_t ns)
{
    return il->complete_count > 0 || agenda_next_ns(&il->agenda) < ns;
}

void interleave_open(struct interleave *il, const struct flash_request *request,
                     bool flushes, uint64_t order, uint64_t now_ns)
{
    uint32_t at = il->free_job;
    struct job *job = &il->jobs[at];

    assert(at != NONE && il->open == NONE);
    il->free_job = job->next;
    *job =
        (struct job){.offset_bytes = request->offset_bytes,
                     .end_bytes = request->offset_bytes + request->length_bytes,
                     .flushes = flushes,
                     .order = order};
    if (il->explains)
        il->job_whys[at] = (struct flash_why){0};
    job_list(il, at);
    il->requests_count++;
    il->open = at;
    il->opened_ns = now_ns;
    il->error = 0;
}

void interleave_close(struct interleave *il, const struct flash_done *done,
                      uint64_t least_ns)
{
    struct job *job = &il->jobs[il->open];
    uint32_t at = il->open;

    il->open = NONE;
    il->opened_ns = 0;
    gate_leave(il, il->gate.gate);
    gate_leave(il, il->reading.gate);
    il->gate = il->reading = NO_READS;
    job->done = *done;
    if (il->error)
        job->done.error = il->error;
    job->closed = true;
    job->begin_ns = job->least_ns = least_ns;
    job_settle(il, at);
}

/* A request may be complete no earlier than so much after the first event of a
 * lane, which may be UINT64_MAX. */
static uint64_t sooner(const struct interleave *il, unsigned lane,
                       uint64_t least_ns, uint64_t than_ns)
{
    const uint64_t ns = il->agenda.first_ns[lane];

    return ns < than_ns && ns + least_ns < than_ns ? ns + least_ns : than_ns;
}

/* When a request may be complete at the soonest. A step that may begin has all
 * its work before it; a page that is sensed, the bus; one that is through it,
 * the controller and the link, unless a flush waits for it. Where no step is a
 * request's own, a program has to make room; the end of one of cleaning's only
 * lets other steps begin. */
static uint64_t soonest_ns(const struct interleave *il)
{
    const bool own = il->own_steps_count > 0 || il->flush != NONE;
    const uint64_t bus_ns = own ? il->least_bus_ns : 0;
    uint64_t link_ns = own ? il->least_link_ns : il->least_program_ns;
    uint64_t ns = il->agenda.first_ns[LANE_LINK];

    if (il->least_work_ns < link_ns && own)
        link_ns = il->least_work_ns;
    if (il->suspended_count > 0 && il->resume_ns < link_ns)
        link_ns = il->resume_ns; /* and then the rest of a program */
    if (il->flush != NONE)
        link_ns = 0;
    ns = sooner(il, LANE_OWN, 0, ns);
    ns = sooner(il, LANE_OTHER, link_ns, ns);
    for (unsigned lane = LANE_READY; lane < LANE_OWN; lane++)
        ns = sooner(il, lane, bus_ns + link_ns, ns);
    for (unsigned lane = LANE_BUS; lane < LANE_READY; lane++)
        ns = sooner(il, lane, link_ns, ns);
    return sooner(il, LANE_LAST, own ? il->least_work_ns : link_ns, ns);
}

uint64_t interleave_ask_ns(const struct interleave *il)
{
    uint64_t next_ns = il->complete_count > 0 ? il->now_ns : soonest_ns(il);

    if (il->returned_count == 0)
        return next_ns;
    uint64_t done_ns = il->returned[il->head].done.complete_ns;
    return done_ns < next_ns ? done_ns : next_ns;
}

enum interleave_ran interleave_run(struct interleave *il, uint64_t until_ns,
                                   struct flash_done *done, uint64_t *order,
                                   const struct flash_why **why)
{
    if (il->complete_count > 0 && il->now_ns > until_ns)
        return RAN_ALL;
    while (il->complete_count == 0) {
        if (agenda_next_ns(&il->agenda) > until_ns)
            return RAN_ALL;
        banks_happen(il);
        if (!interleave_is_busy(il) && il->complete_count == 0)
            return RAN_IDLE;
    }
    uint32_t at = il->complete[--il->complete_count];
    struct job *job = &il->jobs[at];
    *done = job->done;
    if (il->begins_in_bank)
        done->begin_ns = job->begin_ns;
    *order = job->order;
    *why = &il->job_whys[at];
    il->requests_count--;
    job->next = il->free_job;
    il->free_job = at;
    return RAN_COMPLETE;
}

int interleave_reserve(struct interleave *il)
{
    size_t size = il->returned_size;

    if (il->head > 0) {
        memmove(il->returned, il->returned + il->head,
                il->returned_count * sizeof(*il->returned));
        il->head = 0;
    }
    if (il->reserved_count >= size) {
        size = size ? 2 * size : 64;
        struct returned *returned =
            realloc(il->returned, size * sizeof(*returned));
        if (!returned)
            return -ENOMEM;
        il->returned = returned;
        il->returned_size = size;
    }
    il->reserved_count++;
    return 0;
}

void interleave_put(struct interleave *il, const struct flash_done *done,
                    uint64_t order)
{
    struct returned *all = il->returned + il->head;
    size_t at = il->returned_count++;

    assert(il->head + at < il->returned_size);
    for (; at > 0 && (all[at - 1].done.complete_ns > done->complete_ns ||
                      (all[at - 1].done.complete_ns == done->complete_ns &&
                       all[at - 1].order > order));
         at--)
        all[at] = all[at - 1];
    all[at] = (struct returned){*done, order};
}

size_t interleave_take(struct interleave *il, uint64_t until_ns,
                       struct flash_done done[], size_t max)
{
    const struct returned *all = il->returned + il->head;
    size_t count = 0;

    for (; count < max && count < il->returned_count &&
           all[count].done.complete_ns <= until_ns;
         count++)
        done[count] = all[count].done;
    il->head += count;
    il->returned_count -= count;
    il->reserved_count -= count;
    return count;
}

/* Steps that a queue has room for at least. */
enum { QUEUE_LEAST = 16 };

/* ---- what is asked for ------------------------------------------------- */

/* A ring of twice the size, and room for the event of one step more. */
static int grow(struct interleave *il, struct queue *queue)
{
    struct step *old = queue->steps;
    uint32_t size = 0;

    if (queue->tail - queue->head < queue->size)
        return agenda_reserve(&il->agenda, 2 * il->agenda.most_count);
    size = queue->size ? 2 * queue->size : QUEUE_LEAST;
    struct step *steps = aligned_alloc(sizeof(*steps), size * sizeof(*steps));
    if (!steps)
        return -ENOMEM;
    for (uint32_t i = queue->head; i != queue->tail; i++)
        steps[i & (size - 1)] = *step_at(queue, i);
    il->steps_size += size - queue->size;
    queue->steps = steps;
    queue->size = size;
    free(old);
    return 0;
}

/* Room for a step at the end of the queue, in the books of the open job; NULL:
 * no memory. */
static inline struct step *take_in(struct interleave *il, struct queue *queue,
                                   const struct step *asked)
{
    struct job *job = &il->jobs[il->open];

    while (queue->tail - queue->head == queue->size ||
           il->begins_count + il->events_count >= il->agenda.most_count)
        if (grow(il, queue)) {
            il->error = -ENOMEM;
            return NULL;
        }
    struct step *step = step_at(queue, queue->tail++);
    /* The queue's next is soon wanted. */
    __builtin_prefetch(step_at(queue, queue->tail), 1);
    *step = *asked;
    step->job = il->open;
    job->steps_left_count++;
    il->own_steps_count += !job->chore;
    job->erases_left_count += step->kind == STEP_ERASE;
    return step;
}

void array_then(struct array *array)
{
    struct interleave *il = array->interleave;

    if (!il)
        return;
    gate_leave(il, il->gate.gate);
    il->gate = il->reading;
    il->reading = NO_READS;
}

/* What waits for reads needs their gate; NONE: there are none, or no memory. */
static uint32_t gate_of(struct interleave *il, struct reads *reads)
{
    if (reads->queue) {
        reads->gate = gate_new(il);
        if (reads->gate != NONE)
            il->gates[reads->gate].left_count++;
        step_at(reads->queue, reads->only)->opens = reads->gate;
        reads->queue = NULL;
    }
    return reads->gate;
}

static inline unsigned queue_of(const struct interleave *il, unsigned kind)
{
    if (!il->read_first)
        return QUEUE_READS;
    if (il->chore != NONE)
        return il->cleaning_yields ? QUEUE_CLEANING : QUEUE_PROGRAMS;
    return kind == STEP_READ ? QUEUE_READS : QUEUE_PROGRAMS;
}

static inline void use(struct interleave *il, uint32_t gate)
{
    if (gate != NONE)
        il->gates[gate].users_count++;
}

/* What a step that writes waits for, and what waits for it. */
static inline void set_gates(struct interleave *il, struct step *step)
{
    step->waits_for = step->erased = step->arrives = step->opens = NONE;
    if (step->block == NONE)
        return;
    struct block_gates *block = &il->blocks[step->block];
    if (step->kind == STEP_ERASE) {
        step->waits_for = block->written;
        step->opens = block->erased;
    } else {
        step->waits_for = gate_of(il, &il->gate);
        if (il->jobs[il->open].drains)
            step->arrives = il->room.arriving;
        step->erased = block->erased;
        if (block->written == NONE)
            block->written = gate_new(il);
        step->opens = block->written;
        use(il, step->erased);
        use(il, step->arrives);
    }
    if (step->opens != NONE)
        il->gates[step->opens].left_count++;
}

/* Something may wait for the read. */
static inline void note_read(struct interleave *il, struct queue *queue,
                             struct step *step)
{
    struct reads *reading = &il->reading;

    if (reading->gate == NONE && !reading->queue) {
        reading->queue = queue;
        reading->only = queue->tail - 1;
        return;
    }
    step->opens = gate_of(il, reading);
    if (step->opens != NONE)
        il->gates[step->opens].left_count++;
}

/* What comes behind the bus of a request's read takes no less. */
static inline void note_link(struct interleave *il, const struct step *asked)
{
    const uint64_t bytes = asked->to_host ? asked->bytes : 0;
    const uint64_t controller_ns = asked->to_host ? asked->controller_ns : 0;

    if (bytes >= il->least_link_bytes &&
        controller_ns >= il->least_controller_ns)
        return;
    if (bytes < il->least_link_bytes)
        il->least_link_bytes = bytes;
    if (controller_ns < il->least_controller_ns)
        il->least_controller_ns = controller_ns;
    il->least_link_ns = il->least_controller_ns + il->least_link_bytes *
                                                      1000000000 /
                                                      il->link_bytes_per_second;
}

void interleave_ask(struct interleave *il, uint32_t at,
                    const struct step *asked)
{
    const unsigned kind = asked->kind;
    struct bank *bank = &il->banks[at];
    struct queue *queue = &bank->queues[queue_of(il, kind)];
    struct step *step = take_in(il, queue, asked);

    if (!step)
        return;
    if (asked->work_ns < il->least_work_ns)
        il->least_work_ns = asked->work_ns;
    if (kind == STEP_PROGRAM && asked->work_ns < il->least_program_ns)
        il->least_program_ns = asked->work_ns;
    if (kind <= STEP_PROGRAM && asked->bus_ns < il->least_bus_ns)
        il->least_bus_ns = asked->bus_ns;
    if (kind == STEP_READ) {
        /* Where it lies may have to be read. */
        step->waits_for = gate_of(il, &il->gate);
        step->opens = NONE;
        if (asked->awaited)
            note_read(il, queue, step);
        if (!il->jobs[il->open].chore)
            note_link(il, asked);
    } else {
        set_gates(il, step);
    }
    use(il, step->waits_for);
    if (kind == STEP_PROGRAM)
        il->jobs[il->open].programmed_bytes += asked->bytes;
    il->chore_work_ns += asked->bus_ns + asked->work_ns;
    if (queue->tail - queue->head == 1)
        gate_watch(il, at, step);
    /* The bank looks at all that may begin at one time. */
    const uint64_t look_ns = later(asked->begin_ns, il->now_ns);
    if (bank->look_ns != look_ns) {
        il->begins_count++;
        expect(il, LANE_LAST, look_ns, EVENT_BEGIN, at);
    }
    bank->look_ns = look_ns;
}

void interleave_ask_erase(struct interleave *il, uint32_t bank, uint32_t count,
                          const struct step *step)
{
    struct block_gates *block = &il->blocks[step->block];

    gate_leave(il, block->erased);
    block->erased = gate_new(il);
    for (uint32_t i = 0; i < count; i++)
        interleave_ask(il, bank + i, step);
    gate_leave(il, block->written);
    block->written = NONE;
}

void array_replace(struct array *array, uint32_t block, uint32_t other)
{
    struct interleave *il = array->interleave;
    const uint32_t gate = il ? il->blocks[other].erased : NONE;

    if (gate == NONE || block == other)
        return;
    gate_leave(il, il->blocks[block].erased);
    il->blocks[block].erased = gate;
    il->gates[gate].users_count++;
}

void interleave_explain(struct interleave *il, bool explains)
{
    il->explains = explains;
}

void array_begin_chore(struct array *array)
{
    struct interleave *il = array->interleave;
    const uint32_t at = il ? job_enter(il) : NONE;

    if (at != NONE)
        il->chore = at;
}

void array_end_chore(struct array *array)
{
    struct interleave *il = array->interleave;

    if (!il)
        return;
    array->chore_ns = il->chore_work_ns / array->stripe_banks_count;
    if (il->lost_chores_count > 0)
        il->lost_chores_count--;
    else
        job_leave(il, il->chore);
}

void interleave_linger(struct interleave *il, uint64_t ns)
{
    il->jobs[il->open].linger_ns = ns;
}

/* ---- making and unmaking ----------------------------------------------- */

static int allocate(struct interleave *il)
{
    /* A bank has a transfer or a sense, a copy or a program, the end of what is
     * suspended, and waking up. */
    il->events_count = 4 * il->banks_count + il->jobs_count;
    il->banks = calloc(il->banks_count, sizeof(*il->banks));
    il->bank_whys = calloc(il->banks_count, sizeof(*il->bank_whys));
    il->jobs = calloc(il->jobs_count, sizeof(*il->jobs));
    il->job_whys = calloc(il->jobs_count, sizeof(*il->job_whys));
    il->blocked = calloc(il->banks_count, sizeof(*il->blocked));
    il->channels = calloc(il->channels_count, sizeof(*il->channels));
    il->complete = calloc(il->jobs_count, sizeof(*il->complete));
    if (!il->banks || !il->bank_whys || !il->jobs || !il->job_whys ||
        !il->blocked || !il->channels || !il->complete ||
        agenda_create(&il->agenda, il->events_count))
        return -ENOMEM;
    const size_t bytes = array_all_blocks(il->array) * sizeof(*il->blocks);
    il->blocks = malloc(bytes);
    if (!il->blocks)
        return -ENOMEM;
    memset(il->blocks, 0xff, bytes);
    for (uint32_t i = 0; i < il->banks_count; i++)
        il->banks[i].look_ns = UINT64_MAX;
    for (uint32_t i = 0; i < il->channels_count; i++)
        il->channels[i].first = NONE;
    for (uint32_t i = 0; i < il->jobs_count; i++)
        il->jobs[i].next = i + 1 < il->jobs_count ? i + 1 : NONE;
    il->open = il->newest = il->oldest = il->flush = NONE;
    il->gate = il->reading = NO_READS;
    il->free_gate = NONE;
    il->chore = il->free_chore = il->room.arriving = NONE;
    il->least_bus_ns = il->least_work_ns = il->least_program_ns = UINT32_MAX;
    il->least_link_ns = il->least_link_bytes = il->least_controller_ns =
        UINT32_MAX;
    memset(il->room.draining, 0xff, sizeof(il->room.draining));
    return 0;
}

int interleave_create(const struct drive *drive, struct array *array,
                      uint64_t *link_free_ns, struct interleave **interleave)
{
    struct interleave *il = calloc(1, sizeof(*il));

    if (!il)
        return -ENOMEM;
    il->array = array;
    il->link_free_ns = link_free_ns;
    il->link_bytes_per_second = drive->interface_bytes_per_second;
    il->copy_ns = drive->cache_copy_ns;
    il->registers_count =
        (uint32_t)(drive->cache_register_bytes / drive->page_bytes);
    if (il->registers_count == 0 || !drive->cache_program)
        il->registers_count = 1;
    il->cache_read = drive->cache_read != 0;
    il->cache_program = drive->cache_program != 0;
    il->held = drive->bus_policy == BUS_HELD;
    il->begins_in_bank = drive->mapping == MAPPING_STRIPED;
    il->read_first = drive->die_queue == DIE_QUEUE_READ_FIRST;
    il->cleaning_yields = drive->cleaning_yields != 0;
    il->suspends_erases = drive->suspend != SUSPEND_NOTHING;
    il->suspends_programs = drive->suspend == SUSPEND_PROGRAMS;
    il->erase_suspend_ns = drive->erase_suspend_ns;
    il->program_suspend_ns = drive->program_suspend_ns;
    il->resume_ns = drive->resume_ns;
    il->room.all_bytes = (int64_t)drive->write_buffer_bytes;
    il->channels_count = (uint32_t)drive->channels_count;
    il->banks_count =
        (uint32_t)(drive->channels_count * drive->banks_per_channel_count);
    il->jobs_count = il->depth_count = (uint32_t)drive->queue_depth_count;
    if (allocate(il)) {
        interleave_destroy(il);
        return -ENOMEM;
    }
    *interleave = array->interleave = il;
    return 0;
}

void interleave_destroy(struct interleave *il)
{
    if (!il)
        return;
    for (uint32_t i = 0; il->banks && i < il->banks_count; i++)
        for (unsigned j = QUEUE_READS; j < QUEUES; j++)
            free(il->banks[i].queues[j].steps);
    free(il->banks);
    free(il->bank_whys);
    free(il->job_whys);
    free(il->returned);
    free(il->blocked);
    free(il->channels);
    free(il->jobs);
    free(il->complete);
    free(il->gates);
    free(il->blocks);
    free(il->room.tickets);
    agenda_destroy(&il->agenda);
    free(il);
}

uint64_t interleave_memory_bytes(const struct interleave *il)
{
    return sizeof(*il) +
           il->banks_count * (sizeof(*il->banks) + sizeof(*il->bank_whys) + 1) +
           il->channels_count * sizeof(*il->channels) +
           il->steps_size * sizeof(struct step) +
           il->jobs_count * (sizeof(*il->jobs) + sizeof(*il->job_whys)) +
           il->depth_count * sizeof(*il->complete) +
           il->gates_count * sizeof(*il->gates) +
           il->room.size * sizeof(*il->room.tickets) +
           array_all_blocks(il->array) * sizeof(*il->blocks) +
           il->returned_size * sizeof(*il->returned) +
           agenda_memory_bytes(&il->agenda);
}
