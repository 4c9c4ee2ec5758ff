/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_WRITTEN_H
#define SSDPROBE_SESSION_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/random.h"
#include "lib/device/device.h"

/*
 * Was the whole drive written? A place that was never written, or was
 * discarded, has no page in the flash: reads return early, and writes merge and
 * move nothing. Most probes assume a written drive (Kim et al. fill it before
 * each experiment).
 *
 * Idea: any of three signs that random places have no page.
 *  - They are read faster than places that this run wrote. On a written drive
 *    both take equally long. Buffers can only make the run's own places faster,
 *    which hides a difference but never feigns one.
 *  - They return one byte all over, whether they are read faster, alike, or
 *    slower.
 *  - Long reads take no longer than short ones: no flash delivers so fast.
 */

enum {
    WRITTEN_PLACES_COUNT = 64,
    WRITTEN_PLACES_LEAST = 24, /* own places needed to compare times */
    WRITTEN_READ_BYTES = 4096,
    WRITTEN_LONG_BYTES = 262144
};

struct written {
    uint64_t region_offset_bytes, region_length_bytes;
    struct random random;
    /* random sample of all writes */
    uint64_t places_bytes[WRITTEN_PLACES_COUNT];
    /* number of writes sampled from */
    uint64_t writes_count;

    bool misses; /* Some places hold nothing. The values below are of the
                    measurement that found it. */
    /* Of the WRITTEN_PLACES_COUNT random places: read faster than own ones, or
     * holding one byte all over. */
    unsigned quick_count, empty_count;
    double own_ns, other_ns; /* median read times: own places, random places */
    /* The quickest reads of random places, and of WRITTEN_LONG_BYTES. */
    double short_ns, long_ns;
    bool looked; /* contents and long reads are looked at once, before the run
                    itself writes zeros */
    bool quick;  /* the first sign */
};

/* Begins with an empty sample. The region must hold WRITTEN_READ_BYTES. */
void written_begin(struct written *written, uint64_t region_offset_bytes,
                   uint64_t region_length_bytes, uint64_t seed);

/* Records a successful write of this run. */
void written_note(struct written *written, uint64_t offset_bytes,
                  uint64_t length_bytes);

/* Measures once, if nothing was found yet. `data`: WRITTEN_LONG_BYTES of the
 * device's buffer. `clock_step_ns`: of struct setting; where it is not 0, long
 * reads tell nothing. 0 or -errno. */
int written_measure(struct written *written, struct device *device,
                    uint64_t clock_step_ns, void *data);

/* Did a measurement find places that hold nothing? If so, `cause` gets a
 * sentence. */
bool written_misses(const struct written *written, char *cause, size_t size);

/* Stands for a probe's name: what such a drive spoils. */
extern const char written_places[];

#endif
