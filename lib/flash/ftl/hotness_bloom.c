/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Multiple Bloom filters (Lee & Kim 3.2, algorithm 3): a write sets the unit's
 * bits in the current filter, or where they are set already in the next one;
 * after every period the filter that was current longest ago is cleared and
 * becomes current. A unit is hot when each of its bits is set in enough
 * filters.
 */
#include "lib/flash/ftl/hotness.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"

enum { HASHES_COUNT = 2 };

struct bloom {
    struct hotness base;
    uint32_t filters_count, filter_bits, threshold_count, period_count;
    uint32_t current, writes_count;
    uint8_t *bits; /* one filter after the other */
};

static uint32_t levels_count(const struct drive *drive)
{
    (void)drive;
    return 2;
}

static size_t filter_bytes(const struct bloom *bloom)
{
    return (bloom->filter_bits + 7) / 8;
}

static int create(const struct drive *drive,
                  const struct hotness_geometry *geometry,
                  struct hotness **hotness)
{
    struct bloom *bloom = calloc(1, sizeof(*bloom));

    (void)geometry;
    if (!bloom)
        return -ENOMEM;
    bloom->base.ops = &hotness_bloom_ops;
    bloom->filters_count = (uint32_t)drive->bloom_filters_count;
    bloom->filter_bits = (uint32_t)drive->bloom_filter_bits;
    bloom->threshold_count = (uint32_t)drive->bloom_threshold_count;
    bloom->period_count = (uint32_t)drive->bloom_decay_count;
    bloom->bits = calloc(bloom->filters_count, filter_bytes(bloom));
    if (!bloom->bits) {
        free(bloom);
        return -ENOMEM;
    }
    *hotness = &bloom->base;
    return 0;
}

static void destroy(struct hotness *hotness)
{
    struct bloom *bloom = (struct bloom *)hotness;

    if (bloom)
        free(bloom->bits);
    free(bloom);
}

static uint32_t bit_of(const struct bloom *bloom, uint32_t hash, uint64_t unit)
{
    uint64_t word = random_mix(unit * HASHES_COUNT + hash);

    return (uint32_t)(word % bloom->filter_bits);
}

static uint8_t *byte_of(const struct bloom *bloom, uint32_t filter,
                        uint32_t bit)
{
    return &bloom->bits[filter * filter_bytes(bloom) + bit / 8];
}

static bool test(struct bloom *bloom, uint32_t filter, uint32_t bit)
{
    bloom->base.steps_count++;
    return (*byte_of(bloom, filter, bit) >> (bit % 8)) & 1;
}

static uint32_t level(struct hotness *hotness, uint64_t unit, uint32_t block)
{
    struct bloom *bloom = (struct bloom *)hotness;

    (void)block;
    for (uint32_t hash = 0; hash < HASHES_COUNT; hash++) {
        uint32_t bit = bit_of(bloom, hash, unit), count = 0;
        for (uint32_t filter = 0; filter < bloom->filters_count; filter++)
            count += test(bloom, filter, bit);
        if (count < bloom->threshold_count)
            return 0;
    }
    return 1;
}

static void decay(struct bloom *bloom)
{
    assert(bloom->period_count > 0 && bloom->filters_count > 0);
    if (++bloom->writes_count % bloom->period_count)
        return;
    bloom->current =
        (bloom->current + bloom->filters_count - 1) % bloom->filters_count;
    memset(byte_of(bloom, bloom->current, 0), 0, filter_bytes(bloom));
}

static uint32_t written(struct hotness *hotness, uint64_t unit, uint32_t block)
{
    struct bloom *bloom = (struct bloom *)hotness;

    for (uint32_t hash = 0; hash < HASHES_COUNT; hash++) {
        uint32_t bit = bit_of(bloom, hash, unit);
        for (uint32_t i = 0; i < bloom->filters_count; i++) {
            uint32_t filter = (bloom->current + i) % bloom->filters_count;
            if (test(bloom, filter, bit))
                continue;
            bloom->base.steps_count++;
            *byte_of(bloom, filter, bit) |= (uint8_t)(1u << (bit % 8));
            break;
        }
    }
    decay(bloom);
    return level(hotness, unit, block);
}

/* As the paper counts: the filters, and one word. */
static uint64_t memory_bytes(const struct hotness *hotness)
{
    const struct bloom *bloom = (const struct bloom *)hotness;

    return bloom->filters_count * filter_bytes(bloom) + sizeof(uint32_t);
}

const struct hotness_ops hotness_bloom_ops = {
    .name = "bloom",
    .levels_count = levels_count,
    .create = create,
    .destroy = destroy,
    .written = written,
    .moved = level,
    .memory_bytes = memory_bytes,
};
