/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_RUN_H
#define SSDPROBE_CMD_SSDPROBE_RUN_H

#include "cmd/ssdprobe_choice.h"
#include "cmd/ssdprobe_commands.h"
#include "cmd/ssdprobe_progress.h"
#include "lib/device/device.h"
#include "lib/infer/sample_csv.h"
#include "lib/session/session.h"

/* A run from the device's opening to its closing. */
struct run {
    struct invocation invocation;
    struct choice choice;
    struct device *device;
    struct session *session;
    struct report_plan plan;
    struct report_cost cost;
    struct interlock_outcomes outcomes;
    struct csv_writer csv;
    struct progress progress;
    struct fault why;
    bool every; /* each parameter was asked for by name */
};

/* How the device is opened. To judge is to open it for reading, to ask all
 * interlocks, and to say whether a run (that writes) could start. */
enum run_purpose { RUN_TO_READ, RUN_TO_WRITE, JUDGE_READING, JUDGE_WRITING };

/* Opens device and session and makes the plan; sends no write. 0, or -errno
 * with run->why; run->outcomes are filled in as far as it came. */
int run_prepare(struct run *run, const char *spec, enum run_purpose purpose);

/* A budget that was stated is a promise; one that the plan is expected to
 * break is refused before the first write, not halfway. 0, or -EDQUOT with
 * run->why. */
int run_check_budget(struct run *run);

void run_close(struct run *run);

#endif
