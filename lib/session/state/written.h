/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_WRITTEN_H
#define SSDPROBE_SESSION_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/random.h"
#include "lib/device/device.h"

/*
 * Is the drive written all over? A place that was never written, or was
 * discarded, has no page in the flash: a read of it returns early, a write of
 * it merges and moves nothing. Most probes assume that it is not so (Kim et al.
 * fill the drive before each experiment).
 *
 * Idea: read places that this run has written and as many anywhere, by turns.
 * On a drive that is written all over they cost alike. What keeps pages can
 * only make the run's own ones faster, and hide the difference for a time.
 */

enum {
    WRITTEN_PLACES_COUNT = 64,
    WRITTEN_PLACES_LEAST = 24, /* of its own, before it looks */
    WRITTEN_READ_BYTES = 4096
};

struct written {
    uint64_t region_offset_bytes, region_length_bytes;
    struct random random;
    uint64_t places_bytes[WRITTEN_PLACES_COUNT]; /* a fair draw of all writes */
    uint64_t writes_count;                       /* that it was drawn from */

    bool misses; /* some places hold nothing; then, at that time */
    unsigned
        quick_count; /* of WRITTEN_PLACES_COUNT that no write was seen to */
    double own_ns, other_ns; /* what a read of each kind took: medians */
};

/* The region must hold WRITTEN_READ_BYTES. */
void written_begin(struct written *written, uint64_t region_offset_bytes,
                   uint64_t region_length_bytes, uint64_t seed);

/* A write of this run that succeeded. */
void written_note(struct written *written, uint64_t offset_bytes,
                  uint64_t length_bytes);

/* Looks once more, when enough was written; `data`: WRITTEN_READ_BYTES of the
 * device's buffer. 0 or -errno. */
int written_measure(struct written *written, struct device *device, void *data);

/* Are there places that hold nothing? Then with a sentence. */
bool written_misses(const struct written *written, char *cause, size_t size);

/* In place of a probe's name, the name of what such a drive spoils. */
extern const char written_places[];

#endif
