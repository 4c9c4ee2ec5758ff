/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_REPORT_H
#define SSDPROBE_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/device/device.h"
#include "lib/infer/finding.h"

/*
 * What a person or a program is told at the end of a run. All of it comes in as
 * plain structs; nothing here asks a device or a session.
 */

struct report_plan {
    uint64_t bytes_written, bytes_written_max;
    uint64_t bytes_read, bytes_read_max;
    uint64_t requests, requests_max;
    uint64_t region_offset_bytes, region_length_bytes;
    double seconds;
};

struct report_cost {
    uint64_t bytes_written, bytes_read, requests_count, split_count;
    double device_seconds;
    double wall_seconds; /* negative: not stated (an emulated drive) */
};

/* NULL is allowed everywhere: not known, not done, or it failed before. */
struct report {
    const struct device_info *device;
    const struct report_plan *plan;
    const struct findings *findings;
    const struct report_cost *cost;
    const struct interlock_outcomes *interlocks; /* JSON only */
    bool hide_serial;
};

struct report_style {
    unsigned columns_count; /* 0: 80 */
    bool colour;            /* never carries meaning alone */
    bool plain_bytes;       /* "16384 B" in place of "16 KiB" */
};

/* 0 or -errno (a full disk). */
int report_text(FILE *out, const struct report *report,
                const struct report_style *style);

/* What each interlock said, for `ssdprobe check`. */
void report_interlocks(FILE *out, const struct interlock_outcomes *outcomes,
                       const struct report_style *style);

/*
 * Adds "device", "conditions", "plan", "findings" and "cost" to a JSON object,
 * as ssdprobe.schema.json describes them; members that are not known are null
 * or empty. "interlocks" comes with those that were asked. The same bytes
 * for the same input, on every machine.
 */
struct json_object;
void report_json(struct json_object *document, const struct report *report);

/* The "findings" array alone; the caller owns it. */
struct json_object *report_json_findings(const struct findings *findings);

/* One of the "disks": `interlock` is the first that refuses it, or NULL; the
 * caller owns it. */
struct json_object *report_json_disk(const struct device_info *disk,
                                     bool hide_serial, const char *interlock,
                                     const char *text);

/* "16 KiB", "117 us", "MLC", "4096 KiB, 32 MiB"; empty for no value. Returns
 * `text`. */
char *report_amount(const struct value *value, const char *unit,
                    bool plain_bytes, char *text, size_t size);

/* Copies what is valid UTF-8 and puts '?' for every other byte, as a model name
 * or a path may hold anything. Returns `copy`. */
char *report_utf8(const char *text, char *copy, size_t size);

/* Prints `text` between `indent` and `columns_count`, breaking at spaces; the
 * first line is indented as well. */
void report_wrap(FILE *out, const char *text, unsigned indent,
                 unsigned columns_count);

#endif
