/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_WHY_H
#define SSDPROBE_FLASH_WHY_H

#include <stddef.h>
#include <stdint.h>

#include "lib/flash/request/request.h"

/*
 * What one request spent its time on, along the path of the part that was ready
 * last: the parts add up to complete_ns - submit_ns.
 */
struct flash_why {
    uint64_t queue_ns;   /* until its turn came */
    uint64_t host_ns;    /* command, link, and whatever is not below */
    uint64_t discard_ns; /* the controller forgets what was discarded */
    uint64_t map_ns;     /* until the controller knew where the data are */
    uint64_t buffer_ns;  /* until the write buffer had room */
    uint64_t merge_ns;   /* merges of log blocks, copies of whole blocks */
    uint64_t clean_ns;   /* cleaning */
    uint64_t erase_ns;   /* until a bank's erase was over */
    uint64_t wait_ns;    /* until a bank, a bus or the controller was free */
    /* Where banks have queues: until the bank was done with other steps, until
     * it had suspended one, and until the bus was free. */
    uint64_t die_ns, suspend_ns, channel_ns;
    uint64_t sense_ns; /* array to register */
    uint64_t bus_ns;
    uint64_t controller_ns; /* its serial share */
    uint64_t program_ns;
    uint64_t order_ns; /* until an overlapping one before it was complete */
    uint64_t wake_ns;  /* from a power state */
    uint64_t noise_ns; /* pauses, outliers, the bridge; not the jitter */
};

/* One row a part, for sums, tables and columns. */
struct flash_why_part {
    const char *name; /* "queue": without its unit */
    size_t offset;    /* of the uint64_t in struct flash_why */
};

enum { FLASH_WHY_PARTS = 19 };
extern const struct flash_why_part flash_why_parts[FLASH_WHY_PARTS];

uint64_t flash_why_part_ns(const struct flash_why *why, size_t index);
void flash_why_add(struct flash_why *sum, const struct flash_why *why);

/* Called when a completion is decided, in the order of decisions. */
typedef void flash_tell_fn(void *context, const struct flash_done *done,
                           const struct flash_why *why);

#endif
