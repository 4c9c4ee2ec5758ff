/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Banks that do the steps of requests, and the buses for which they ask. */
#include "lib/flash/nand/interleave_inside.h"

/* ---- jobs -------------------------------------------------------------- */

static void unlist(struct interleave *il, const struct job *job)
{
    if (job->previous != NONE)
        il->jobs[job->previous].next = job->next;
    if (job->next != NONE)
        il->jobs[job->next].previous = job->previous;
    else
        il->newest = job->previous;
}

static void complete_job(struct interleave *il, uint32_t at)
{
    struct job *job = &il->jobs[at];

    unlist(il, job);
    touched_note(&il->touched, &job->parts, -1);
    job->end_ns = il->now_ns;
    il->complete[il->complete_count++] = at;
}

/* Are those complete that waited for the job, which is? */
static void let_follow(struct interleave *il, const struct job *job)
{
    uint32_t left = job->followers_count;

    for (uint32_t i = job->next; left > 0 && i != NONE;) {
        uint32_t next = il->jobs[i].next;
        if (must_follow(&il->jobs[i], job)) {
            left--;
            il->jobs[i].older_count--;
            /* Nothing but what was drained last says what a flush did. */
            if (job->drains)
                il->jobs[i].why = job->why;
            interleave_settle(il, i);
        }
        i = next;
    }
}

static void finish_chore(struct interleave *il, uint32_t at)
{
    struct job *job = &il->jobs[at];

    if (job->drains) {
        unlist(il, job);
        let_follow(il, job);
        interleave_drained(il, job);
    }
    job->next = il->free_chore;
    il->free_chore = at;
    il->chores_count--;
}

/* Is the job complete, and then those that waited for it? */
void interleave_settle(struct interleave *il, uint32_t at)
{
    struct job *job = &il->jobs[at];

    if (!job->closed || job->steps_left_count || job->older_count ||
        job->tickets_left_count)
        return;
    if (job->chore) {
        finish_chore(il, at);
        return;
    }
    if (job->linger_ns > 0) {
        job->least_ns = later(job->least_ns, il->now_ns) + job->linger_ns;
        job->why.program_ns += job->linger_ns;
        job->linger_ns = 0;
    }
    if (job->least_ns > il->now_ns) {
        if (!job->timed)
            expect(il, job->least_ns, EVENT_LEAST, at);
        job->timed = true;
        return;
    }
    complete_job(il, at);
    let_follow(il, job);
}

/* ---- the bus ----------------------------------------------------------- */

static struct channel *channel_of(struct interleave *il, uint32_t bank)
{
    return &il->channels[bank % il->channels_count];
}

static struct step *sending_step(struct interleave *il, uint32_t at)
{
    const struct bank *bank = &il->banks[at];
    struct step *head = head_of(il, bank);

    return head->kind == STEP_PROGRAM ? &il->steps[bank->sending] : head;
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
    if (il->gated)
        bank->run.why.channel_ns += waited;
    else if (!bank->programming && !bank->copying)
        bank->run.why.wait_ns += waited;
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

/* With die queues a bank chooses again after each program. */
static bool continues(const struct interleave *il, uint32_t step,
                      const struct step *than)
{
    if (il->gated && than->kind != STEP_READ)
        return false;
    return step != NONE && il->steps[step].job == than->job &&
           il->steps[step].kind == than->kind;
}

/* Those that wait for the reads of a job on other banks. */
static void unblock(struct interleave *il, uint32_t job)
{
    for (uint32_t i = 0; (i = next_blocked(il, i)) < il->banks_count; i++) {
        if (head_of(il, &il->banks[i])->job != job)
            continue;
        il->blocked[i] = false;
        expect(il, il->now_ns, EVENT_BEGIN, i);
    }
}

/* The bank did nothing until now. */
static void count_idle(struct interleave *il, uint32_t at)
{
    struct flash_bank *did = &il->array->banks[at].did;
    uint64_t idle_ns = il->now_ns - il->banks[at].free_ns;
    uint64_t limit_ns = 1000000;
    int class = 0;

    for (; class + 1 < FLASH_IDLE_CLASSES && idle_ns >= limit_ns; class ++)
        limit_ns *= 10;
    did->idle_counts[class] += idle_ns > 0;
    did->idle_ns[class] += idle_ns;
}

/* What of a run was not waiting or the bus. */
static void count_run(struct interleave *il, uint32_t at, enum step_kind kind,
                      struct job *job)
{
    struct run *run = &il->banks[at].run;
    uint64_t elapsed = il->now_ns - run->began_ns - run->aside_ns;
    uint64_t known = run->why.wait_ns + run->why.channel_ns + run->why.bus_ns -
                     run->known_ns;
    uint64_t rest = elapsed > known ? elapsed - known : 0;

