/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_AGENDA_H
#define SSDPROBE_FLASH_AGENDA_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * What happens next: events by time. Of one instant they come in the order in
 * which they were put, and those of the first lane after all others.
 *
 * Most events last one of a few times (a sense, a transfer, a program), and
 * those that last the same come in order. So there are a few lanes, each in
 * order, and the next event is the first of one of them. Each event goes
 * through here, so it is inlined.
 */
enum agenda_lane {
    LANE_LAST,      /* in its instant */
    LANE_LINK,      /* what the host's link brings */
    LANE_BUS,       /* the first of those for what a bus brings */
    LANE_READY = 4, /* the first of those for pages that are sensed */
    LANE_OWN = 6,   /* what a request may have waited for is over */
    LANE_OTHER,
    AGENDA_LANES = 8
};

struct event {
    uint64_t ns;
    uint64_t order; /* within one instant: agenda_put() fills it in */
    uint32_t next;  /* in its lane */
    uint32_t at;    /* what it happens to, and what: the caller's */
    uint32_t kind;
};

struct agenda {
    struct event *events;
    uint32_t free, most_count; /* list of those not in use */
    uint64_t order;
    unsigned soonest, pairs[AGENDA_LANES / 2], fours[AGENDA_LANES / 4];
    uint64_t first_ns[AGENDA_LANES]; /* UINT64_MAX: there is none */
    uint64_t first_order[AGENDA_LANES];
    uint64_t last_ns[AGENDA_LANES]; /* 0: there is none */
    uint32_t first[AGENDA_LANES], last[AGENDA_LANES];
};

int agenda_create(struct agenda *agenda, uint32_t most_count);
void agenda_destroy(struct agenda *agenda);
uint64_t agenda_memory_bytes(const struct agenda *agenda);

/* Makes room for so many events at once. 0 or -ENOMEM. */
int agenda_reserve(struct agenda *agenda, uint32_t most_count);

/* An event that need not be the last of its lane. */
void agenda_put_between(struct agenda *agenda, unsigned lane, uint32_t at);

/* An event of a sensed page that has had its place within its instant since it
 * was foreseen: `order` is what agenda_foresee() said then. There is room. */
void agenda_put_foreseen(struct agenda *agenda, struct event event);

static inline uint64_t agenda_foresee(struct agenda *agenda)
{
    return agenda->order++;
}

/* When the next one is; UINT64_MAX: nothing happens any more. */
static inline uint64_t agenda_next_ns(const struct agenda *agenda)
{
    return agenda->first_ns[agenda->soonest];
}

/* Is an event that is put for this instant the next, whatever its lane but the
 * first? */
static inline bool agenda_is_over(const struct agenda *agenda, uint64_t now_ns)
{
    return agenda_next_ns(agenda) > now_ns || agenda->soonest == LANE_LAST;
}

/* Of two lanes, `a` before `b` in their order: whose first event is next? */
static inline unsigned agenda_sooner(const struct agenda *agenda, unsigned a,
                                     unsigned b)
{
    const uint64_t a_ns = agenda->first_ns[a], b_ns = agenda->first_ns[b];

    if (a_ns == b_ns)
        return agenda->first_order[b] < agenda->first_order[a] ? b : a;
    return a_ns < b_ns ? a : b;
}

/* The lane has another first event: it plays against its neighbour, and the
 * winner against that of the next two lanes, ... */
static inline void agenda_play(struct agenda *agenda, unsigned lane)
{
    unsigned *pairs = agenda->pairs, *fours = agenda->fours;

    pairs[lane / 2] = agenda_sooner(agenda, lane & ~1u, lane | 1u);
    lane /= 4;
    fours[lane] = agenda_sooner(agenda, pairs[2 * lane], pairs[2 * lane + 1]);
    agenda->soonest = agenda_sooner(agenda, fours[0], fours[1]);
}

static inline void agenda_set_first(struct agenda *agenda, unsigned lane,
                                    uint32_t slot)
{
    const struct event *event = &agenda->events[slot];

    agenda->first[lane] = slot;
    agenda->first_ns[lane] = event->ns;
    agenda->first_order[lane] = lane == LANE_LAST ? UINT64_MAX : event->order;
    agenda_play(agenda, lane);
}

/* Of a lane and the next one that which ends latest, and not after it; else the
 * next, which then ends after it. */
static inline unsigned agenda_find_lane(const struct agenda *agenda,
                                        unsigned lane, uint64_t ns)
{
    const uint64_t a_ns = agenda->last_ns[lane];
    const uint64_t b_ns = agenda->last_ns[lane + 1];

    return a_ns <= ns && (b_ns > ns || b_ns < a_ns) ? lane : lane + 1;
}

/* There is room. */
static inline void agenda_put(struct agenda *agenda, unsigned lane, uint64_t ns,
                              uint32_t kind, uint32_t at)
{
    const uint32_t slot = agenda->free;

    assert(slot < agenda->most_count);
    if (lane == LANE_READY || lane == LANE_BUS)
        lane = agenda_find_lane(agenda, lane, ns);
    struct event *event = &agenda->events[slot];
    agenda->free = event->next;
    *event = (struct event){ns, agenda->order++, UINT32_MAX, at, kind};
    if (agenda->first_ns[lane] == UINT64_MAX) {
        agenda_set_first(agenda, lane, slot);
    } else if (ns >= agenda->last_ns[lane]) {
        agenda->events[agenda->last[lane]].next = slot;
    } else {
        agenda_put_between(agenda, lane, slot);
        return;
    }
    agenda->last[lane] = slot;
    agenda->last_ns[lane] = ns;
}

/* The next one; there is one. It is as it was until the next is put. */
static inline const struct event *agenda_take(struct agenda *agenda)
{
    const unsigned lane = agenda->soonest;
    const uint32_t slot = agenda->first[lane];
    struct event *event = &agenda->events[slot];
    const uint32_t next = event->next;

    assert(agenda->first_ns[lane] != UINT64_MAX);
    event->next = agenda->free;
    agenda->free = slot;
    if (next != UINT32_MAX) {
        agenda_set_first(agenda, lane, next);
    } else {
        agenda->first[lane] = UINT32_MAX;
        agenda->first_ns[lane] = UINT64_MAX;
        agenda->last_ns[lane] = 0;
        agenda_play(agenda, lane);
    }
    return event;
}

#endif
