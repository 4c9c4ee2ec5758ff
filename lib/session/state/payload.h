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
 * Data of requests. Writes carry random data, which no drive can compress and
 * which differs from write to write, or known data. Reads get room for what
 * they return. All of it lies in the device's own buffer.
 */
struct payload {
    struct device *device;
    struct random random;
    unsigned char *data; /* a pool of random data, then one area for each
                            request that may be under way */
    size_t pool_bytes, area_bytes, areas_count;
};

void payload_init(struct payload *payload, struct device *device,
                  uint64_t seed);

/* Does the buffer suffice for this step? If not, no request may be under way
 * during payload_prepare(), which replaces the buffer. */
bool payload_has_room(const struct payload *payload, const struct step *step);

/*
 * Provides the data of a step. `data`: what a write sends, where a read goes,
 * or NULL. `area`: the area to use, below the step's depth; no other request
 * under way may use it. 0 or -ENOMEM.
 */
int payload_prepare(struct payload *payload, const struct step *step,
                    size_t area, void **data);

/* Fills in the request of a step that is no pause, with its data as above. 0 or
 * -ENOMEM. */
int payload_request(struct payload *payload, const struct step *step,
                    size_t area, struct io *io);

/* Compares what a read returned in `data` with the contents that `step`
 * describes. Not for CONTENT_RANDOM, which cannot be known. */
enum returned payload_compare(const struct step *step, const void *data);

#endif
