/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_TABLE_H
#define SSDPROBE_FLASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A large flat table of words. The first `in_order_count` of them begin as
 * their own numbers, all others as UINT32_MAX. It takes memory only where words
 * were put since: each is kept as its difference from how it began, and memory
 * that nobody wrote to is 0. Where it is larger than what a processor keeps
 * near by it lies in huge pages, if the kernel gives them: a mapping is read at
 * random, and its cost is mostly that of finding the memory.
 */
struct table {
    uint32_t *differences;
    uint64_t count, in_order_count;
};

/* 0 or -ENOMEM. Frees with table_free(), which accepts an empty one. */
int table_create(struct table *table, uint64_t count, uint64_t in_order_count);
void table_free(struct table *table);

static inline uint32_t table_first(const struct table *table, uint64_t at)
{
    return at < table->in_order_count ? (uint32_t)at : UINT32_MAX;
}

static inline uint32_t table_get(const struct table *table, uint64_t at)
{
    return table->differences[at] ^ table_first(table, at);
}

static inline void table_put(struct table *table, uint64_t at, uint32_t word)
{
    table->differences[at] = word ^ table_first(table, at);
}

/* The word will be asked for soon; past the end is no error. */
static inline void table_expect(const struct table *table, uint64_t at)
{
    __builtin_prefetch(&table->differences[at]);
}

/* The same, to put one. */
static inline void table_expect_put(const struct table *table, uint64_t at)
{
    __builtin_prefetch(&table->differences[at], 1);
}

#endif
