/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/interleave.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/flash/agenda.h"
#include "lib/flash/moment.h"

#define NONE UINT32_MAX

enum step_kind { STEP_READ, STEP_PROGRAM, STEP_BUSY };

struct step {
    uint64_t begin_ns; /* not before */
    uint64_t bus_ns;
    uint64_t work_ns; /* program, or busy */
    uint64_t bytes;
    uint32_t next, job;
    enum step_kind kind;
};

struct job {
    uint64_t begin_ns, end_ns; /* of its first step; of its last so far */
    uint64_t least_ns;
    uint64_t offset_bytes, end_bytes;
    uint64_t order;
    uint32_t steps_left_count, reads_left_count;
    uint32_t older_count; /* jobs under way that it must not overtake */
    bool closed, begun, has_bank_waiting;
    bool timed;              /* an EVENT_LEAST is on its way */
    uint32_t previous, next; /* among those under way */
    struct flash_why why;
};

/* What may happen to a bank next, at most one of each. */
enum event_kind {
    EVENT_TRANSFERRED, /* a page is through the bus */
    EVENT_COPIED,      /* a page left the cache register */
    EVENT_PROGRAMMED,
    EVENT_READY, /* a page may go over the bus */
    EVENT_OVER,  /* busy no longer */
    EVENT_LEAST, /* a job may complete */
    EVENT_BEGIN  /* last in its instant: an arrival sees what is over */
};

struct bank {
    uint32_t head, tail;     /* steps that are not done */
    uint64_t program_order;  /* of the last job that programs here, */
    uint32_t before_program; /* and what is before its first; NONE: nothing */
    uint32_t sending;        /* program: the next step to go over the bus */
    uint32_t waiting_next;   /* for the bus, behind this one */
    uint32_t sending_count;  /* program: pages of the burst still to go */
    uint32_t held_count;     /* program: pages in the cache register */
    bool busy;               /* a run is under way, or about to begin */
    bool blocked;            /* its head waits for the job's reads */
    bool asking, holding;    /* for the bus; the bus */
    bool programming, copying;
    uint64_t began_ns, asked_ns, sensed_ns;
    uint64_t known_ns;    /* of `why`, when the run began */
    struct flash_why why; /* of the job so far */
};

struct channel {
    uint32_t first, last; /* banks that ask */
    bool taken;
};

struct interleave {
    struct array *array;
    uint64_t *link_free_ns, link_bytes_per_second;
    uint64_t read_ns, copy_ns, bits_per_us;
    uint32_t registers_count;
    bool cache_read, cache_program, held;

    struct bank *banks;
    uint32_t banks_count, channels_count;
    struct channel *channels;
    struct step *steps;
    uint32_t steps_count, free_step; /* allocated; list of those not in use */
    struct job *jobs;
    uint32_t jobs_count, free_job, open, newest;
    struct agenda agenda;
    uint64_t jobs_order;
    uint32_t *complete; /* jobs to be reported, all of this instant */
    uint32_t complete_count;
    uint64_t now_ns;
    int error;
};

static void expect(struct interleave *il, uint64_t ns, enum event_kind kind,
                   uint32_t at)
{
    agenda_put(&il->agenda, (struct event){.ns = later(ns, il->now_ns),
                                           .at = at,
                                           .kind = (uint16_t)kind,
                                           .last = kind == EVENT_BEGIN});
}

/* ---- jobs -------------------------------------------------------------- */

static bool overlap(const struct job *a, const struct job *b)
{
    return a->offset_bytes < b->end_bytes && b->offset_bytes < a->end_bytes;
}

static void complete_job(struct interleave *il, uint32_t at)
{
    struct job *job = &il->jobs[at];

    if (job->previous != NONE)
        il->jobs[job->previous].next = job->next;
    if (job->next != NONE)
        il->jobs[job->next].previous = job->previous;
    else
        il->newest = job->previous;
    job->end_ns = il->now_ns;
    il->complete[il->complete_count++] = at;
}

