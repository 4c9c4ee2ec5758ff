/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_SERVE_PARTS_H
#define SSDPROBE_FLASH_SERVE_PARTS_H

#include "lib/flash/serve.h"

/* What serving a request consists of; only serve*.c and flash_why.c know it.
 * Who takes begin_ns gives when that is done. */

/* ---- why (flash_why.c) ------------------------------------------------- */

/* The unit that is ready last says what the request spent its time on. */
void serve_unit_begin(struct flash *flash);
void serve_unit_end(struct flash *flash, bool last);

/* ---- writes (serve_write.c) -------------------------------------------- */

uint64_t serve_write(struct flash *flash, const struct flash_request *request,
                     uint64_t begin_ns);

/* Programs all that the write buffer holds. `told`: each run is a unit of the
 * request that asked for it. */
uint64_t serve_drain(struct flash *flash, bool told, uint64_t begin_ns);
/* What an eager buffer programmed by itself before now_ns. */
void serve_drain_background(struct flash *flash, uint64_t now_ns);

/* Of a two-level cache: one unit, or all, go to the array. */
uint64_t serve_write_back(struct flash *flash, uint64_t unit,
                          uint64_t begin_ns);
uint64_t serve_empty_cache(struct flash *flash, bool told, uint64_t begin_ns);

/* What the read buffer keeps of this is true no longer. */
void serve_drop_read(struct flash *flash, uint64_t offset_bytes,
                     uint64_t length_bytes);

#endif
