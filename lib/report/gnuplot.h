/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_GNUPLOT_H
#define SSDPROBE_REPORT_GNUPLOT_H

#include <stddef.h>

#include "lib/base/fault.h"
#include "lib/infer/finding.h"

/*
 * Draws the samples of a probe with its script in plots/, which gnuplot runs in
 * a folder of its own, on a copy of the probe's rows and a table of findings.
 */
struct gnuplot_job {
    const char *samples;             /* path of the CSV, compressed or not */
    const char *probe;               /* "read-buffer": the script's name */
    const char *rows_of;             /* whose rows; NULL: of that probe */
    const struct findings *findings; /* NULL: only the samples are drawn */
    const char *suffix;              /* ".svg", ".png", or ".txt" for ASCII */
    unsigned columns_count;          /* of ASCII; 0: 80 */
    /* For plots/compare.gp, which draws two runs; else NULL. */
    const char *other; /* path of the other CSV */
    const char *names[2];
};

/* A picture in memory; the caller frees `bytes`. */
struct gnuplot_picture {
    char *bytes; /* ends in a 0 that does not count */
    size_t length;
};

/*
 * 0; -ENODATA where the probe, in either run, has no rows, or none to draw;
 * -ENOENT with `why` where gnuplot or the script is missing; -EIO with what
 * gnuplot said; or another -errno. Takes about a tenth of a second and gives up
 * after a minute.
 */
int gnuplot_draw(const struct gnuplot_job *job, struct gnuplot_picture *picture,
                 struct fault *why);

#endif
