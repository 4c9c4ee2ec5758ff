/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/controller/map_cache.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/flash/controller/read_buffer.h"
#include "lib/flash/drive/geometry.h"

struct map_cache {
    struct read_buffer *own, *host; /* lists of mapping pages by use */
    uint64_t page_units;            /* that a mapping page knows */
};

int map_cache_create(const struct drive *drive, struct map_cache **result)
{
    struct map_cache *cache = calloc(1, sizeof(*cache));
    uint64_t fetch_bytes = drive->mapping_fetch_bytes;
    uint32_t own = (uint32_t)(drive->mapping_cache_bytes / fetch_bytes);
    uint32_t host = (uint32_t)(drive->host_memory_bytes / fetch_bytes);
    int error;

    if (!cache)
        return -ENOMEM;
    cache->page_units = drive_fetch_units(drive);
    error = read_buffer_create(own, &cache->own);
    if (!error && host > 0)
        error = read_buffer_create(host, &cache->host);
    if (error) {
        map_cache_destroy(cache);
        return error;
    }
    *result = cache;
    return 0;
}

void map_cache_destroy(struct map_cache *cache)
{
    if (!cache)
        return;
    read_buffer_destroy(cache->own);
    read_buffer_destroy(cache->host);
    free(cache);
}

uint64_t map_cache_page(const struct map_cache *cache, uint64_t unit)
{
    return unit / cache->page_units;
}

uint64_t map_cache_reach(const struct map_cache *cache, uint64_t unit)
{
    return cache->page_units - unit % cache->page_units;
}

void map_cache_lose_host(struct map_cache *cache)
{
    read_buffer_destroy(cache->host);
    cache->host = NULL;
}

enum map_cache_place map_cache_fetch(struct map_cache *cache, uint64_t page)
{
    enum map_cache_place place = MAP_CACHE_FLASH;
    uint64_t leaving;

    if (read_buffer_find(cache->own, page))
        return MAP_CACHE_OWN;
    if (cache->host && read_buffer_find(cache->host, page)) {
        place = MAP_CACHE_HOST;
        read_buffer_drop(cache->host, page);
    }
    if (cache->host && read_buffer_oldest(cache->own, &leaving))
        read_buffer_insert(cache->host, leaving);
    read_buffer_insert(cache->own, page);
    return place;
}
