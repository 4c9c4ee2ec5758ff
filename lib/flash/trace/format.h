/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_TRACE_FORMAT_H
#define SSDPROBE_FLASH_TRACE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/flash/trace/trace.h"

/*
 * How each format writes a line: one function and one row a format. Only
 * trace.c uses it.
 */

enum { TRACE_FORMATS_MAX = 8, TRACE_DEVICE_BYTES = 32 };

/* One line, as it was recorded. */
struct trace_line {
    uint64_t time_ns;
    enum flash_operation operation;
    uint64_t offset_bytes, length_bytes;
    char device[TRACE_DEVICE_BYTES];
};

enum trace_parsed {
    TRACE_REQUEST,
    TRACE_OTHER,   /* well formed, but no request */
    TRACE_SUMMARY, /* the trace is over */
    TRACE_BAD
};

/* What the first lines told: while `decided` is false they are still read. */
struct trace_look {
    bool decided;
    bool queued; /* blkparse: requests are seen where they enter the queue */
};

struct trace_format_row {
    const char *name;
    enum trace_format format;
    const char *expected; /* what a line looks like, for errors */
    enum trace_parsed (*parse)(const char *line, struct trace_look *look,
                               struct trace_line *parsed);
};

/* Ends with a row without a name. */
extern const struct trace_format_row trace_formats[];

/* Names of columns, as some recorders write them first? */
bool trace_is_header(const char *line);

#endif
