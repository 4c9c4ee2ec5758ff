/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_AROUND_H
#define SSDPROBE_CMD_SSDPROBE_AROUND_H

#include <stdbool.h>
#include <stddef.h>

struct run;

/*
 * What stands around a measurement: settings, conditions, the contents of the
 * drive. around_end() belongs to every around_begin(), also one
 * that failed; it puts everything back and returns the error the run ends with:
 * `error`, or its own where that is graver.
 */
int around_begin(struct run *run);
int around_end(struct run *run, int error);

/* session_options.disturbed */
bool around_disturbed(void *context, char *cause, size_t size);

#endif
