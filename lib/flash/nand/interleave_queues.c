/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Die queues: which step of a bank is next, what it waits for, and what a read
 * interrupts. */
#include <assert.h>

#include "lib/flash/nand/interleave_inside.h"

/* ---- what waits for what ------------------------------------------------ */

static bool is_open(const struct interleave *il, uint32_t gate)
{
    return gate == NONE || il->gates[gate].left_count == 0;
}

static bool is_ready(const struct interleave *il, const struct step *step)
{
    const struct job *job = &il->jobs[step->job];

    if (!is_open(il, step->waits_for) || !is_open(il, step->erased) ||
        !is_open(il, step->arrives))
        return false;
    /* What was valid in the block must be safe elsewhere. */
    return step->kind != STEP_ERASE ||
           job->steps_left_count == job->erases_left_count;
}

static bool waits_for(const struct interleave *il, const struct bank *bank,
                      uint32_t gate)
{
    for (int i = QUEUE_READS; i < QUEUES; i++) {
        uint32_t head = bank->queues[i].head;
        const struct step *step = &il->steps[head];
        if (head != NONE && (step->waits_for == gate || step->erased == gate ||
                             step->arrives == gate))
            return true;
    }
    return false;
}

static void watch(struct interleave *il, uint32_t bank, uint32_t gate)
{
    if (gate == NONE)
        return;
    uint32_t *watcher = &il->gates[gate].watcher;
    *watcher = *watcher == NONE || *watcher == bank ? bank : MANY;
}

void interleave_watch(struct interleave *il, uint32_t bank, uint32_t step)
{
    const struct step *head = &il->steps[step];

    watch(il, bank, head->waits_for);
    watch(il, bank, head->erased);
    watch(il, bank, head->arrives);
    if (head->opens != NONE)
        __builtin_prefetch(&il->gates[head->opens], 1);
}

static void wake_bank(struct interleave *il, uint32_t at, uint32_t gate)
{
    struct bank *bank = &il->banks[at];

    if (!il->blocked[at] || (gate != NONE && !waits_for(il, bank, gate)))
        return;
    il->blocked[at] = false;
    if (!bank->wake_pending)
        expect(il, il->now_ns, EVENT_WAKE, at);
    bank->wake_pending = true;
}

void interleave_wake(struct interleave *il, uint32_t gate)
{
    uint32_t watcher = gate == NONE ? MANY : il->gates[gate].watcher;

    if (watcher == NONE)
        return;
    if (watcher != MANY) {
        wake_bank(il, watcher, gate);
        return;
    }
    for (uint32_t i = 0; (i = next_blocked(il, i)) < il->banks_count; i++)
        wake_bank(il, i, gate);
}

static void free_unused(struct interleave *il, uint32_t at)
{
    struct gate *gate = &il->gates[at];

    if (gate->users_count > 0 || gate->left_count > 0)
        return;
    gate->next = il->free_gate;
    il->free_gate = at;
}

void interleave_leave_gate(struct interleave *il, uint32_t *gate)
{
    if (*gate != NONE) {
        il->gates[*gate].users_count--;
        free_unused(il, *gate);
    }
    *gate = NONE;
}

void interleave_opens(struct interleave *il, const struct step *done)
{
    struct job *job = &il->jobs[done->job];
    struct step step = *done;

    interleave_leave_gate(il, &step.waits_for);
    interleave_leave_gate(il, &step.erased);
    interleave_leave_gate(il, &step.arrives);
    if (done->opens != NONE) {
        bool opens = --il->gates[done->opens].left_count == 0;
        if (opens)
            interleave_wake(il, done->opens);
        if (opens && done->kind == STEP_ERASE &&
            il->blocks[done->block].erased == done->opens)
            interleave_leave_gate(il, &il->blocks[done->block].erased);
        else
            free_unused(il, done->opens);
    }
    if (done->kind == STEP_ERASE)
        job->erases_left_count--;
    else if (job->chore && job->steps_left_count == job->erases_left_count)
        interleave_wake(il, NONE);
}

bool interleave_pick(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];

    il->blocked[at] = false;
    for (int i = QUEUE_READS; i < (bank->suspended ? 1 : QUEUES); i++) {
        uint32_t head = bank->queues[i].head;
        if (head == NONE || il->steps[head].begin_ns > il->now_ns)
            continue;
        if (is_ready(il, &il->steps[head])) {
            bank->run.queue = (enum queue_kind)i;
            return true;
        }
        il->blocked[at] = true;
    }
    return false;
}

void interleave_note_wait(const struct interleave *il, uint32_t at,
                          struct flash_why *why)
{
    const struct bank *bank = &il->banks[at];
    const struct array_bank *chip = &il->array->banks[at];
    const struct step *step = head_of(il, bank);
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

/* ---- suspending --------------------------------------------------------- */

/* How long until a read can go where this step is under way; UINT64_MAX: when
 * the step is over. */
static uint64_t letting_ns(const struct interleave *il, const struct bank *bank)
{
    switch (head_of(il, bank)->kind) {
    case STEP_ERASE:
        return il->suspends_erases ? il->erase_suspend_ns : UINT64_MAX;
    case STEP_PROGRAM:
        return il->suspends_programs && bank->programming
                   ? il->program_suspend_ns
                   : UINT64_MAX;
    case STEP_BUSY:
        return il->suspends_programs ? il->program_suspend_ns : UINT64_MAX;
    case STEP_READ:
        break;
    }
    return UINT64_MAX;
}

void interleave_interrupt(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];
    uint32_t read = bank->queues[QUEUE_READS].head;

    if (!il->read_first || bank->suspended || read == NONE ||
        bank->run.queue == QUEUE_READS || !bank->over_pending ||
        il->steps[read].begin_ns > il->now_ns ||
        !is_ready(il, &il->steps[read]))
        return;
    uint64_t ns = letting_ns(il, bank);
    if (ns == UINT64_MAX || bank->over_ns <= il->now_ns + ns)
        return; /* the read waits for the rest */
    bank->suspended = true;
    bank->suspended_run = bank->run;
    bank->suspended_ns = il->now_ns;
    bank->rest_ns = bank->over_ns - il->now_ns;
    bank->letting_ns = ns;
    bank->let_go_ns = il->now_ns + ns;
    expect(il, bank->let_go_ns, EVENT_SUSPENDED, at);
}

void interleave_resume(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];

    assert(bank->suspended);
    bank->suspended = false;
    bank->run = bank->suspended_run;
    bank->run.why.die_ns += il->now_ns - bank->suspended_ns;
    bank->run.aside_ns += il->now_ns - bank->suspended_ns;
    interleave_lasts(il, at, il->resume_ns + bank->rest_ns);
}

static enum event_kind over_kind(const struct interleave *il,
                                 const struct bank *bank)
{
    return head_of(il, bank)->kind == STEP_PROGRAM ? EVENT_PROGRAMMED
                                                   : EVENT_OVER;
}

void interleave_lasts(struct interleave *il, uint32_t at, uint64_t ns)
{
    struct bank *bank = &il->banks[at];

    bank->over_ns = il->now_ns + ns;
    if (!bank->over_pending)
        expect(il, bank->over_ns, over_kind(il, bank), at);
    bank->over_pending = true;
}

bool interleave_is_over(struct interleave *il, uint32_t at)
{
    struct bank *bank = &il->banks[at];

    bank->over_pending = false;
    if (bank->suspended)
        return false;
    if (bank->over_ns > il->now_ns) {
        interleave_lasts(il, at, bank->over_ns - il->now_ns);
        return false;
    }
    return true;
}
