/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_WRITE_CACHE_H
#define SSDPROBE_FLASH_WRITE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The two-level write-back cache (Kasi V): units that are written enter the
 * first level; what was used longest ago there moves to the second, and from
 * its end to the flash. All that is in it is dirty.
 */
struct write_cache;

/* Both at least one unit. 0 or -ENOMEM. */
int write_cache_create(uint32_t first_units, uint32_t second_units,
                       struct write_cache **cache);
void write_cache_destroy(struct write_cache *cache);

/* Is the unit in either level? It moves to the front of the first. */
bool write_cache_find(struct write_cache *cache, uint64_t unit, bool *evicts,
                      uint64_t *evicted);

/* Puts a unit in that is not there; true: `evicted` must go to the flash. */
bool write_cache_put(struct write_cache *cache, uint64_t unit,
                     uint64_t *evicted);

/* Takes the oldest unit out; false when there is none. */
bool write_cache_take(struct write_cache *cache, uint64_t *unit);

void write_cache_drop(struct write_cache *cache, uint64_t unit);

#endif
