/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_CLOCK_STEP_H
#define SSDPROBE_SESSION_CLOCK_STEP_H

#include <stddef.h>
#include <stdint.h>

#include "lib/device/device.h"

/*
 * Some bridges and drivers notice a completion only at their next tick: a USB
 * microframe of 125 us, a poll of 1 ms. Requests that begin at a tick, as they
 * do right after another one, then take whole ticks, and two that differ by
 * less look alike, or differ by a tick too much. It shows when they begin at
 * random.
 */

enum { CLOCK_READS_COUNT = 40, CLOCK_READ_BYTES = 4096 };

/* The largest step of which all distances between these times (rising) are
 * multiples, but for a twelfth of it and far less than the pauses differ; 0:
 * none above 200 ns. count >= 8, no more than CLOCK_READS_COUNT. */
uint64_t clock_step_of(const uint64_t times_ns[], size_t count);

/*
 * The step of the device's completions, from reads at random places of a region
 * after random pauses, about 50 ms in all; 0 where there is none. Returns 0 or
 * -errno.
 */
int clock_step_measure(struct device *device, uint64_t offset_bytes,
                       uint64_t length_bytes, uint64_t *step_ns);

#endif
