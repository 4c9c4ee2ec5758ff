/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_READY_H
#define SSDPROBE_DEVICE_READY_H

#include <stddef.h>

#include "lib/device/io.h"

/*
 * Requests that are done and wait to be reaped, first in, first out. A back end
 * sizes it by its queue depth, so it cannot overflow.
 */
struct ready {
    struct io **ios;
    size_t capacity_count, head, count;
};

int ready_create(struct ready *ready, size_t capacity_count); /* 0, -ENOMEM */
void ready_destroy(struct ready *ready);
void ready_push(struct ready *ready, struct io *io);

/* Moves at most `max` into `done`; returns how many. */
size_t ready_take(struct ready *ready, struct io *done[], size_t max);

#endif
