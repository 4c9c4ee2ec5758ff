/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_PROGRESS_H
#define SSDPROBE_CMD_SSDPROBE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cmd/ssdprobe/console/settings.h"
#include "lib/session/run/session.h"

/* How far a run is, on stderr. */
struct progress {
    enum progress_mode mode; /* never PROGRESS_AUTO */
    bool virtual_clock;      /* the device's time is not the user's */
    bool shown;              /* a bar stands on the terminal's line */
    uint64_t start_ns, shown_ns;
};

/* The time people have: a clock for progress and costs, never for results. */
uint64_t progress_wall_ns(void);

void progress_begin(struct progress *progress, const struct settings *settings,
                    bool virtual_clock);
/* May be called as often as one likes. */
void progress_update(struct progress *progress,
                     const struct session_progress *now);
/* Clears the bar. */
void progress_end(struct progress *progress);

#endif
