/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_BASIC_SUSTAINED_H
#define SSDPROBE_PROBES_BASIC_SUSTAINED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/infer/study.h"

/*
 * What a random write costs who writes many: they go on without a pause until
 * their level has risen and stays, as behind a buffer that is full; or until as
 * much was written, or as long, as is allowed.
 */

/* Requests of `request_bytes` at `count` places from `first_bytes` on. */
struct sustained_ground {
    uint64_t first_bytes, request_bytes, count;
};

struct sustained {
    bool known;             /* false: the rows are not all there */
    double ns;              /* of a write on average, over the last half */
    uint64_t written_bytes; /* in all */
    bool risen;             /* from what one cost at first */
};

/* False: measure first, what was asked for. `single_ns` is what a write costs
 * on average as long as none before it keeps it waiting. */
bool sustained_measure(struct study *study, const char *phase,
                       const struct sustained_ground *ground, double single_ns,
                       struct sustained *result);

#endif
