/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_PAGES_H
#define SSDPROBE_CMD_SSDPROBE_PAGES_H

#include "lib/base/fault.h"
#include "lib/report/report.h"
#include "lib/session/keep/run_dir.h"

#define PAGES_TEXT "report.txt"
#define PAGES_HTML "report.html"
#define PAGES_FIGURES "figures" /* a folder: read_buffer.svg, ... */

/*
 * Writes what people read into a run directory: the report as text and as a
 * page, and the figures, all from `report` and the samples that lie there.
 * What is missing (gnuplot) is said in `missing` and in the page; it is no
 * error. Figures take a few seconds; without them the page says how to get
 * them. 0, or -errno with `why`.
 */
int pages_write(const struct run_dir *dir, const struct report *report,
                bool with_figures, struct fault *missing, struct fault *why);

#endif
