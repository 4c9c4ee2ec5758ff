/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What waits for what. */
#include "lib/flash/nand/interleave_inside.h"

#include <errno.h>
#include <stdlib.h>

void *interleave_more(void *old, uint32_t *count, uint32_t least, size_t size)
{
    const uint32_t wanted = *count ? 2 * *count : least;
    void *made = realloc(old, wanted * size);

    if (made)
        *count = wanted;
    return made;
}

uint32_t gate_new(struct interleave *il)
{
    if (il->free_gate == NONE) {
        uint32_t count = il->gates_count;
        struct gate *gates =
            interleave_more(il->gates, &count, 256, sizeof(*gates));
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
    il->gates[at] = (struct gate){.users_count = 1, .watcher = NONE};
    return at;
}

static void watch(struct interleave *il, uint32_t bank, uint32_t gate)
{
    if (gate == NONE)
        return;
    uint32_t *watcher = &il->gates[gate].watcher;
    *watcher = *watcher == NONE || *watcher == bank ? bank : MANY;
}

void gate_watch(struct interleave *il, uint32_t bank, const struct step *head)
{
    watch(il, bank, head->waits_for);
    if (head->kind == STEP_READ)
        return;
    watch(il, bank, head->erased);
    watch(il, bank, head->arrives);
}

static bool waits_for(const struct bank *bank, uint32_t gate)
{
    for (int i = QUEUE_READS; i < QUEUES; i++) {
        const struct queue *queue = &bank->queues[i];
        if (is_empty(queue))
            continue;
        const struct step *step = step_at(queue, queue->head);
        if (step->waits_for == gate ||
            (step->kind != STEP_READ &&
             (step->erased == gate || step->arrives == gate)))
            return true;
    }
    return false;
}

static void wake_bank(struct interleave *il, uint32_t at, uint32_t gate)
{
    struct bank *bank = &il->banks[at];

    if (!il->blocked[at] || (gate != NONE && !waits_for(bank, gate)))
        return;
    il->blocked[at] = false;
    if (!bank->wake_pending)
        expect(il, LANE_OTHER, il->now_ns, EVENT_WAKE, at);
    bank->wake_pending = true;
}

void gate_wake(struct interleave *il, uint32_t gate)
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
