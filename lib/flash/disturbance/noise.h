/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_NOISE_H
#define SSDPROBE_FLASH_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/random.h"
#include "lib/flash/drive/drive.h"

/*
 * What keeps a real drive from being exact: a log-normal spread of each
 * request's durations, a slow drift of all, rare requests that take many times
 * as long while the drive does something else; a second mode while it works in
 * the background, bursts of cleaning, throttling when it has worked too much,
 * sleep when too little, books that it keeps, a clock of two paces, pauses in
 * which nothing is served, a bridge in front of it. Seeded, repeatable.
 */

/* A state that comes by chance and lasts for some requests. */
struct noise_mode {
    double share, factor; /* of the requests in it; how much slower */
    double run_count;     /* requests that it lasts, on average */
    bool in_it;
};

struct noise {
    double jitter_sigma, drift_share;
    double outlier_share, outlier_low, outlier_high;
    uint64_t drift_period_ns;
    double drift_phase; /* radians */
    struct noise_mode background, burst;
    /* Work without rest that it bears, stage by stage; 0: any. */
    uint64_t throttle_heat_ns[DRIVE_THROTTLES_MAX];
    double throttle_factor[DRIVE_THROTTLES_MAX];
    bool throttled[DRIVE_THROTTLES_MAX];
    uint64_t heat_ns, worked_until_ns;
    /* Power states, the deepest last; 0: there is none. */
    uint64_t sleep_after_ns[DRIVE_SLEEPS_MAX], wake_ns[DRIVE_SLEEPS_MAX];
    double bridge_share;
    uint64_t bridge_ns, clock_step_ns;
    uint64_t stall_every_count, stall_ns, requests_count;
    uint64_t pace_run_ns, paced_at_ns; /* 0: one pace */
    double pace_factor;
    bool slow_pace;
    uint64_t pause_every_ns, pause_ns, pause_phase_ns;
    bool on;
    struct random random;
};

void noise_init(struct noise *noise, const struct drive *drive);

/* When a request that could begin at `begin_ns` does: the drive may be in a
 * power state. */
uint64_t noise_wake(const struct noise *noise, uint64_t begin_ns);

/* The same for a drive that is awake: it may pause. */
uint64_t noise_unpause(const struct noise *noise, uint64_t begin_ns);

/* By how much every duration of the next request is to be multiplied. */
double noise_slowness(struct noise *noise, uint64_t now_ns);

/* How many times its own duration the next request is held up; mostly 0. What
 * holds it up comes so often in a time, and not among so many requests: of
 * `together_count` that are under way, it is the share's part. */
double noise_outlier(struct noise *noise, uint32_t together_count);

/* When the host sees that a request is complete; the drive was busy with it
 * from `begin_ns` on. */
uint64_t noise_seen(struct noise *noise, uint64_t begin_ns,
                    uint64_t complete_ns);

#endif
