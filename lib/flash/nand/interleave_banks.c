/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Banks that do the steps of requests, and the buses for which they ask. */
#include "lib/flash/nand/interleave_inside.h"

static inline struct step *head_of(const struct bank *bank)
{
    const struct queue *queue = &bank->queues[bank->queue];

    return step_at(queue, queue->head);
}

static bool is_ready(const struct interleave *il, const struct step *step)
{
    if (!gate_is_open(il, step->waits_for))
        return false;
    if (step->kind == STEP_READ)
        return true;
    if (!gate_is_open(il, step->erased) || !gate_is_open(il, step->arrives))
        return false;
    /* What was valid in the block must be safe elsewhere. */
    const struct job *job = &il->jobs[step->job];
    return step->kind != STEP_ERASE ||
           job->steps_left_count == job->erases_left_count;
}

/* ---- the bus ----------------------------------------------------------- */

static inline struct channel *channel_of(struct interleave *il, uint32_t bank)
{
    return &il->channels[il->array->banks[bank].channel];
}

/* The bank has the bus: a page goes over it. */
static inline void transfer(struct interleave *il, uint32_t at)
{
    const struct bank *bank = &il->banks[at];
    const struct step *head = head_of(bank);
    const struct step *step =
        head->kind == STEP_PROGRAM
            ? step_at(&bank->queues[bank->queue], bank->sending)
            : head;

    expect(il, LANE_BUS, il->now_ns + step->bus_ns, EVENT_TRANSFERRED, at);
}

static inline void take_bus(struct interleave *il, struct channel *channel,
                            uint32_t at)
{
    struct bank *bank = &il->banks[at];

    channel->taken = true;
    bank->asking = false;
    bank->holding = true;
    if (il->explains) {
        struct flash_why *why = &il->bank_whys[at].run;
        uint64_t waited_ns = il->now_ns - bank->asked_ns;
        /* Waiting counts only where nothing else goes on. */
        if (!il->cache_program || (!bank->programming && !bank->copying))
            why->channel_ns += waited_ns;
    }
    transfer(il, at);
}

static inline bool asks_before(const struct bank *a, const struct bank *b)
{
    return a->asked_ns < b->asked_ns ||
           (a->asked_ns == b->asked_ns && a->asked_order < b->asked_order);
}

/* The bank waits for a bus that is taken, behind those that asked before. */
static inline void line_up(struct interleave *il, struct channel *channel,
                           uint32_t at)
{
    struct bank *bank = &il->banks[at];
    uint32_t *link = &channel->first;

    bank->asking = true;
    if (channel->first != NONE && !asks_before(bank, &il->banks[channel->last]))
        link = &il->banks[channel->last].waiting_next;
    while (*link != NONE && !asks_before(bank, &il->banks[*link]))
        link = &il->banks[*link].waiting_next;
    bank->waiting_next = *link;
    if (*link == NONE)
        channel->last = at;
    *link = at;
}

static inline void ask_for_bus(struct interleave *il, uint32_t at)
{
    struct channel *channel = channel_of(il, at);
    struct bank *bank = &il->banks[at];

    bank->asked_ns = il->now_ns;
    bank->asked_order = il->now_order;
    if (channel->taken)
        line_up(il, channel, at);
    else
        take_bus(il, channel, at);
}

static inline void release_bus(struct interleave *il, uint32_t at)
{
    struct channel *channel = channel_of(il, at);
    uint32_t next = channel->first;

    il->banks[at].holding = false;
    channel->taken = false;
    if (next == NONE)
        return;
    const struct bank *bank = &il->banks[next];
    channel->first = bank->waiting_next;
    if (bank->asked_ns < il->now_ns ||
        (bank->asked_ns == il->now_ns && bank->asked_order <= il->now_order))
        take_bus(il, channel, next);
    else /* who asks before it has the bus */
        agenda_put_foreseen(&il->agenda,
                            (struct event){.ns = bank->asked_ns,
                                           .order = bank->asked_order,
                                           .kind = EVENT_READY,
                                           .at = next});
}

/* A page may go over the bus: one that is held is its own already. */
static inline void ready(struct interleave *il, uint32_t at)
{
    if (il->banks[at].holding)
        transfer(il, at);
    else
        ask_for_bus(il, at);
}

/* The same at that time: for a bus that is taken the bank lines up at once. */
static inline void ready_at(struct interleave *il, uint64_t ns, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    struct channel *channel = channel_of(il, at);

    if (channel->taken && !bank->holding) {
        bank->asked_ns = later(ns, il->now_ns);
        bank->asked_order = agenda_foresee(&il->agenda);
        line_up(il, channel, at);
    } else if (ns <= il->now_ns && agenda_is_over(&il->agenda, il->now_ns)) {
        ready(il, at);
    } else {
        expect(il, LANE_READY, ns, EVENT_READY, at);
    }
}

