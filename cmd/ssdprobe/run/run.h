/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_RUN_H
#define SSDPROBE_CMD_SSDPROBE_RUN_H

#include <limits.h>

#include "cmd/ssdprobe/console/choice.h"
#include "cmd/ssdprobe/console/commands.h"
#include "cmd/ssdprobe/run/keep.h"
#include "cmd/ssdprobe/console/patience.h"
#include "cmd/ssdprobe/console/progress.h"
#include "cmd/ssdprobe/run/resume.h"
#include "lib/device/conditions/conditions.h"
#include "lib/device/device.h"
#include "lib/infer/csv/sample_csv.h"
#include "lib/session/keep/fingerprint.h"
#include "lib/session/keep/journal.h"
#include "lib/session/run/session.h"

/* The interrupted run that this one continues. */
struct resume {
    char device[PATH_MAX]; /* as it was named; empty: not noted */
    uint64_t turns_count;  /* probes that had theirs */
    uint64_t samples_bytes, rows_count, digest; /* what is settled */
    /* By the runs that this one continues, what has no row any more among it:
     * of pilots, of probes that were cut short, of those that were repeated. */
    uint64_t written_bytes;
    struct csv_rows rows;
    struct fingerprint fingerprint; /* of its disk */
};

/* A run from the device's opening to its closing. */
struct run {
    struct invocation invocation;
    struct choice choice;
    struct device *device;
    struct device_health health_before, health_after;
    struct session *session;
    struct report_run facts;
    struct cost_plan plan;
    struct cost_total cost;
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
    struct fingerprint fingerprint; /* of the disk as the run began; of an
                                       emulated drive nothing */
    struct twin_made *made;         /* NULL: no twin was made */
    struct findings joined; /* the findings, after the twin had its say */
    struct journal journal; /* the contents; closed: they are not kept */
    bool every;             /* each parameter was asked for by name */
    char kept[300];         /* the page of the run */
    const char *spec;       /* the device, as the user named it */
};

/* How the device is opened. To judge is to open it for reading, to ask all
 * interlocks, and to say whether a run (that writes) could start. */
enum run_purpose { RUN_TO_READ, RUN_TO_WRITE, JUDGE_READING, JUDGE_WRITING };

/* Opens device and session and makes the plan; sends no write. 0, or -errno
 * with run->why; run->outcomes are filled in as far as it came. */
int run_prepare(struct run *run, const char *spec, enum run_purpose purpose);

/* Fits the twin of a run that is kept, where that is wanted, and puts it beside
 * the samples. What fails is said, and is not the run's failure. `error`: how
 * the run ended. */
void run_make_twin(struct run *run, int error);
void run_drop_twin(struct run *run);

/* Nothing is open: before anything else. */
void run_none(struct run *run);
void run_close(struct run *run);

#endif
