/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_PILOT_H
#define SSDPROBE_SESSION_PILOT_H

#include <signal.h>

#include "lib/device/device.h"
#include "lib/session/forecast/costs.h"
#include "lib/session/state/payload.h"
#include "lib/session/state/written.h"

/*
 * A short run before the first probe: a few requests of each kind that probes
 * make, so that what the probes will cost is known for this drive. Its writes
 * go to the last few MiB of the region, and some anywhere in it, as a probe's.
 */
struct pilot {
    struct device *device;
    struct payload *payload;
    struct costs *costs;     /* learns */
    struct written *written; /* so does this */
    const struct setting *setting;
    const volatile sig_atomic_t *interrupted; /* or NULL */
    struct random random;
    bool passing;         /* what is sent now is not learnt */
    uint64_t again_bytes; /* written for what might be chance */
    uint64_t bytes_written, bytes_read, requests; /* sent */
    double
        quickest_flush_ns; /* behind a short write; infinite: there was none */
    double idle_flush_ns;  /* the slowest of those with nothing to do */
    struct step failed;    /* what the device did not do, where that ended it */
};

/* The most that it writes. */
#define PILOT_BYTES_MAX (UINT64_C(22) << 20)

/* Reads, and where `writes` then writes, which the device must allow. 0;
 * -ERANGE: the region is too small for it; -EINTR; -ENOMEM; or -errno of the
 * device, which has not done `failed`. */
int pilot_run(struct pilot *pilot, bool writes);

/* After pilot_run(): did every flush behind a short write take longer than any
 * that had nothing to do? Then flushes wait for what was written. */
bool pilot_saw_flushes_work(const struct pilot *pilot);

#endif
