/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_TOUCHED_H
#define SSDPROBE_FLASH_TOUCHED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How many requests touch a part of the drive, by its hash: where none does,
 * none overlaps. Those that touch many parts are only counted. Each request
 * goes through it twice, so it is inlined.
 */

/* A part of the drive, and how many of them a request may touch and still be
 * noted at each. */
enum { TOUCHED_SHIFT = 20, TOUCHED_FEW = 4, TOUCHED_BITS = 11 };

struct touched {
    uint16_t counts[1 << TOUCHED_BITS];
    uint32_t wide_count;
};

/* The parts that a request touches. */
struct touched_parts {
    uint64_t first;
    uint32_t count; /* 0: none, or more than a few */
    bool wide;      /* more than a few */
};

static inline struct touched_parts touched_parts_of(uint64_t begin_bytes,
                                                    uint64_t end_bytes)
{
    struct touched_parts parts = {.first = begin_bytes >> TOUCHED_SHIFT};

    if (end_bytes == begin_bytes) /* a flush */
        return parts;
    uint64_t count = ((end_bytes - 1) >> TOUCHED_SHIFT) - parts.first + 1;
    parts.wide = count > TOUCHED_FEW;
    parts.count = parts.wide ? 0 : (uint32_t)count;
    return parts;
}

static inline uint32_t touched_place(uint64_t part)
{
    const uint32_t golden = 2654435769u;

    return ((uint32_t)part * golden) >> (32 - TOUCHED_BITS);
}

/* One request more (`by` 1) or less (-1) is there. */
static inline void touched_note(struct touched *touched,
                                const struct touched_parts *parts, int by)
{
    touched->wide_count += parts->wide ? (uint32_t)by : 0;
    for (uint32_t i = 0; i < parts->count; i++) {
        uint16_t *at = &touched->counts[touched_place(parts->first + i)];
        *at = (uint16_t)(*at + by);
    }
}

/* False: it overlaps none of those that are there. */
static inline bool touched_by_others(const struct touched *touched,
                                     const struct touched_parts *parts)
{
    uint32_t found = touched->wide_count;

    for (uint32_t i = 0; i < parts->count; i++)
        found += touched->counts[touched_place(parts->first + i)];
    return parts->wide || (parts->count > 0 && found > 0);
}

#endif
