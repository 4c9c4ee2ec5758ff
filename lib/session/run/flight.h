/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_FLIGHT_H
#define SSDPROBE_SESSION_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/device/device.h"
#include "lib/infer/probe.h"

/*
 * Queue of requests that are under way together, and of completed ones that
 * wait for an earlier one. Rows leave it in the order of sending, so that a run
 * in virtual time is always the same. For the session's own files only.
 */

/* Capacity. One slow request must not stop the others, so the queue has room
 * for completed requests behind it: for those of 30 ms at 500,000 a second. */
enum { FLIGHT_PLACES = 64 * SAMPLE_DEPTH_MAX };

struct flight_entry {
    struct io io;
    struct step step;
    size_t area; /* its area of the payload buffer */
    bool done;
};

struct flight {
    struct flight_entry *entries; /* FLIGHT_PLACES entries; NULL before the
                                     first use */
    size_t head, count;           /* ring: index of the oldest entry, number
                                     of entries */
    size_t under_way_count;
    bool areas_used[SAMPLE_DEPTH_MAX];
};

void flight_free(struct flight *flight);

/* Can a step of this depth be sent now? */
bool flight_has_room(const struct flight *flight, uint32_t depth);

/* Appends an entry with its own payload area, which counts as under way; the
 * caller fills it in and sends it. Call it only when there is room. Returns
 * NULL when out of memory. */
struct flight_entry *flight_begin(struct flight *flight,
                                  const struct step *step);
/* Removes the last entry, because it was not sent. */
void flight_undo(struct flight *flight);

/* Waits until at least one request is complete. Returns 0, or the error of
 * device_reap(): then all requests under way count as complete with that
 * error. */
int flight_wait(struct flight *flight, struct device *device);

/* Removes and returns the oldest entry if it is complete; it stays valid until
 * the next flight_begin(). Returns NULL when it is still under way or there is
 * none. */
const struct flight_entry *flight_take(struct flight *flight);

#endif
