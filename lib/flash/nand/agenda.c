/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/nand/agenda.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int agenda_create(struct agenda *agenda, uint32_t most_count)
{
    *agenda = (struct agenda){.heap = calloc(most_count, sizeof(struct event)),
                              .most_count = most_count};
    return agenda->heap ? 0 : -ENOMEM;
}

int agenda_reserve(struct agenda *agenda, uint32_t most_count)
{
    if (most_count <= agenda->most_count)
        return 0;
    struct event *heap = realloc(agenda->heap, most_count * sizeof(*heap));
    if (!heap)
        return -ENOMEM;
    agenda->heap = heap;
    agenda->most_count = most_count;
    return 0;
}

void agenda_destroy(struct agenda *agenda)
{
    free(agenda->heap);
    *agenda = (struct agenda){.heap = NULL};
}

uint64_t agenda_memory_bytes(const struct agenda *agenda)
{
    return agenda->most_count * sizeof(struct event);
}

/* Time first, then its place among those of one instant: one comparison of a
 * long number has no branch to guess. */
static inline bool before(const struct event *a, const struct event *b)
{
    return ((__uint128_t)a->ns << 64 | a->order) <
           ((__uint128_t)b->ns << 64 | b->order);
}

/* Puts an event into an empty slot, or above it. */
static inline void rise(struct event *heap, uint32_t slot,
                        const struct event *event)
{
    for (; slot > 0 && before(event, &heap[(slot - 1) / 2]);
         slot = (slot - 1) / 2)
        heap[slot] = heap[(slot - 1) / 2];
    heap[slot] = *event;
}

void agenda_put(struct agenda *agenda, struct event event)
{
    assert(agenda->count < agenda->most_count);
    event.order = agenda->order++ | (uint64_t)event.last << 63;
    rise(agenda->heap, agenda->count++, &event);
}

struct event agenda_take(struct agenda *agenda)
{
    struct event *heap = agenda->heap;
    uint32_t slot = 0, child;

    assert(agenda->count > 0);
    const struct event first = heap[0], last = heap[--agenda->count];
    /* The last belongs near the bottom: the gap goes all the way there, and the
     * last up again from it. */
    for (; (child = 2 * slot + 2) < agenda->count; slot = child) {
        child -= before(&heap[child - 1], &heap[child]);
        heap[slot] = heap[child];
    }
    if (child == agenda->count) {
        heap[slot] = heap[child - 1];
        slot = child - 1;
    }
    rise(heap, slot, &last);
    return first;
}
