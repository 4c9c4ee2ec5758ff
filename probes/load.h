/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_LOAD_H
#define SSDPROBE_PROBES_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/statistics/resample.h"
#include "lib/infer/study.h"
#include "probes/rate.h"

/*
 * Writes of 4 KiB at random places of a span, many under way, for as long as a
 * probe asks: what several probes share. Times are summed up by blocks.
 */

enum { LOAD_BLOCK_WRITES = 64, LOAD_DEPTH = 32 };
/* Without more patience. */
enum { LOAD_WRITES_MAX = 1 << 20 };
/* Of a skewed load nine of ten writes go to the first tenth of the span. */
enum { LOAD_HOT_PARTS = 10 };

struct load {
    const char *phase; /* unique in its probe */
    uint64_t write_bytes;
    uint64_t span_first_bytes, span_bytes;
    bool skewed;
};

/* Over an eighth of the capacity, or the region where that is smaller: the same
 * place for every probe of a run, so that one goes on where another ended. */
struct load load_make(const struct setting *setting, const char *phase);

/* How long a load may last: the user's patience, or 90 s. */
double load_longest_ns(const struct setting *setting);
/* The writes that the budget allows, in blocks: a million writes at most in
 * 90 s, and more with more patience. */
size_t load_blocks_most(const struct setting *setting);

/* What a reader does to allow `blocks` blocks of `block_ns` each, with room for
 * a drive that gets slower: "--patience=20min allows that", or a
 * --write-budget, or both. Returns `text`. */
enum { LOAD_REMEDY_MAX = 96 };
char *load_remedy(const struct setting *setting, double blocks, double block_ns,
                  char text[static LOAD_REMEDY_MAX]);

/* What each of the first blocks takes, in ns; leaves until they are all
 * measured. */
const double *load_blocks(struct study *study, const struct load *load,
                          size_t blocks);

/* Are they all measured? */
bool load_is_done(const struct study *study, const struct load *load,
                  size_t blocks);

/* How long each write of blocks [from, to) was under way, in ns, in order of
 * time: all of them are measured. */
struct resample_item *load_latencies(struct study *study,
                                     const struct load *load, size_t from,
                                     size_t to, size_t *count);

/* A rate that lasts. */
struct load_rate {
    double ns;        /* a write, on average */
    double low, high; /* the least and the most of its parts */
};

/* Is it the same in each third of blocks [from, to)? */
bool load_lasts(const double block_ns[], size_t from, size_t to,
                struct load_rate *rate);

#endif
