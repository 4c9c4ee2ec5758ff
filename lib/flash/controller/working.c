/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/controller/working.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int working_create(struct working *working, uint32_t depth_count)
{
    uint32_t ring = 1;

    assert(depth_count > 0 && depth_count <= WORKING_DEPTH_MAX);
    while (ring < depth_count)
        ring *= 2;
    *working =
        (struct working){.depth_count = depth_count, .ring_mask = ring - 1};
    working->ends = calloc(ring, sizeof(*working->ends));
    working->slots = calloc(depth_count, sizeof(*working->slots));
    working->free_slots = calloc(depth_count, sizeof(uint16_t));
    if (!working->ends || !working->slots || !working->free_slots) {
        working_destroy(working);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < depth_count; i++)
        working->free_slots[i] = (uint16_t)(depth_count - 1 - i);
    return 0;
}

void working_destroy(struct working *working)
{
    free(working->ends);
    free(working->slots);
    free(working->free_slots);
    memset(working, 0, sizeof(*working));
}

/* The slot of the next to come; there is one. */
static uint32_t next_slot(const struct working *working)
{
    assert(working->count < working->depth_count);
    return working->free_slots[working->depth_count - working->count - 1];
}

/* ---- which overlap ------------------------------------------------------ */

struct working_slot *working_begin(struct working *working,
                                   const struct flash_request *request)
{
    struct working_slot *slot = &working->slots[next_slot(working)];
    uint64_t begin = request->offset_bytes;
    uint64_t end = begin + request->length_bytes;

    slot->offset_bytes = begin;
    slot->end_bytes = end;
    slot->parts = touched_parts_of(begin, end);
    return slot;
}

uint64_t working_overlapping_ns(const struct working *working,
                                const struct working_slot *slot)
{
    uint64_t complete_ns = 0;

    if (!touched_by_others(&working->touched, &slot->parts))
        return complete_ns;
    for (uint32_t i = 0; i < working->count; i++) {
        const struct working_end *at =
            &working->ends[(working->head + i) & working->ring_mask];
        const struct working_slot *other = &working->slots[at->slot];
        if (other->offset_bytes < slot->end_bytes &&
            slot->offset_bytes < other->end_bytes)
            complete_ns = at->complete_ns; /* they come in order */
    }
    return complete_ns;
}

uint32_t working_count_at(const struct working *working, uint64_t now_ns)
{
    uint32_t count = 0;

    while (count < working->count &&
           working->ends[(working->head + working->count - 1 - count) &
                         working->ring_mask]
                   .complete_ns > now_ns)
        count++;
    return count;
}

/* ---- in and out --------------------------------------------------------- */

void working_put(struct working *working, const struct working_slot *slot)
{
    uint32_t mask = working->ring_mask, at = working->head + working->count;
    uint64_t complete_ns = slot->done.complete_ns;

    assert(slot == &working->slots[next_slot(working)]);
    working->count++;
    working->decisions_count++;
    touched_note(&working->touched, &slot->parts, 1);
    for (; at != working->head &&
           working->ends[(at - 1) & mask].complete_ns > complete_ns;
         at--)
        working->ends[at & mask] = working->ends[(at - 1) & mask];
    working->ends[at & mask] =
        (struct working_end){complete_ns, (uint32_t)(slot - working->slots)};
}

void working_take(struct working *working, struct flash_done *done)
{
    assert(working->count > 0);
    uint32_t at = working->ends[working->head++ & working->ring_mask].slot;
    const struct working_slot *slot = &working->slots[at];

    working->free_slots[working->depth_count - working->count--] = (uint16_t)at;
    touched_note(&working->touched, &slot->parts, -1);
    *done = slot->done;
}
