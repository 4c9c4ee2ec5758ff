/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/ftl/table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* A table beyond this is not filled as a rule, and a huge page would take 2 MiB
 * for a word. */
static const uint64_t HUGE_BYTES_MAX = UINT64_C(1) << 30;

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
    void *words = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (words == MAP_FAILED)
        return NULL;
    (void)madvise(words, bytes,
                  bytes > HUGE_BYTES_MAX ? MADV_NOHUGEPAGE
                                         : MADV_HUGEPAGE); /* for speed alone */
    return words;
}

int table_create(struct table *table, uint64_t count, uint64_t in_order_count)
{
    *table = (struct table){.count = count, .in_order_count = in_order_count};
    table->differences = is_mapped(count)
                             ? map(count)
                             : calloc(count ? count : 1, sizeof(uint32_t));
    return table->differences ? 0 : -ENOMEM;
}

void table_free(struct table *table)
{
    if (!table->differences || !is_mapped(table->count))
        free(table->differences);
    else
        munmap(table->differences, mapped_bytes(table->count));
    table->differences = NULL;
}
