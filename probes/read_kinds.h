/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_READ_KINDS_H
#define SSDPROBE_PROBES_READ_KINDS_H

#include "lib/infer/study.h"

/*
 * Bits a cell by reads alone, which needs neither the page nor a flush. The
 * pages that share cells are read with one, two or four thresholds, so that
 * they take different times, and each kind has an equal share of all places.
 *
 * Places of one span are read several times, far apart in time: the median of a
 * place has little noise, and a kind stays with its place, while what a cache
 * of the mapping holds does not. One kind says nothing: a drive may read all of
 * them alike, or program them together.
 */

enum { READ_KINDS_MAX = 4 };

struct read_kinds {
    unsigned bits; /* kinds of equal shares, 2 to 4; 0: none are clear */
    double ns[READ_KINDS_MAX]; /* of each, in rising order */
};

/* Short reads that it sends, where kinds are clear; and the most. */
extern const uint64_t read_kinds_requests, read_kinds_requests_max;

/* Measures, and leaves until all is there. */
void read_kinds_find(struct study *study, struct read_kinds *kinds);

/* Judges `sweeps` times of each of `count` places: ns[sweep * count + place].
 * `scratch` has room for 3 * count. `sweeps` is 2 at least, STATS_MAX at
 * most. */
void read_kinds_judge(const double ns[], size_t count, size_t sweeps,
                      double scratch[], struct read_kinds *kinds);

#endif
