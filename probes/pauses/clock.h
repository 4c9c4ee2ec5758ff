/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_PAUSES_CLOCK_H
#define SSDPROBE_PROBES_PAUSES_CLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/infer/statistics/stats.h"

/*
 * Pauses that come by the clock. Within one kind of load they look like pauses
 * that come by bytes, by place or by chance; the clock is what several kinds
 * have in common: one period and one phase for all of them.
 */

/* Times in which something was asked for and nothing was answered, in order.
 * The load ran from `from_ns` to `to_ns`. A pause that began just before a
 * request was sent is seen shorter, by up to `pitch_ns`, the time from one
 * request to the next; and each is seen longer by the request, `usual_ns`. */
struct clock_gap {
    double begin_ns, ns;
};
struct clock_load {
    struct clock_gap *gaps;
    size_t count;
    double from_ns, to_ns, pitch_ns, usual_ns;
};

/* The gaps that are far longer than most. The requests are in order of
 * completion; one is sent after the other, or several together. `gaps` and
 * `scratch` have room for all; count is 1 or more. */
struct clock_request {
    double submit_ns, complete_ns;
};
struct clock_load clock_far_gaps(const struct clock_request requests[],
                                 size_t count, struct clock_gap gaps[],
                                 double scratch[]);

struct clock_pauses {
    bool found;
    double period_ns, pause_ns;
    struct interval period, pause;
    size_t hits, turns; /* so many of the expected ones were there */
};
struct clock_pauses clock_find(const struct clock_load loads[], size_t count);

/* The longest period with which pauses of `pause_ns` would have been found, in
 * spite of the loads' other gaps; 0 where none would. */
double clock_reach_ns(const struct clock_load loads[], size_t count,
                      double pause_ns);

#endif
