/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/controller/serve_parts.h"

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
    keep(&why->wake_ns, &left_ns);
    keep(&why->noise_ns, &left_ns);
    keep(&why->discard_ns, &left_ns);
    keep(&why->program_ns, &left_ns);
    keep(&why->bus_ns, &left_ns);
    keep(&why->sense_ns, &left_ns);
    keep(&why->controller_ns, &left_ns);
    keep(&why->map_ns, &left_ns);
    keep(&why->merge_ns, &left_ns);
    keep(&why->clean_ns, &left_ns);
    keep(&why->buffer_ns, &left_ns);
    keep(&why->suspend_ns, &left_ns);
    keep(&why->erase_ns, &left_ns);
    keep(&why->channel_ns, &left_ns);
    keep(&why->die_ns, &left_ns);
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
