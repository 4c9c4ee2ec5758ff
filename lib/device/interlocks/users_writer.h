/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_USERS_WRITER_H
#define SSDPROBE_DEVICE_USERS_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/device/identity/disk.h"

/* Processes whose open files are hidden from us: who is not root sees only his
 * own, and so may root in a container. */
struct users_hidden {
    size_t count;
    char first[80]; /* "process 812 (sshd)"; empty where there is none */
};

/*
 * Which other process has the disk open for writing, or one of its partitions,
 * or the file beneath a loop device? The kernel lets it write beside a
 * descriptor that is O_EXCL. `held`: we hold the disk, so our own children,
 * which have it from us, do not count. 1 with the answer in `user`, as the end
 * of a sentence ("process 71 (dd) has /dev/sdb open for writing: end that
 * first"), 0 when nobody was found, or -errno. `hidden` is set where the result
 * is 0.
 */
int users_find_writer(const struct disk *disk, bool held, char *user,
                      size_t size, struct users_hidden *hidden);

#endif
