/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/interlocks/users_backing.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/device/host/sysfs.h"

enum { PATH_BYTES = 256 };

/* As the kernel shows it: of a deleted file, and of one of another name space,
 * it is no path that could be opened. */
static bool backing_path(const char *name, char *path)
{
    char folder[PATH_BYTES];
    snprintf(folder, sizeof(folder), "/sys/class/block/%.64s/loop", name);
    return sysfs_text(folder, "backing_file", path, PATH_BYTES) == 0;
}

/* The driver itself knows which file it has. */
static bool ask_driver(const char *name, struct users_backing *backing)
{
    char path[PATH_BYTES];
    struct loop_info64 info;
    snprintf(path, sizeof(path), "/dev/%.64s", name);
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool answered = ioctl(fd, LOOP_GET_STATUS64, &info) == 0;
    close(fd);
    if (!answered)
        return false;
    backing->device = (dev_t)info.lo_rdevice;
    backing->file_system = (dev_t)info.lo_device;
    backing->inode = info.lo_inode;
    backing->begin_bytes = info.lo_offset;
    if (info.lo_sizelimit && info.lo_sizelimit < UINT64_MAX - info.lo_offset)
        backing->end_bytes = info.lo_offset + info.lo_sizelimit;
    return true;
}

void users_backing_find(const char *name, struct users_backing *backing)
{
    char path[PATH_BYTES];
    struct stat status;
    *backing = (struct users_backing){.end_bytes = UINT64_MAX};
    if (!backing_path(name, path))
        return;
    backing->is_loop = true;
    if (ask_driver(name, backing) || path[0] != '/' || stat(path, &status))
        return;
    backing->device = S_ISBLK(status.st_mode) ? status.st_rdev : 0;
    backing->file_system = status.st_dev;
    backing->inode = status.st_ino;
}

bool users_backing_is(const struct users_backing *backing, dev_t file_system,
                      uint64_t inode)
{
    return backing->is_loop && backing->device == 0 && backing->inode != 0 &&
           backing->inode == inode && backing->file_system == file_system;
}

bool users_backing_overlap(const char *name,
                           const struct users_backing *backing,
                           const char *other_name,
                           const struct users_backing *other)
{
    char path[PATH_BYTES], other_path[PATH_BYTES];
    if (!backing->is_loop || !other->is_loop || backing->device ||
        other->device || backing->begin_bytes >= other->end_bytes ||
        other->begin_bytes >= backing->end_bytes)
        return false;
    if (backing->inode && other->inode)
        return users_backing_is(backing, other->file_system, other->inode);
    return backing_path(name, path) && backing_path(other_name, other_path) &&
           strcmp(path, other_path) == 0;
}
