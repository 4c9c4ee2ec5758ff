/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_INTERLOCK_H
#define SSDPROBE_DEVICE_INTERLOCK_H

#include <stddef.h>

#include "lib/base/fault.h"
#include "lib/device/device.h"
#include "lib/device/disk.h"

/*
 * "May we touch it?", one question a row, asked in order before the disk is
 * opened. All of them only read. A new question is one function and one row.
 */
struct interlock {
    const char *name;
    /* 0, or -errno with the refusal in `why`: what, where, why, what to do. */
    int (*check)(const struct disk *disk, const struct device_options *options,
                 struct fault *why);
};

extern const struct interlock interlocks[];
extern const size_t interlocks_count;

/* The first refusal, or 0. */
int interlocks_check(const struct disk *disk,
                     const struct device_options *options, struct fault *why);

/* Opens with O_EXCL, for good: 0 with the descriptor, or -errno with a refusal
 * that names the user. The last interlock, as nobody can come in after it. */
int interlock_hold(const struct disk *disk,
                   const struct device_options *options, int *fd,
                   struct fault *why);

#endif
