/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_ASK_FLUSHING_H
#define SSDPROBE_SESSION_ASK_FLUSHING_H

#include <signal.h>
#include <stdint.h>

#include "lib/device/device.h"
#include "lib/infer/flushing.h"
#include "lib/session/forecast/costs.h"
#include "lib/session/state/payload.h"

/* Before the first probe: asks the drive what flushing.h judges by. */

/* What it is measured with. */
struct flushing_work {
    struct device *device;
    struct payload *payload;
    struct costs *costs; /* is told what the drive has last done */
    const struct setting *setting;
    const volatile sig_atomic_t *interrupted;     /* or NULL */
    uint64_t bytes_written, bytes_read, requests; /* sent */
    struct step failed; /* what the device did not do, where that ended it */
};

/* Measures; the device must allow the writes. 0; -ERANGE: the region is too
 * small, or its blocks too large; -EINTR; -ENOMEM; or -errno of the device,
 * which has not done `failed`. Unless it is 0, nothing is known. */
int flushing_measure(struct flushing *flushing, struct flushing_work *work);

#endif
