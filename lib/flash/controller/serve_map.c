/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What it takes to know where a unit is, where the controller does not hold all
 * of its mapping table. Changes of the table are written with the data and with
 * the pages that cleaning moves: they cost nothing here. */
#include "lib/flash/controller/serve_parts.h"

#include "lib/base/random.h"
#include "lib/flash/controller/serve_link.h"

/* A mapping page is a page of some block: they lie all over the banks. */
static uint64_t read_map(struct flash *flash, uint64_t map_page,
                         uint64_t begin_ns)
{
    struct array *array = &flash->array;
    uint64_t place = random_mix(map_page);
    uint32_t block = (uint32_t)(place % array->blocks_count);
    uint32_t page = (uint32_t)((place >> 32) % array->stripe_pages_count);
    uint64_t known_ns = array_read(array, block, page, begin_ns);

    array_then(array);
    return known_ns;
}

uint64_t serve_find(struct flash *flash, uint64_t unit, uint64_t begin_ns)
{
    if (!flash->map_cache)
        return begin_ns;
    uint64_t map_page = map_cache_page(flash->map_cache, unit);
    uint64_t known_ns = begin_ns, until_ns = flash->drive.host_memory_until_ns;

    if (until_ns && begin_ns >= until_ns)
        map_cache_lose_host(flash->map_cache);
    switch (map_cache_fetch(flash->map_cache, map_page)) {
    case MAP_CACHE_OWN:
        return begin_ns;
    case MAP_CACHE_HOST:
        flash->statistics.map_host_count++;
        known_ns += serve_lasting(flash, flash->drive.host_memory_ns);
        break;
    case MAP_CACHE_FLASH:
        flash->statistics.map_flash_count++;
        known_ns = read_map(flash, map_page, begin_ns);
        break;
    }
    /* Whoever waits for a bank meanwhile waits for the table. */
    if (flash->tell && !flash->under_way) {
        flash->unit_why.map_ns += known_ns - begin_ns;
        array_part_begin(&flash->array);
    }
    return known_ns;
}

uint64_t serve_program(struct flash *flash, const struct dirty *run,
                       uint64_t begin_ns)
{
    begin_ns = serve_find(flash, run->unit, begin_ns);
    return flash->mapping->ops->write(flash->mapping, run->unit,
                                      run->first_byte, run->length_bytes,
                                      begin_ns);
}
