/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/interlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/device/sysfs.h"
#include "lib/device/users.h"

enum { USER_TEXT_BYTES = 320 };

static const char *kind_of_file(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFREG:
        return "a plain file";
    case S_IFCHR:
        return "a character device";
    default:
        return "something else";
    }
}

static int check_block_device(const struct disk *disk,
                              const struct device_options *options,
                              struct fault *why)
{
    (void)options;
    if (!S_ISBLK(disk->mode))
        return fault_set(why, FAULT_OPEN, -ENOTBLK,
                         "%s is %s, not a disk: give the path of a block "
                         "device (`lsblk -d` lists them) or sim:DRIVE.",
                         disk->path, kind_of_file(disk->mode));
    if (disk->folder[0] == '\0')
        return fault_set(why, FAULT_OPEN, -ENODEV,
                         "%s is a block device but the kernel knows no disk "
                         "of that number: is it plugged in, and is /sys "
                         "mounted?",
                         disk->path);
    return 0;
}

static int check_whole_disk(const struct disk *disk,
                            const struct device_options *options,
                            struct fault *why)
{
    (void)options;
    if (disk->parent[0] != '\0')
        return fault_set(why, FAULT_REFUSED, -EINVAL,
                         "%s is a partition of /dev/%s, and what is inside a "
                         "drive shows only on the whole disk: use /dev/%s.",
                         disk->path, disk->parent, disk->parent);
    return 0;
}

static int check_virtual(const struct disk *disk,
                         const struct device_options *options,
                         struct fault *why)
{
    const struct disk_virtual *row = disk_virtual(disk);
    if (row && !options->allow_virtual)
        return fault_set(why, FAULT_REFUSED, -EPERM,
                         "%s is %s, not a drive, so its timing says nothing "
                         "about flash: add --allow-virtual to probe it all "
                         "the same.",
                         disk->path, row->words);
    return 0;
}

static int refuse_read_only(const struct disk *disk, struct fault *why)
{
    return fault_set(why, FAULT_REFUSED, -EROFS,
                     "%s is read-only and this run would write: take off its "
                     "write protection (`blockdev --setrw`, or the switch on "
                     "the card), or add --read-only.",
                     disk->path);
}

static int check_writable(const struct disk *disk,
                          const struct device_options *options,
                          struct fault *why)
{
    if (options->write && sysfs_number(disk->folder, "ro", 0) != 0)
        return refuse_read_only(disk, why);
    return 0;
}

static int check_unused(const struct disk *disk,
                        const struct device_options *options, struct fault *why)
{
    (void)options;
    char user[USER_TEXT_BYTES];
    const int found = users_find(disk, user, sizeof(user));
    if (found < 0)
        return fault_set(why, FAULT_REFUSED, found,
                         "Cannot find out who uses %s (%s), so it is left "
                         "alone: is /proc mounted?",
                         disk->path, strerror(-found));
    if (found > 0)
        return fault_set(why, FAULT_REFUSED, -EBUSY, "%s is in use: %s.",
                         disk->path, user);
    return 0;
}

const struct interlock interlocks[] = {
    {.name = "block device", .check = check_block_device},
    {.name = "whole disk", .check = check_whole_disk},
    {.name = "real disk", .check = check_virtual},
    {.name = "writable", .check = check_writable},
    {.name = "not in use", .check = check_unused},
};
const size_t interlocks_count = sizeof(interlocks) / sizeof(*interlocks);

int interlocks_check(const struct disk *disk,
                     const struct device_options *options, struct fault *why)
{
    int error = 0;
    for (size_t i = 0; i < interlocks_count && !error; i++)
        error = interlocks[i].check(disk, options, why);
    return error;
}

static int explain_open(const struct disk *disk, int error, struct fault *why)
{
    char user[USER_TEXT_BYTES];

    switch (error) {
    case -EBUSY:
        if (users_find(disk, user, sizeof(user)) <= 0 &&
            users_find_process(disk, user, sizeof(user)) <= 0)
            snprintf(user, sizeof(user),
                     "the kernel says busy, and no user was found: look for "
                     "volumes on it with `lsblk`");
        return fault_set(why, FAULT_REFUSED, error, "%s is in use: %s.",
                         disk->path, user);
    case -EACCES:
    case -EPERM:
        return fault_set(why, FAULT_OPEN, error,
                         "No permission to open %s: run ssdprobe as root "
                         "(sudo).",
                         disk->path);
    case -EROFS:
        return refuse_read_only(disk, why);
    case -ENOMEDIUM:
        return fault_set(why, FAULT_OPEN, error,
                         "%s has no medium: insert one.", disk->path);
    default:
        return fault_set(why, FAULT_OPEN, error, "Cannot open %s: %s.",
                         disk->path, strerror(-error));
    }
}

int interlock_hold(const struct disk *disk,
                   const struct device_options *options, int *fd,
                   struct fault *why)
{
    const int flags =
        (options->write ? O_RDWR : O_RDONLY) | O_EXCL | O_DIRECT | O_CLOEXEC;
    const int opened = open(disk->path, flags);
    if (opened < 0)
        return explain_open(disk, -errno, why);

    /* Between the questions and the answer the name may have moved. */
    struct stat status;
    if (fstat(opened, &status) != 0 || !S_ISBLK(status.st_mode) ||
        status.st_rdev != disk->number) {
        close(opened);
        return fault_set(why, FAULT_REFUSED, -ESTALE,
                         "%s became another device while it was being "
                         "opened: look again which disk is meant.",
                         disk->path);
    }
    *fd = opened;
    return 0;
}
