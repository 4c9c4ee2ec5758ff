/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_TABLE_H
#define SSDPROBE_FLASH_TABLE_H

#include <stdint.h>

/*
 * A large flat table of words, in huge pages where the kernel gives them: a
 * mapping is read at random, and its cost is mostly that of finding the memory.
 */

/* Every word is `word`; NULL: no memory. */
uint32_t *table_of(uint64_t count, uint32_t word);
void table_free(uint32_t *table, uint64_t count); /* accepts NULL */

#endif
