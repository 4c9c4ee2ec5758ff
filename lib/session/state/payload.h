/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_PAYLOAD_H
#define SSDPROBE_SESSION_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/random.h"
#include "lib/device/device.h"
#include "lib/infer/probe.h"

/*
 * What requests carry: random data that no drive can compress and that differs
 * from write to write, or constant data; and a place to read to. All of it lies
 * in the device's own buffer.
 */
struct payload {
    struct device *device;
    struct random random;
    unsigned char *data; /* random pool, then an area for each request that may
                            be under way, for everything else */
    size_t pool_bytes, area_bytes, areas_count;
};

void payload_init(struct payload *payload, struct device *device,
                  uint64_t seed);

/* Is there room for this step without a new buffer? Where there is not, no
 * request may be under way when payload_prepare() is called. */
bool payload_has_room(const struct payload *payload, const struct step *step);

/*
 * `data`: what a write sends, where a read goes to, or NULL. `area`: which area
 * it may use, below the step's depth; no other request under way uses it. 0 or
 * -ENOMEM.
 */
int payload_prepare(struct payload *payload, const struct step *step,
                    size_t area, void **data);

/* The request of a step that is no pause, with its data as above. 0 or
 * -ENOMEM. */
int payload_request(struct payload *payload, const struct step *step,
                    size_t area, struct io *io);

/* What a read brought back to `data`, beside what `step` says is there. Of
 * contents that can be known: not CONTENT_RANDOM. */
enum returned payload_compare(const struct step *step, const void *data);

#endif