/* ---- suspending ---------------------------------------------------------- */

/* The bank's program or erase takes so long from now on. */
static void lasts(struct interleave *il, uint32_t at, uint64_t ns)
{
    struct bank *bank = &il->banks[at];
    const struct step *step = head_of(bank);
    const struct job *job = &il->jobs[step->job];

    bank->over_ns = il->now_ns + ns;
    if (!bank->over_pending)
        expect(il, job->chore && !job->drains ? LANE_OTHER : LANE_OWN,
               bank->over_ns,
               step->kind == STEP_PROGRAM ? EVENT_PROGRAMMED : EVENT_OVER, at);
    bank->over_pending = true;
}

/* Is what the bank did over, or does it go on? */
static bool is_over(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];

    bank->over_pending = false;
    if (bank->suspended)
        return false;
    if (bank->over_ns > il->now_ns) {
        lasts(il, at, bank->over_ns - il->now_ns);
        return false;
    }
    return true;
}

/* How long until a read can go where this step is under way; UINT64_MAX: when
 * the step is over. */
static uint64_t letting_ns(const struct interleave *il, const struct bank *bank)
{
    const unsigned kind = head_of(bank)->kind;

    if (kind == STEP_ERASE)
        return il->suspends_erases ? il->erase_suspend_ns : UINT64_MAX;
    if (kind == STEP_READ || !il->suspends_programs ||
        (kind == STEP_PROGRAM && !bank->programming))
        return UINT64_MAX;
    return il->program_suspend_ns;
}

/* A read may interrupt what the bank does. */
static void interrupt(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    const struct queue *reads = &bank->queues[QUEUE_READS];

    if (!il->read_first || bank->suspended || is_empty(reads) ||
        bank->queue == QUEUE_READS || !bank->over_pending)
        return;
    const struct step *read = step_at(reads, reads->head);
    if (read->begin_ns > il->now_ns || !is_ready(il, read))
        return;
    uint64_t ns = letting_ns(il, bank);
    if (ns == UINT64_MAX || bank->over_ns <= il->now_ns + ns)
        return; /* the read waits for the rest */
    bank->suspended = true;
    il->suspended_count++;
    bank->suspended_queue = bank->queue;
    bank->suspended_began_ns = bank->began_ns;
    bank->suspended_aside_ns = bank->aside_ns;
    if (il->explains) {
        struct bank_why *why = &il->bank_whys[at];
        why->suspended = why->run;
        why->suspended_known_ns = why->known_ns;
    }
    bank->suspended_ns = il->now_ns;
    bank->rest_ns = bank->over_ns - il->now_ns;
    bank->letting_ns = ns;
    bank->let_go_ns = il->now_ns + ns;
    expect(il, LANE_OTHER, bank->let_go_ns, EVENT_SUSPENDED, at);
}

/* Its reads are done, and it goes on. */
static void resume(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    const uint64_t aside_ns = il->now_ns - bank->suspended_ns;

    bank->suspended = false;
    il->suspended_count--;
    bank->queue = bank->suspended_queue;
    bank->began_ns = bank->suspended_began_ns;
    bank->aside_ns = bank->suspended_aside_ns + aside_ns;
    if (il->explains) {
        struct bank_why *why = &il->bank_whys[at];
        why->run = why->suspended;
        why->known_ns = why->suspended_known_ns;
        why->run.die_ns += aside_ns;
    }
    lasts(il, at, il->resume_ns + bank->rest_ns);
}

/* ---- why ----------------------------------------------------------------- */

static uint64_t known_ns(const struct flash_why *why)
{
    return why->channel_ns + why->bus_ns;
}

/* What a run that begins now has waited for. */
static void note_wait(const struct interleave *il, uint32_t at,
                      struct flash_why *why)
{
    const struct bank *bank = &il->banks[at];
    const struct array_bank *chip = &il->array->banks[at];
    const struct step *step = head_of(bank);
    uint64_t from_ns = later(step->begin_ns, il->jobs[step->job].seen_ns);
    uint64_t waited_ns = il->now_ns > from_ns ? il->now_ns - from_ns : 0;
    uint64_t suspend_ns = 0, erase_ns = 0;

