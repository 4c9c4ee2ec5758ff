/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_SERVE_H
#define SSDPROBE_FLASH_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/flash/array.h"
#include "lib/flash/content.h"
#include "lib/flash/drive.h"
#include "lib/flash/flash.h"
#include "lib/flash/faults.h"
#include "lib/flash/mapping.h"
#include "lib/flash/noise.h"
#include "lib/flash/read_buffer.h"
#include "lib/flash/scheduler.h"
#include "lib/flash/store.h"
#include "lib/flash/write_buffer.h"
#include "lib/flash/write_cache.h"

/*
 * The inside of a drive, shared by its two halves: flash.c decides when a
 * request's turn has come, serve.c what it then costs.
 */

enum { SECTOR_BYTES = 512 };

/* A request whose completion is decided. */
struct serving {
    struct flash_done done;
    uint64_t order; /* of submission: breaks ties */
    uint64_t offset_bytes, length_bytes;
};

struct flash {
    struct drive drive;
    struct array array;
    struct mapping *mapping;           /* NULL: direct, no flash at all */
    struct read_buffer *read_buffer;   /* NULL: none */
    struct write_buffer *write_buffer; /* NULL: none */
    struct write_cache *write_cache;   /* NULL: none */
    struct store *store;               /* NULL: contents off */
    struct content *content;           /* NULL: contents do not matter */
    struct noise noise;
    struct faults faults;
    struct flash_statistics statistics;

    /* Host side: when the link and the command processor are free. */
    uint64_t link_free_ns, command_free_ns;
    uint64_t busy_until_ns; /* when the last request is complete */
    uint64_t held_until_ns; /* an outlier keeps the whole drive busy */
    /* The contiguous run of reads that the last read continued or began. */
    uint64_t run_end_bytes, run_length_bytes;
    uint64_t group;         /* of the last request (quirks) */
    uint64_t drain_free_ns; /* when an eager drain may take the next run */

    const struct scheduler *scheduler;
    struct queue queue;
    struct serving *serving; /* a heap by (complete_ns, order) */
    size_t serving_count, depth_count;
    flash_tell_fn *tell; /* NULL: nobody asks why */
    void *tell_context;
    struct flash_why why, unit_why; /* of the request, of one of its units */
    uint64_t slot_free_ns;          /* when the last completion freed a slot */
    uint64_t order_count;
    uint64_t now_ns;
};

/* When a request that begins now is complete. */
uint64_t serve_request(struct flash *flash, const struct flash_request *request,
                       uint64_t begin_ns);

/* Contents move at dispatch, in order, so that reads see earlier writes. 0 or
 * -errno. */
int serve_data(struct flash *flash, const struct flash_request *request);

/* Whatever waits in volatile memory is gone. */
void serve_forget(struct flash *flash);

void serve_count(struct flash *flash, const struct flash_request *request);

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
