/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <string.h>

#include "lib/flash/flash.h"
#include "lib/flash/serve_parts.h"

#define PART(part)                                                             \
    {                                                                          \
#part, offsetof(struct flash_why, part##_ns)                           \
    }

const struct flash_why_part flash_why_parts[FLASH_WHY_PARTS] = {
    PART(queue),   PART(host),  PART(buffer), PART(merge), PART(clean),
    PART(erase),   PART(wait),  PART(sense),  PART(bus),   PART(controller),
    PART(program), PART(order), PART(noise),
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

/* The smaller of a part and of what is left of the time; takes it away. */
static void keep(uint64_t *part_ns, uint64_t *left_ns)
{
    if (*part_ns > *left_ns)
        *part_ns = *left_ns;
    *left_ns -= *part_ns;
}

void flash_why_fit(struct flash_why *why, uint64_t total_ns)
{
    uint64_t left_ns = total_ns;

    keep(&why->queue_ns, &left_ns);
    keep(&why->order_ns, &left_ns);
    keep(&why->noise_ns, &left_ns);
    keep(&why->program_ns, &left_ns);
    keep(&why->bus_ns, &left_ns);
    keep(&why->sense_ns, &left_ns);
    keep(&why->controller_ns, &left_ns);
    keep(&why->merge_ns, &left_ns);
    keep(&why->clean_ns, &left_ns);
    keep(&why->buffer_ns, &left_ns);
    keep(&why->erase_ns, &left_ns);
    keep(&why->wait_ns, &left_ns);
    why->host_ns = left_ns;
}

void serve_unit_begin(struct flash *flash)
{
    flash->unit_why = (struct flash_why){0};
    array_part_begin(&flash->array);
}

/* Merges and cleaning come one after the other, so that all count; of the rest
 * only what the last unit went through. */
void serve_unit_end(struct flash *flash, bool last)
{
    struct flash_why *why = &flash->why;
    const struct flash_why *unit = &flash->unit_why;
    uint64_t merge_ns = why->merge_ns + unit->merge_ns;
    uint64_t clean_ns = why->clean_ns + unit->clean_ns;
    uint64_t buffer_ns = why->buffer_ns + unit->buffer_ns;

    if (last)
        *why = *unit;
    why->merge_ns = merge_ns;
    why->clean_ns = clean_ns;
    why->buffer_ns = buffer_ns;
}
