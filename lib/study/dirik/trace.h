/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_STUDY_DIRIK_TRACE_H
#define SSDPROBE_STUDY_DIRIK_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/random.h"
#include "lib/flash/trace/trace.h"

/*
 * The work of a personal computer as Dirik describes his traces (5.3), which
 * were never published: 4.6 to 21.35 requests a second, 26 KB on average, about
 * half of them of 4 to 8 KB, the average carried by occasional large writes of
 * 64 KB and more; bursty (requests arrive in groups), localised (frequent
 * areas, sequential runs, sizes alike within a run), aligned to 4 KB; seven
 * traces with 60:40 to 34:66 reads to writes (captions of figures 5.8 to 5.14).
 *
 * Two kinds of bursts: a user's (few requests, milliseconds apart) and the
 * system's (the file system's cache is flushed while others read: many
 * requests, mostly writes, faster than one bank can serve). How they are built
 * is `dirik_burstiness`, the same in all workloads. Table 6.1 (25 MHz; 1, 2, 4
 * and 8 banks) set two numbers, the length and the rate of system bursts: the
 * least squares of the logarithms of eight times, over four seeds, which leave
 * 7 %. One bank set the others before. What rests on that table alone is
 * `calibrated`, and everything else in chapter 6 is judged.
 */

enum { DIRIK_TRACES = 7 };

struct dirik_burstiness {
    double system_share;  /* of the requests that come in system bursts */
    double system_count;  /* requests of one, on average */
    double system_gap_ms; /* between two of them, on average */
    double system_reads;  /* share of reads there, relative to the trace's */
    double user_count, user_gap_ms;
    double run_count; /* requests in a run of one kind and size, on average */
};

extern const struct dirik_burstiness dirik_burstiness;

struct dirik_trace {
    struct random random;
    struct dirik_burstiness burstiness;
    double read_share, requests_per_second;
    bool scattered; /* set by the caller: no request goes on where one ended */
    uint64_t capacity_bytes;
    uint64_t left_count; /* requests of the trace */

    double now_ns;
    uint64_t burst_left_count, run_left_count;
    bool system_burst, reads, sequential;
    uint64_t length_bytes, next_bytes;
};

/* Trace `index` (0 to DIRIK_TRACES - 1) of so many requests. */
void dirik_trace_begin(struct dirik_trace *trace, unsigned index, uint64_t seed,
                       uint64_t requests_count, uint64_t capacity_bytes);

/* A trace_make_fn; the context is the struct dirik_trace. */
bool dirik_trace_next(void *context, struct trace_request *request);

#endif