/* Is the job complete, and then those that waited for it? */
static void settle(struct interleave *il, uint32_t at)
{
    struct job *job = &il->jobs[at];

    if (!job->closed || job->steps_left_count || job->older_count)
        return;
    if (job->least_ns > il->now_ns) {
        if (!job->timed)
            expect(il, job->least_ns, EVENT_LEAST, at);
        job->timed = true;
        return;
    }
    complete_job(il, at);
    for (uint32_t i = job->next; i != NONE;) {
        uint32_t next = il->jobs[i].next;
        if (overlap(job, &il->jobs[i])) {
            il->jobs[i].older_count--;
            settle(il, i);
        }
        i = next;
    }
}

/* ---- the bus ----------------------------------------------------------- */

static struct channel *channel_of(struct interleave *il, uint32_t bank)
{
    return &il->channels[bank % il->channels_count];
}

static struct step *sending_step(struct interleave *il, uint32_t at)
{
    const struct bank *bank = &il->banks[at];
    bool programs = il->steps[bank->head].kind == STEP_PROGRAM;

    return &il->steps[programs ? bank->sending : bank->head];
}

/* The bank has the bus: a page goes over it. */
static void transfer(struct interleave *il, uint32_t at)
{
    expect(il, il->now_ns + sending_step(il, at)->bus_ns, EVENT_TRANSFERRED,
           at);
}

static void take_bus(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    uint64_t waited = il->now_ns - bank->asked_ns;

    channel_of(il, at)->taken = true;
    bank->asking = false;
    bank->holding = true;
    /* Waiting counts only where nothing else goes on. */
    if (!bank->programming && !bank->copying)
        bank->why.wait_ns += waited;
    transfer(il, at);
}

static void ask_for_bus(struct interleave *il, uint32_t at)
{
    struct channel *channel = channel_of(il, at);
    struct bank *bank = &il->banks[at];

    bank->asking = true;
    bank->asked_ns = il->now_ns;
    bank->waiting_next = NONE;
    if (!channel->taken) {
        take_bus(il, at);
    } else if (channel->first == NONE) {
        channel->first = channel->last = at;
    } else {
        il->banks[channel->last].waiting_next = at;
        channel->last = at;
    }
}

static void release_bus(struct interleave *il, uint32_t at)
{
    struct channel *channel = channel_of(il, at);
    uint32_t next = channel->first;

    il->banks[at].holding = false;
    channel->taken = false;
    if (next == NONE)
        return;
    channel->first = il->banks[next].waiting_next;
    take_bus(il, next);
}

/* ---- a bank's run: steps of one kind and job --------------------------- */

static void begin_run(struct interleave *il, uint32_t at);

static bool continues(const struct interleave *il, uint32_t step,
                      const struct step *than)
{
    return step != NONE && il->steps[step].job == than->job &&
           il->steps[step].kind == than->kind;
}

/* Those that wait for the reads of a job on other banks. */
static void unblock(struct interleave *il, uint32_t job)
{
    for (uint32_t i = 0; i < il->banks_count; i++) {
        struct bank *bank = &il->banks[i];
        if (!bank->blocked || il->steps[bank->head].job != job)
            continue;
        bank->blocked = false;
        expect(il, il->now_ns, EVENT_BEGIN, i);
    }
}

/* The head of a bank is done. True: its run goes on. */
static bool finish_step(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    uint32_t done = bank->head;
    struct step step = il->steps[done];
    struct job *job = &il->jobs[step.job];

    bank->head = step.next;
    il->steps[done].next = il->free_step;
    il->free_step = done;
    job->steps_left_count--;
    if (step.kind == STEP_READ && --job->reads_left_count == 0 &&
        job->has_bank_waiting)
        unblock(il, step.job);
    if (continues(il, bank->head, &step))
        return true;
    uint64_t elapsed = il->now_ns - bank->began_ns;
    uint64_t known = bank->why.wait_ns + bank->why.bus_ns - bank->known_ns;
    uint64_t rest = elapsed > known ? elapsed - known : 0;
    if (step.kind == STEP_READ)
        bank->why.sense_ns += rest;
    else if (step.kind == STEP_PROGRAM)
        bank->why.program_ns += rest;
    else
        bank->why.clean_ns += rest;
    job->why = bank->why;
    il->array->banks[at].did.busy_ns += elapsed;
    settle(il, step.job);
    begin_run(il, at);
    return false;
}

