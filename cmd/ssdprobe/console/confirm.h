/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_CONFIRM_H
#define SSDPROBE_CMD_SSDPROBE_CONFIRM_H

#include "cmd/ssdprobe/console/settings.h"
#include "lib/base/fault.h"
#include "lib/device/device.h"
#include "lib/report/report.h"
#include "lib/session/keep/fingerprint.h"

/* Shows what a run will do, and at most. */
void confirm_print_plan(FILE *out, const struct settings *settings,
                        const struct device_info *device,
                        const struct cost_plan *plan);

/* "64 MiB", or in plain bytes. Returns `text`. */
char *confirm_size(const struct settings *settings, uint64_t bytes, char *text,
                   size_t size);

/* A range around a forecast of time, by the factor up and down, but within the
 * limit (0: none): "3 min to 12 min". Returns `text`. */
char *confirm_seconds(double seconds, double factor, uint64_t limit_ns,
                      char *text, size_t size);

/* The factor before anything was measured: of 48 runs on the drive files more
 * than 9 of 10 took no more, and no less. */
extern const double confirm_unmeasured_factor;

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

/*
 * Is this surely the disk of the run in `run_path`, of which a fingerprint was
 * taken? Where it is not, --confirm alone answers for it: --yes answers no such
 * question. An emulated drive is what its name says. 0, or -EPERM with
 * FAULT_REFUSED.
 */
int confirm_disk(const struct settings *settings, struct device *device,
                 const struct fingerprint *fingerprint, const char *run_path,
                 struct fault *why);

#endif
