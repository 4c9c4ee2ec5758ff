/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_READ_READ_H
#define SSDPROBE_REPORT_READ_READ_H

#include "lib/report/report.h"

struct json_object;

enum { REPORT_PROBE_BYTES = 40 };

/* A report that was kept, read again from its document. `report` points into
 * the rest: copy neither. */
struct report_store {
    struct report report;
    struct report_run run;
    struct device_info device;
    struct device_health health_before, health_after;
    struct cost_plan plan;
    char probes[COST_PARTS_MAX][REPORT_PROBE_BYTES]; /* names, of the plan */
    struct cost_total cost;
    struct conditions conditions;
    struct findings findings;
    struct report_warnings warnings;
};

/* Adds those "messages" of a document that are warnings or errors, as far as
 * there is room. */
void report_read_warnings(struct json_object *document,
                          struct report_warnings *warnings);

/*
 * Reads what report_json() wrote; of a document from elsewhere, what fits its
 * schema. `path` is where it lies. 0; -EINVAL with `why` when it is no document
 * of ssdprobe's (NULL is none), or of a format version that this program does
 * not know; -ERANGE with `why` when it holds a number that cannot be.
 */
int report_read(struct json_object *document, const char *path,
                struct report_store *store, struct fault *why);

#endif
