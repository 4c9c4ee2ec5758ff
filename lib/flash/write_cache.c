/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/write_cache.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/flash/read_buffer.h"

struct write_cache {
    struct read_buffer *first, *second; /* lists of units by use */
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

bool write_cache_find(struct write_cache *cache, uint64_t unit, bool *evicts,
                      uint64_t *evicted)
{
    *evicts = false;
    if (read_buffer_find(cache->first, unit))
        return true;
    if (!read_buffer_find(cache->second, unit))
        return false;
    read_buffer_drop(cache->second, unit);
    *evicts = write_cache_put(cache, unit, evicted);
    return true;
}

bool write_cache_put(struct write_cache *cache, uint64_t unit,
                     uint64_t *evicted)
{
    uint64_t moved;
    bool full = read_buffer_oldest(cache->first, &moved);
    bool evicts = full && read_buffer_oldest(cache->second, evicted);

    read_buffer_insert(cache->first, unit);
    if (full)
        read_buffer_insert(cache->second, moved);
    return evicts;
}

bool write_cache_take(struct write_cache *cache, uint64_t *unit)
{
    struct read_buffer *levels[] = {cache->second, cache->first};

    for (int i = 0; i < 2; i++)
        if (read_buffer_any(levels[i], unit)) {
            read_buffer_drop(levels[i], *unit);
            return true;
        }
    return false;
}

void write_cache_drop(struct write_cache *cache, uint64_t unit)
{
    read_buffer_drop(cache->first, unit);
    read_buffer_drop(cache->second, unit);
}