/* The first page of a burst may go once all of it has come from the host, and
 * the cache register has room for it. */
static void send_burst(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    uint32_t room = il->registers_count - bank->held_count, count = 0;

    if (bank->asking || bank->holding || bank->sending == NONE ||
        (!il->cache_program && bank->programming))
        return;
    const struct step *first = &il->steps[bank->sending];
    uint32_t step = bank->sending;
    uint64_t ready_ns = 0;
    for (; count < il->registers_count && continues(il, step, first); count++) {
        ready_ns = later(ready_ns, il->steps[step].begin_ns);
        step = il->steps[step].next;
    }
    if (count > room)
        return;
    bank->sending_count = count;
    bank->asking = true;
    if (ready_ns > il->now_ns)
        expect(il, ready_ns, EVENT_READY, at);
    else
        ask_for_bus(il, at);
}

static void begin_step(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    const struct step *step = &il->steps[bank->head];

    switch (step->kind) {
    case STEP_READ:
        bank->sensed_ns =
            il->now_ns + il->read_ns + (il->cache_read ? il->copy_ns : 0);
        expect(il, bank->sensed_ns, EVENT_READY, at);
        break;
    case STEP_PROGRAM:
        bank->sending = bank->head;
        bank->held_count = 0;
        send_burst(il, at);
        break;
    case STEP_BUSY:
        expect(il, il->now_ns + step->work_ns, EVENT_OVER, at);
        break;
    }
}

/* Looks at the head of the queue of a bank that is free. */
static void begin_run(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];

    bank->busy = bank->head != NONE;
    if (!bank->busy)
        return;
    const struct step *step = &il->steps[bank->head];
    struct job *job = &il->jobs[step->job];
    if (step->begin_ns > il->now_ns) {
        expect(il, step->begin_ns, EVENT_BEGIN, at);
        return;
    }
    if (step->kind == STEP_PROGRAM && job->reads_left_count > 0) {
        bank->blocked = job->has_bank_waiting = true;
        return;
    }
    if (!job->begun)
        job->begin_ns = il->now_ns;
    job->begun = true;
    bank->began_ns = il->now_ns;
    bank->why = job->why;
    bank->known_ns = bank->why.wait_ns + bank->why.bus_ns;
    begin_step(il, at);
}

/* ---- what happens ------------------------------------------------------ */

static void to_host(struct interleave *il, uint64_t bytes)
{
    /* A page is less than a GiB: this fits. */
    *il->link_free_ns = later(il->now_ns, *il->link_free_ns) +
                        bytes * 1000000000 / il->link_bytes_per_second;
}

static void read_transferred(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    const struct step *step = &il->steps[bank->head];
    bool more = continues(il, step->next, step);
    struct job *job = &il->jobs[step->job];

    bank->why.bus_ns += step->bus_ns;
    to_host(il, step->bytes);
    job->least_ns = later(job->least_ns, *il->link_free_ns);
    if (!more || !il->held)
        release_bus(il, at);
    if (!finish_step(il, at))
        return;
    if (il->cache_read)
        bank->sensed_ns =
            later(bank->sensed_ns + il->read_ns, il->now_ns) + il->copy_ns;
    else
        bank->sensed_ns = il->now_ns + il->read_ns;
    expect(il, bank->sensed_ns, EVENT_READY, at);
}

