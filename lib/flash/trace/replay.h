/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_TRACE_REPLAY_H
#define SSDPROBE_FLASH_TRACE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/flash.h"
#include "lib/flash/trace/trace.h"
#include "lib/flash/trace/histogram.h"

/*
 * Sends a trace to a drive, in virtual time: open loop (each request when it
 * was recorded, `speed` times as fast), or closed loop (always `depth`
 * outstanding). Memory is bounded: when REPLAY_OUTSTANDING_MAX requests wait in
 * the drive, later ones wait in the trace, and their waiting counts.
 */

enum { REPLAY_OUTSTANDING_MAX = 65536 };

/* One request and what became of it. A request that is larger than the drive's
 * limit was sent in parts, as a host does; it is complete when all are. */
struct replay_done {
    struct trace_request request; /* as it was sent */
    uint64_t index;               /* in the order of the trace, from 0 */
    uint64_t arrive_ns;           /* after `speed`; closed loop: when sent */
    uint64_t complete_ns;
    uint64_t queue_ns; /* until the drive began to work on its first part */
    int error;
    /* With `explain`: of the part that was complete last; the parts add up to
     * complete_ns - arrive_ns. */
    struct flash_why why;
};

struct replay_settings {
    double speed;   /* > 0 */
    uint64_t depth; /* 0: open loop */
    bool wrap;      /* fold back what lies beyond the end; else leave it out */
    bool drain;     /* at the end, flush what the drive still buffers */
    bool explain;   /* say what each request spent its time on */
    uint64_t request_limit_bytes; /* the drive's */
    /* Called for each request, in the order of completion; may be NULL. -errno
     * ends the replay. */
    int (*on_done)(void *context, const struct replay_done *done);
    /* Called now and then; may be NULL. */
    void (*on_progress)(void *context, const struct trace *trace);
    void *context;
};

enum replay_class {
    REPLAY_READS,
    REPLAY_WRITES,
    REPLAY_OTHERS,
    REPLAY_CLASSES
};

struct replay_result {
    struct replay_times {
        struct histogram response, queue;
        uint64_t bytes, errors_count;
    } classes[REPLAY_CLASSES];
    struct histogram response, queue; /* of reads and writes together */
    uint64_t beyond_count, wrapped_count, split_count;
    struct flash_why why[REPLAY_CLASSES]; /* sums; with `explain` */
    uint64_t duration_ns; /* from the first arrival to the last completion */
    uint64_t fua_count;   /* writes */
    /* What the write buffer held when all requests were complete; with `drain`
     * also after a flush, which took so long. */
    uint64_t buffered_bytes, kept_bytes, drain_ns;
    uint64_t outstanding_max_count;
};

/* `result` is large (a megabyte): not for the stack. 0, or -errno with a
 * sentence. The trace is read from where it is to its end. */
int trace_replay(struct trace *trace, struct flash *flash,
                 const struct replay_settings *settings,
                 struct replay_result *result, struct fault *why);

#endif
