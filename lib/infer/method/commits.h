/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_COMMITS_H
#define SSDPROBE_INFER_COMMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/units.h"

/*
 * Commits of 4 KiB, as a database sends them. One definition for the probe that
 * measures them and the model that states what they take. Each kind is sent in
 * blocks, behind each other in a log of its own that is written around and
 * around. The kinds follow each other in this order:
 *
 *   flush    one writer, a flush behind each write
 *   fua      1, 4 and 16 writers, each write with FUA
 */
enum {
    COMMITS_FLUSH,
    COMMITS_FUA,
    COMMITS_FUA_4,
    COMMITS_FUA_16,
    COMMITS_KINDS
};
enum { COMMITS_MOST = 32768, COMMITS_BLOCKS_LEAST = 2 };

#define COMMITS_BYTES (4 * KIB)
#define COMMITS_LOG_BYTES (64 * MIB)

struct commits_kind {
    const char *cell;
    uint32_t depth, block; /* commits of a block; its ends are idle */
    bool flushed;
    /* They end after `usual_ns` if `wanted` of them are done by then, or as
     * soon as they are; at the latest after `most_ns`. */
    uint64_t usual_ns;
    uint32_t wanted;
    uint64_t most_ns;
};

/* The longest of a thousand has an upper limit, with an error of 0.5 %, from
 * ln(0.005) / ln(0.999) = 5296 commits on. Slow drives do fewer. */
static const struct commits_kind commits_kinds[COMMITS_KINDS] = {
    {"flush", 1, 256, true, UINT64_C(20000000000), 5296, UINT64_C(60000000000)},
    {"fua", 1, 256, false, UINT64_C(5000000000), 0, UINT64_C(5000000000)},
    {"fua4", 4, 1024, false, UINT64_C(5000000000), 0, UINT64_C(5000000000)},
    {"fua16", 16, 1024, false, UINT64_C(5000000000), 0, UINT64_C(5000000000)}};

/* So many commits took so long in all: are they enough? */
static inline bool commits_are_enough(const struct commits_kind *kind,
                                      uint32_t count, double ns)
{
    if (count < COMMITS_BLOCKS_LEAST * kind->block)
        return false;
    return count >= COMMITS_MOST || ns >= (double)kind->most_ns ||
           (count >= kind->wanted && ns >= (double)kind->usual_ns);
}

#endif
