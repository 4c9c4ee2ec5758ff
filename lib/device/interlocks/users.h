/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_USERS_H
#define SSDPROBE_DEVICE_USERS_H

#include <stddef.h>

#include "lib/device/identity/disk.h"

/*
 * Who uses the disk, one of its partitions, or anything that is built from
 * them? 1 with the answer in `user`, as the end of a sentence ("/dev/sdb1 is
 * mounted on /home: unmount it first"), 0 when nobody was found, or -errno.
 */
int users_find(const struct disk *disk, char *user, size_t size);

/* Does the running system stand on it (/, /boot, /usr, swap)? Same results,
 * without advice: there is none. */
int users_find_system(const struct disk *disk, char *user, size_t size);

/* Which process holds the disk open? Same results. */
int users_find_process(const struct disk *disk, char *user, size_t size);

#endif
