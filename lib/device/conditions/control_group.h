/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_CONTROL_GROUP_H
#define SSDPROBE_DEVICE_CONTROL_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Does the control group of this process, or one above it, limit what may be
 * asked of the disk (io.max, version 2)? Then true, and `limit` says it:
 * "riops=200". */
bool control_group_limits(dev_t disk, char *limit, size_t size);

#endif
