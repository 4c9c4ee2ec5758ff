/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_PRESERVE_H
#define SSDPROBE_SESSION_PRESERVE_H

#include <signal.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/device/device.h"
#include "lib/session/keep/fingerprint.h"
#include "lib/session/keep/journal.h"
#include "lib/session/keep/run_dir.h"

/*
 * Saves the contents of a region and restores them. The state inside the drive
 * is not restored: any write changes mapping, wear and trimmed blocks. What
 * could not be restored is reported and stays in the journal.
 */

struct preserve_region {
    uint64_t offset_bytes, length_bytes;
};

/* Called now and then: "copying", and how much of the region is done. */
struct preserve_watch {
    void (*progress)(void *context, const char *what, uint64_t done_bytes,
                     uint64_t all_bytes);
    void *context;
    /* may be NULL; non-zero ends a copy */
    const volatile sig_atomic_t *interrupted;
};

/*
 * Copies the region to the journal in `dir`, with the `fingerprint` of the rest
 * of the disk (NULL: none was taken). Only reads the device. Returns 0 with
 * `journal` open, for preserve_put_back(): the caller closes it. Or -EINTR; or
 * -errno with `why`. -EXDEV: the journal would lie on the device itself;
 * -ENOSPC: it does not fit; both are FAULT_REFUSED. After an error there is no
 * journal.
 */
int preserve_save(struct device *device, const struct preserve_region *region,
                  const struct fingerprint *fingerprint,
                  const struct run_dir *dir, const struct preserve_watch *watch,
                  struct journal *journal, struct fault *why);

/*
 * Restores from an open journal of `dir` every unit that differs, and verifies
 * it. Failed units are retried a few times, as a drive may fail a request now
 * and then. Units that the journal lost by damage stay as they are on the
 * device, and are reported (-EBADMSG). Must not be interrupted.
 *
 * Returns 0 and removes the journal; or -errno with `why` (FAULT_RESTORE) and
 * keeps it. Writes only in the region, without regard to the write budget.
 * `changed_bytes`: bytes that had to be written.
 */
int preserve_put_back(struct device *device, const struct journal *journal,
                      const struct run_dir *dir,
                      const struct preserve_watch *watch,
                      uint64_t *changed_bytes, struct fault *why);

#endif
