/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_PAYLOAD_H
#define SSDPROBE_SESSION_PAYLOAD_H

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
    unsigned char *data; /* random pool, then the area for everything else */
    size_t pool_bytes, area_bytes;
};

void payload_init(struct payload *payload, struct device *device,
                  uint64_t seed);

/* `data`: what a write sends, where a read goes to, or NULL. 0 or -ENOMEM. */
int payload_prepare(struct payload *payload, const struct step *step,
                    void **data);

#endif
