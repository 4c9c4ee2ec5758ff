/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_SERVE_PARTS_H
#define SSDPROBE_FLASH_SERVE_PARTS_H

#include "lib/flash/controller/serve.h"

/* What serving a request consists of; only serve*.c know it.
 * Who takes begin_ns gives when that is done. */

/* ---- why (serve_why.c) -------------------------------------------------- */

/* The unit that is ready last says what the request spent its time on. */
void serve_unit_begin(struct flash *flash);
void serve_unit_end(struct flash *flash, bool last);

/* ---- writes (serve_write.c) -------------------------------------------- */

uint64_t serve_write(struct flash *flash, const struct flash_request *request,
                     uint64_t begin_ns);

/* ---- the mapping table (serve_map.c) ------------------------------------ */

/* When the controller knows where a unit is. */
uint64_t serve_find(struct flash *flash, uint64_t unit, uint64_t begin_ns);

/* ---- discards and zeros (serve_discard.c) ------------------------------- */

/* What a discard, or zeros that are unmapped, cost the controller. */
uint64_t serve_discard_ns(const struct flash *flash,
                          const struct flash_request *request);
uint64_t serve_discard(struct flash *flash, const struct flash_request *request,
                       uint64_t begin_ns);
uint64_t serve_write_zeroes(struct flash *flash,
                            const struct flash_request *request,
                            uint64_t begin_ns);
/* For a drive that trims in the background (`freeing`): it has freed discarded
 * pages by now; and it keeps those that are written anew. */
void serve_free_discarded(struct flash *flash, uint64_t now_ns);
void serve_keep_written(struct flash *flash,
                        const struct flash_request *request);
/* What it reads as from now on. 0 or -errno. */
int serve_zeros(struct flash *flash, const struct flash_request *request);

/* ---- buffers (serve_write.c) -------------------------------------------- */

/* Programs a part of a unit, which may have to be found first. */
uint64_t serve_program(struct flash *flash, const struct dirty *run,
                       uint64_t begin_ns);

/* Where banks have queues (serve_queued.c): a piece of a write comes into the
 * buffer, and a unit that is whole then leaves it. When the piece is there. */
uint64_t serve_buffer_queued(struct flash *flash, const struct dirty *run,
                             uint64_t link_bytes, uint64_t begin_ns);
/* The same as serve_drain(): who flushes waits for it. */
void serve_drain_queued(struct flash *flash, uint64_t begin_ns);
/* All programs that lack pages begin without them. */
void serve_settle_queued(struct flash *flash, uint64_t begin_ns);

/* Programs all that the write buffer holds. `told`: each run is a unit of the
 * request that asked for it. */
uint64_t serve_drain(struct flash *flash, bool told, uint64_t begin_ns);
/* What an eager buffer programmed by itself before now_ns. */
void serve_drain_background(struct flash *flash, uint64_t now_ns);

/* Of a two-level cache: one unit, or all, go to the array. */
uint64_t serve_write_back(struct flash *flash, uint64_t unit,
                          uint64_t begin_ns);
/* How long it takes to get at a unit that was found there. */
uint64_t serve_cache_ns(const struct flash *flash,
                        enum write_cache_level level);
uint64_t serve_empty_cache(struct flash *flash, bool told, uint64_t begin_ns);

/* What the read buffer keeps of this is true no longer. */
void serve_drop_read(struct flash *flash, uint64_t offset_bytes,
                     uint64_t length_bytes);

#endif
