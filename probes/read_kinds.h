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

/* Three short reads for each place in a sweep. */
enum {
    READ_KINDS_PLACES = 1024,
    READ_KINDS_SWEEPS = 9, /* where kinds are clear */
    READ_KINDS_SWEEPS_MAX = 81
};

/* Measures, and leaves until all is there. */
void read_kinds_find(struct study *study, struct read_kinds *kinds);

/* Judges `sweeps` times of each of `count` places: ns[sweep * count + place].
 * `scratch` has room for 3 * count. `sweeps` is 2 at least, STATS_MAX at
 * most. */
void read_kinds_judge(const double ns[], size_t count, size_t sweeps,
                      double scratch[], struct read_kinds *kinds);

#endif
