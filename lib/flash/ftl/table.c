/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/ftl/table.h"

#include <stddef.h>
#include <sys/mman.h>

static uint64_t mapped_bytes(uint64_t count)
{
    uint64_t huge = UINT64_C(2) << 20;

    return (count * sizeof(uint32_t) + huge - 1) / huge * huge;
}

uint32_t *table_of(uint64_t count, uint32_t word)
{
    uint64_t bytes = mapped_bytes(count);
    uint32_t *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (table == MAP_FAILED)
        return NULL;
    (void)madvise(table, bytes, MADV_HUGEPAGE); /* slower without, no worse */
    for (uint64_t i = 0; i < count; i++)
        table[i] = word;
    return table;
}

void table_free(uint32_t *table, uint64_t count)
{
    if (table)
        munmap(table, mapped_bytes(count));
}
