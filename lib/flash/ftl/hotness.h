/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_HOTNESS_H
#define SSDPROBE_FLASH_HOTNESS_H

#include <stdint.h>

#include "lib/flash/drive/drive.h"

/*
 * How hot is a unit? Units of one level share blocks (Lee & Kim 3). A policy is
 * one file and one row in hotness.c; each call is O(1).
 */

enum { HOTNESS_LEVELS_MAX = 16 };

struct hotness;

/* What a policy may want to know of the drive. */
struct hotness_geometry {
    uint64_t units_count;
    uint32_t blocks_count;
};

struct hotness_ops {
    const char *name;
    uint32_t (*levels_count)(const struct drive *drive);
    /* 0 or -ENOMEM. */
    int (*create)(const struct drive *drive,
                  const struct hotness_geometry *geometry,
                  struct hotness **hotness);
    void (*destroy)(struct hotness *hotness); /* accepts NULL */
    /* The host writes a unit that lay in `block` (UINT32_MAX: nowhere): learn
     * from it, and say which level it belongs to now. */
    uint32_t (*written)(struct hotness *hotness, uint64_t unit, uint32_t block);
    /* Cleaning moves a unit out of `block`. */
    uint32_t (*moved)(struct hotness *hotness, uint64_t unit, uint32_t block);
    /* A block was taken for units of a level. NULL: does not care. */
    void (*opened)(struct hotness *hotness, uint32_t block, uint32_t level);
    /* What a controller would need for it, as the paper counts. */
    uint64_t (*memory_bytes)(const struct hotness *hotness);
};

struct hotness {
    const struct hotness_ops *ops;
    uint64_t steps_count; /* entries, bits or regions looked at or changed */
};

/* The policy of `drive`; NULL for none: one level, nothing to learn. */
const struct hotness_ops *hotness_ops(const struct drive *drive);

extern const struct hotness_ops hotness_oracle_ops, hotness_lru_ops,
    hotness_bloom_ops, hotness_dac_ops;

#endif
