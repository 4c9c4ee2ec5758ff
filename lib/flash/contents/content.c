/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/contents/content.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR_BYTES = 512 };

struct content {
    uint64_t sectors_count;
    uint64_t unit_bytes;
    uint8_t *nonzero; /* a bit a sector */
};

int content_create(uint64_t capacity_bytes, uint64_t unit_bytes,
                   struct content **result)
{
    struct content *content = calloc(1, sizeof(*content));

    if (!content)
        return -ENOMEM;
    content->sectors_count = capacity_bytes / SECTOR_BYTES;
    content->unit_bytes = unit_bytes;
    content->nonzero = calloc(content->sectors_count / 8 + 1, 1);
    if (!content->nonzero) {
        free(content);
        return -ENOMEM;
    }
    *result = content;
    return 0;
}

void content_destroy(struct content *content)
{
    if (!content)
        return;
    free(content->nonzero);
    free(content);
}

static bool is_zero(const unsigned char *sector)
{
    return sector[0] == 0 && memcmp(sector, sector + 1, SECTOR_BYTES - 1) == 0;
}

static void set(struct content *content, uint64_t sector, bool nonzero)
{
    uint8_t bit = (uint8_t)(1u << (sector % 8));

    if (nonzero)
        content->nonzero[sector / 8] |= bit;
    else
        content->nonzero[sector / 8] &= (uint8_t)~bit;
}

void content_write(struct content *content, uint64_t offset_bytes,
                   uint64_t length_bytes, const void *data)
{
    const unsigned char *from = data;
    uint64_t first = offset_bytes / SECTOR_BYTES;

    for (uint64_t i = 0; i < length_bytes / SECTOR_BYTES; i++)
        set(content, first + i, !from || !is_zero(from + i * SECTOR_BYTES));
}

void content_discard(struct content *content, uint64_t offset_bytes,
                     uint64_t length_bytes)
{
    uint64_t first = offset_bytes / SECTOR_BYTES;

    for (uint64_t i = 0; i < length_bytes / SECTOR_BYTES; i++)
        set(content, first + i, false);
}

static bool unit_is_zero(const struct content *content, uint64_t offset_bytes)
{
    uint64_t sector = offset_bytes / SECTOR_BYTES;
    uint64_t end = (offset_bytes + content->unit_bytes) / SECTOR_BYTES;

    end = end < content->sectors_count ? end : content->sectors_count;
    for (; sector < end; sector++)
        if (content->nonzero[sector / 8] & (1u << (sector % 8)))
            return false;
    return true;
}

uint32_t content_zero_units(const struct content *content,
                            uint64_t offset_bytes, uint64_t length_bytes)
{
    uint64_t end = offset_bytes + length_bytes;
    uint32_t count = 0;

    for (; offset_bytes < end; offset_bytes += content->unit_bytes)
        count += unit_is_zero(content, offset_bytes);
    return count;
}

uint64_t content_memory_bytes(const struct content *content)
{
    return sizeof(*content) + content->sectors_count / 8 + 1;
}
