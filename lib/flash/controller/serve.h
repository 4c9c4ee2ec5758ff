/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_SERVE_H
#define SSDPROBE_FLASH_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/flash/nand/array.h"
#include "lib/flash/contents/content.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/request/why.h"
#include "lib/flash/request/request.h"
#include "lib/flash/request/statistics.h"
#include "lib/flash/disturbance/faults.h"
#include "lib/flash/ftl/mapping.h"
#include "lib/flash/disturbance/neighbour.h"
#include "lib/flash/disturbance/noise.h"
#include "lib/flash/ftl/freeing.h"
#include "lib/flash/controller/in_flight.h"
#include "lib/flash/controller/late.h"
#include "lib/flash/controller/map_cache.h"
#include "lib/flash/controller/read_buffer.h"
#include "lib/flash/controller/scheduler.h"
#include "lib/base/contents/store.h"
#include "lib/flash/nand/interleave.h"
#include "lib/flash/controller/working.h"
#include "lib/flash/controller/write_buffer.h"
#include "lib/flash/controller/write_cache.h"

/*
 * The inside of a drive, shared by its two halves: flash.c decides when a
 * request's turn has come, serve*.c what it then costs.
 */

enum { SECTOR_BYTES = 512 };

struct flash {
    uint64_t capacity_bytes; /* as it says */
    struct drive drive;      /* its capacity is what the flash inside holds */
    struct array array;
    struct divisor page_sectors, unit_sectors, unit_pages;
    struct mapping *mapping;           /* NULL: direct, no flash at all */
    struct read_buffer *read_buffer;   /* NULL: none */
    struct write_buffer *write_buffer; /* NULL: none */
    struct in_flight *in_flight;       /* NULL: it does not drain steadily */
    struct write_cache *write_cache;   /* NULL: none */
    struct map_cache *map_cache;       /* NULL: all of the table is there */
    struct store *store;               /* NULL: contents off */
    struct content *content;           /* NULL: contents do not matter */
    struct freeing *freeing;           /* NULL: a discard frees at once */
    struct late *late;                 /* NULL: no fake that keeps some */
    struct noise noise;
    struct neighbour neighbour;
    struct faults faults;
    struct flash_statistics statistics;

    /* How long so many bytes take over the link, the last time it was asked. */
    uint64_t link_bytes, link_ns;
    /* Host side: when the link and the command processor are free. */
    uint64_t link_free_ns, command_free_ns;
    uint64_t busy_until_ns; /* when the last request is complete */
    uint64_t held_until_ns; /* an outlier keeps the whole drive busy */
    /* The contiguous run of reads that the last read continued or began. */
    uint64_t run_end_bytes, run_length_bytes;
    uint64_t group;         /* of the last request (quirks) */
    bool passes_buffer;     /* until a flush (OVERFLOW_THROUGH) */
    bool wrote;             /* the mapping changed since the last flush */
    uint64_t drain_free_ns; /* when an eager drain may take the next run */

    const struct scheduler *scheduler;
    struct queue queue;
    struct working working;
    /* Requests that share banks and buses page by page; NULL: each is timed in
     * whole when its turn comes. */
    struct interleave *under_way;
    flash_tell_fn *tell; /* NULL: nobody asks why */
    void *tell_context;
    struct flash_why why, unit_why; /* of the request, of one of its units */
    uint64_t cleaned_until_ns;      /* when it last looked for idle cleaning */
    uint64_t slot_free_ns;          /* when the last completion freed a slot */
    uint64_t submits_count;
    uint64_t now_ns;
};

/* Nobody asks for anything between the two: the mapping, which has such an
 * operation, does what it does then. */
void serve_idle(struct flash *flash, uint64_t from_ns, uint64_t until_ns);

/* When a request that begins now is complete. */
uint64_t serve_request(struct flash *flash, const struct flash_request *request,
                       uint64_t begin_ns);

/* Contents move at dispatch, in order, so that reads see earlier writes. 0 or
 * -errno. */
int serve_data(struct flash *flash, const struct flash_request *request);

/* Whatever waits in volatile memory is gone. */
void serve_forget(struct flash *flash);

void serve_count(struct flash *flash, const struct flash_request *request);

/*
 * Makes the parts add up to `total_ns`. Units of one request overlap, so a part
 * counts only as far as the ones before it leave time: first what is certain
 * and the work of the unit that was ready last, then what delayed it. The rest
 * is the host's.
 */
void flash_why_fit(struct flash_why *why, uint64_t total_ns);

#endif
