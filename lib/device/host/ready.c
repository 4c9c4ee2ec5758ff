/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/host/ready.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int ready_create(struct ready *ready, size_t capacity_count)
{
    assert(capacity_count > 0);
    struct io **ios = calloc(capacity_count, sizeof(*ios));
    if (!ios)
        return -ENOMEM;
    *ready = (struct ready){.ios = ios, .capacity_count = capacity_count};
    return 0;
}

void ready_destroy(struct ready *ready)
{
    free(ready->ios);
    *ready = (struct ready){0};
}

void ready_push(struct ready *ready, struct io *io)
{
    assert(ready->count < ready->capacity_count);
    ready->ios[(ready->head + ready->count) % ready->capacity_count] = io;
    ready->count++;
}

size_t ready_take(struct ready *ready, struct io *done[], size_t max)
{
    size_t count = 0;
    while (count < max && ready->count > 0) {
        done[count++] = ready->ios[ready->head];
        ready->head = (ready->head + 1) % ready->capacity_count;
        ready->count--;
    }
    return count;
}
