/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_TUNE_H
#define SSDPROBE_SESSION_TUNE_H

#include "lib/base/fault.h"
#include "lib/device/device.h"
#include "lib/session/keep/run_dir.h"

/*
 * Changes settings of the machine for the time of a run, where that is asked
 * for. Each old value is in the run directory, on the disk, before the new one
 * is set; so a crash leaves nothing that tune_restore() could not undo. Never
 * changes queue/write_cache: that is only the kernel's view of the drive.
 */

enum tune_level {
    TUNE_NONE,
    TUNE_SAFE, /* what others on the machine do not notice */
    TUNE_MAX   /* also the processors' frequency and the queue depth */
};

struct tune {
    int awake; /* /dev/cpu_dma_latency while the processors are to stay awake;
                  the kernel forgets it when we end, however that is */
};

void tune_none(struct tune *tune);

/* 0, or -errno with `why` (FAULT_OPEN) when an old value cannot be kept: then
 * nothing was changed by it. What a disk does not have is left out. */
int tune_apply(struct tune *tune, enum tune_level level,
               const struct device_info *device, const struct run_dir *dir,
               struct fault *why);

/* Puts everything back, and looks. Writes to no setting that tune_apply() does
 * not know, whatever the run directory names. 0, also when there is nothing to
 * do; or -errno with `why` (FAULT_RESTORE), and then the old values are
 * kept. */
int tune_restore(const struct run_dir *dir, struct fault *why);

/* Lets the processors sleep again. */
void tune_close(struct tune *tune);

#endif
