/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_REPORT_HTML_SVG_H
#define SSDPROBE_REPORT_REPORT_HTML_SVG_H

#include <stdio.h>

/* A drawing without its prologue and size. `number` makes its names its own: it
 * differs between the drawings of a page. Nothing where `svg` is none. */
void html_svg(FILE *out, const char *svg, unsigned number);

#endif
