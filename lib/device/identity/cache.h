/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_CACHE_H
#define SSDPROBE_DEVICE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/device/identity/disk.h"

/*
 * The volatile write cache of a drive: read, and switched. Never by
 * queue/write_cache, which only changes what the kernel believes.
 */

/*
 * "write back" (on), "write through" (off), "none", or empty: not known. NVMe
 * is asked for its features; of other disks it is what the kernel has been
 * told by the drive or, where that would not say, assumes. `fd`: the open disk.
 */
void cache_state(const struct disk *disk, int fd, char *state, size_t size);

/* Is the state one of a cache that is on? */
bool cache_is_on(const char *state);

/*
 * Switches it: with hdparm on ATA (NVMe: Set Features 06h, others: a mode page,
 * by way of the kernel). Reads the state back, as an exit status of 0 proves
 * nothing. 0; -EOPNOTSUPP when the drive does not do it.
 */
int cache_switch(const struct disk *disk, int fd, bool on);

#endif
