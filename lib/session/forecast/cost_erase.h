/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_COST_ERASE_H
#define SSDPROBE_SESSION_COST_ERASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/sample.h"

/*
 * Detects the erases of a page-mapping drive from the times of its writes.
 *
 * Such a drive fills one erase block after the other, wherever the host writes.
 * It may erase the next block inside the write that opens it. Slow writes then
 * recur at a fixed distance, the pages of one block. The distance is counted in
 * flash pages that the writes used up.
 */

/* Number of writes that are remembered; older ones are overwritten. */
enum { COST_ERASE_WRITES_MAX = 4096 };

struct cost_erase_write {
    uint64_t offset_bytes, length_bytes;
    float write_ns, flush_ns; /* 0: no flush followed directly */
};

/* State. All zeros: no write was seen yet. */
struct cost_erases {
    struct cost_erase_write writes[COST_ERASE_WRITES_MAX]; /* a ring */
    size_t count; /* writes seen in all, not only those kept */
    bool is_open; /* the last request was a write: its flush may follow */
};

/* The periodic slow writes that were found. */
struct cost_erase {
    uint64_t pages;  /* per block; 0: no period was found */
    double extra_ns; /* extra time of a slow write and its flush */
    bool in_flush;   /* the flush, not the write, takes most of it */
};

/* Records a measured request. Only writes and the flush right after one
 * count. */
void cost_erases_learn(struct cost_erases *erases, const struct sample *sample);

/* Searches the remembered writes for a period. `page_bytes`: size of a flash
 * page. Leaves `erase` unchanged when no period is found; finding one takes at
 * least the writes of four blocks. */
void cost_erases_find(const struct cost_erases *erases, uint64_t page_bytes,
                      struct cost_erase *erase);

#endif
