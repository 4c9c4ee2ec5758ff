/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_PACE_H
#define SSDPROBE_CMD_FLASHEMU_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * When to wake and when to begin an answer, so that it arrives when it is due.
 * Both take time: a sleep ends late, and answering and waking the client take
 * longer the longer the processors slept. All of it is learnt from what
 * happens, the costs for each power of two of sleep. Zeroed: knows nothing.
 */

enum { PACE_CLASSES = 16 };

struct pace {
    uint64_t wake_late_ns; /* of sleeps */
    uint64_t slept_ns;     /* since the last answer */
    uint64_t answer_cost_ns[PACE_CLASSES];
    atomic_uint_fast64_t client_late_ns[PACE_CLASSES];
};

/* How long to sleep before something due in `wait_ns`; 0: spin. */
uint64_t pace_sleep_ns(const struct pace *pace, uint64_t wait_ns);

/* A sleep of `asked_ns` took `took_ns`. */
void pace_slept(struct pace *pace, uint64_t asked_ns, uint64_t took_ns);

/* How long before it is due should an answer begin, now? */
uint64_t pace_lead_ns(const struct pace *pace);

/* An answer was given; false: what it cost says nothing about the next. */
void pace_answered(struct pace *pace, uint64_t cost_ns, bool is_typical);

/*
 * After waits of `wait_ns` and longer, answers reach a client so much too
 * late. In rising order of `wait_ns`; may be called by another process.
 */
void pace_client_is_late(struct pace *pace, uint64_t wait_ns, uint64_t late_ns);

#endif
