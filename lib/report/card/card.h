/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_CARD_CARD_H
#define SSDPROBE_REPORT_CARD_CARD_H

#include <stdio.h>

#include "lib/report/report.h"

/* 760 by 430 pixels; 360 by 690, for a phone, with letters of the same size. */
enum card_shape { CARD_WIDE, CARD_NARROW };

/*
 * The drive in one picture, an SVG document of the asked shape: erase unit,
 * write units, open units, buffers, groups, rates. A solid frame is a finding
 * of report_sure or more, a dashed one is less sure and says how sure. What is
 * absent, and what is not known, is written out. No path, no serial number.
 * Without findings everything is "not asked". 0 or -errno.
 */
int report_card(FILE *out, const struct report *report, enum card_shape shape);

/* What the picture shows, for who cannot see it. */
extern const char report_card_alternative[];

#endif
