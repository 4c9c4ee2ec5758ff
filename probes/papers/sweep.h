/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_PAPER_SWEEP_H
#define SSDPROBE_PROBES_PAPER_SWEEP_H

#include "probes/papers/papers.h"

/*
 * Sweeps over request sizes, as in most procedures of Kim et al.
 */

/* A sweep: for each size, `iterations` iterations of `rows_each` measured
 * requests. */
struct paper_sweep {
    const char *phase;
    uint32_t first_kib, step_kib, count, iterations, rows_each;
    void (*emit)(struct study *study, const struct paper_sweep *sweep,
                 uint64_t size_bytes, const char *cell);
};

/* Returns costs[size * iterations + i] in ns, from study_alloc(). Leaves until
 * all are measured. */
double *paper_sweep_costs(struct study *study, const struct paper_sweep *sweep);

/* Mean and median of the values that belong to `half`, which must not be
 * empty. */
double paper_mean(const double costs[], uint32_t count, enum paper_half half);
double paper_median(const double costs[], uint32_t count, enum paper_half half);

#endif
