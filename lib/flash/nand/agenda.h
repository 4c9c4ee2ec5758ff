/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_AGENDA_H
#define SSDPROBE_FLASH_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What happens next: events by time (a heap). Of one instant they come in the
 * order in which they were put, and those marked `last` after all others.
 */
struct event {
    uint64_t ns;
    uint64_t order; /* within one instant: agenda_put() fills it in */
    uint32_t at;    /* what it happens to, and what: the caller's */
    uint16_t kind;
    bool last;
};

struct agenda {
    struct event *heap;
    uint32_t count, most_count;
    uint64_t order;
};

/* Room for `most_count` events at once. 0 or -ENOMEM. */
int agenda_create(struct agenda *agenda, uint32_t most_count);
void agenda_destroy(struct agenda *agenda);
uint64_t agenda_memory_bytes(const struct agenda *agenda);

/* Makes room for so many. 0 or -ENOMEM. */
int agenda_reserve(struct agenda *agenda, uint32_t most_count);

/* There is room. */
void agenda_put(struct agenda *agenda, struct event event);

/* The next one; there is one. */
struct event agenda_take(struct agenda *agenda);

/* When; UINT64_MAX: nothing happens any more. */
static inline uint64_t agenda_next_ns(const struct agenda *agenda)
{
    return agenda->count > 0 ? agenda->heap[0].ns : UINT64_MAX;
}

#endif