    if (bank->suspended && bank->let_go_ns == il->now_ns)
        suspend_ns = bank->letting_ns;
    suspend_ns = suspend_ns < waited_ns ? suspend_ns : waited_ns;
    waited_ns -= suspend_ns;
    from_ns = later(from_ns, chip->erase_begin_ns);
    if (chip->erased_ns > from_ns)
        erase_ns = chip->erased_ns - from_ns;
    erase_ns = erase_ns < waited_ns ? erase_ns : waited_ns;
    why->suspend_ns += suspend_ns;
    why->erase_ns += erase_ns;
    why->die_ns += waited_ns - erase_ns;
}

static void explain_begin(struct interleave *il, uint32_t at, uint32_t job)
{
    struct bank_why *why = &il->bank_whys[at];

    why->run = il->job_whys[job];
    note_wait(il, at, &why->run);
    why->known_ns = known_ns(&why->run);
}

/* What of a run was not waiting or the bus. */
static void explain_end(struct interleave *il, uint32_t at, unsigned kind,
                        uint32_t job, uint64_t elapsed_ns)
{
    struct bank_why *why = &il->bank_whys[at];
    uint64_t known = known_ns(&why->run) - why->known_ns;
    uint64_t rest_ns = elapsed_ns > known ? elapsed_ns - known : 0;

    if (kind == STEP_READ)
        why->run.sense_ns += rest_ns;
    else if (kind == STEP_PROGRAM)
        why->run.program_ns += rest_ns;
    else
        why->run.clean_ns += rest_ns;
    il->job_whys[job] = why->run;
    il->jobs[job].seen_ns = il->now_ns;
}

/* ---- a bank's run: steps of one kind and job --------------------------- */

static void begin_run(struct interleave *il, uint32_t at);

/* Is a step of the queue one that the run goes on with? A bank chooses again
 * after each program, but in cache mode: the next comes in meanwhile. */
static inline bool continues(const struct interleave *il,
                             const struct queue *queue, uint32_t number,
                             unsigned kind, uint32_t job)
{
    if (number == queue->tail || (kind != STEP_READ && !il->cache_program))
        return false;
    const struct step *step = step_at(queue, number);
    return step->job == job && step->kind == kind &&
           (kind == STEP_READ || (kind == STEP_PROGRAM && is_ready(il, step)));
}

/* The bank did nothing until now. */
static void count_idle(struct interleave *il, uint32_t at, uint64_t idle_ns)
{
    struct flash_bank *did = &il->array->banks[at].did;
    uint64_t limit_ns = 1000000;
    int class = 0;

    for (; class + 1 < FLASH_IDLE_CLASSES && idle_ns >= limit_ns; class ++)
        limit_ns *= 10;
    did->idle_counts[class]++;
    did->idle_ns[class] += idle_ns;
}

/* A page that is copied goes through the controller: what waits for it waits
 * for that. */
static void hand_over(struct interleave *il, const struct step *done)
{
    uint64_t *controller_ns = &il->array->controller_free_ns;

    *controller_ns = later(il->now_ns, *controller_ns) + done->controller_ns;
    if (done->opens != NONE) {
        il->begins_count++;
        expect(il, LANE_OTHER, *controller_ns, EVENT_HANDED, done->opens);
    }
}

/* Counts for those that wait that a step is done. */
static inline void open_gates(struct interleave *il, const struct step *done)
{
    struct job *job = &il->jobs[done->job];

    gate_leave(il, done->waits_for);
    if (done->kind != STEP_READ) {
        gate_leave(il, done->erased);
        gate_leave(il, done->arrives);
    }
    if (done->controller_ns && !done->to_host && done->kind == STEP_READ) {
        hand_over(il, done);
    } else if (done->opens != NONE) {
        bool opens = --il->gates[done->opens].left_count == 0;
        if (opens)
            gate_wake(il, done->opens);
        if (opens && done->kind == STEP_ERASE &&
            il->blocks[done->block].erased == done->opens) {
            il->blocks[done->block].erased = NONE;
            gate_leave(il, done->opens);
        } else {
            gate_free_unused(il, done->opens);
        }
    }
    if (done->kind == STEP_ERASE)
        job->erases_left_count--;
    else if (job->chore && job->steps_left_count == job->erases_left_count)
        gate_wake(il, NONE);
}

