/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_SCHEDULER_H
#define SSDPROBE_FLASH_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/flash/drive/drive.h"
#include "lib/flash/request/request.h"

/*
 * Which of the requests that wait is next (Dirik 6.7)? A rule is one function
 * and one row in scheduler.c.
 */

/* A request that waits for its turn. */
struct waiting {
    struct flash_request request;
    uint64_t submit_ns;
    uint64_t order; /* of submission */
};

/* The queue, in the order of arrival. */
struct queue {
    struct waiting *ring; /* grown when full */
    size_t size, head, count;
};

struct scheduler {
    const char *name;
    /* Should `a` go before `b`, which came earlier? NULL: never. */
    bool (*overtakes)(const struct flash_request *a,
                      const struct flash_request *b);
};

const struct scheduler *scheduler_of(const struct drive *drive);

/* 0 or -ENOMEM. */
int queue_put(struct queue *queue, const struct waiting *waiting);
/* The `index`th of those that wait, in the order of arrival. */
const struct waiting *queue_at(const struct queue *queue, size_t index);
/* How many of those that wait came before `now_ns`. */
size_t queue_arrived_before(const struct queue *queue, uint64_t now_ns);
struct waiting queue_take(struct queue *queue, size_t index);
void queue_destroy(struct queue *queue);

/*
 * The index of the one to serve at `now_ns`, among those that have arrived by
 * then; there is at least one. None overtakes a request that it overlaps.
 */
size_t scheduler_choose(const struct scheduler *scheduler,
                        const struct queue *queue, uint64_t now_ns);

#endif
