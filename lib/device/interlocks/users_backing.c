/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/interlocks/users_backing.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
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
    backing->file.file_system = (dev_t)info.lo_device;
    backing->file.inode = info.lo_inode;
    backing->begin_bytes = info.lo_offset;
    if (info.lo_sizelimit && info.lo_sizelimit < UINT64_MAX - info.lo_offset)
        backing->end_bytes = info.lo_offset + info.lo_sizelimit;
    return true;
}

/* What the driver does not say of the file, as far as its path leads there. */
static void ask_path(const char *path, bool has_driver,
                     struct users_backing *backing)
{
    struct statx status;
    struct users_file file;
    if (path[0] != '/' ||
        kernel_statx(AT_FDCWD, path, 0, USERS_FILE_MASK, &status) != 0)
        return;
    users_file_read(&status, &file);
    if (has_driver && (file.file_system != backing->file.file_system ||
                       file.inode != backing->file.inode))
        return;
    if (!has_driver && S_ISBLK(status.stx_mode))
        backing->device = makedev(status.stx_rdev_major, status.stx_rdev_minor);
    backing->file = file;
}

/* Of a file that has no path any more, or none here. */
static uint64_t sectors_of(const char *name,
                           const struct users_backing *backing)
{
    char folder[PATH_BYTES];
    snprintf(folder, sizeof(folder), "/sys/class/block/%.64s", name);
    return backing->end_bytes == UINT64_MAX && backing->begin_bytes % 512 == 0
               ? backing->begin_bytes / 512 + sysfs_number(folder, "size", 0)
               : 0;
}

void users_backing_find(const char *name, struct users_backing *backing)
{
    char path[PATH_BYTES];
    *backing = (struct users_backing){.end_bytes = UINT64_MAX};
    if (!backing_path(name, path))
        return;
    backing->is_loop = true;
    ask_path(path, ask_driver(name, backing), backing);
    if (!backing->file.sectors)
        backing->file.sectors = sectors_of(name, backing);
}

static bool lies_on_file(const struct users_backing *backing)
{
    return backing->is_loop && backing->device == 0;
}

bool users_backing_is(const struct users_backing *backing,
                      const struct statx *status)
{
    struct users_file file;
    users_file_read(status, &file);
    return lies_on_file(backing) && S_ISREG(status->stx_mode) &&
           users_file_may_be(&backing->file, &file);
}

bool users_backing_overlap(const char *name,
                           const struct users_backing *backing,
                           const char *other_name,
                           const struct users_backing *other)
{
    char path[PATH_BYTES], other_path[PATH_BYTES];
    if (!lies_on_file(backing) || !lies_on_file(other) ||
        backing->begin_bytes >= other->end_bytes ||
        other->begin_bytes >= backing->end_bytes)
        return false;
    if (backing->file.inode && other->file.inode)
        return users_file_may_be(&backing->file, &other->file);
    return backing_path(name, path) && backing_path(other_name, other_path) &&
           strcmp(path, other_path) == 0;
}