/* The page in the cache register goes to the array. */
static void program_next(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];

    if (bank->programming || bank->copying || bank->held_count == 0)
        return;
    bank->copying = true;
    expect(il, il->now_ns + (il->cache_program ? il->copy_ns : 0), EVENT_COPIED,
           at);
}

static void program_transferred(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    const struct step *step = &il->steps[bank->sending];

    if (!bank->programming && !bank->copying)
        bank->why.bus_ns += step->bus_ns;
    bank->sending = continues(il, step->next, step) ? step->next : NONE;
    bank->held_count++;
    program_next(il, at);
    if (--bank->sending_count > 0) {
        transfer(il, at);
        return;
    }
    release_bus(il, at);
    send_burst(il, at);
}

static void copied(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];

    bank->copying = false;
    bank->programming = true;
    bank->held_count--;
    expect(il, il->now_ns + il->steps[bank->head].work_ns, EVENT_PROGRAMMED,
           at);
    send_burst(il, at);
}

static void programmed(struct interleave *il, uint32_t at)
{
    il->banks[at].programming = false;
    if (!finish_step(il, at))
        return;
    program_next(il, at);
    send_burst(il, at);
}

static void happen(struct interleave *il, const struct event *event)
{
    uint32_t at = event->at;

    switch (event->kind) {
    case EVENT_TRANSFERRED:
        if (il->steps[il->banks[at].head].kind == STEP_READ)
            read_transferred(il, at);
        else
            program_transferred(il, at);
        break;
    case EVENT_COPIED:
        copied(il, at);
        break;
    case EVENT_PROGRAMMED:
        programmed(il, at);
        break;
    case EVENT_READY:
        /* A bus that is held is its own already. */
        if (il->banks[at].holding)
            transfer(il, at);
        else
            ask_for_bus(il, at);
        break;
    case EVENT_OVER:
        if (finish_step(il, at))
            begin_step(il, at);
        break;
    case EVENT_LEAST:
        il->jobs[at].timed = false;
        settle(il, at);
        break;
    case EVENT_BEGIN:
        begin_run(il, at);
        break;
    }
}

uint64_t interleave_next_ns(const struct interleave *il)
{
    if (il->complete_count > 0)
        return il->now_ns;
    return agenda_next_ns(&il->agenda);
}

bool interleave_step(struct interleave *il, struct interleave_done *done)
{
    if (il->complete_count == 0 && il->agenda.count > 0) {
        struct event event = agenda_take(&il->agenda);
        assert(event.ns >= il->now_ns);
        il->now_ns = event.ns;
        happen(il, &event);
    }
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
                     .order = il->jobs_order++,
                     .previous = il->newest,
                     .next = NONE};
    for (uint32_t i = il->newest; i != NONE; i = il->jobs[i].previous)
        job->older_count += overlap(job, &il->jobs[i]);
    if (il->newest != NONE)
        il->jobs[il->newest].next = at;
    il->newest = il->open = at;
    il->error = 0;
    return at;
}

static int grow(struct interleave *il)
{
    uint32_t count = il->steps_count ? 2 * il->steps_count : 1024;
    struct step *steps = realloc(il->steps, count * sizeof(*steps));

    if (!steps)
        return -ENOMEM;
    for (uint32_t i = il->steps_count; i < count; i++)
        steps[i].next = i + 1 < count ? i + 1 : NONE;
    il->free_step = il->steps_count;
    il->steps = steps;
    il->steps_count = count;
    return 0;
}

static void insert(struct interleave *il, struct bank *bank, uint32_t behind,
                   uint32_t slot)
{
    uint32_t *link = behind == NONE ? &bank->head : &il->steps[behind].next;

    il->steps[slot].next = *link;
    *link = slot;
}

/* To the end of the bank's queue; a read goes before the programs of its own
 * job, which wait for it. */
