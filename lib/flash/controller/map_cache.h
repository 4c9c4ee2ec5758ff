/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_MAP_CACHE_H
#define SSDPROBE_FLASH_MAP_CACHE_H

#include <stdint.h>

#include "lib/flash/drive/drive.h"

/*
 * Which part of the mapping table the controller has in memory (DFTL: Gupta,
 * Kim, Urgaonkar 2009). The table is kept in flash, and fetched in mapping
 * pages of `mapping_fetch_bytes`. The cache holds those used last. A larger one
 * in the host's memory (NVMe's host memory buffer) may be behind it, and takes
 * what leaves the first: each mapping page is in one of the two. A drive whose
 * table is larger than both reads flash before it knows where to read.
 */
struct map_cache;

/* Of a drive with `mapping_cache_bytes` > 0. 0 or -ENOMEM. */
int map_cache_create(const struct drive *drive, struct map_cache **cache);
void map_cache_destroy(struct map_cache *cache); /* accepts NULL */

enum map_cache_place { MAP_CACHE_OWN, MAP_CACHE_HOST, MAP_CACHE_FLASH };

/* The mapping page that knows where a unit is. */
uint64_t map_cache_page(const struct map_cache *cache, uint64_t unit);
/* How many units from this one on the same mapping page knows. */
uint64_t map_cache_reach(const struct map_cache *cache, uint64_t unit);

/* The host takes its memory away: its mapping pages are in flash only. */
void map_cache_lose_host(struct map_cache *cache);

/* Where a mapping page is; from now on it is the controller's own that was used
 * last. */
enum map_cache_place map_cache_fetch(struct map_cache *cache, uint64_t page);

#endif
