/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/nand/interleave.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flash/nand/interleave_inside.h"

/* ---- time passes ------------------------------------------------------- */

uint64_t interleave_next_ns(const struct interleave *il)
{
    if (il->complete_count > 0)
        return il->now_ns;
    return agenda_next_ns(&il->agenda);
}

static void happen_next(struct interleave *il)
{
    const struct event event = agenda_take(&il->agenda);

    assert(event.ns >= il->now_ns);
    il->now_ns = event.ns;
    interleave_happen(il, &event);
}

bool interleave_run(struct interleave *il, uint64_t until_ns,
                    struct interleave_done *done)
{
    if (il->complete_count == 0 && il->agenda.count > 0)
        happen_next(il);
    while (il->complete_count == 0 && interleave_is_busy(il) &&
           agenda_next_ns(&il->agenda) <= until_ns)
        happen_next(il);
    if (il->complete_count == 0)
        return false;
    uint32_t at = il->complete[--il->complete_count];
    struct job *job = &il->jobs[at];
    *done = (struct interleave_done){at, job->begin_ns, job->end_ns, job->why};
    job->next = il->free_job;
    il->free_job = at;
    return true;
}

/* ---- what is asked for ------------------------------------------------- */

/* Which of those under way a new job must not overtake. */
static void find_older(struct interleave *il, struct job *job)
{
    for (uint32_t i = il->newest; i != NONE; i = il->jobs[i].previous) {
        bool follows = must_follow(job, &il->jobs[i]);
        job->older_count += follows;
        il->jobs[i].followers_count += follows;
    }
}

uint32_t interleave_open(struct interleave *il,
                         const struct interleave_extent *extent)
{
    uint32_t at = il->free_job;
    struct job *job = &il->jobs[at];

    assert(at != NONE && il->open == NONE);
    il->free_job = job->next;
    *job =
        (struct job){.offset_bytes = extent->offset_bytes,
                     .end_bytes = extent->offset_bytes + extent->length_bytes,
                     .flushes = extent->flushes && il->gated,
                     .order = il->jobs_order++,
                     .previous = il->newest,
                     .next = NONE};
    job->parts = touched_parts_of(job->offset_bytes, job->end_bytes);
    if (job->flushes || touched_by_others(&il->touched, &job->parts))
        find_older(il, job);
    touched_note(&il->touched, &job->parts, 1);
    if (il->newest != NONE)
        il->jobs[il->newest].next = at;
    il->newest = il->open = at;
    il->error = 0;
    return at;
}

/* Twice as much of what has `size` bytes each; NULL: no memory. */
static void *more(void *old, uint32_t *count, uint32_t least, size_t size)
{
    uint32_t wanted = *count ? 2 * *count : least;
    void *made = realloc(old, wanted * size);

    if (made)
        *count = wanted;
    return made;
}

/* Each step may have an event: when it may begin. */
static int grow(struct interleave *il)
{
    uint32_t count = il->steps_count;
    struct step *steps = more(il->steps, &count, 1024, sizeof(*steps));

    if (!steps)
        return -ENOMEM;
    il->steps = steps;
    if (agenda_reserve(&il->agenda, il->events_count + count))
        return -ENOMEM;
    for (uint32_t i = il->steps_count; i < count; i++)
        steps[i].next = i + 1 < count ? i + 1 : NONE;
    il->free_step = il->steps_count;
    il->steps_count = count;
    return 0;
}

static void insert(struct interleave *il, struct queue_ends *queue,
                   uint32_t behind, uint32_t slot)
{
    uint32_t *link = behind == NONE ? &queue->head : &il->steps[behind].next;

    il->steps[slot].next = *link;
    *link = slot;
}

static void put_last(struct interleave *il, struct queue_ends *queue,
                     uint32_t slot)
{
    insert(il, queue, queue->head == NONE ? NONE : queue->tail, slot);
    queue->tail = slot;
}

/* Takes a step into the books of the open job; NONE: no memory. */
static uint32_t take_in(struct interleave *il, const struct step *step)
{
    struct job *job = &il->jobs[il->open];

    if (il->free_step == NONE && grow(il)) {
        il->error = -ENOMEM;
        return NONE;
    }
    uint32_t slot = il->free_step;
    il->free_step = il->steps[slot].next;
    /* Where there are many they lie far from the processor. */
    __builtin_prefetch(any_step(il, il->free_step), 1);
    __builtin_prefetch(&any_step(il, il->free_step)->job, 1);
    il->steps[slot] = *step;
    il->steps[slot].job = il->open;
    il->steps[slot].next = NONE;
    job->steps_left_count++;
    job->reads_left_count += step->kind == STEP_READ;
    job->erases_left_count += step->kind == STEP_ERASE;
    return slot;
}

