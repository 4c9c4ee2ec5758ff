/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_ARRAY_QUEUE_H
#define SSDPROBE_FLASH_ARRAY_QUEUE_H

#include "lib/flash/nand/array.h"

/*
 * The array where banks have queues: what is asked of it becomes steps
 * (interleave.h). Only array.c calls these; each duration is as it lasts in the
 * noise of the moment.
 */

struct array_queued {
    uint32_t block, page;
    uint32_t pages_count; /* that come over the bus for one program */
    uint64_t bytes;       /* of a page that is read, or of one program */
    uint64_t bus_ns, controller_ns;
    uint64_t work_ns; /* sense, program, or both */
    uint64_t begin_ns;
    bool to_host;
};

void array_queue_read(struct array *array, const struct array_queued *asked);
void array_queue_program(struct array *array, const struct array_queued *asked);
/* A copy inside a bank, of which one program writes `pages_count` pages. */
void array_queue_copy(struct array *array, const struct array_queued *asked);
/* In all banks of the block. */
void array_queue_erase(struct array *array, const struct array_queued *asked);

#endif
