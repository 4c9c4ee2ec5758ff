/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_RESUME_H
#define SSDPROBE_CMD_SSDPROBE_RESUME_H

#include <stddef.h>

#include "lib/base/fault.h"

/*
 * --resume. While it runs, a run notes after each probe how much of its samples
 * is settled; a later one reads the note, concludes again from those samples,
 * and goes on with the next probe.
 */
struct run;

/* So many probes have had their turn; what their samples say is on the disk
 * when this returns. 0 or -errno. Nothing where nothing is kept. */
int resume_note(struct run *run, size_t turns_count);

/* The last probe's turn was cut short: what it wrote until now counts as
 * written. 0 or -errno. Nothing where nothing is kept. */
int resume_note_end(struct run *run);

/* Opens the run directory of settings.resume and takes the settings, the probes
 * and the samples from it. Changes nothing. 0, or -errno with run->why. */
int resume_read(struct run *run);

/* Is the device that of the run? 0, or -errno with run->why. */
int resume_check_device(struct run *run);

/* Tells the session where to go on. 0, or -errno with run->why. */
int resume_session(struct run *run);

/* The rest of the samples, if any, is cut off; more will follow. 0, or -errno
 * with run->why. */
int resume_samples(struct run *run);

#endif
