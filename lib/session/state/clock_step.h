/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_CLOCK_STEP_H
#define SSDPROBE_SESSION_CLOCK_STEP_H

#include <stddef.h>
#include <stdint.h>

#include "lib/device/device.h"

/*
 * Some bridges and drivers report completions only at ticks: at a USB
 * microframe of 125 us, or a poll of 1 ms. A request that begins at a tick,
 * right after another one, then takes whole ticks. Two times that differ by
 * less than a tick look equal or a whole tick apart. Requests that begin at
 * random times reveal the tick.
 */

enum { CLOCK_READS_COUNT = 40, CLOCK_READ_BYTES = 4096 };

/* Returns the tick length in ns: the largest step of which all differences of
 * these completion times (ascending) are multiples. The tolerance is a twelfth
 * of the step, and small beside the random pauses. Returns 0 when there is none
 * above 200 ns. 8 <= count <= CLOCK_READS_COUNT. */
uint64_t clock_step_of(const uint64_t times_ns[], size_t count);

/*
 * Measures the tick of the device's completions into `step_ns`; 0 if there is
 * none. Reads random places of a region after random pauses, for about 50 ms.
 * Returns 0 or -errno.
 */
int clock_step_measure(struct device *device, uint64_t offset_bytes,
                       uint64_t length_bytes, uint64_t *step_ns);

#endif