/* To the end of the bank's queue; a read goes before the programs of its own
 * job, which wait for it. */
static void append(struct interleave *il, uint32_t at, const struct step *step)
{
    struct bank *bank = &il->banks[at];
    struct queue_ends *queue = &bank->queues[QUEUE_READS];
    const struct job *job = &il->jobs[il->open];
    uint32_t slot = take_in(il, step);

    if (slot == NONE)
        return;
    if (step->kind == STEP_PROGRAM && bank->program_order != job->order) {
        bank->program_order = job->order;
        bank->before_program = queue->head == NONE ? NONE : queue->tail;
    }
    if (step->kind == STEP_READ && bank->program_order == job->order) {
        insert(il, queue, bank->before_program, slot);
        bank->before_program = slot;
    } else {
        put_last(il, queue, slot);
    }
    if (!bank->busy)
        expect(il, step->begin_ns, EVENT_BEGIN, at);
    bank->busy = true;
}

static uint64_t bus_ns(const struct interleave *il, uint64_t bytes)
{
    return bytes * 8 * 1000 / il->bits_per_us;
}

void interleave_read(struct interleave *il, uint32_t bank, uint64_t bytes,
                     uint64_t sense_ns, uint64_t begin_ns)
{
    il->array->banks[bank].did.pages_read_count++;
    append(il, bank,
           &(struct step){.kind = STEP_READ,
                          .bus_ns = bus_ns(il, bytes),
                          .work_ns = sense_ns,
                          .to_host = true,
                          .bytes = bytes,
                          .begin_ns = begin_ns});
}

void interleave_program(struct interleave *il, uint32_t bank, uint64_t bytes,
                        uint64_t program_ns, uint64_t begin_ns)
{
    il->array->banks[bank].did.pages_programmed_count++;
    append(il, bank,
           &(struct step){.kind = STEP_PROGRAM,
                          .bus_ns = bus_ns(il, bytes),
                          .work_ns = program_ns,
                          .begin_ns = begin_ns});
}

void interleave_busy(struct interleave *il, uint32_t bank, uint64_t ns,
                     uint64_t begin_ns)
{
    append(
        il, bank,
        &(struct step){.kind = STEP_BUSY, .work_ns = ns, .begin_ns = begin_ns});
}

/* ---- die queues: what is asked for -------------------------------------- */

bool interleave_is_gated(const struct interleave *il)
{
    return il->gated;
}

bool interleave_is_busy(const struct interleave *il)
{
    return il->newest != NONE || il->chores_count > 0;
}

uint32_t interleave_new_gate(struct interleave *il)
{
    if (il->free_gate == NONE) {
        uint32_t count = il->gates_count;
        struct gate *gates = more(il->gates, &count, 256, sizeof(*gates));
        if (!gates) {
            il->error = -ENOMEM;
            return NONE;
        }
        for (uint32_t i = il->gates_count; i < count; i++)
            gates[i].next = i + 1 < count ? i + 1 : NONE;
        il->free_gate = il->gates_count;
        il->gates = gates;
        il->gates_count = count;
    }
    uint32_t at = il->free_gate;
    il->free_gate = il->gates[at].next;
    if (il->free_gate != NONE)
        __builtin_prefetch(&il->gates[il->free_gate], 1);
    il->gates[at] = (struct gate){.users_count = 1, .watcher = NONE};
    return at;
}

void interleave_then(struct interleave *il)
{
    interleave_leave_gate(il, &il->gate);
    il->gate = il->reading;
    il->reading = NONE;
}

static enum queue_kind queue_of(const struct interleave *il,
                                const struct step *step)
{
    if (!il->read_first)
        return QUEUE_READS;
    if (il->chore != NONE)
        return il->cleaning_yields ? QUEUE_CLEANING : QUEUE_PROGRAMS;
    return step->kind == STEP_READ ? QUEUE_READS : QUEUE_PROGRAMS;
}

static uint32_t opened(struct interleave *il, uint32_t *gate)
{
    if (*gate == NONE)
        *gate = interleave_new_gate(il);
    return *gate;
}

/* What a step waits for, and what waits for it. */
static void set_gates(struct interleave *il, struct step *step)
{
    if (step->kind == STEP_READ) {
        step->waits_for = il->gate; /* where it lies may have to be read */
        if (!step->to_host)
            step->opens = opened(il, &il->reading);
        return;
    }
    struct block_gates *block = &il->blocks[step->block];
    if (step->kind == STEP_ERASE) {
        step->waits_for = block->written;
        step->opens = block->erased;
        return;
    }
    step->waits_for = il->gate;
    if (il->jobs[il->open].drains)
        step->arrives = il->room.arriving;
    step->erased = block->erased;
    step->opens = opened(il, &block->written);
}

