/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_COST_H
#define SSDPROBE_INFER_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/probe.h"

/* What probes are to cost, and what they have cost: a session fills it in,
 * and a report shows it. */

/* What is thought that a probe will do. */
struct cost_expectation {
    uint64_t bytes_written, bytes_read, requests;
    double seconds; /* of the device's clock */
};

/* What one probe is to do, and what it has done. */
struct cost_part {
    const char *name;          /* of the probe */
    const struct probe *probe; /* NULL in a report that was read back */
    struct probe_plan plan;
    double seconds; /* planned */
    /* When the run begins: as planned, or what a rehearsal after the pilot
     * says; and, after a pilot, that again just before the probe begins, by all
     * that is known then. */
    struct cost_expectation foreseen, expected;
    bool fits;   /* what it is to write is left in the budget */
    bool passed; /* its turn is over */
    bool began;  /* the rest holds only then */
    bool cut;    /* it was stopped at the most that its plan allows */
    uint64_t bytes_written, bytes_read, requests_count;
    /* Of that, before it was repeated: each try may do what the plan allows. */
    uint64_t before_bytes_written, before_requests_count;
    double device_seconds;
};
enum { COST_PARTS_MAX = 32 };

/* The sums are over the parts that fit; probes that will be skipped for other
 * reasons have no part. */
struct cost_plan {
    uint64_t bytes_written, bytes_written_max;
    uint64_t bytes_read, bytes_read_max;
    uint64_t requests, requests_max;
    uint64_t region_offset_bytes, region_length_bytes;
    double seconds;
    uint64_t budget_bytes;
    struct cost_part parts[COST_PARTS_MAX];
    size_t parts_count;
};

/* What a run has cost. */
struct cost_total {
    uint64_t bytes_written, bytes_read, requests_count, split_count;
    bool preserved;                /* the contents were to be put back */
    uint64_t bytes_put_back;       /* besides bytes_written */
    struct cost_expectation pilot; /* of all that, the pilot's part */
    double device_seconds;
    double wall_seconds; /* negative: not stated (an emulated drive) */
};

#endif
