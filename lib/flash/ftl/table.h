/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_TABLE_H
#define SSDPROBE_FLASH_TABLE_H

#include <stdint.h>

/*
 * A large flat table of words. Where it is larger than what a processor keeps
 * near by it lies in huge pages, if the kernel gives them: a mapping is read at
 * random, and its cost is mostly that of finding the memory.
 */

/* The first `in_order_count` words are their own numbers, all others
 * UINT32_MAX. NULL: no memory. */
uint32_t *table_of(uint64_t count, uint64_t in_order_count);
void table_free(uint32_t *table, uint64_t count); /* accepts NULL */

#endif
