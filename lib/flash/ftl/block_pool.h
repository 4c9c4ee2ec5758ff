/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_BLOCK_POOL_H
#define SSDPROBE_FLASH_BLOCK_POOL_H

#include <stdint.h>

/*
 * Erased blocks, kept apart by group of banks: a block that is copied can stay
 * in its group, so that the copies can stay in their banks. In each group the
 * one erased longest ago is taken first.
 */
struct block_pool {
    uint32_t groups_count, ring_size;
    uint32_t *rings; /* one after the other */
    uint32_t *head, *count;
};

/* Room for all of `blocks_count` blocks, a multiple of `groups_count`; block b
 * belongs to group b % groups_count. Empty at first. 0 or -ENOMEM. */
int block_pool_create(struct block_pool *pool, uint32_t blocks_count,
                      uint32_t groups_count);
void block_pool_destroy(struct block_pool *pool);

void block_pool_put(struct block_pool *pool, uint32_t block);
/* Of a group that is not empty. */
uint32_t block_pool_take(struct block_pool *pool, uint32_t group);

#endif
