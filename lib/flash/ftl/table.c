/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/ftl/table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

static uint64_t mapped_bytes(uint64_t count)
{
    uint64_t huge = UINT64_C(2) << 20;

    return (count * sizeof(uint32_t) + huge - 1) / huge * huge;
}

/* The kernel clears what it maps: that costs more than a small table does. */
static bool is_mapped(uint64_t count)
{
    return mapped_bytes(count) > UINT64_C(8) << 20;
}

static uint32_t *map(uint64_t count)
{
    uint64_t bytes = mapped_bytes(count);
    void *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (table == MAP_FAILED)
        return NULL;
    (void)madvise(table, bytes, MADV_HUGEPAGE); /* slower without, no worse */
    return table;
}

uint32_t *table_of(uint64_t count, uint64_t in_order_count)
{
    uint32_t *table = is_mapped(count)
                          ? map(count)
                          : malloc((count ? count : 1) * sizeof(*table));

    if (!table)
        return NULL;
    for (uint64_t i = 0; i < in_order_count; i++)
        table[i] = (uint32_t)i;
    for (uint64_t i = in_order_count; i < count; i++)
        table[i] = UINT32_MAX;
    return table;
}

void table_free(uint32_t *table, uint64_t count)
{
    if (!table || !is_mapped(count))
        free(table);
    else
        munmap(table, mapped_bytes(count));
}
