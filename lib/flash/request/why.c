/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <string.h>

#include "lib/flash/request/why.h"

#define PART(part)                                                             \
    {                                                                          \
#part, offsetof(struct flash_why, part##_ns)                           \
    }

const struct flash_why_part flash_why_parts[FLASH_WHY_PARTS] = {
    PART(queue),   PART(host),    PART(discard), PART(map),   PART(buffer),
    PART(merge),   PART(clean),   PART(erase),   PART(wait),  PART(die),
    PART(suspend), PART(channel), PART(sense),   PART(bus),   PART(controller),
    PART(program), PART(order),   PART(wake),    PART(noise),
};

uint64_t flash_why_part_ns(const struct flash_why *why, size_t index)
{
    uint64_t ns;

    assert(index < FLASH_WHY_PARTS);
    memcpy(&ns, (const char *)why + flash_why_parts[index].offset, sizeof(ns));
    return ns;
}

void flash_why_add(struct flash_why *sum, const struct flash_why *why)
{
    for (size_t i = 0; i < FLASH_WHY_PARTS; i++) {
        uint64_t ns = flash_why_part_ns(sum, i) + flash_why_part_ns(why, i);
        memcpy((char *)sum + flash_why_parts[i].offset, &ns, sizeof(ns));
    }
}
