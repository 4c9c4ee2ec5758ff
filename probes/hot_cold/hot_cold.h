/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_HOT_COLD_H
#define SSDPROBE_PROBES_HOT_COLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/load.h"

/* What cleaning copies, by theory. */

struct hot_cold_probe {
    struct study study;
    struct load uniform, skewed;
    size_t blocks_most;
    double longest_ns;   /* that the skewed writes may take */
    uint64_t unit_bytes; /* what a write takes of the flash, at least */
    /* Findings of the run; 0: not known. */
    double steady_ns, fresh_ns;
    uint64_t buffer_bytes, reach_bytes;
    bool buffer_known; /* also that there is none */
    bool merges;
};

/* ---- copies ------------------------------------------------------------- */

/*
 * Pages that cleaning copies for each page that is written, where it takes the
 * block that was written longest ago and puts all data in one stream (Menon
 * 1995; for several classes of pages, Desnoyers 2014). `spare`: the flash of
 * the span, spare flash included, over the span; above 1.
 */
double copies_uniform(double spare);
/* Where nine of ten writes go to a tenth of the span. */
double copies_skewed(double spare);

/* ---- what follows ------------------------------------------------------- */

enum hot_cold { HOT_COLD_OPEN, HOT_COLD_APART, HOT_COLD_TOGETHER };

/* What the ratio of both loads says, of which the interval is given. */
enum hot_cold hot_cold_judge(double low, double high, double cleaning_share);

#endif
