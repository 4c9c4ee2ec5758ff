/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_LOCK_H
#define SSDPROBE_DEVICE_LOCK_H

#include <stddef.h>
#include <stdint.h>

/*
 * The BSD lock on a whole disk's node, by which udev and others agree not to
 * look into a disk that someone is at work on. It ends with the descriptor.
 */

/* Waits at most `wait_ns`. 0, -EBUSY, or another -errno. */
int lock_take(int fd, uint64_t wait_ns);

/* Who has it? 1 with "process 12 (udevd)" in `holder`, 0, or -errno. */
int lock_holder(int fd, char *holder, size_t size);

#endif
