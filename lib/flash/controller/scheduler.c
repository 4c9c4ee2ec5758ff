/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/controller/scheduler.h"

#include <errno.h>
#include <stdlib.h>

enum { WRITE_WEIGHT = 8 }; /* Dirik 6.7: a write takes as long as eight reads */

static bool is_read(const struct flash_request *request)
{
    return request->operation == FLASH_READ;
}

static bool read_first(const struct flash_request *a,
                       const struct flash_request *b)
{
    return is_read(a) && !is_read(b);
}

static bool shortest_first(const struct flash_request *a,
                           const struct flash_request *b)
{
    return a->length_bytes < b->length_bytes;
}

static bool shortest_read_first(const struct flash_request *a,
                                const struct flash_request *b)
{
    return a->length_bytes != b->length_bytes
               ? a->length_bytes < b->length_bytes
               : read_first(a, b);
}

static uint64_t weight(const struct flash_request *request)
{
    return request->length_bytes * (is_read(request) ? 1 : WRITE_WEIGHT);
}

static bool lightest_first(const struct flash_request *a,
                           const struct flash_request *b)
{
    return weight(a) < weight(b);
}

static const struct scheduler schedulers[] = {
    [SCHEDULER_FCFS] = {"fcfs", NULL},
    [SCHEDULER_READ_FIRST] = {"read-first", read_first},
    [SCHEDULER_SHORTEST] = {"srf", shortest_first},
    [SCHEDULER_SHORTEST_READ] = {"srf-read", shortest_read_first},
    [SCHEDULER_WEIGHTED] = {"weighted-srf", lightest_first},
};

const struct scheduler *scheduler_of(const struct drive *drive)
{
    return &schedulers[drive->scheduler];
}

static bool overlap(const struct flash_request *a,
                    const struct flash_request *b)
{
    return a->offset_bytes < b->offset_bytes + b->length_bytes &&
           b->offset_bytes < a->offset_bytes + a->length_bytes;
}

/* The first that `index` must not overtake; itself when it is free to go. */
static size_t first_overlapping(const struct queue *queue, size_t index)
{
    const struct flash_request *request = &queue_at(queue, index)->request;

    for (size_t i = 0; i < index; i++)
        if (overlap(&queue_at(queue, i)->request, request))
            return i;
    return index;
}

size_t scheduler_choose(const struct scheduler *scheduler,
                        const struct queue *queue, uint64_t now_ns)
{
    size_t best = 0, first;

    if (!scheduler->overtakes)
        return 0;
    for (size_t i = 1;
         i < queue->count && queue_at(queue, i)->submit_ns <= now_ns; i++)
        if (scheduler->overtakes(&queue_at(queue, i)->request,
                                 &queue_at(queue, best)->request))
            best = i;
    while ((first = first_overlapping(queue, best)) != best)
        best = first;
    return best;
}

/* ---- the queue ---------------------------------------------------------- */

static struct waiting *place(const struct queue *queue, size_t index)
{
    size_t at = queue->head + index;

    return &queue->ring[at < queue->size ? at : at - queue->size];
}

const struct waiting *queue_at(const struct queue *queue, size_t index)
{
    return place(queue, index);
}

size_t queue_arrived_before(const struct queue *queue, uint64_t now_ns)
{
    size_t low = 0, high = queue->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (place(queue, middle)->submit_ns < now_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int grow(struct queue *queue)
{
    size_t size = queue->size ? 2 * queue->size : 64;
    struct waiting *ring = malloc(size * sizeof(*ring));

    if (!ring)
        return -ENOMEM;
    for (size_t i = 0; i < queue->count; i++)
        ring[i] = *place(queue, i);
    free(queue->ring);
    *queue = (struct queue){ring, size, 0, queue->count};
    return 0;
}

int queue_put(struct queue *queue, const struct waiting *waiting)
{
    if (queue->count == queue->size) {
        int error = grow(queue);
        if (error)
            return error;
    }
    *place(queue, queue->count++) = *waiting;
    return 0;
}

struct waiting queue_take(struct queue *queue, size_t index)
{
    struct waiting taken = *place(queue, index);

    for (size_t i = index; i > 0; i--)
        *place(queue, i) = *place(queue, i - 1);
    queue->head = queue->head + 1 < queue->size ? queue->head + 1 : 0;
    queue->count--;
    return taken;
}

void queue_destroy(struct queue *queue)
{
    free(queue->ring);
    *queue = (struct queue){0};
}