static void append(struct interleave *il, uint32_t at, const struct step *step)
{
    struct bank *bank = &il->banks[at];
    struct job *job = &il->jobs[il->open];

    if (il->free_step == NONE && grow(il)) {
        il->error = -ENOMEM;
        return;
    }
    uint32_t slot = il->free_step;
    il->free_step = il->steps[slot].next;
    il->steps[slot] = *step;
    il->steps[slot].job = il->open;
    il->steps[slot].next = NONE;
    job->steps_left_count++;
    job->reads_left_count += step->kind == STEP_READ;
    if (step->kind == STEP_PROGRAM && bank->program_order != job->order) {
        bank->program_order = job->order;
        bank->before_program = bank->head == NONE ? NONE : bank->tail;
    }
    if (step->kind == STEP_READ && bank->program_order == job->order) {
        insert(il, bank, bank->before_program, slot);
        bank->before_program = slot;
    } else {
        insert(il, bank, bank->head == NONE ? NONE : bank->tail, slot);
        bank->tail = slot;
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
                     uint64_t begin_ns)
{
    il->array->banks[bank].did.pages_read_count++;
    append(il, bank,
           &(struct step){.kind = STEP_READ,
                          .bus_ns = bus_ns(il, bytes),
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

int interleave_close(struct interleave *il, uint64_t least_ns)
{
    struct job *job = &il->jobs[il->open];
    uint32_t at = il->open;

    il->open = NONE;
    job->closed = true;
    job->begin_ns = job->least_ns = least_ns;
    settle(il, at);
    return il->error;
}

/* ---- making and unmaking ----------------------------------------------- */

static int allocate(struct interleave *il)
{
    /* A bank has a transfer or a beginning, a copy or a program. */
    uint32_t events = 2 * il->banks_count + il->jobs_count;

    il->banks = calloc(il->banks_count, sizeof(*il->banks));
    il->channels = calloc(il->channels_count, sizeof(*il->channels));
    il->jobs = calloc(il->jobs_count, sizeof(*il->jobs));
    il->complete = calloc(il->jobs_count, sizeof(*il->complete));
    if (!il->banks || !il->channels || !il->jobs || !il->complete ||
        agenda_create(&il->agenda, events))
        return -ENOMEM;
    for (uint32_t i = 0; i < il->banks_count; i++) {
        il->banks[i].head = il->banks[i].sending = NONE;
        il->banks[i].program_order = UINT64_MAX;
    }
    for (uint32_t i = 0; i < il->channels_count; i++)
        il->channels[i].first = NONE;
    for (uint32_t i = 0; i < il->jobs_count; i++)
        il->jobs[i].next = i + 1 < il->jobs_count ? i + 1 : NONE;
    il->open = il->newest = il->free_step = NONE;
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
    il->read_ns = drive->read_ns;
    il->copy_ns = drive->cache_copy_ns;
    il->bits_per_us = drive->bus_width_bits * drive->bus_mhz;
    il->registers_count =
        (uint32_t)(drive->cache_register_bytes / drive->page_bytes);
    if (il->registers_count == 0 || !drive->cache_program)
        il->registers_count = 1;
    il->cache_read = drive->cache_read != 0;
    il->cache_program = drive->cache_program != 0;
    il->held = drive->bus_policy == BUS_HELD;
    il->channels_count = (uint32_t)drive->channels_count;
    il->banks_count =
        (uint32_t)(drive->channels_count * drive->banks_per_channel_count);
    il->jobs_count = (uint32_t)drive->queue_depth_count;
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
    free(il->channels);
    free(il->steps);
    free(il->jobs);
    free(il->complete);
    agenda_destroy(&il->agenda);
    free(il);
}

uint64_t interleave_memory_bytes(const struct interleave *il)
{
    return sizeof(*il) + il->banks_count * sizeof(*il->banks) +
           il->channels_count * sizeof(*il->channels) +
           il->steps_count * sizeof(*il->steps) +
           il->jobs_count * (sizeof(*il->jobs) + sizeof(*il->complete)) +
           agenda_memory_bytes(&il->agenda);
}
