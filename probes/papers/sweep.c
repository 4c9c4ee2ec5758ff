/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/papers/sweep.h"

#include <stdio.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

static uint64_t size_at(const struct paper_sweep *sweep, uint32_t i)
{
    return ((uint64_t)sweep->first_kib + (uint64_t)i * sweep->step_kib) * KIB;
}

double *paper_sweep_costs(struct study *study, const struct paper_sweep *sweep)
{
    uint32_t each = sweep->rows_each, n = sweep->iterations;
    double *costs =
        study_alloc(study, (size_t)sweep->count * n * sizeof(*costs));
    bool all = true;

    for (uint32_t size = 0; size < sweep->count; size++) {
        char cell[LABEL_CELL_MAX];
        snprintf(cell, sizeof(cell), "k%llu",
                 (unsigned long long)(size_at(sweep, size) / KIB));
        const struct timing *found =
            paper_rows(study, sweep->phase, cell, (uint64_t)each * n);
        if (!found) {
            sweep->emit(study, sweep, size_at(sweep, size), cell);
            all = false;
            continue;
        }
        for (uint32_t i = 0; i < n; i++) {
            double *cost = &costs[(size_t)size * n + i];
            *cost = 0;
            for (uint32_t row = 0; row < each; row++)
                *cost += (double)found[i * each + row].ns;
        }
    }
    if (!all)
        study_leave(study);
    return costs;
}

double paper_mean(const double costs[], uint32_t count, enum paper_half half)
{
    double sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++)
        if (paper_in_half(half, i)) {
            sum += costs[i];
            n++;
        }
    return sum / n;
}

double paper_median(const double costs[], uint32_t count, enum paper_half half)
{
    double sample[STATS_MAX];
    uint32_t n = 0;

    for (uint32_t i = 0; i < count && n < STATS_MAX; i++)
        if (paper_in_half(half, i))
            sample[n++] = costs[i];
    return stats_median(sample, n);
}
