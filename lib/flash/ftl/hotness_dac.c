/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Dynamic data clustering (Lee & Kim 3.3, algorithm 4): a unit has the region
 * of the block it lies in. A write by the host promotes it, a move by cleaning
 * brings it down. Two bits a block are all that it remembers.
 */
#include "lib/flash/ftl/hotness.h"

#include <errno.h>
#include <stdlib.h>

struct dac {
    struct hotness base;
    uint32_t blocks_count, regions_count, bits;
    uint8_t *regions; /* `bits` of each block, packed */
};

static uint32_t levels_count(const struct drive *drive)
{
    return (uint32_t)drive->dac_regions_count;
}

static uint64_t packed_bytes(const struct dac *dac)
{
    return ((uint64_t)dac->blocks_count * dac->bits + 7) / 8;
}

static int create(const struct drive *drive,
                  const struct hotness_geometry *geometry,
                  struct hotness **hotness)
{
    struct dac *dac = calloc(1, sizeof(*dac));

    if (!dac)
        return -ENOMEM;
    dac->base.ops = &hotness_dac_ops;
    dac->blocks_count = geometry->blocks_count;
    dac->regions_count = levels_count(drive);
    dac->bits = 1;
    while ((1u << dac->bits) < dac->regions_count)
        dac->bits *= 2; /* none straddles a byte */
    dac->regions = calloc(packed_bytes(dac), 1);
    if (!dac->regions) {
        free(dac);
        return -ENOMEM;
    }
    *hotness = &dac->base;
    return 0;
}

static void destroy(struct hotness *hotness)
{
    struct dac *dac = (struct dac *)hotness;

    if (dac)
        free(dac->regions);
    free(dac);
}

static uint32_t region_of(struct dac *dac, uint32_t block)
{
    uint64_t bit = (uint64_t)block * dac->bits;

    dac->base.steps_count++;
    if (block == UINT32_MAX)
        return 0;
    return ((uint32_t)dac->regions[bit / 8] >> (bit % 8)) &
           ((1u << dac->bits) - 1);
}

static uint32_t written(struct hotness *hotness, uint64_t unit, uint32_t block)
{
    struct dac *dac = (struct dac *)hotness;
    uint32_t region = region_of(dac, block);

    (void)unit;
    if (block == UINT32_MAX)
        return 0;
    return region + 1 < dac->regions_count ? region + 1 : region;
}

static uint32_t moved(struct hotness *hotness, uint64_t unit, uint32_t block)
{
    uint32_t region = region_of((struct dac *)hotness, block);

    (void)unit;
    return region > 0 ? region - 1 : 0;
}

static void opened(struct hotness *hotness, uint32_t block, uint32_t level)
{
    struct dac *dac = (struct dac *)hotness;
    uint64_t bit = (uint64_t)block * dac->bits;
    unsigned mask = ((1u << dac->bits) - 1) << (bit % 8);
    uint8_t *byte = &dac->regions[bit / 8];

    dac->base.steps_count++;
    *byte = (uint8_t)((*byte & ~mask) | (level << (bit % 8)));
}

static uint64_t memory_bytes(const struct hotness *hotness)
{
    return packed_bytes((const struct dac *)hotness);
}

const struct hotness_ops hotness_dac_ops = {
    .name = "dac",
    .levels_count = levels_count,
    .create = create,
    .destroy = destroy,
    .written = written,
    .moved = moved,
    .opened = opened,
    .memory_bytes = memory_bytes,
};
