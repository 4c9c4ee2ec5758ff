/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_ASK_FLUSHING_H
#define SSDPROBE_SESSION_ASK_FLUSHING_H

#include <signal.h>
#include <stdint.h>

#include "lib/device/device.h"
#include "lib/infer/flushing.h"
#include "lib/session/forecast/costs.h"
#include "lib/session/state/payload.h"

/* Measures, before the first probe, whether flushes wait for the data.
 * lib/infer/flushing.h holds the reasoning. */

/* Input and counters of the measurement. */
struct flushing_work {
    struct device *device;
    struct payload *payload;
    struct costs *costs; /* follows the drive's position */
    const struct setting *setting;
    const volatile sig_atomic_t *interrupted;     /* or NULL */
    uint64_t bytes_written, bytes_read, requests; /* sent */
    struct step failed; /* the step that the device failed */
};

/* Runs the measurement; the device must allow the writes. Returns 0; -ERANGE
 * (the region is too small or its blocks are too large); -EINTR; -ENOMEM; or
 * -errno of the device for the step `failed`. On an error `flushing` says
 * nothing. */
int flushing_measure(struct flushing *flushing, struct flushing_work *work);

#endif
