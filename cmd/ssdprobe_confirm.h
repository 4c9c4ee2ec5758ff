/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_CONFIRM_H
#define SSDPROBE_CMD_SSDPROBE_CONFIRM_H

#include "cmd/ssdprobe_settings.h"
#include "lib/base/fault.h"
#include "lib/device/device.h"
#include "lib/report/report.h"

/* Shows what a run will do, and at most. */
void confirm_print_plan(FILE *out, const struct settings *settings,
                        const struct device_info *device,
                        const struct report_plan *plan);

/* "64 MiB", or in plain bytes. Returns `text`. */
char *confirm_size(const struct settings *settings, uint64_t bytes, char *text,
                   size_t size);

/* "about 3 min". Returns `text`. */
char *confirm_seconds(double seconds, char *text, size_t size);

/*
 * May we overwrite what is on this device? --confirm must name it, whatever it
 * is. A device with a clock of its own is virtual and needs no answer; for
 * others --yes, --confirm, or a person at a terminal gives it, who is shown
 * what the interlocks have noted. 0; -EPERM with
 * FAULT_REFUSED; -EINTR when a signal came first.
 */
int confirm_device(const struct settings *settings,
                   const struct device_info *device,
                   const struct interlock_outcomes *outcomes, bool writes,
                   struct fault *why);

#endif
