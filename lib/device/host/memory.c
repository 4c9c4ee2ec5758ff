/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/host/memory.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1; headers may be older than the kernel */
#endif

static const size_t HUGE_PAGE_BYTES = 2097152;

int memory_create(struct memory *memory, size_t size_bytes)
{
    if (size_bytes == 0)
        size_bytes = 1;
    if (size_bytes > SIZE_MAX - 2 * HUGE_PAGE_BYTES)
        return -ENOMEM;
    const size_t rounded_bytes =
        (size_bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    const size_t mapped_bytes = rounded_bytes + HUGE_PAGE_BYTES;
    unsigned char *mapped = mmap(NULL, mapped_bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return -ENOMEM;

    /* Keep the part that starts on a huge page. */
    const size_t skipped_bytes =
        (HUGE_PAGE_BYTES - (uintptr_t)mapped % HUGE_PAGE_BYTES) %
        HUGE_PAGE_BYTES;
    unsigned char *base = mapped + skipped_bytes;
    if (skipped_bytes > 0)
        munmap(mapped, skipped_bytes);
    munmap(base + rounded_bytes, HUGE_PAGE_BYTES - skipped_bytes);

    /* Both are wishes: without them the memory is as good, only scattered. */
    (void)madvise(base, rounded_bytes, MADV_HUGEPAGE);
    memset(base, 0, rounded_bytes);
    (void)madvise(base, rounded_bytes, MADV_COLLAPSE);
    *memory = (struct memory){.base = base, .size_bytes = rounded_bytes};
    return 0;
}

void memory_destroy(struct memory *memory)
{
    if (memory->base)
        munmap(memory->base, memory->size_bytes);
    *memory = (struct memory){0};
}
