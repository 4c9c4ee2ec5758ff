/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/contents/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static const unsigned char ZEROS[64 * 1024];

int store_file_prepare(int fd, uint64_t capacity_bytes)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    if (status.st_size == 0 && ftruncate(fd, (off_t)capacity_bytes) < 0)
        return -errno;
    if (status.st_size != 0 && (uint64_t)status.st_size != capacity_bytes)
        return -EINVAL;
    return 0;
}

static int write_zeros(int fd, uint64_t offset_bytes, uint64_t length_bytes)
{
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)offset_bytes, (off_t)length_bytes) == 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != EINTR)
        return -errno;
    while (length_bytes > 0) {
        uint64_t part =
            length_bytes < sizeof(ZEROS) ? length_bytes : sizeof(ZEROS);
        int error = store_file_write(fd, offset_bytes, part, ZEROS);
        if (error)
            return error;
        offset_bytes += part;
        length_bytes -= part;
    }
    return 0;
}

int store_file_write(int fd, uint64_t offset_bytes, uint64_t length_bytes,
                     const void *data)
{
    const unsigned char *from = data;
    if (!data)
        return write_zeros(fd, offset_bytes, length_bytes);
    while (length_bytes > 0) {
        ssize_t wrote = pwrite(fd, from, length_bytes, (off_t)offset_bytes);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? -errno : -EIO;
        from += wrote;
        offset_bytes += (uint64_t)wrote;
        length_bytes -= (uint64_t)wrote;
    }
    return 0;
}

int store_file_read(int fd, uint64_t offset_bytes, uint64_t length_bytes,
                    void *data)
{
    unsigned char *to = data;
    while (length_bytes > 0) {
        ssize_t got = pread(fd, to, length_bytes, (off_t)offset_bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) /* at its end: somebody cut it */
            return got < 0 ? -errno : -EIO;
        to += got;
        offset_bytes += (uint64_t)got;
        length_bytes -= (uint64_t)got;
    }
    return 0;
}
