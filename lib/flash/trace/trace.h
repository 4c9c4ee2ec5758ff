/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_TRACE_H
#define SSDPROBE_FLASH_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/flash.h"

/*
 * Recorded requests, read line by line: memory does not depend on the length of
 * the trace.
 *
 *   disksim   ARRIVAL_MS DEVICE BLOCK BLOCKS FLAGS   blocks of 512 bytes; bit 0
 *             of the flags (decimal or 0x...) is set for a read
 *   spc       ASU,LBA,BYTES,OPCODE,SECONDS[,...]     LBA in 512 bytes; R or W
 *   msr       TIMESTAMP,HOST,DISK,TYPE,OFFSET,BYTES[,...]   100 ns ticks; Read
 *             or Write
 *   blkparse  MAJOR,MINOR CPU SEQUENCE SECONDS PID ACTION RWBS SECTOR + SECTORS
 *             only where requests enter the queue (Q), or, in a trace whose
 *             beginning has none, where they are issued (D)
 *
 * Empty lines and lines that begin with '#' say nothing, nor does the first
 * line when it is a header of names.
 */

enum trace_format {
    TRACE_AUTO, /* by the first lines */
    TRACE_DISKSIM,
    TRACE_SPC,
    TRACE_MSR,
    TRACE_BLKPARSE
};

/* "auto", "spc", ...; false when there is no such name. */
bool trace_format_parse(const char *name, enum trace_format *format);
const char *trace_format_name(enum trace_format format);

struct trace_settings {
    enum trace_format format;
    const char *device; /* only requests to it; NULL: all */
    bool lenient;       /* malformed lines are counted, not errors */
};

struct trace_request {
    uint64_t arrive_ns; /* since the first request of the trace */
    enum flash_operation operation;
    uint64_t offset_bytes, length_bytes; /* multiples of 512 */
};

struct trace_counts {
    uint64_t lines_count, requests_count; /* requests: those handed out */
    uint64_t malformed_count;             /* lines, under `lenient` */
    uint64_t empty_count;    /* requests of no bytes that are no flush */
    uint64_t rounded_count;  /* ends moved outwards to whole 512 bytes */
    uint64_t backward_count; /* earlier than the one before: at its time */
    uint64_t devices_count;  /* up to TRACE_DEVICES_MAX */
    uint64_t read_bytes, size_bytes; /* of the file; size 0: not known */
};

enum { TRACE_DEVICES_MAX = 64 };

struct trace;

/* Opens and looks at the first lines. The strings of `settings` outlive the
 * trace. -errno or -EINVAL with a sentence. */
int trace_open(const char *path, const struct trace_settings *settings,
               struct trace **trace, struct fault *why);
void trace_close(struct trace *trace); /* accepts NULL */

/* A trace that is made rather than read: `make` gives the next request, in
 * time; false: there is none. `context` outlives the trace, which has no
 * format. 0 or -ENOMEM. */
typedef bool trace_make_fn(void *context, struct trace_request *request);
int trace_of(trace_make_fn *make, void *context, struct trace **trace);

enum trace_format trace_format_of(const struct trace *trace);

/* The next request, in time; `end` at the end of the file, and then nothing
 * else. A malformed line is -EINVAL with file, line and what was expected. */
int trace_next(struct trace *trace, struct trace_request *request, bool *end,
               struct fault *why);

void trace_counts(const struct trace *trace, struct trace_counts *counts);

#endif
