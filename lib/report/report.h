/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_REPORT_H
#define SSDPROBE_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/device/conditions/conditions.h"
#include "lib/device/device.h"
#include "lib/infer/cost.h"
#include "lib/infer/finding.h"

/*
 * What a person or a program is told at the end of a run. All of it comes in as
 * plain structs; nothing here asks a device or a session.
 */

/* Which run it was, when and where. An empty text is not known. */
struct report_run {
    char id[48];      /* the column `run` of its samples */
    char started[24]; /* UTC: 2026-11-25T02:40:00Z */
    char host[65];    /* empty with --no-serial */
    char kernel[130]; /* "Linux 6.1.0-18-amd64" */
    char version[32]; /* of ssdprobe, when it measured */
};

/* What limits the findings as a whole, in sentences without a full stop: the
 * run was interrupted, or the budget was too small. */
enum { REPORT_WARNINGS_MAX = 8 };
struct report_warnings {
    char texts[REPORT_WARNINGS_MAX][512];
    size_t count;
};

struct report_twin;
struct report_known;
struct probe;

/* NULL is allowed everywhere: not known, not done, or it failed before. */
struct report {
    const struct report_run *run;
    const struct device_info *device;
    const struct device_health *health_before, *health_after; /* of the run */
    const struct cost_plan *plan;
    const struct findings *findings;
    const struct cost_total *cost;
    const struct conditions *conditions;
    const struct report_warnings *warnings;      /* not in JSON: messages are */
    const struct interlock_outcomes *interlocks; /* JSON only */
    const struct report_twin *twin;              /* report_twin.h */
    const struct report_known *known;            /* known.h */
    const struct probe *const *probes; /* their questions; ends in NULL */
    const char *kept; /* the page of the run: "RUNDIR/report.html" */
    int exit_status;  /* that the last screen names beside it */
    bool hide_serial;
};

struct report_style {
    unsigned columns_count; /* 0: 80 */
    bool colour;            /* never carries meaning alone */
    bool plain_bytes;       /* "16384 B" in place of "16 KiB" */
    bool markdown;          /* in place of text */
    bool verbose;           /* all of it; else what fits a screen */
};

/* In the form that `style` asks for: the last screen of a run, or all of it
 * (verbose); or Markdown for an issue or a wiki, without the path and the
 * serial number of the device. 0 or -errno (a full disk). */
int report_text(FILE *out, const struct report *report,
                const struct report_style *style);

/* What each interlock said, for `ssdprobe check`. */
void report_interlocks(FILE *out, const struct interlock_outcomes *outcomes,
                       const struct report_style *style);

/*
 * Adds "run", "device", "conditions", "plan", "summary", "findings" and "cost"
 * to a JSON object, as ssdprobe.schema.json describes them; members that are
 * not known are null or empty. "interlocks" comes with those that were asked.
 * The same bytes for the same input, on every machine.
 */
struct json_object;
void report_json(struct json_object *document, const struct report *report);

/* Only "summary", "findings", "advice" and "twin", in place of those that the
 * document has. */
void report_json_conclusions(struct json_object *document,
                             const struct report *report);

/* The "findings" array alone; the caller owns it. */
struct json_object *report_json_findings(const struct findings *findings);

/* One of them; NULL for NULL. The caller owns it. */
struct json_object *report_json_finding(const struct finding *finding);

/* One of the "disks": `interlock` is the first that refuses it, or NULL; the
 * caller owns it. */
struct json_object *report_json_disk(const struct device_info *disk,
                                     bool hide_serial, const char *interlock,
                                     const char *text);

/* "16 KiB", "117 us", "MLC", "yes", "4 MiB, 32 MiB"; empty for no value.
 * Returns `text`. */
char *report_amount(const struct value *value, const char *unit,
                    bool plain_bytes, char *text, size_t size);

/* The unit in which report_amount() prints a finding: an SLC cache in MB and
 * GB, like the rates beside it. */
const char *report_unit(const struct finding *finding);

/* "64 GB (59.6 GiB) in blocks of 512 B"; plain where `plain_bytes`. Returns
 * `text`. */
char *report_capacity(const struct device_info *device, bool plain_bytes,
                      char *text, size_t size);

/* Found or absent, but with less than report_sure (summary.h). */
bool report_is_likely(const struct finding *finding);
/* How that is said: "" from report_sure on, "probably" from 90 %, "perhaps". */
const char *report_likely(double confidence);
bool report_is_probable(double confidence);

/* "found", and so on; "probably" and "probably absent" below report_sure
 * (summary.h), "assumed" where the user gave the value. */
const char *report_verdict(const struct finding *finding);

/* "16 KiB .. 32 KiB", "+-0", "+-0.5 %" (the ends are printed alike), "at least
 * 2", or "-"; "99.9 %" or "-". What is assumed has neither interval
 * nor confidence. Both return `text`. */
char *report_interval(const struct finding *finding, bool plain_bytes,
                      char *text, size_t size);
char *report_confidence(const struct finding *finding, char *text, size_t size);

/* A queue depth that was found: "QD 32", or "QD 16 to 32". Returns `text`. */
char *report_depth(const struct finding *depth, char *text, size_t size);

/* A number that stands beside a finding ("p99"); 0: there is none, or too few
 * requests were timed for that percentile. */
double report_extra(const struct finding *finding, const char *name);

/* "p5 117 us; p95 376 us; slowest of 100: 381 us": what a finding has besides
 * its value; empty where there is nothing. A percentile that so few requests
 * cannot tell is left out. Returns `text`. */
char *report_extras(const struct finding *finding, bool plain_bytes, char *text,
                    size_t size);

/* "declared: physical_block_size 4 KiB (sysfs), ...": what the drive says of
 * the matter of a parameter; empty where it says nothing, or `device` is NULL.
 * Returns `text`. */
char *report_declared(const struct device_info *device, const char *parameter,
                      bool plain_bytes, char *text, size_t size);

/* Copies what is valid UTF-8 and puts '?' for every other byte, as a model name
 * or a path may hold anything. Returns `copy`. */
char *report_utf8(const char *text, char *copy, size_t size);

/* Text of at most 1023 bytes as it may stand in HTML and SVG, between tags and
 * in attributes: "376 us" with a micro sign, and `space` between a number and
 * its unit. */
void report_markup(FILE *out, const char *text, const char *space);

/* Prints `text` between `indent` and `columns_count`, breaking at spaces but
 * not between a number and its unit; the
 * first line is indented as well. */
void report_wrap(FILE *out, const char *text, unsigned indent,
                 unsigned columns_count);

#endif
