/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_READ_NUMBERS_H
#define SSDPROBE_REPORT_READ_NUMBERS_H

#include "lib/base/fault.h"

struct json_object;

/*
 * Can the numbers of a document be true? A finding's must fit the unit that
 * the table of parameters gives it (unit_most()), lie within its interval, and
 * be as sure as a probability; those of device, plan and cost must be finite
 * and not negative. Parameters of a later version are passed over.
 * 0, or -ERANGE with `why` (may be NULL), which names `path`, the number and
 * its range.
 */
int report_check_numbers(struct json_object *document, const char *path,
                         struct fault *why);

#endif
