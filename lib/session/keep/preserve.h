/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_PRESERVE_H
#define SSDPROBE_SESSION_PRESERVE_H

#include <signal.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/device/device.h"
#include "lib/session/keep/fingerprint.h"
#include "lib/session/keep/run_dir.h"

/*
 * Keeps what is in a region and puts it back. What comes back is the contents,
 * not the state inside the drive: mapping, wear and trimmed blocks are changed
 * by any write. What could not be put back is told, and stays in the journal.
 */

struct preserve_region {
    uint64_t offset_bytes, length_bytes;
};

/* Told now and then how far it is. */
struct preserve_watch {
    void (*progress)(void *context, const char *what, double share);
    void *context;
    const volatile sig_atomic_t *interrupted; /* NULL, or ends a copy */
};

/*
 * Copies the region to the journal in `dir`, with the `fingerprint` of what is
 * outside of it (NULL: none was taken). Only reads the device. 0; -EINTR;
 * or -errno with `why`, also when the journal would lie on the device itself
 * (-EXDEV) or does not fit beside it (-ENOSPC), both FAULT_REFUSED. After an
 * error there is no journal.
 */
int preserve_save(struct device *device, const struct preserve_region *region,
                  const struct fingerprint *fingerprint,
                  const struct run_dir *dir, const struct preserve_watch *watch,
                  struct fault *why);

/*
 * Puts back from the journal what differs from it, and looks whether it
 * arrived; what did not is tried some times more, for a drive that fails a
 * request now and then. What the journal has lost by damage is left as it is on
 * the device, and told (-EBADMSG). Not to be interrupted. 0, and then the
 * journal is gone; or -errno with `why` (FAULT_RESTORE), and then it is still
 * there. Writes beyond any budget, in its region alone. `changed_bytes`: what
 * had to be written.
 */
int preserve_put_back(struct device *device, const struct run_dir *dir,
                      const struct preserve_watch *watch,
                      uint64_t *changed_bytes, struct fault *why);

#endif
