/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_LATE_H
#define SSDPROBE_FLASH_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/contents/store.h"

/*
 * The pages of 4 KiB that were written last, of a counterfeit drive that can
 * keep so many: one page more displaces the one that was not written for
 * longest. Its memory is bounded by how many it keeps.
 */
struct late;

enum { LATE_PAGE_BYTES = 4096 };

/* `base_bytes`: where its pages lie in the contents. 0 or -ENOMEM. */
int late_create(uint64_t base_bytes, uint32_t pages_count, struct late **late);
void late_destroy(struct late *late); /* accepts NULL */

/* A write comes: its pages have a place from now on. Those that had none hold
 * zeros. `store` may be NULL. 0 or what store_write() says. */
int late_take(struct late *late, struct store *store, uint64_t offset_bytes,
              uint64_t length_bytes);

/* Does it keep the page at `*offset_bytes`? Then that becomes where it does. In
 * either case `*length_bytes` becomes what follows of which the same is true,
 * without a gap. */
bool late_find(struct late *late, uint64_t *offset_bytes,
               uint64_t *length_bytes);

#endif
