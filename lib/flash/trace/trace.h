/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_TRACE_H
#define SSDPROBE_FLASH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/flash.h"

/*
 * Recorded requests, read line by line from a file or "-", compressed or not:
 * memory does not depend on the length of the trace. format.c has a row for
 * each format.
 *
 *   disksim, mqsim, heimdall   ARRIVAL DEVICE BLOCK BLOCKS FLAGS   bit 0 of the
 *             flags (decimal or 0x...) is set for a read. Who does not name the
 *             simulator is asked for the units, unless one reading is possible
 *   spc       ASU,LBA,BYTES,OPCODE,SECONDS[,...]     LBA in 512 bytes; R or W
 *   msr       TIMESTAMP,HOST,DISK,TYPE,OFFSET,BYTES[,...]   100 ns ticks; Read
 *             or Write; a device is HOST,DISK
 *   alibaba, tencent, systor17, fiu   as they are published
 *   iolog     fio's, versions 2 and 3. A device has its own places; of several
 *             files each GiB lies where the next is free when it is touched
 *   blkparse  MAJOR,MINOR CPU SEQUENCE SECONDS PID ACTION RWBS SECTOR + SECTORS
 *             or any other format, as it was given to blkparse -f
 *   ftrace    of the kernel or of perf; biosnoop
 *
 * Kernel traces: only where requests enter the queue (Q), or, in a trace whose
 * beginning has none, where they are issued (D), or complete (C). A device that
 * passes its requests on to another one does not count.
 *
 * A unit that cannot be is refused, with the option that says it.
 *
 * Empty lines and lines that begin with '#' say nothing, nor does the first
 * line when it is a header of names.
 */

struct trace_units {
    uint64_t time_ns, block_bytes; /* 0: not given */
};

struct trace_settings {
    const char *format;          /* a name; NULL: by the first lines */
    const char *blkparse_format; /* what blkparse -f was given; NULL: nothing */
    struct trace_units units;    /* instead of those of the format */
    const char *device;          /* only requests to it; NULL: all */
    bool lenient;                /* malformed lines are counted, not errors */
    bool timeless;               /* nobody will ask when */
    uint64_t capacity_bytes;     /* of the drive it is for; 0: not known */
};

/* "spc", ...; false when there is no such name. */
bool trace_format_known(const char *name);
/* "disksim, spc, ...", for messages. Returns `text`. */
char *trace_format_names(char *text, size_t size);

/* "s", "ms", "us", "100ns", "ns"; "sector", "byte". False: no such unit. */
bool trace_time_unit(const char *name, uint64_t *ns);
bool trace_block_unit(const char *name, uint64_t *bytes);

struct trace_request {
    uint64_t arrive_ns; /* since the first request of the trace */
    enum flash_operation operation;
    bool fua;
    uint64_t offset_bytes, length_bytes; /* multiples of 512 */
};

struct trace_counts {
    uint64_t lines_count, requests_count; /* requests: those handed out */
    uint64_t malformed_count;             /* lines, under `lenient` */
    uint64_t empty_count;    /* requests of no bytes that are no flush */
    uint64_t rounded_count;  /* ends moved outwards to whole 512 bytes */
    uint64_t backward_count; /* earlier than the one before: at its time */
    uint64_t devices_count;  /* up to TRACE_DEVICES_MAX */
    uint64_t zones_count, zones_left_count; /* sent as others; not sent */
    uint64_t stacked_count;          /* to devices above others: not sent */
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

const char *trace_format_of(const struct trace *trace);

/* What a user should know of how it is read: a sentence without its end, or
 * NULL from the last one on. */
const char *trace_told(const struct trace *trace, size_t index);

/* Does it say when requests were sent? fio's version 2 need not. */
bool trace_has_times(const struct trace *trace);

/* The names of its devices so far, separated by blanks. Returns `text`. */
char *trace_devices(const struct trace *trace, char *text, size_t size);

/* The next request, in time; `end` at the end of the file, and then nothing
 * else. A malformed line is -EINVAL with file, line and what was expected. */
int trace_next(struct trace *trace, struct trace_request *request, bool *end,
               struct fault *why);

void trace_counts(const struct trace *trace, struct trace_counts *counts);

#endif