/* The head of a bank is done. True: its run goes on. */
static inline bool finish_step(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    struct queue *queue = &bank->queues[bank->queue];
    const struct step *step = step_at(queue, queue->head++);
    const uint32_t job_number = step->job;
    const unsigned kind = step->kind;
    struct job *job = &il->jobs[job_number];

    if (!is_empty(queue)) {
        /* Where there are many they lie far from the processor. */
        __builtin_prefetch(step_at(queue, queue->head + 2));
        gate_watch(il, at, step_at(queue, queue->head));
    } else {
        queue->head = queue->tail = 0; /* its first places are near */
    }
    job->steps_left_count--;
    il->own_steps_count -= !job->chore;
    open_gates(il, step);
    if (continues(il, queue, queue->head, kind, job_number))
        return true;
    const uint64_t elapsed_ns = il->now_ns - bank->began_ns - bank->aside_ns;
    il->array->banks[at].did.busy_ns += elapsed_ns;
    bank->free_ns = il->now_ns;
    if (il->explains)
        explain_end(il, at, kind, job_number, elapsed_ns);
    if (job->steps_left_count == 0)
        job_settle(il, job_number);
    begin_run(il, at);
    return false;
}

/* The first page of a burst may go once all of it has come from the host, and
 * the cache register has room for it. */
static void send_burst(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    uint32_t room = il->registers_count - bank->held_count, count = 0;

    if (bank->asking || bank->holding || !bank->sends ||
        (!il->cache_program && bank->programming))
        return;
    const struct queue *queue = &bank->queues[bank->queue];
    const uint32_t job = step_at(queue, bank->sending)->job;
    uint32_t number = bank->sending;
    uint64_t ready_ns = 0;
    do {
        ready_ns = later(ready_ns, step_at(queue, number++)->begin_ns);
        count++;
    } while (count < il->registers_count &&
             continues(il, queue, number, STEP_PROGRAM, job));
    if (count > room)
        return;
    bank->sending_count = count;
    bank->asking = true;
    if (ready_ns > il->now_ns)
        expect(il, LANE_READY, ready_ns, EVENT_READY, at);
    else
        ask_for_bus(il, at);
}

/* When the page is in its register, if its sense begins at `begin_ns`: along
 * with that of another plane that was sensed last, or alone. */
static inline uint64_t sense_from(const struct interleave *il,
                                  struct bank *bank, const struct step *step,
                                  uint64_t begin_ns)
{
    if (step->plane && bank->sense == step->sense &&
        !(bank->sensed_planes & step->plane) &&
        step->begin_ns <= bank->sense_began_ns) {
        bank->sensed_planes |= step->plane;
        return il->now_ns;
    }
    bank->sense = step->sense;
    bank->sensed_planes = step->plane;
    bank->sense_began_ns = begin_ns;
    return begin_ns + step->work_ns;
}

static inline void begin_step(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    const struct step *step = head_of(bank);

    switch (step->kind) {
    case STEP_READ:
        bank->sensed_ns = sense_from(il, bank, step, il->now_ns) +
                          (il->cache_read ? il->copy_ns : 0);
        ready_at(il, bank->sensed_ns, at);
        break;
    case STEP_PROGRAM:
        bank->sends = true;
        bank->sending = bank->queues[bank->queue].head;
        bank->held_count = 0;
        send_burst(il, at);
        break;
    case STEP_ERASE:
        il->array->banks[at].erase_begin_ns = il->now_ns;
        lasts(il, at, step->work_ns);
        break;
    default:
        lasts(il, at, step->work_ns);
        break;
    }
}

/* Has the bank a step that can begin? It is then what it runs. */
static inline bool pick(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];

    il->blocked[at] = false;
    for (unsigned i = QUEUE_READS; i < (bank->suspended ? 1 : QUEUES); i++) {
        const struct queue *queue = &bank->queues[i];
        if (is_empty(queue))
            continue;
        const struct step *head = step_at(queue, queue->head);
        if (head->begin_ns > il->now_ns)
            continue;
        if (is_ready(il, head)) {
            bank->queue = (uint8_t)i;
            return true;
        }
        il->blocked[at] = true;
    }
    return false;
}

/* Looks at the queues of a bank that is free. */
static void begin_run(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];

    bank->busy = pick(il, at);
    if (!bank->busy && bank->suspended) { /* it goes on with that */
        bank->busy = true;
        resume(il, at);
        return;
    }
    if (!bank->busy)
        return;
    const uint32_t job_number = head_of(bank)->job;
    struct job *job = &il->jobs[job_number];
    if (!job->begun)
        job->begin_ns = il->now_ns;
    job->begun = true;
    if (il->now_ns > bank->free_ns)
        count_idle(il, at, il->now_ns - bank->free_ns);
    bank->began_ns = il->now_ns;
    bank->aside_ns = 0;
    if (il->explains)
        explain_begin(il, at, job_number);
    begin_step(il, at);
}

/* ---- what happens ------------------------------------------------------ */

