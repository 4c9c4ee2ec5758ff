/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_FREEING_H
#define SSDPROBE_FLASH_FREEING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Units that were discarded and are not free yet: a drive that trims in the
 * background frees them at a steady rate, in the order in which they were
 * discarded. Until then they are mapped, and cleaning copies them.
 */
struct freeing;

/* 0 or -ENOMEM. The drive has so many units, and frees so much a second. */
int freeing_create(uint64_t units_count, uint32_t unit_bytes,
                   uint64_t bytes_per_second, struct freeing **freeing);
void freeing_destroy(struct freeing *freeing); /* accepts NULL */

/* A discard of the units [first, end) at `now_ns`; each that it forgets is
 * named by freeing_put() then. False: too many are waiting, which must be taken
 * first. */
bool freeing_begin(struct freeing *freeing, uint64_t first, uint64_t end,
                   uint64_t now_ns);
void freeing_put(struct freeing *freeing, uint64_t unit);

/* Units that are written anew stay. */
void freeing_keep(struct freeing *freeing, uint64_t first, uint64_t end);

/* The next unit that is free by `now_ns` (UINT64_MAX: whenever that is); false:
 * there is none. */
bool freeing_take(struct freeing *freeing, uint64_t now_ns, uint64_t *unit);

#endif
