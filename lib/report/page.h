/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_PAGE_H
#define SSDPROBE_REPORT_PAGE_H

#include <stddef.h>
#include <stdio.h>

#include "lib/report/report.h"

/* A picture of a probe's samples. */
struct report_figure {
    const char *probe; /* "read-buffer" */
    const char *svg;   /* a whole document, as gnuplot writes it */
};

struct report_page {
    const struct report *report;
    const struct report_figure *figures;
    size_t figures_count;
    const char *figures_missing; /* why there are none; NULL: there are */
    const char *version;         /* the program's */
};

/*
 * The report as one HTML page that needs no network: what matters on its first
 * screen, then all else in sections that a reader opens. Nothing is said by
 * colour alone; it follows the reader's light or dark setting and prints. 0 or
 * -errno.
 */
int report_html(FILE *out, const struct report_page *page);

/* Two runs beside each other as such a page; its figures show both. Of `page`
 * the report is the first one. 0 or -errno. */
struct comparison;
int report_compare_html(FILE *out, const struct comparison *comparison,
                        const struct report_page *page);

#endif
