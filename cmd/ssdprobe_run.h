/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_RUN_H
#define SSDPROBE_CMD_SSDPROBE_RUN_H

#include "cmd/ssdprobe_choice.h"
#include "cmd/ssdprobe_commands.h"
#include "cmd/ssdprobe_keep.h"
#include "cmd/ssdprobe_patience.h"
#include "cmd/ssdprobe_progress.h"
#include "cmd/ssdprobe_resume.h"
#include "lib/device/conditions.h"
#include "lib/device/device.h"
#include "lib/infer/sample_csv.h"
#include "lib/session/session.h"

/* The interrupted run that this one continues. */
struct resume {
    uint64_t turns_count;                       /* probes that had theirs */
    uint64_t samples_bytes, rows_count, digest; /* what is settled */
    /* By the runs that this one continues, what has no row any more among it:
     * of pilots, of probes that were cut short, of those that were repeated. */
    uint64_t written_bytes;
    struct csv_rows rows;
};

/* A run from the device's opening to its closing. */
struct run {
    struct invocation invocation;
    struct choice choice;
    struct device *device;
    struct device_health health_before, health_after;
    struct session *session;
    struct report_plan plan;
    struct report_cost cost;
    struct interlock_outcomes outcomes;
    struct device_info shown; /* the device, as reports may show it */
    struct csv_writer csv;
    struct keep keep;
    struct progress progress;
    struct patience patience;
    struct fault why;
    struct csv_writer csv_mark, keep_mark; /* where the running probe began */
    off_t csv_place, keep_place;
    struct resume resume; /* with settings.resume */
    struct tune tune;
    struct conditions conditions;
    struct report_warnings warnings;
    struct conditions_watch watch, watch_begin;
    bool preserved; /* the contents are in the journal */
    bool every;     /* each parameter was asked for by name */
};

/* How the device is opened. To judge is to open it for reading, to ask all
 * interlocks, and to say whether a run (that writes) could start. */
enum run_purpose { RUN_TO_READ, RUN_TO_WRITE, JUDGE_READING, JUDGE_WRITING };

/* Opens device and session and makes the plan; sends no write. 0, or -errno
 * with run->why; run->outcomes are filled in as far as it came. */
int run_prepare(struct run *run, const char *spec, enum run_purpose purpose);

/* Nothing is open: before anything else. */
void run_none(struct run *run);
void run_close(struct run *run);

#endif
