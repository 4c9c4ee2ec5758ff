/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_REPORT_HTML_STYLE_H
#define SSDPROBE_REPORT_REPORT_HTML_STYLE_H

/* The style sheet of page.h, in parts; ends in NULL. */
extern const char *const report_html_style[];

#endif
