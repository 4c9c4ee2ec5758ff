/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_USERS_BACKING_H
#define SSDPROBE_DEVICE_USERS_BACKING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/device/interlocks/users_file.h"

/*
 * What a loop device lies on: a block device, or a part of a file.
 */
struct users_backing {
    bool is_loop; /* else nothing else is set */
    dev_t device; /* the block device's number, or 0: it is a file */
    struct users_file file;
    uint64_t begin_bytes, end_bytes; /* of the file */
};

/* Of the device of the kernel's name `name`, "loop7". */
void users_backing_find(const char *name, struct users_backing *backing);

/* May the two loop devices lie on the same bytes of a file? Where the system
 * does not number the file of one of them, equal paths will do. */
bool users_backing_overlap(const char *name,
                           const struct users_backing *backing,
                           const char *other_name,
                           const struct users_backing *other);

/* May it be this file that the loop device lies on? */
bool users_backing_is(const struct users_backing *backing,
                      const struct statx *file);

#endif
