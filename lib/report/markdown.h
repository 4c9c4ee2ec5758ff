/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_MARKDOWN_H
#define SSDPROBE_REPORT_MARKDOWN_H

#include <stdio.h>

/* Text of anybody as it may stand in a line or in a cell of a table: nothing in
 * it is taken for a mark, a tag, a person or an issue. */
void markdown_text(FILE *out, const char *text);

#endif
