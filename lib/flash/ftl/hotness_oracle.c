/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The oracle knows the workload: the first permille of the drive are hot (Lee &
 * Kim 4.2). No drive can have it; it is what the others are measured against.
 */
#include "lib/flash/ftl/hotness.h"

#include <errno.h>
#include <stdlib.h>

struct oracle {
    struct hotness base;
    uint64_t hot_units_count;
};

static uint32_t levels_count(const struct drive *drive)
{
    (void)drive;
    return 2;
}

static int create(const struct drive *drive,
                  const struct hotness_geometry *geometry,
                  struct hotness **hotness)
{
    struct oracle *oracle = calloc(1, sizeof(*oracle));

    if (!oracle)
        return -ENOMEM;
    oracle->base.ops = &hotness_oracle_ops;
    oracle->hot_units_count =
        geometry->units_count * drive->oracle_hot_permille / 1000;
    *hotness = &oracle->base;
    return 0;
}

static void destroy(struct hotness *hotness)
{
    free(hotness);
}

static uint32_t level(struct hotness *hotness, uint64_t unit, uint32_t block)
{
    (void)block;
    return unit < ((struct oracle *)hotness)->hot_units_count;
}

static uint64_t memory_bytes(const struct hotness *hotness)
{
    (void)hotness;
    return 0;
}

const struct hotness_ops hotness_oracle_ops = {
    .name = "oracle",
    .levels_count = levels_count,
    .create = create,
    .destroy = destroy,
    .written = level,
    .moved = level,
    .memory_bytes = memory_bytes,
};
