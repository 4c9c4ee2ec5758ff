/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_COMMANDS_H
#define SSDPROBE_CMD_SSDPROBE_COMMANDS_H

#include "cmd/common/options.h"
#include "cmd/ssdprobe/console/output.h"
#include "cmd/ssdprobe/console/settings.h"
#include "lib/report/known.h"

/* The sub-commands; each returns the exit status. */
int command_all(const struct options_given *given);
int command_run(const struct options_given *given);
int command_scan(const struct options_given *given);
int command_verify(const struct options_given *given);
int command_check(const struct options_given *given);
int command_infer(const struct options_given *given);
int command_restore(const struct options_given *given);
int command_list(const struct options_given *given);

int command_report(const struct options_given *given);
int command_plot(const struct options_given *given);
int command_diff(const struct options_given *given);
int command_summarise(const struct options_given *given);
int command_card(const struct options_given *given);
int command_twin(const struct options_given *given);

/* Reads a recording of our own and concludes from it. 0, or -errno with a
 * sentence in `why`. The caller frees the rows. Of one that was cut off with
 * its run the findings have 75 % confidence at most. */
struct csv_rows;
int infer_conclude(const char *path, struct csv_rows *rows,
                   struct findings *findings, struct fault *why);

/* Warns where the recording was cut off; the sentence is among `warnings` as
 * well, which may be NULL. */
struct output;
void infer_say_cut(struct output *output, const char *path,
                   const struct csv_rows *rows,
                   struct report_warnings *warnings);

/* What a recording says of its device, and of what its run cost. */
struct device_info infer_device(const struct csv_rows *rows);
struct cost_total infer_cost(const struct csv_rows *rows);

/* What every sub-command has. */
struct invocation {
    const struct options_given *given;
    struct settings settings;
    struct output output;
    struct report report;
    struct report_known known; /* which model it resembles */
};

/* 0, or -errno: then invocation_fail() is what is left to do. */
int invocation_begin(struct invocation *invocation,
                     const struct options_given *given, struct fault *why);

/* Says why (or, where that is empty, what `error` means), writes the outputs,
 * returns the exit status. */
int invocation_fail(struct invocation *invocation, int error,
                    struct fault *why);

/* Writes the outputs, returns the exit status. */
int invocation_end(struct invocation *invocation, int status);

/* Did the run end at its time limit or its write budget? */
bool invocation_is_limit(int error);

/* Were parameters asked for, and was every one skipped that the user did not
 * assume? */
bool invocation_all_skipped(const struct findings *findings);

/* What --strict demands of the answers. */
enum invocation_demand {
    DEMAND_NONE,  /* without it */
    DEMAND_TRIED, /* all that was tried is answered */
    DEMAND_EVERY  /* nothing was skipped either: probes were named */
};

/*
 * The exit status of a run that ended with `error` and `why`: 9
 * where the drive is fake or broken, 5 where a demand is not met. A limit that
 * was reached is no failure of the device.
 */
int invocation_status(int error, const struct fault *why,
                      const struct findings *findings,
                      enum invocation_demand demand);

#endif
