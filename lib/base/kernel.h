/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_KERNEL_H
#define SSDPROBE_BASE_KERNEL_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * System calls that musl, or an older glibc, has no function for. Each does
 * what its manual page says: what the kernel answers, or -1 with errno.
 */

#ifndef STATX_TYPE
#include <linux/stat.h>
#endif
#ifndef AT_STATX_DONT_SYNC
#define AT_STATX_DONT_SYNC 0x4000
#endif

static inline int kernel_statx(int folder, const char *path, int flags,
                               unsigned mask, struct statx *file)
{
    return (int)syscall(SYS_statx, folder, path, flags, mask, file);
}

static inline int kernel_close_range(unsigned first, unsigned last,
                                     unsigned flags)
{
    return (int)syscall(SYS_close_range, first, last, flags);
}

/* 0: the two have one table of open files. KCMP_FILES is 2. */
static inline int kernel_kcmp_files(pid_t process, pid_t other)
{
    return (int)syscall(SYS_kcmp, process, other, 2, 0UL, 0UL);
}

/* The kernel takes the offset in two halves of a long each. */
static inline ssize_t kernel_pwritev2(int fd, const struct iovec *vectors,
                                      int count, off_t offset, int flags)
{
    return syscall(SYS_pwritev2, fd, vectors, (unsigned long)count,
                   (long)offset, (long)((uint64_t)offset >> 32), flags);
}

#endif
