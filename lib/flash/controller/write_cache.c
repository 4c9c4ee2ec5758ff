/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/controller/write_cache.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/flash/controller/read_buffer.h"

struct write_cache {
    struct read_buffer *first, *second; /* lists of units, by use */
};

int write_cache_create(uint32_t first_units, uint32_t second_units,
                       struct write_cache **result)
{
    struct write_cache *cache = calloc(1, sizeof(*cache));

    if (!cache)
        return -ENOMEM;
    if (read_buffer_create(first_units, &cache->first) ||
        read_buffer_create(second_units, &cache->second)) {
        write_cache_destroy(cache);
        return -ENOMEM;
    }
    *result = cache;
    return 0;
}

void write_cache_destroy(struct write_cache *cache)
{
    if (!cache)
        return;
    read_buffer_destroy(cache->first);
    read_buffer_destroy(cache->second);
    free(cache);
}

enum write_cache_level write_cache_find(struct write_cache *cache,
                                        uint64_t unit)
{
    if (read_buffer_find(cache->first, unit))
        return WRITE_CACHE_FIRST;
    if (!read_buffer_find(cache->second, unit))
        return WRITE_CACHE_MISS;
    read_buffer_insert(cache->first, unit);
    return WRITE_CACHE_SECOND;
}

bool write_cache_put(struct write_cache *cache, uint64_t unit,
                     uint64_t *evicted)
{
    bool evicts = read_buffer_oldest(cache->second, evicted);

    if (evicts)
        read_buffer_drop(cache->first, *evicted);
    read_buffer_insert(cache->second, unit);
    read_buffer_insert(cache->first, unit);
    return evicts;
}

bool write_cache_take(struct write_cache *cache, uint64_t *unit)
{
    if (!read_buffer_any(cache->second, unit))
        return false;
    write_cache_drop(cache, *unit);
    return true;
}

void write_cache_drop(struct write_cache *cache, uint64_t unit)
{
    read_buffer_drop(cache->first, unit);
    read_buffer_drop(cache->second, unit);
}
