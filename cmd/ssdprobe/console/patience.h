/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_PATIENCE_H
#define SSDPROBE_CMD_SSDPROBE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/ssdprobe/console/output.h"
#include "cmd/ssdprobe/console/progress.h"

/*
 * How long a disk that does not answer is waited for, and what is said
 * meanwhile. A first signal that asks the run to end leaves the drive some time
 * for what it was asked; a second one does not.
 */
struct patience {
    struct output *output;
    struct progress *progress;
    unsigned heeded_count; /* signals that asked for what is done now */
    uint64_t told_ns;      /* how long it was when that was said; 0: not yet */
    uint64_t asked_ns;     /* how long it was when a signal was noticed */
};

/* From now on, what signals have asked for so far is being done. */
void patience_heed(struct patience *patience);

/* device_options.wait_on, with a struct patience. */
bool patience_wait_on(void *context, uint64_t waited_ns);

#endif
