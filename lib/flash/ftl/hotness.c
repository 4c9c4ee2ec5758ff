/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/ftl/hotness.h"

#include <stddef.h>

static const struct hotness_ops *const policies[] = {
    [HOTNESS_NONE] = NULL,
    [HOTNESS_ORACLE] = &hotness_oracle_ops,
    [HOTNESS_LRU] = &hotness_lru_ops,
    [HOTNESS_BLOOM] = &hotness_bloom_ops,
    [HOTNESS_DAC] = &hotness_dac_ops,
};

const struct hotness_ops *hotness_ops(const struct drive *drive)
{
    return policies[drive->hotness];
}
