/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_UNDER_WAY_H
#define SSDPROBE_FLASH_UNDER_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/flash/nand/array.h"
#include "lib/flash/request/why.h"
#include "lib/flash/request/request.h"

/*
 * The requests of a drive whose banks and buses are shared page by page (see
 * interleave.h): those under way, whose end is open, and those that are
 * complete but not yet returned. A slot of the queue depth is free again when
 * its request is complete, whether it was returned or not.
 */

struct under_way;

/* Makes the steps of `array`, which outlives it, as does `link_free_ns`. 0 or
 * -ENOMEM. */
int under_way_create(const struct drive *drive, struct array *array,
                     uint64_t *link_free_ns, struct under_way **under_way);
void under_way_destroy(struct under_way *under_way); /* accepts NULL */
uint64_t under_way_memory_bytes(const struct under_way *under_way);

bool under_way_has_room(const struct under_way *under_way);
/* How many requests have begun and are not complete. */
uint32_t under_way_count(const struct under_way *under_way);

/* Room for one more request, from its submission to its return; once for each.
 * 0 or -ENOMEM. */
int under_way_reserve(struct under_way *under_way);

/* The turn of a request has come, of this place in the order of submission: the
 * array's steps are its own until it is closed. One that flushes waits for all
 * before it. It is not complete before `least_ns`. */
void under_way_open(struct under_way *under_way,
                    const struct flash_request *request, bool flushes,
                    uint64_t order);
void under_way_close(struct under_way *under_way, const struct flash_done *done,
                     uint64_t least_ns);

/* When the next step happens; UINT64_MAX: never. */
uint64_t under_way_next_ns(const struct under_way *under_way);

/* When to ask again: the same, or at once when some are complete. */
uint64_t under_way_ask_ns(const struct under_way *under_way);

/* Lets it happen, and what follows by `until_ns`, until a request is complete
 * or nothing is under way. True: a request of this place in the order of
 * submission is complete by it; why it took so long is in `why`. */
bool under_way_run(struct under_way *under_way, uint64_t until_ns,
                   struct flash_done *done, uint64_t *order,
                   struct flash_why *why);

/* It is to be returned at its time of completion: now, or later. */
void under_way_put(struct under_way *under_way, const struct flash_done *done,
                   uint64_t order);

/* Returns those that are complete by `until_ns`, in (time, submission) order;
 * how many. */
size_t under_way_take(struct under_way *under_way, uint64_t until_ns,
                      struct flash_done done[], size_t max);

/* Is anything under way, a chore of the drive included? */
bool under_way_is_busy(const struct under_way *under_way);

#endif
