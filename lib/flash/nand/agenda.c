/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/nand/agenda.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int agenda_create(struct agenda *agenda, uint32_t most_count)
{
    *agenda = (struct agenda){.free = UINT32_MAX};
    memset(agenda->first_ns, 0xff, sizeof(agenda->first_ns));
    memset(agenda->first, 0xff, sizeof(agenda->first));
    for (unsigned lane = 0; lane < AGENDA_LANES; lane++)
        agenda_play(agenda, lane);
    return agenda_reserve(agenda, most_count);
}

int agenda_reserve(struct agenda *agenda, uint32_t most_count)
{
    if (most_count <= agenda->most_count)
        return 0;
    struct event *events =
        realloc(agenda->events, most_count * sizeof(*events));
    if (!events)
        return -ENOMEM;
    for (uint32_t i = most_count; i-- > agenda->most_count;) {
        events[i].next = agenda->free;
        agenda->free = i;
    }
    agenda->events = events;
    agenda->most_count = most_count;
    return 0;
}

void agenda_destroy(struct agenda *agenda)
{
    free(agenda->events);
    memset(agenda, 0, sizeof(*agenda));
}

uint64_t agenda_memory_bytes(const struct agenda *agenda)
{
    return agenda->most_count * sizeof(struct event);
}

static bool is_before(const struct event *a, const struct event *b)
{
    return a->ns < b->ns || (a->ns == b->ns && a->order < b->order);
}

void agenda_put_between(struct agenda *agenda, unsigned lane, uint32_t at)
{
    struct event *events = agenda->events;
    uint32_t *link = &agenda->first[lane];

    while (*link != UINT32_MAX && is_before(&events[*link], &events[at]))
        link = &events[*link].next;
    if (*link == UINT32_MAX) {
        agenda->last[lane] = at;
        agenda->last_ns[lane] = events[at].ns;
    }
    events[at].next = *link;
    *link = at;
    agenda_set_first(agenda, lane, agenda->first[lane]);
}

void agenda_put_foreseen(struct agenda *agenda, struct event event)
{
    const uint32_t slot = agenda->free;

    assert(slot < agenda->most_count);
    agenda->free = agenda->events[slot].next;
    agenda->events[slot] = event;
    agenda_put_between(agenda, agenda_find_lane(agenda, LANE_READY, event.ns),
                       slot);
}
