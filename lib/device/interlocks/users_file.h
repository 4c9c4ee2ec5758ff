/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_USERS_FILE_H
#define SSDPROBE_DEVICE_USERS_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/kernel.h"

/*
 * A file, by what stays when its name is gone, is another's, or is one of
 * several. A file system that shows the files of another (overlayfs, FUSE, NFS)
 * may number them anew, but keeps their size and times.
 */
struct users_file {
    dev_t file_system;
    uint64_t inode;        /* 0: nothing is known of it */
    uint64_t sectors;      /* of 512 bytes, whole ones; 0: not known */
    int64_t born_ns;       /* since 1970; 0: not known */
    int64_t written_to_ns; /* when it was modified last; 0: not known */
};

/* What users_file_read() needs of statx(). */
enum {
    USERS_FILE_MASK =
        STATX_TYPE | STATX_INO | STATX_SIZE | STATX_MTIME | STATX_BTIME
};
void users_file_read(const struct statx *status, struct users_file *file);

/*
 * May the two be one file? Sure where their file systems are the same, or both
 * lie on disks. Else one may show the files of the other, and they count as one
 * unless size or times tell them apart. Where no times are known, they do where
 * their numbers are alike and one of them lies on a disk.
 */
bool users_file_may_be(const struct users_file *file,
                       const struct users_file *other);

/* An open file; true ends the search. */
typedef bool users_open_function(void *context, const struct statx *file);

/*
 * Calls `see` for each file that a process or thread (a folder of /proc) has
 * open, in the tables of all of its threads. With `for_writing` only for those
 * that it may write to, and for what it has mapped as well. No file system's
 * server is asked, as it may be gone. 1 where `see` ended it, 0, or -errno
 * (-EACCES: its files are hidden from us).
 */
int users_each_open(const char *process, bool for_writing,
                    users_open_function *see, void *context);

#endif
