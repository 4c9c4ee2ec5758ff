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
/* What takes a while and has no share, such as drawing figures. */
void progress_say(struct progress *progress, const char *words);
/* May be called as often as one likes. */
void progress_update(struct progress *progress,
                     const struct session_progress *now);
/* The same of contents that are copied. */
void progress_copy(struct progress *progress, const char *what,
                   uint64_t done_bytes, uint64_t all_bytes);
/* Clears the bar. */
void progress_end(struct progress *progress);

#endif
