/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_NEIGHBOUR_H
#define SSDPROBE_FLASH_NEIGHBOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/random.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/request/request.h"

/*
 * Another user of the drive, one whom the host does not show: a neighbour on
 * the same disk of a virtual machine, a controller's own records. Reads and
 * writes at random places, one at a time; each waits for the last to complete
 * and then for a while of random length. They are served as any request is, so
 * that they take banks and links, log blocks and buffers from the others. What
 * is stored does not change: they write what was there. Seeded, from a stream
 * of its own.
 */
struct neighbour {
    uint64_t every_ns; /* how long it waits, on average; 0: nobody is there */
    uint64_t bytes, places_count;
    double write_share;
    uint64_t next_ns;
    struct random random;
};

void neighbour_init(struct neighbour *neighbour, const struct drive *drive);

/* Its next request, which comes at `next_ns`. */
struct flash_request neighbour_request(struct neighbour *neighbour);

/* That one is complete: when the one after it comes is drawn. */
void neighbour_done(struct neighbour *neighbour, uint64_t complete_ns);

#endif