    if (kind == STEP_READ)
        run->why.sense_ns += rest;
    else if (kind == STEP_PROGRAM)
        run->why.program_ns += rest;
    else
        run->why.clean_ns += rest;
    job->why = run->why;
    job->seen_ns = il->now_ns;
    il->array->banks[at].did.busy_ns += elapsed;
    il->banks[at].free_ns = il->now_ns;
}

/* The head of a bank is done. True: its run goes on. */
static bool finish_step(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    struct queue_ends *queue = &bank->queues[bank->run.queue];
    uint32_t done = queue->head;
    struct step step = il->steps[done];
    struct job *job = &il->jobs[step.job];

    queue->head = step.next;
    if (step.next != NONE) {
        const struct step *near = any_step(il, il->steps[step.next].next);
        __builtin_prefetch(near);
        __builtin_prefetch(&near->job);
        if (il->gated)
            interleave_watch(il, at, step.next);
    }
    il->steps[done].next = il->free_step;
    il->free_step = done;
    job->steps_left_count--;
    if (step.kind == STEP_READ && --job->reads_left_count == 0 &&
        job->has_bank_waiting)
        unblock(il, step.job);
    if (il->gated)
        interleave_opens(il, &step);
    if (continues(il, queue->head, &step))
        return true;
    count_run(il, at, step.kind, job);
    interleave_settle(il, step.job);
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
    do {
        ready_ns = later(ready_ns, il->steps[step].begin_ns);
        step = il->steps[step].next;
        count++;
    } while (count < il->registers_count && continues(il, step, first));
    if (count > room)
        return;
    bank->sending_count = count;
    bank->asking = true;
    if (ready_ns > il->now_ns)
        expect(il, ready_ns, EVENT_READY, at);
    else
        ask_for_bus(il, at);
}

/* Is the page sensed along with that of another plane that was sensed last? */
static bool joins_sense(struct bank *bank, const struct step *step)
{
    if (!step->plane || bank->sense != step->sense ||
        (bank->sensed_planes & step->plane) ||
        step->begin_ns > bank->sense_began_ns)
        return false;
    bank->sensed_planes |= step->plane;
    return true;
}

/* When the page is in its register, if its sense begins at `begin_ns`. */
static uint64_t sense_from(const struct interleave *il, struct bank *bank,
                           const struct step *step, uint64_t begin_ns)
{
    if (joins_sense(bank, step))
        return il->now_ns;
    bank->sense = step->sense;
    bank->sensed_planes = step->plane;
    bank->sense_began_ns = begin_ns;
    return begin_ns + step->work_ns;
}

static void begin_step(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    const struct step *step = head_of(il, bank);

    switch (step->kind) {
    case STEP_READ:
        bank->sensed_ns = sense_from(il, bank, step, il->now_ns) +
                          (il->cache_read ? il->copy_ns : 0);
        expect(il, bank->sensed_ns, EVENT_READY, at);
        break;
    case STEP_PROGRAM:
        bank->sending = bank->queues[bank->run.queue].head;
        bank->held_count = 0;
        send_burst(il, at);
        break;
    case STEP_ERASE:
        il->array->banks[at].erase_begin_ns = il->now_ns;
        interleave_lasts(il, at, step->work_ns);
        break;
    case STEP_BUSY:
        interleave_lasts(il, at, step->work_ns);
        break;
    }
}

/* Without die queues: can the head of the queue begin? */
static bool may_begin(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];

    bank->busy = bank->queues[QUEUE_READS].head != NONE;
    if (!bank->busy)
        return false;
    const struct step *step = head_of(il, bank);
    struct job *job = &il->jobs[step->job];
    if (step->begin_ns > il->now_ns) {
        expect(il, step->begin_ns, EVENT_BEGIN, at);
        return false;
    }
    if (step->kind == STEP_PROGRAM && job->reads_left_count > 0) {
        il->blocked[at] = job->has_bank_waiting = true;
        return false;
    }
    return true;
}

