/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_FIGURES_H
#define SSDPROBE_CMD_SSDPROBE_FIGURES_H

#include <limits.h>
#include <stdbool.h>

#include "lib/base/fault.h"
#include "lib/infer/finding.h"
#include "lib/report/gnuplot.h"
#include "lib/report/page.h"

/* The figures of a run: one of each probe that answered something, and those
 * that show a probe's rows in another way (lib/report/figure.h). */
enum { FIGURES_MAX = 32 };

struct figures {
    struct report_figure items[FIGURES_MAX]; /* as the page wants them */
    struct gnuplot_picture pictures[FIGURES_MAX];
    size_t count;
    struct fault missing; /* why some are not there; FAULT_NONE: all are */
};

/* Draws them from the samples; `suffix` is ".svg", ".png" or ".txt". A probe
 * that was skipped has none. Frees with figures_free. */
void figures_draw(struct figures *figures, const char *samples,
                  const struct findings *findings, const char *suffix,
                  unsigned columns_count);
/* Draws those of two runs laid over each other (figure_compared), as SVG, from
 * the samples of each; `names` are those of the drives. A probe that only one
 * of them ran has none. */
void figures_draw_both(struct figures *figures, char samples[2][PATH_MAX],
                       const char *const names[2]);
/* Adds one that shows other rows than a probe's, from their file; without such
 * rows there is none. `findings` may be NULL. */
void figures_draw_rows(struct figures *figures, const char *name,
                       const char *rows, const struct findings *findings,
                       const char *suffix, unsigned columns_count);
void figures_free(struct figures *figures); /* accepts an empty one */

/* The name of a figure's file: "read_buffer.svg". Returns `name`. */
char *figures_file(const char *probe, const char *suffix, char *name,
                   size_t size);

#endif
