/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/disturbance/neighbour.h"

#include <math.h>

/* Apart from what noise and faults draw. */
enum { NEIGHBOUR_STREAM = 0x6e656967 };

void neighbour_init(struct neighbour *neighbour, const struct drive *drive)
{
    neighbour->every_ns = drive->neighbour_every_ns;
    neighbour->bytes = drive->neighbour_bytes;
    neighbour->places_count = drive->capacity_bytes / drive->neighbour_bytes;
    neighbour->write_share = drive->neighbour_write_share;
    random_seed(&neighbour->random, random_mix(drive->seed) ^ NEIGHBOUR_STREAM);
    if (neighbour->every_ns)
        neighbour_done(neighbour, 0);
}

struct flash_request neighbour_request(struct neighbour *neighbour)
{
    struct random *random = &neighbour->random;
    bool writes = random_unit(random) < neighbour->write_share;

    return (struct flash_request){
        .operation = writes ? FLASH_WRITE : FLASH_READ,
        .offset_bytes =
            random_below(random, neighbour->places_count) * neighbour->bytes,
        .length_bytes = neighbour->bytes};
}

void neighbour_done(struct neighbour *neighbour, uint64_t complete_ns)
{
    double waits = -log(1 - random_unit(&neighbour->random));

    neighbour->next_ns =
        complete_ns + 1 + (uint64_t)(waits * (double)neighbour->every_ns);
}