/* With die queues: the same; a bank without more to read goes on with what it
 * suspended. */
static bool may_begin_queued(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];

    bank->busy = interleave_pick(il, at);
    if (!bank->busy && bank->suspended) {
        bank->busy = true;
        interleave_resume(il, at);
        return false;
    }
    return bank->busy;
}

/* Looks at the queues of a bank that is free. */
static void begin_run(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];

    if (il->gated ? !may_begin_queued(il, at) : !may_begin(il, at))
        return;
    struct job *job = &il->jobs[head_of(il, bank)->job];
    if (!job->begun)
        job->begin_ns = il->now_ns;
    job->begun = true;
    count_idle(il, at);
    bank->run.began_ns = il->now_ns;
    bank->run.aside_ns = 0;
    bank->run.why = job->why;
    if (il->gated)
        interleave_note_wait(il, at, &bank->run.why);
    bank->run.known_ns =
        bank->run.why.wait_ns + bank->run.why.channel_ns + bank->run.why.bus_ns;
    begin_step(il, at);
}

/* ---- what happens ------------------------------------------------------ */

static void to_host(struct interleave *il, const struct step *step)
{
    uint64_t *controller_ns = &il->array->controller_free_ns;
    uint64_t ready_ns = il->now_ns;

    if (step->controller_ns)
        ready_ns = *controller_ns =
            later(ready_ns, *controller_ns) + step->controller_ns;
    /* A page is less than a GiB: this fits. */
    *il->link_free_ns = later(ready_ns, *il->link_free_ns) +
                        step->bytes * 1000000000 / il->link_bytes_per_second;
}

static void read_transferred(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    const struct step *step = head_of(il, bank);
    bool more = continues(il, step->next, step);
    struct job *job = &il->jobs[step->job];

    bank->run.why.bus_ns += step->bus_ns;
    if (step->to_host) {
        to_host(il, step);
        job->least_ns = later(job->least_ns, *il->link_free_ns);
    }
    if (!more || !il->held)
        release_bus(il, at);
    if (!finish_step(il, at))
        return;
    step = head_of(il, bank);
    if (il->cache_read)
        bank->sensed_ns =
            later(sense_from(il, bank, step, bank->sensed_ns), il->now_ns) +
            il->copy_ns;
    else
        bank->sensed_ns = sense_from(il, bank, step, il->now_ns);
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
        bank->run.why.bus_ns += step->bus_ns;
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
    interleave_lasts(il, at, head_of(il, bank)->work_ns);
    send_burst(il, at);
    interleave_interrupt(il, at);
}

static void programmed(struct interleave *il, uint32_t at)
{
    if (!interleave_is_over(il, at))
        return;
    il->banks[at].programming = false;
    if (!finish_step(il, at))
        return;
    program_next(il, at);
    send_burst(il, at);
}

/* A bank that was busy for a time. */
static void over(struct interleave *il, uint32_t at)
{
    if (!interleave_is_over(il, at))
        return;
    if (head_of(il, &il->banks[at])->kind == STEP_ERASE)
        il->array->banks[at].erased_ns = il->now_ns;
    if (finish_step(il, at))
        begin_step(il, at);
}

/* A step may begin: with die queues the bank may do something else. */
static void look(struct interleave *il, uint32_t at)
{
    if (il->gated && il->banks[at].busy)
        interleave_interrupt(il, at);
    else
        begin_run(il, at);
}

void interleave_happen(struct interleave *il, const struct event *event)
{
    uint32_t at = event->at;

    switch (event->kind) {
    case EVENT_TRANSFERRED:
        if (head_of(il, &il->banks[at])->kind == STEP_READ)
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
        over(il, at);
        break;
    case EVENT_SUSPENDED:
        begin_run(il, at);
        break;
    case EVENT_WAKE:
        il->banks[at].wake_pending = false;
        look(il, at);
        break;
    case EVENT_LEAST:
        il->jobs[at].timed = false;
        interleave_settle(il, at);
        break;
    case EVENT_ARRIVED:
        interleave_arrived(il, at);
        break;
    case EVENT_BEGIN:
        if (il->banks[at].look_ns == il->now_ns)
            il->banks[at].look_ns = UINT64_MAX;
        look(il, at);
        break;
    }
}