static inline void to_host(struct interleave *il, const struct step *step)
{
    uint64_t *controller_ns = &il->array->controller_free_ns;
    uint64_t ready_ns = il->now_ns;

    if (step->controller_ns)
        ready_ns = *controller_ns =
            later(ready_ns, *controller_ns) + step->controller_ns;
    /* A page is less than a GiB: this fits. */
    *il->link_free_ns =
        later(ready_ns, *il->link_free_ns) +
        (uint64_t)step->bytes * 1000000000 / il->link_bytes_per_second;
}

static inline void read_transferred(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    const struct step *step = head_of(bank);

    if (il->explains)
        il->bank_whys[at].run.bus_ns += step->bus_ns;
    if (step->to_host) {
        struct job *job = &il->jobs[step->job];
        to_host(il, step);
        job->least_ns = later(job->least_ns, *il->link_free_ns);
    }
    const struct queue *queue = &bank->queues[bank->queue];
    if (!il->held ||
        !continues(il, queue, queue->head + 1, STEP_READ, step->job))
        release_bus(il, at);
    if (!finish_step(il, at))
        return;
    step = head_of(bank);
    if (il->cache_read)
        bank->sensed_ns =
            later(sense_from(il, bank, step, bank->sensed_ns), il->now_ns) +
            il->copy_ns;
    else
        bank->sensed_ns = sense_from(il, bank, step, il->now_ns);
    ready_at(il, bank->sensed_ns, at);
}

static void copied(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];

    bank->copying = false;
    bank->programming = true;
    bank->held_count--;
    lasts(il, at, head_of(bank)->work_ns);
    send_burst(il, at);
    interrupt(il, at);
}

/* The page in the cache register goes to the array. */
static void program_next(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];

    if (bank->programming || bank->copying || bank->held_count == 0)
        return;
    bank->copying = true;
    expect(il, LANE_OTHER, il->now_ns + (il->cache_program ? il->copy_ns : 0),
           EVENT_COPIED, at);
}

static void program_transferred(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    const struct queue *queue = &bank->queues[bank->queue];
    const struct step *step = step_at(queue, bank->sending);

    if (il->explains && !bank->programming && !bank->copying)
        il->bank_whys[at].run.bus_ns += step->bus_ns;
    bank->sends =
        continues(il, queue, ++bank->sending, STEP_PROGRAM, step->job);
    bank->held_count++;
    if (!il->cache_program && agenda_is_over(&il->agenda, il->now_ns)) {
        release_bus(il, at);
        copied(il, at); /* nothing else happens in between */
        return;
    }
    program_next(il, at);
    if (--bank->sending_count > 0) {
        transfer(il, at);
        return;
    }
    release_bus(il, at);
    send_burst(il, at);
}

static void programmed(struct interleave *il, uint32_t at)
{
    if (!is_over(il, at))
        return;
    struct bank *bank = &il->banks[at];
    bank->programming = false;
    if (!finish_step(il, at))
        return;
    if (!bank->sends && bank->held_count == 0) { /* it was not ready before */
        bank->sends = true;
        bank->sending = bank->queues[bank->queue].head;
    }
    program_next(il, at);
    send_burst(il, at);
}

/* A bank that was busy for a time. */
static void over(struct interleave *il, uint32_t at)
{
    if (!is_over(il, at))
        return;
    if (head_of(&il->banks[at])->kind == STEP_ERASE)
        il->array->banks[at].erased_ns = il->now_ns;
    finish_step(il, at);
}

/* A step may begin: the bank may do something else. */
static inline void look(struct interleave *il, uint32_t at)
{
    if (il->banks[at].busy)
        interrupt(il, at);
    else
        begin_run(il, at);
}

void banks_happen(struct interleave *il)
{
    const struct event *event = agenda_take(&il->agenda);
    const uint32_t at = event->at;

    assert(event->ns >= il->now_ns);
    il->now_ns = event->ns;
    il->now_order = event->kind == EVENT_BEGIN ? UINT64_MAX : event->order;
    switch ((enum event_kind)event->kind) {
    case EVENT_TRANSFERRED:
        if (head_of(&il->banks[at])->kind == STEP_READ)
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
        ready(il, at);
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
        job_settle(il, at);
        break;
    case EVENT_ARRIVED:
        room_arrived(il, at);
        break;
    case EVENT_HANDED:
        il->begins_count--;
        if (--il->gates[at].left_count == 0)
            gate_wake(il, at);
        gate_free_unused(il, at);
        break;
    case EVENT_BEGIN:
        il->begins_count--;
        if (il->banks[at].look_ns == il->now_ns)
            il->banks[at].look_ns = UINT64_MAX;
        look(il, at);
        break;
    }
}
