/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_BASELINE_H
#define SSDPROBE_SESSION_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/device/device.h"

/*
 * The same small measurement before all others and after each probe: if two of
 * them differ, something changed in between that no probe is to know of
 * (throttling, another load, a drive that warms up). What a request costs is
 * then no property of the drive; sizes and counts, which probes find by
 * comparing neighbours in time, still are.
 */

enum { BASELINE_READS_COUNT = 64, BASELINE_READ_BYTES = 4096 };

/* How much longer than at first the reads took: the median of the ratios of the
 * same reads in the same order, which what keeps pages for others does not mix
 * up, with an interval by ranks of 99.9 %. */
struct baseline_change {
    double low, middle, high;
};

/* All zeros: not measured yet. */
struct baseline {
    /* All over the region, in the order in which they are read: most stay as
     * they are. A place of its own that is written does not: a cache of flash
     * in front takes it in, and is read faster until it lets it go. */
    uint64_t places_bytes[BASELINE_READS_COUNT];
    size_t count; /* times that it was measured; the rest holds from 1 on */
    double first_ns[BASELINE_READS_COUNT]; /* in the order of the reads */
    double quick_ns; /* the lower quartile of these: what the host does only
                        ever adds */
    struct baseline_change last;
    struct baseline_change quickest, slowest; /* by what is certain of them */
};

/* False: the region is too small. */
bool baseline_place(struct baseline *baseline, uint64_t region_offset_bytes,
                    uint64_t region_length_bytes);

/* Before it is measured, where writing is allowed: what a probe has left in the
 * drive's write buffer is not read from there. 0 or -errno. */
int baseline_flush(struct device *device);

/* Measures once more; `data`: BASELINE_READ_BYTES of the device's buffer. 0 or
 * -errno. */
int baseline_measure(struct baseline *baseline, struct device *device,
                     void *data);

/* What a read took then, roughly. */
uint64_t baseline_ns(const struct baseline *baseline,
                     const struct baseline_change *change);

/* Did the drive change its speed, by more than chance? Then with a sentence. */
bool baseline_unsteady(const struct baseline *baseline, char *cause,
                       size_t size);

/* In place of a probe's name, the name of what an unsteady run spoils: every
 * time, whichever probe found it. */
extern const char baseline_times[];

#endif
