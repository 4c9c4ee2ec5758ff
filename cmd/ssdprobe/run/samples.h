/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_RUN_SAMPLES_H
#define SSDPROBE_CMD_SSDPROBE_RUN_SAMPLES_H

#include "cmd/ssdprobe/run/run.h"

/*
 * A run's samples go to the file of --csv, and to the run's directory; to
 * either, both, or none. Each of these gives 0, or -errno.
 */

/* The heads of the files. */
int run_begin_samples(struct run *run);
int run_end_samples(struct run *run);

/* What the session calls; the context is the run. */
int run_take_row(void *context, const char *probe, const struct sample *sample);
int run_take_spoilt(void *context, const char *probe, const char *cause);
/* Notes where the files end, or goes back to there. */
int run_rewind_rows(void *context, bool back);

/* Says in run->why that the samples cannot be written; gives the error back. */
int run_samples_fault(struct run *run, int error);

#endif
