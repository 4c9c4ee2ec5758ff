/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_BISECT_H
#define SSDPROBE_INFER_BISECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Probabilistic bisection (Horstein 1963; Waeber, Frazier, Henderson 2013): the
 * largest place at which something still holds, when each answer is right only
 * with a known probability. A posterior over the places, asked at its median.
 */

enum { BISECT_CELLS_MAX = 16384 };

struct bisect {
    uint64_t first;     /* place of cell 0: there it holds */
    uint64_t step;      /* between places */
    size_t count;       /* cells; the threshold is in exactly one of them */
    double reliability; /* of one answer, 0.5 to 1 */
    double weights[BISECT_CELLS_MAX]; /* posterior, sums to 1 */
};

/*
 * It holds at `low`, it does not at `high` (> low); places are low + i * step.
 * The step is doubled until at most BISECT_CELLS_MAX cells remain.
 */
void bisect_init(struct bisect *bisect, uint64_t low, uint64_t high,
                 uint64_t step, double reliability);

/* The place to ask about next: does it hold there? Never `low`. With one cell
 * left there is nothing to ask: returns `low`. */
uint64_t bisect_query(const struct bisect *bisect);

void bisect_answer(struct bisect *bisect, uint64_t place, bool holds);

/* The likeliest place, and its posterior probability. */
uint64_t bisect_best(const struct bisect *bisect, double *probability);

#endif
