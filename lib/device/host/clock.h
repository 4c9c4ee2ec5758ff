/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_CLOCK_H
#define SSDPROBE_DEVICE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The clock of every real device: no step, no slewing. */
static inline uint64_t clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Returns at least `ns` later, and rarely more than a microsecond after. */
void clock_pause(uint64_t ns);

#endif