static void ask(struct interleave *il, enum step_kind kind,
                const struct interleave_step *asked)
{
    struct step step = {.begin_ns = asked->begin_ns,
                        .bus_ns = asked->bus_ns,
                        .controller_ns = asked->controller_ns,
                        .work_ns = asked->work_ns,
                        .bytes = asked->bytes,
                        .sense = asked->sense,
                        .plane = asked->plane,
                        .block = asked->block,
                        .kind = kind,
                        .to_host = asked->to_host,
                        .waits_for = NONE,
                        .erased = NONE,
                        .arrives = NONE,
                        .opens = NONE};

    set_gates(il, &step);
    uint32_t slot = take_in(il, &step);
    if (slot == NONE)
        return;
    if (step.opens != NONE)
        il->gates[step.opens].left_count++;
    if (step.waits_for != NONE)
        il->gates[step.waits_for].users_count++;
    if (step.erased != NONE)
        il->gates[step.erased].users_count++;
    if (step.arrives != NONE)
        il->gates[step.arrives].users_count++;
    if (kind == STEP_PROGRAM)
        interleave_note_program(il, asked->bytes);
    il->chore_work_ns += step.bus_ns + step.work_ns;
    struct bank *bank = &il->banks[asked->bank];
    struct queue_ends *queue = &bank->queues[queue_of(il, &step)];
    put_last(il, queue, slot);
    if (queue->head == slot)
        interleave_watch(il, asked->bank, slot);
    /* The bank looks at all that may begin at one time. */
    uint64_t look_ns = later(step.begin_ns, il->now_ns);
    if (bank->look_ns != look_ns)
        expect(il, look_ns, EVENT_BEGIN, asked->bank);
    bank->look_ns = look_ns;
}

void interleave_ask_read(struct interleave *il,
                         const struct interleave_step *step)
{
    il->array->banks[step->bank].did.pages_read_count++;
    ask(il, STEP_READ, step);
}

void interleave_ask_program(struct interleave *il,
                            const struct interleave_step *step)
{
    ask(il, STEP_PROGRAM, step);
}

void interleave_ask_copy(struct interleave *il,
                         const struct interleave_step *step)
{
    il->array->banks[step->bank].did.pages_read_count++;
    ask(il, STEP_BUSY, step);
}

void interleave_ask_erase(struct interleave *il,
                          const struct interleave_step *step, uint32_t count)
{
    struct block_gates *block = &il->blocks[step->block];
    struct interleave_step one = *step;

    interleave_leave_gate(il, &block->erased);
    block->erased = interleave_new_gate(il);
    for (uint32_t i = 0; i < count; i++, one.bank++) {
        il->array->banks[one.bank].did.blocks_erased_count++;
        ask(il, STEP_ERASE, &one);
    }
    interleave_leave_gate(il, &block->written);
}

void interleave_replace(struct interleave *il, uint32_t block, uint32_t other)
{
    const uint32_t gate = il->blocks[other].erased;

    if (gate == NONE)
        return;
    interleave_leave_gate(il, &il->blocks[block].erased);
    il->blocks[block].erased = gate;
    il->gates[gate].users_count++;
}

static int more_jobs(struct interleave *il)
{
    uint32_t count = il->jobs_count;
    struct job *jobs = more(il->jobs, &count, 1, sizeof(*jobs));

    if (!jobs)
        return -ENOMEM;
    for (uint32_t i = il->jobs_count; i < count; i++)
        jobs[i].next = i + 1 < count ? i + 1 : NONE;
    il->free_chore = il->jobs_count;
    il->jobs = jobs;
    il->jobs_count = count;
    return 0;
}

uint32_t interleave_enter(struct interleave *il)
{
    if (il->free_chore == NONE && more_jobs(il)) {
        il->error = -ENOMEM; /* its steps are those of what is around it then */
        il->lost_chores_count++;
        return NONE;
    }
    uint32_t at = il->free_chore;
    il->free_chore = il->jobs[at].next;
    il->jobs[at] = (struct job){.chore = true,
                                .order = UINT64_MAX,
                                .previous = NONE,
                                .next = NONE,
                                .outer = il->open,
                                .outer_chore = il->chore,
                                .outer_gate = il->gate,
                                .outer_reading = il->reading,
                                .outer_work_ns = il->chore_work_ns};
    il->chores_count++;
    il->chore_work_ns = 0;
    il->open = at;
    il->gate = il->reading = NONE;
    return at;
}

