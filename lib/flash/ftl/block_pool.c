/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/ftl/block_pool.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int block_pool_create(struct block_pool *pool, uint32_t blocks_count,
                      uint32_t groups_count)
{
    assert(blocks_count % groups_count == 0);
    pool->groups_count = groups_count;
    pool->ring_size = blocks_count / groups_count;
    pool->rings = calloc(blocks_count, sizeof(uint32_t));
    pool->head = calloc(groups_count, sizeof(uint32_t));
    pool->count = calloc(groups_count, sizeof(uint32_t));
    if (pool->rings && pool->head && pool->count)
        return 0;
    block_pool_destroy(pool);
    return -ENOMEM;
}

void block_pool_destroy(struct block_pool *pool)
{
    free(pool->rings);
    free(pool->head);
    free(pool->count);
    memset(pool, 0, sizeof(*pool));
}

void block_pool_put(struct block_pool *pool, uint32_t block)
{
    uint32_t group = block % pool->groups_count;
    uint32_t tail = (pool->head[group] + pool->count[group]) % pool->ring_size;

    assert(pool->count[group] < pool->ring_size);
    pool->rings[group * pool->ring_size + tail] = block;
    pool->count[group]++;
}

uint32_t block_pool_take(struct block_pool *pool, uint32_t group)
{
    uint32_t block = pool->rings[group * pool->ring_size + pool->head[group]];

    assert(pool->count[group] > 0);
    pool->head[group] = (pool->head[group] + 1) % pool->ring_size;
    pool->count[group]--;
    return block;
}
