/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_PILOT_H
#define SSDPROBE_SESSION_PILOT_H

#include <signal.h>

#include "lib/device/device.h"
#include "lib/session/forecast/costs.h"
#include "lib/session/state/payload.h"
#include "lib/session/state/written.h"

/*
 * Pilot: a few requests of each kind that probes make, sent before the first
 * probe to measure their costs on this drive. Most writes go to the last few
 * MiB of the region, and some anywhere in it.
 */
struct pilot {
    struct device *device;
    struct payload *payload;
    struct costs *costs;     /* learns the costs */
    struct written *written; /* learns which places were written */
    const struct setting *setting;
    const volatile sig_atomic_t *interrupted; /* or NULL */
    uint64_t
        limit_ns; /* it ends unfinished after so long; 0: when it is done */
    uint64_t begin_ns;
    struct random random;
    bool passing;  /* requests sent now only move the position */
    bool saw_page; /* writes across the boundary of a page take longer */
    uint64_t bytes_written, bytes_read, requests; /* sent */
    double quickest_flush_ns; /* quickest flush after a short write; infinite:
                              none */
    double idle_flush_ns;     /* slowest flush with nothing to write */
    struct step failed;       /* the step that the device failed */
};

/* Most bytes that the pilot writes. */
#define PILOT_BYTES_MAX (UINT64_C(10) << 20)

/* Runs the pilot: reads, and if `writes` also writes, which the device must
 * allow. Returns 0; -ERANGE (the region is too small, or the time is over);
 * -EINTR; -ENOMEM; or -errno of the device for the step `failed`. */
int pilot_run(struct pilot *pilot, bool writes);

/* After pilot_run(): did every flush after a short write clearly take longer
 * than every flush with nothing to write? Then flushes wait for the data. */
bool pilot_saw_flushes_work(const struct pilot *pilot);

#endif
