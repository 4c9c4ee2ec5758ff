/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_NOISE_H
#define SSDPROBE_FLASH_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/random.h"
#include "lib/flash/drive.h"

/*
 * What keeps a real drive from being exact: a log-normal spread of each
 * request's durations, a slow drift of all, and rare requests that take many
 * times as long while the drive does something else. Seeded, repeatable.
 */
struct noise {
    double jitter_sigma, drift_share;
    double outlier_share, outlier_low, outlier_high;
    uint64_t drift_period_ns;
    double drift_phase; /* radians */
    bool on;
    struct random random;
};

void noise_init(struct noise *noise, const struct drive *drive);

/* By how much every duration of the next request is to be multiplied. */
double noise_slowness(struct noise *noise, uint64_t now_ns);

/* How many times its own duration the next request is held up; mostly 0. */
double noise_outlier(struct noise *noise);

#endif
