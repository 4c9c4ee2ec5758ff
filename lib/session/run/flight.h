/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_FLIGHT_H
#define SSDPROBE_SESSION_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/device/device.h"
#include "lib/infer/probe.h"

/*
 * Requests that are under way together, and those that are done but come after
 * one that is not: a queue in the order of sending. Rows leave it in that
 * order, so that a run in virtual time is the same each time. For the session's
 * own files only.
 */

/* One slow request must not stop the others for long: as many may be done
 * behind it as there are places left. */
enum { FLIGHT_PLACES = 4 * SAMPLE_DEPTH_MAX };

struct flight_entry {
    struct io io;
    struct step step;
    size_t area; /* of the payload */
    bool done;
};

struct flight {
    struct flight_entry *entries; /* FLIGHT_PLACES of them, or NULL: not yet */
    size_t head, count;           /* a ring: the oldest, and how many */
    size_t under_way_count;
    bool areas_used[SAMPLE_DEPTH_MAX];
};

void flight_free(struct flight *flight);

/* May a step of this depth be sent now? */
bool flight_has_room(const struct flight *flight, uint32_t depth);

/* The next entry, with an area of its own, to be filled in and sent; it counts
 * as under way. NULL: no memory. There must be room. */
struct flight_entry *flight_begin(struct flight *flight,
                                  const struct step *step);
/* The entry that was begun last was not sent. */
void flight_undo(struct flight *flight);

/* Waits until at least one request is done. 0, or what device_reap() says: then
 * all that are under way count as done, with that error. */
int flight_wait(struct flight *flight, struct device *device);

/* The oldest entry, if it is done; it stays valid until the next
 * flight_begin(). NULL when it is not, or when there is none. */
const struct flight_entry *flight_take(struct flight *flight);

#endif
