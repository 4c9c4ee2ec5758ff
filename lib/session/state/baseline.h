/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_BASELINE_H
#define SSDPROBE_SESSION_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/device/device.h"

/*
 * Baseline: the same 64 reads, before the first probe and after each one. If
 * they take longer at one time than at another, the drive's speed changed in
 * between: throttling, other load, or warming up. Measured times are then not
 * properties of the drive. Sizes and counts remain valid, as probes find them
 * by comparing requests that are close in time.
 */

enum { BASELINE_READS_COUNT = 64, BASELINE_READ_BYTES = 4096 };

/* Ratio of the read times now to those of the first measurement: the median
 * over the same reads in the same order, with its 99.9 % rank interval [low,
 * high]. The fixed order keeps a read cache from mixing the pairs up. */
struct baseline_change {
    double low, middle, high;
};

/* State. All zeros: not measured yet. */
struct baseline {
    /* Places of the reads, spread over the region, in the order of reading.
     * Probes leave most of them unchanged. A place reserved for the baseline
     * would not do if it were written: an SLC cache would answer it faster
     * until the data moves on. */
    uint64_t places_bytes[BASELINE_READS_COUNT];
    size_t count; /* measurements so far; the rest is valid from 1 on */
    /* first times, in the order of the reads */
    double first_ns[BASELINE_READS_COUNT];
    double quick_ns; /* lower quartile of first_ns: load by the host only
                        adds to times */
    struct baseline_change last;
    /* the lowest `high` and the highest `low` so far */
    struct baseline_change quickest, slowest;
    uint64_t in_vain_ns; /* the longest rest that changed nothing */
};

/* Chooses the places. Returns false when the region is too small. */
bool baseline_place(struct baseline *baseline, uint64_t region_offset_bytes,
                    uint64_t region_length_bytes);

/* Flushes the write buffer, which would answer reads of what a probe wrote.
 * Call it before each measurement where writing is allowed. 0 or -errno. */
int baseline_flush(struct device *device);

/* Measures once, and again after a rest where the drive was slow. `data`:
 * BASELINE_READ_BYTES of the device's buffer. 0 or -errno. */
int baseline_measure(struct baseline *baseline, struct device *device,
                     void *data);

/* Where the drive was slow at the last measurement: rests until it is as quick
 * as it ever was, and then once more as long, for what throttles is quick again
 * long before it is cold. Gives up after `most_ns`, and does not begin where it
 * may rest less than twice as long as it did in vain. `cooled` says whether it
 * is quick again. 0 or -errno. */
int baseline_cool(struct baseline *baseline, struct device *device, void *data,
                  uint64_t most_ns, bool *cooled);

/* Typical time of a read at that measurement. */
uint64_t baseline_ns(const struct baseline *baseline,
                     const struct baseline_change *change);

/* Did the speed of the drive change by more than chance? If so, `cause` gets a
 * sentence. */
bool baseline_unsteady(const struct baseline *baseline, char *cause,
                       size_t size);

/* Was the drive as quick at that measurement as it ever was? False if `change`
 * was not measured. */
bool baseline_is_quick(const struct baseline *baseline,
                       const struct baseline_change *change);

/* Instead of a probe's name in a recording: the times of all probes are
 * spoilt; followed by "-" and a probe's name: the times of that one. */
extern const char baseline_times[];

#endif
