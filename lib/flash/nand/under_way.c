/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/nand/under_way.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flash/nand/interleave.h"

struct item {
    struct flash_done done;
    uint64_t order;
};

struct under_way {
    struct interleave *interleave;
    struct item *jobs; /* by the interleave's number */
    size_t depth_count, count;
    uint32_t open;
    struct item *complete; /* in (time, submission) order, from `head` */
    size_t complete_size, head, complete_count;
    size_t reserved_count; /* submitted and not yet returned */
};

int under_way_create(const struct drive *drive, struct array *array,
                     uint64_t *link_free_ns, struct under_way **under_way)
{
    struct under_way *made = calloc(1, sizeof(*made));

    if (!made)
        return -ENOMEM;
    made->depth_count = drive->queue_depth_count;
    made->jobs = calloc(made->depth_count, sizeof(*made->jobs));
    if (!made->jobs ||
        interleave_create(drive, array, link_free_ns, &made->interleave)) {
        under_way_destroy(made);
        return -ENOMEM;
    }
    array->interleave = made->interleave;
    array->queued = drive->die_queue != DIE_QUEUE_NONE;
    *under_way = made;
    return 0;
}

void under_way_destroy(struct under_way *under_way)
{
    if (!under_way)
        return;
    interleave_destroy(under_way->interleave);
    free(under_way->jobs);
    free(under_way->complete);
    free(under_way);
}

uint64_t under_way_memory_bytes(const struct under_way *under_way)
{
    return sizeof(*under_way) + interleave_memory_bytes(under_way->interleave) +
           (under_way->depth_count + under_way->complete_size) *
               sizeof(struct item);
}

uint32_t under_way_count(const struct under_way *under_way)
{
    return (uint32_t)under_way->count;
}

bool under_way_has_room(const struct under_way *under_way)
{
    return under_way->count < under_way->depth_count;
}

int under_way_reserve(struct under_way *under_way)
{
    size_t size = under_way->complete_size;

    if (under_way->head > 0) {
        memmove(under_way->complete, under_way->complete + under_way->head,
                under_way->complete_count * sizeof(struct item));
        under_way->head = 0;
    }
    if (under_way->reserved_count >= size) {
        size = size ? 2 * size : 64;
        struct item *complete =
            realloc(under_way->complete, size * sizeof(*complete));
        if (!complete)
            return -ENOMEM;
        under_way->complete = complete;
        under_way->complete_size = size;
    }
    under_way->reserved_count++;
    return 0;
}

void under_way_open(struct under_way *under_way,
                    const struct flash_request *request, bool flushes,
                    uint64_t order)
{
    const struct interleave_extent extent = {request->offset_bytes,
                                             request->length_bytes, flushes};

    under_way->open = interleave_open(under_way->interleave, &extent);
    under_way->jobs[under_way->open].order = order;
    under_way->count++;
}

void under_way_close(struct under_way *under_way, const struct flash_done *done,
                     uint64_t least_ns)
{
    struct flash_done *kept = &under_way->jobs[under_way->open].done;
    int error = interleave_close(under_way->interleave, least_ns);

    *kept = *done;
    if (error)
        kept->error = error;
}

uint64_t under_way_next_ns(const struct under_way *under_way)
{
    return interleave_next_ns(under_way->interleave);
}

uint64_t under_way_ask_ns(const struct under_way *under_way)
{
    uint64_t next_ns = interleave_next_ns(under_way->interleave);

    if (under_way->complete_count == 0)
        return next_ns;
    uint64_t done_ns = under_way->complete[under_way->head].done.complete_ns;
    return done_ns < next_ns ? done_ns : next_ns;
}

void under_way_put(struct under_way *under_way, const struct flash_done *done,
                   uint64_t order)
{
    struct item *complete = under_way->complete + under_way->head;
    size_t at = under_way->complete_count++;

    assert(under_way->head + at < under_way->complete_size);
    for (; at > 0 && (complete[at - 1].done.complete_ns > done->complete_ns ||
                      (complete[at - 1].done.complete_ns == done->complete_ns &&
                       complete[at - 1].order > order));
         at--)
        complete[at] = complete[at - 1];
    complete[at] = (struct item){*done, order};
}

bool under_way_run(struct under_way *under_way, uint64_t until_ns,
                   struct flash_done *done, uint64_t *order,
                   struct flash_why *why)
{
    struct interleave_done job;

    if (!interleave_run(under_way->interleave, until_ns, &job))
        return false;
    const struct item *item = &under_way->jobs[job.job];
    *done = item->done;
    *order = item->order;
    if (!interleave_is_gated(under_way->interleave))
        done->begin_ns = job.begin_ns;
    done->complete_ns = job.complete_ns;
    under_way->count--;
    *why = job.why;
    return true;
}

size_t under_way_take(struct under_way *under_way, uint64_t until_ns,
                      struct flash_done done[], size_t max)
{
    const struct item *complete = under_way->complete + under_way->head;
    size_t count = 0;

    for (; count < max && count < under_way->complete_count &&
           complete[count].done.complete_ns <= until_ns;
         count++)
        done[count] = complete[count].done;
    under_way->head += count;
    under_way->complete_count -= count;
    under_way->reserved_count -= count;
    return count;
}

bool under_way_is_busy(const struct under_way *under_way)
{
    return interleave_is_busy(under_way->interleave);
}
