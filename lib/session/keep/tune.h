/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_TUNE_H
#define SSDPROBE_SESSION_TUNE_H

#include "lib/base/fault.h"
#include "lib/device/device.h"
#include "lib/session/keep/run_dir.h"

/*
 * Changes settings of the machine for the time of a run, on request. Each old
 * value is saved durably in the run directory before the new one is set, so
 * tune_restore() can undo everything even after a crash. Never changes
 * queue/write_cache, which is only the kernel's view of the drive.
 */

enum tune_level {
    TUNE_NONE,
    TUNE_SAFE, /* without effect on other programs */
    TUNE_MAX   /* also the processors' frequency and the queue depth */
};

struct tune {
    int awake; /* open /dev/cpu_dma_latency, which keeps the processors
                  awake; the kernel undoes that when the process ends */
};

void tune_none(struct tune *tune);

/* Applies the settings of `level`; those that the disk does not have are left
 * out. Returns 0, or -errno with `why` (FAULT_OPEN) when an old value cannot be
 * saved: then that setting was not changed. */
int tune_apply(struct tune *tune, enum tune_level level,
               const struct device_info *device, const struct run_dir *dir,
               struct fault *why);

/* Restores all settings and verifies them. Writes only settings that
 * tune_apply() knows, whatever the run directory names. Returns 0, also when
 * there is nothing to do; or -errno with `why` (FAULT_RESTORE), and keeps the
 * old values. */
int tune_restore(const struct run_dir *dir, struct fault *why);

/* Lets the processors sleep again, by closing `awake`. */
void tune_close(struct tune *tune);

#endif
