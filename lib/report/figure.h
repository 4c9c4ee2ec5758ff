/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_FIGURE_H
#define SSDPROBE_REPORT_FIGURE_H

#include <stdbool.h>

#include "lib/infer/finding.h"

/*
 * Most figures have the name of a probe, show its rows, and have all its
 * findings as their subject. The others, and those that lead a page, are in
 * this table. plots/NAME.gp draws a figure.
 */
struct figure_kind {
    const char *name;    /* "queue-depth" */
    const char *probe;   /* whose rows it shows: "throughput" */
    const char *subject; /* the finding that its title states */
    bool leads;          /* a page begins with it */
};

/* Those that lead come first, in their order; ends in one without a name. */
extern const struct figure_kind figure_kinds[];

/* Those that plots/compare.gp draws of two runs, in their order; ends in
 * NULL. */
extern const char *const figure_compared[];

/* The probe whose rows a figure shows. */
const char *figure_probe(const char *name);

/* May a line of text stand in place of the figure? It may where every subject
 * is absent or was skipped: then the figure shows flat lines. */
bool figure_folds(const struct findings *findings, const char *name);

#endif
