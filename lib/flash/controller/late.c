/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/controller/late.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/flash/controller/read_buffer.h"

struct late {
    uint64_t base_bytes;
    struct read_buffer *pages; /* by their last write */
};

int late_create(uint64_t base_bytes, uint32_t pages_count, struct late **result)
{
    struct late *late = calloc(1, sizeof(*late));

    if (!late)
        return -ENOMEM;
    late->base_bytes = base_bytes;
    if (read_buffer_create(pages_count, &late->pages)) {
        free(late);
        return -ENOMEM;
    }
    *result = late;
    return 0;
}

void late_destroy(struct late *late)
{
    if (!late)
        return;
    read_buffer_destroy(late->pages);
    free(late);
}

static uint64_t place_bytes(const struct late *late, uint32_t slot)
{
    return late->base_bytes + (uint64_t)slot * LATE_PAGE_BYTES;
}

int late_take(struct late *late, struct store *store, uint64_t offset_bytes,
              uint64_t length_bytes)
{
    const uint64_t end =
        (offset_bytes + length_bytes + LATE_PAGE_BYTES - 1) / LATE_PAGE_BYTES;
    int error = 0;

    for (uint64_t page = offset_bytes / LATE_PAGE_BYTES; page < end && !error;
         page++) {
        if (read_buffer_find(late->pages, page))
            continue;
        read_buffer_insert(late->pages, page);
        if (store)
            error = store_write(
                store, place_bytes(late, read_buffer_slot(late->pages, page)),
                LATE_PAGE_BYTES, NULL);
    }
    return error;
}

bool late_find(struct late *late, uint64_t *offset_bytes,
               uint64_t *length_bytes)
{
    const uint64_t page = *offset_bytes / LATE_PAGE_BYTES;
    const uint64_t within = *offset_bytes % LATE_PAGE_BYTES;
    const uint32_t first = read_buffer_slot(late->pages, page);
    const bool kept = first != READ_BUFFER_NONE;
    uint32_t count = 1;

    while (count * (uint64_t)LATE_PAGE_BYTES - within < *length_bytes &&
           read_buffer_slot(late->pages, page + count) ==
               (kept ? first + count : first))
        count++;
    const uint64_t run_bytes = count * (uint64_t)LATE_PAGE_BYTES - within;
    if (run_bytes < *length_bytes)
        *length_bytes = run_bytes;
    if (kept)
        *offset_bytes = place_bytes(late, first) + within;
    return kept;
}
