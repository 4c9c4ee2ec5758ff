/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/host/clock.h"

/* A sleep ends late by the timer's slack (50 us) and a wake-up; so it is asked
 * to end this much early and the rest is spun. */
static const uint64_t SPIN_NS = 120000;

void clock_pause(uint64_t ns)
{
    const uint64_t start_ns = clock_now_ns();
    for (;;) {
        const uint64_t passed_ns = clock_now_ns() - start_ns;
        if (passed_ns >= ns)
            return;
        const uint64_t left_ns = ns - passed_ns;
        if (left_ns <= SPIN_NS)
            continue;
        const uint64_t sleep_ns = left_ns - SPIN_NS;
        const struct timespec sleep = {
            .tv_sec = (time_t)(sleep_ns / 1000000000),
            .tv_nsec = (long)(sleep_ns % 1000000000),
        };
        /* Ended by a signal or not: the loop looks at what is left. */
        clock_nanosleep(CLOCK_MONOTONIC, 0, &sleep, NULL);
    }
}
