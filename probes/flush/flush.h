/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_FLUSH_H
#define SSDPROBE_PROBES_FLUSH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/study.h"

/* What the files of the flush probe share: rounds of requests (rounds), and
 * what follows from them (flush). */

/* What a round holds once of each, in random order. */
enum flush_what {
    FLUSH_NOTHING, /* a flush with nothing to do */
    FLUSH_ONE,     /* one behind a page, ... */
    FLUSH_FEW,
    FLUSH_SOME,
    FLUSH_MANY,
    FLUSH_LONG,      /* ... behind one long write */
    FLUSH_FUA,       /* a write of a page that completes on the medium */
    FLUSH_READ,      /* a read of a page, */
    FLUSH_LONG_READ, /* and a long one */
    FLUSH_WHATS
};

/* All that a round holds. */
struct flush_times {
    double work_ns[FLUSH_WHATS];  /* its writes, or its read */
    double flush_ns[FLUSH_WHATS]; /* the flush behind them, where there is */
};

/* What is written before the flush, or read, in all. */
uint64_t flush_bytes(enum flush_what what);

/* FLUSH_ONE to FLUSH_LONG: log ratio of that flush over one with nothing to do,
 * both beside a read, which a program takes longer than. Of FLUSH_READ and
 * FLUSH_LONG_READ: of a write as long, with its flush, over such a read with
 * one. All share the rows of one round. n[0] is `what`. */
struct contrast flush_contrast(enum flush_what what, double low, double high);

/* False when the round is not whole. */
bool flush_round(const struct study *study, uint32_t round,
                 struct flush_times *times);

extern const char flush_phase[];

#endif
