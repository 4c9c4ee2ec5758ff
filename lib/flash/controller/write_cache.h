/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_WRITE_CACHE_H
#define SSDPROBE_FLASH_WRITE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The two-level write-back cache (Kasi V). It is inclusive: what is in the
 * first level is in the second as well. A unit that is in neither is loaded
 * into the second and copied to the first. Each level gives up what was used
 * longest ago there; the second is used when the first does not have a unit.
 * What leaves the second leaves both, and goes to the flash. All that is in it
 * is dirty.
 */
struct write_cache;

/* Both at least one unit. 0 or -ENOMEM. */
int write_cache_create(uint32_t first_units, uint32_t second_units,
                       struct write_cache **cache);
void write_cache_destroy(struct write_cache *cache);

enum write_cache_level {
    WRITE_CACHE_FIRST,
    WRITE_CACHE_SECOND,
    WRITE_CACHE_MISS
};

/* Where was the unit found? It is in the first level then, unless it was in
 * neither. */
enum write_cache_level write_cache_find(struct write_cache *cache,
                                        uint64_t unit);

/* Puts a unit in that is in neither level; true: `evicted` must go to the
 * flash. */
bool write_cache_put(struct write_cache *cache, uint64_t unit,
                     uint64_t *evicted);

/* Takes the oldest unit out; false when there is none. */
bool write_cache_take(struct write_cache *cache, uint64_t *unit);

void write_cache_drop(struct write_cache *cache, uint64_t unit);

#endif
