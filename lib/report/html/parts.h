/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_REPORT_HTML_PARTS_H
#define SSDPROBE_REPORT_REPORT_HTML_PARTS_H

#include <stdio.h>

#include "lib/report/html/html.h"

/* What the sections of the page are made of. */

/* Text as it may stand between tags and in attributes. */
void html_text(FILE *out, const char *text);

/* "<p class="soft">text</p>"; `tag` may have attributes. */
void html_tag(FILE *out, const char *tag, const char *text);

/* "write_buffer" as people read it: "Write buffer". What the papers named has
 * its everyday name first: "Erase unit (clustered block)". */
void html_name(FILE *out, const char *parameter);

/* A row of a list of facts; nothing where there is no text. */
void html_fact(FILE *out, const char *name, const char *text);

/* A mark beside the word, so that neither needs colour. */
void html_verdict(FILE *out, const char *tag, const struct finding *finding);

/* As report_interval(), but empty in place of "-". Returns `text` or "". */
const char *html_interval(const struct finding *finding, char *text,
                          size_t size);

/* A drawing without its prologue and size. `number` makes its names its own: it
 * differs between the drawings of a page. Nothing where `svg` is none. */
void html_svg(FILE *out, const char *svg, unsigned number);

/* The section "Finding by finding", with the figures. */
void html_findings(FILE *out, const struct report_page *page);

/* A figure that no probe has, with its text for who cannot see it; nothing
 * where it was not drawn. */
void html_figure(FILE *out, const struct report_page *page, const char *name,
                 const char *alternative);

/* The drive in one picture; nothing where memory is short. */
void html_card(FILE *out, const struct report *report);

/* How far the twin explains the run, with its figure; nothing without one. */
void html_twin(FILE *out, const struct report_page *page);

#endif
