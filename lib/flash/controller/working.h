/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_WORKING_H
#define SSDPROBE_FLASH_WORKING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/flash/request/request.h"
#include "lib/flash/request/touched.h"

/*
 * The requests that the drive works on: those whose completion is decided but
 * not yet returned. A ring of small entries in the order of completion, and
 * slots that stay where they are. Most requests complete after all that were
 * decided before them, so that they go to the end of the ring at once.
 */

enum { WORKING_DEPTH_MAX = 1024 };

struct working_slot {
    struct flash_done done;
    uint64_t offset_bytes, end_bytes;
    struct touched_parts parts;
};

struct working_end {
    uint64_t complete_ns;
    uint32_t slot;
};

struct working {
    uint32_t count, depth_count;
    uint32_t head, ring_mask;   /* of `ends` */
    struct working_end *ends;   /* by (complete_ns, order of decision) */
    struct working_slot *slots; /* `depth_count` of them */
    uint16_t *free_slots;       /* a stack of depth_count - count */
    uint64_t decisions_count;
    struct touched touched;
};

/* At most `depth_count` (up to WORKING_DEPTH_MAX) at once. 0 or -ENOMEM. */
int working_create(struct working *working, uint32_t depth_count);
void working_destroy(struct working *working);

static inline bool working_has_room(const struct working *working)
{
    return working->count < working->depth_count;
}

/* UINT64_MAX: there is none. */
static inline uint64_t working_next_ns(const struct working *working)
{
    return working->count > 0
               ? working->ends[working->head & working->ring_mask].complete_ns
               : UINT64_MAX;
}

/* How many are not complete by `now_ns`, whether those that are were taken or
 * not. */
uint32_t working_count_at(const struct working *working, uint64_t now_ns);

/* Where a request is noted until it is taken; there is room. */
struct working_slot *working_begin(struct working *working,
                                   const struct flash_request *request);

/* When the last of those that overlap it is complete; 0: none does. */
uint64_t working_overlapping_ns(const struct working *working,
                                const struct working_slot *slot);

/* What began last is decided: its `done` says when it is complete. */
void working_put(struct working *working, const struct working_slot *slot);

/* The next to complete; there is one. */
void working_take(struct working *working, struct flash_done *done);

#endif
