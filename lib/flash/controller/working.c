/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/controller/working.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A part of the drive, and how many of them a request may touch and still be
 * noted at each. */
enum { PART_SHIFT = 20, PARTS_FEW = 4 };

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

/* ---- which overlap ------------------------------------------------------ */

/* The parts from `first` on that a request touches: how many; 0 where they are
 * more than a few. */
static uint32_t parts_of(uint64_t offset_bytes, uint64_t end_bytes,
                         uint64_t *first)
{
    *first = offset_bytes >> PART_SHIFT;
    uint64_t count = ((end_bytes - 1) >> PART_SHIFT) - *first + 1;
    return count <= PARTS_FEW ? (uint32_t)count : 0;
}

static uint32_t place_of(uint64_t part)
{
    const uint32_t golden = 2654435769u;

    return ((uint32_t)part * golden) >> (32 - WORKING_TOUCHED_BITS);
}

/* One request more (`by` 1) or less (-1) is there. */
static void touch(struct working *working, const struct working_slot *slot,
                  int by)
{
    uint64_t first;

    if (slot->end_bytes == slot->offset_bytes) /* a flush */
        return;
    uint32_t count = parts_of(slot->offset_bytes, slot->end_bytes, &first);
    if (count == 0)
        working->wide_count += (uint32_t)by;
    for (uint32_t i = 0; i < count; i++) {
        uint16_t *at = &working->touched[place_of(first + i)];
        *at = (uint16_t)(*at + by);
    }
}

static bool may_overlap(const struct working *working, uint64_t begin,
                        uint64_t end)
{
    uint64_t first;
    uint32_t count = parts_of(begin, end, &first), found = working->wide_count;

    for (uint32_t i = 0; i < count; i++)
        found += working->touched[place_of(first + i)];
    return found != 0 || count == 0;
}

uint64_t working_overlapping_ns(const struct working *working,
                                const struct flash_request *request)
{
    uint64_t begin = request->offset_bytes, complete_ns = 0;
    uint64_t end = begin + request->length_bytes;

    if (end == begin || !may_overlap(working, begin, end))
        return complete_ns;
    for (uint32_t i = 0; i < working->count; i++) {
        const struct working_end *at =
            &working->ends[(working->head + i) & working->ring_mask];
        const struct working_slot *other = &working->slots[at->slot];
        if (other->offset_bytes < end && begin < other->end_bytes)
            complete_ns = at->complete_ns; /* they come in order */
    }
    return complete_ns;
}

/* ---- in and out --------------------------------------------------------- */

void working_put(struct working *working, const struct flash_request *request,
                 const struct flash_done *done)
{
    uint32_t mask = working->ring_mask, at = working->head + working->count++;

    assert(working->count <= working->depth_count);
    uint32_t slot = working->free_slots[working->depth_count - working->count];
    working->decisions_count++;
    working->slots[slot] =
        (struct working_slot){*done, request->offset_bytes,
                              request->offset_bytes + request->length_bytes};
    touch(working, &working->slots[slot], 1);
    for (; at != working->head &&
           working->ends[(at - 1) & mask].complete_ns > done->complete_ns;
         at--)
        working->ends[at & mask] = working->ends[(at - 1) & mask];
    working->ends[at & mask] = (struct working_end){done->complete_ns, slot};
}

struct flash_done working_take(struct working *working)
{
    assert(working->count > 0);
    uint32_t slot = working->ends[working->head++ & working->ring_mask].slot;
    working->free_slots[working->depth_count - working->count--] =
        (uint16_t)slot;
    touch(working, &working->slots[slot], -1);
    return working->slots[slot].done;
}