void interleave_leave(struct interleave *il, uint32_t at)
{
    const struct job *job = &il->jobs[at];

    interleave_leave_gate(il, &il->gate);
    interleave_leave_gate(il, &il->reading);
    il->chore = job->outer_chore;
    il->open = job->outer;
    il->gate = job->outer_gate;
    il->reading = job->outer_reading;
    il->chore_work_ns += job->outer_work_ns;
    il->jobs[at].closed = true;
    interleave_settle(il, at);
}

void interleave_begin_chore(struct interleave *il)
{
    uint32_t at = interleave_enter(il);

    if (at != NONE)
        il->chore = at;
}

uint64_t interleave_end_chore(struct interleave *il)
{
    uint64_t work_ns = il->chore_work_ns;

    if (il->lost_chores_count > 0)
        il->lost_chores_count--;
    else
        interleave_leave(il, il->chore);
    return work_ns;
}

void interleave_linger(struct interleave *il, uint64_t ns)
{
    il->jobs[il->open].linger_ns = ns;
}

int interleave_close(struct interleave *il, uint64_t least_ns)
{
    struct job *job = &il->jobs[il->open];
    uint32_t at = il->open;

    il->open = NONE;
    interleave_leave_gate(il, &il->gate);
    interleave_leave_gate(il, &il->reading);
    job->closed = true;
    job->begin_ns = job->least_ns = least_ns;
    interleave_settle(il, at);
    return il->error;
}

/* ---- making and unmaking ----------------------------------------------- */

static int allocate(struct interleave *il)
{
    /* A bank has a transfer or a beginning, a copy or a program; with die
     * queues also the end of what is suspended, and waking up. */
    il->events_count = 4 * il->banks_count + il->jobs_count;
    il->banks = calloc(il->banks_count, sizeof(*il->banks));
    il->blocked = calloc(il->banks_count, sizeof(*il->blocked));
    il->channels = calloc(il->channels_count, sizeof(*il->channels));
    il->jobs = calloc(il->jobs_count, sizeof(*il->jobs));
    il->complete = calloc(il->jobs_count, sizeof(*il->complete));
    if (!il->banks || !il->blocked || !il->channels || !il->jobs ||
        !il->complete || agenda_create(&il->agenda, il->events_count))
        return -ENOMEM;
    if (il->gated) {
        size_t bytes = array_all_blocks(il->array) * sizeof(*il->blocks);
        il->blocks = malloc(bytes);
        if (!il->blocks)
            return -ENOMEM;
        memset(il->blocks, 0xff, bytes);
    }
    for (uint32_t i = 0; i < il->banks_count; i++) {
        for (int queue = 0; queue < QUEUES; queue++)
            il->banks[i].queues[queue].head = NONE;
        il->banks[i].sending = NONE;
        il->banks[i].program_order = il->banks[i].look_ns = UINT64_MAX;
    }
    for (uint32_t i = 0; i < il->channels_count; i++)
        il->channels[i].first = NONE;
    for (uint32_t i = 0; i < il->jobs_count; i++)
        il->jobs[i].next = i + 1 < il->jobs_count ? i + 1 : NONE;
    il->open = il->newest = il->free_step = NONE;
    il->free_gate = il->gate = il->reading = NONE;
    il->chore = il->free_chore = il->room.arriving = NONE;
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
    il->bits_per_us = drive->bus_width_bits * drive->bus_mhz;
    il->registers_count =
        (uint32_t)(drive->cache_register_bytes / drive->page_bytes);
    if (il->registers_count == 0 || !drive->cache_program)
        il->registers_count = 1;
    il->cache_read = drive->cache_read != 0;
    il->cache_program = drive->cache_program != 0;
    il->held = drive->bus_policy == BUS_HELD;
    il->gated = drive->die_queue != DIE_QUEUE_NONE;
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
    *interleave = il;
    return 0;
}

void interleave_destroy(struct interleave *il)
{
    if (!il)
        return;
    free(il->banks);
    free(il->blocked);
    free(il->channels);
    free(il->steps);
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
    return sizeof(*il) + il->banks_count * (sizeof(*il->banks) + 1) +
           il->channels_count * sizeof(*il->channels) +
           il->steps_count * sizeof(*il->steps) +
           il->jobs_count * sizeof(*il->jobs) +
           il->depth_count * sizeof(*il->complete) +
           il->gates_count * sizeof(*il->gates) +
           il->room.size * sizeof(*il->room.tickets) +
           (il->gated ? array_all_blocks(il->array) * sizeof(*il->blocks) : 0) +
           agenda_memory_bytes(&il->agenda);
}
