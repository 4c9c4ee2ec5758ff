/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_BASELINE_H
#define SSDPROBE_SESSION_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/device/device.h"

/*
 * The same small measurement at the beginning and at the end of a run: if the
 * two differ, something changed in between that no probe is to know of
 * (throttling, another load, a drive that warms up).
 */
struct baseline_place {
    uint64_t region_offset_bytes, region_length_bytes;
    bool write; /* its pages are written first, so that they are mapped both
                   times */
};

enum { BASELINE_BYTES = 262144, BASELINE_READS_COUNT = 64 };

/* What a random read in the last pages of the region takes: the lower quartile
 * of BASELINE_READS_COUNT, as what the host does only ever adds. With
 * `write` it writes BASELINE_BYTES there, beyond any budget: leave room. 0 or
 * -errno, also -ERANGE for a region that is too small. */
int baseline_measure(struct device *device, const struct baseline_place *place,
                     uint64_t *quick_ns);

#endif
