/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_DISK_H
#define SSDPROBE_DEVICE_DISK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/base/fault.h"
#include "lib/device/device.h"

/*
 * A path the user gave and what the system says of it, before anything is
 * opened. The interlocks and the identity start from here.
 */
struct disk {
    const char *path; /* as given: the caller's */
    mode_t mode;
    dev_t number;
    char folder[PATH_MAX]; /* its own in sysfs, or empty */
    char name[32];         /* the kernel's: "sdb", "loop0p1" */
    char parent[32];       /* of a partition: the disk's; else empty */
};

/* 0, or -errno with FAULT_OPEN when there is nothing at `path`. */
int disk_find(const char *path, struct disk *disk, struct fault *why);

/* The row of the table of virtual disks that it is, or NULL: real hardware. */
struct disk_virtual {
    const char *prefix; /* of the kernel's name */
    const char *bus;
    const char *words; /* "a loop device" */
};
const struct disk_virtual *disk_virtual(const struct disk *disk);

/* Has the disk gone away, or another taken its place, since `sequence` was read
 * by disk_sequence()? */
void disk_sequence(const struct disk *disk, char *sequence, size_t size);
bool disk_gone(const struct disk *disk, const char *sequence);

/* Does the block device `number` lie on the disk at `path`: is it that disk, or
 * a partition of it? */
bool disk_carries(const char *path, dev_t number);

/* The paths of all whole disks that have a capacity, in the order of their
 * names. 0 or -errno. */
enum { DISK_LIST_MAX = 256, DISK_PATH_BYTES = 64 };
struct disk_list {
    char paths[DISK_LIST_MAX][DISK_PATH_BYTES];
    size_t count;
};
int disk_list_read(struct disk_list *list);

/* The disk's own serial number, as far as the kernel has it; of a USB disk that
 * has told none, the bridge's. Empty where there is neither. */
void disk_serial(const struct disk *disk, char *serial, size_t size);

/* What can be said of it without opening it: model, serial, firmware, bus,
 * driver, partitions, and the capacity. */
void disk_describe(const struct disk *disk, struct device_info *info);

/* Fills in everything but path, engine and flush. `fd` is the open disk. 0 or
 * -errno with FAULT_OPEN. */
int disk_identify(const struct disk *disk, int fd, struct device_info *info,
                  struct fault *why);

#endif
