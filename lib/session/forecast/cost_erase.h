/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_COST_ERASE_H
#define SSDPROBE_SESSION_COST_ERASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/sample.h"

/*
 * A drive that maps pages fills one block after the other, wherever writes go,
 * and may erase the next one while the write waits that opens it: writes that
 * take longer come at one distance, counted in pages that are used up.
 */

/* So many writes are kept, the last ones. */
enum { COST_ERASE_WRITES_MAX = 4096 };

struct cost_erase_write {
    uint64_t offset_bytes, length_bytes;
    float write_ns, flush_ns; /* flush: 0 where none followed at once */
};

/* All zeros: nothing was seen. */
struct cost_erases {
    struct cost_erase_write writes[COST_ERASE_WRITES_MAX]; /* a ring */
    size_t count; /* of all that were seen */
    bool is_open; /* the last one, for its flush */
};

/* What shows as a block is opened. */
struct cost_erase {
    uint64_t pages;  /* of a block; 0: nothing shows */
    double extra_ns; /* that a write takes longer, with its flush */
    bool in_flush;   /* most of that is taken by the flush */
};

/* A request that was measured. */
void cost_erases_learn(struct cost_erases *erases, const struct sample *sample);

/* Where pages are of `page_bytes`. `erase` stays as it was where the last
 * writes show nothing, which takes a few blocks. */
void cost_erases_find(const struct cost_erases *erases, uint64_t page_bytes,
                      struct cost_erase *erase);

#endif
