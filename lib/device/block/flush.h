/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_FLUSH_H
#define SSDPROBE_DEVICE_FLUSH_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/device/flush_method.h"

/*
 * Sends the flush through `method` (not FLUSH_AUTO) and waits for it: exactly
 * one, or none for FLUSH_NONE. 0; -EOPNOTSUPP when the disk or its driver does
 * not know the command; or what went wrong.
 */
int flush_send(int fd, enum flush_method method);

/*
 * Chooses the method by trying: `wanted`, or for FLUSH_AUTO the first that
 * works. The disk must be open for writing. 0, or -errno with FAULT_OPEN.
 */
int flush_choose(int fd, const char *path, enum flush_method wanted,
                 enum flush_method *chosen, struct fault *why);

/* What a SCSI answer means: 0, -EOPNOTSUPP, -EAGAIN (a unit attention: send it
 * again), -ENOMEDIUM, -EIO. */
int flush_sense_error(const uint8_t *sense, size_t size_bytes);

#endif
