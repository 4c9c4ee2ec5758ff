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

static bool before(const struct event *a, const struct event *b)
{
    if (a->ns != b->ns)
        return a->ns < b->ns;
    return a->last != b->last ? b->last : a->order < b->order;
}

void agenda_put(struct agenda *agenda, struct event event)
{
    struct event *heap = agenda->heap;
    uint32_t slot = agenda->count++;

    assert(slot < agenda->most_count);
    event.order = agenda->order++;
    for (; slot > 0 && before(&event, &heap[(slot - 1) / 2]);
         slot = (slot - 1) / 2)
        heap[slot] = heap[(slot - 1) / 2];
    heap[slot] = event;
}

struct event agenda_take(struct agenda *agenda)
{
    struct event *heap = agenda->heap;
    uint32_t slot = 0, child;

    assert(agenda->count > 0);
    struct event first = heap[0], last = heap[--agenda->count];
    while ((child = 2 * slot + 1) < agenda->count) {
        if (child + 1 < agenda->count && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &last))
            break;
        heap[slot] = heap[child];
        slot = child;
    }
    heap[slot] = last;
    return first;
}
