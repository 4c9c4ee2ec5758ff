/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/live/contents.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_ATTEMPTS = 100, LOCK_PAUSE_NS = 100 * 1000 * 1000 };

static int lock(int fd)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
    int error = -EWOULDBLOCK;
    for (int i = 0; error == -EWOULDBLOCK && i < LOCK_ATTEMPTS; i++) {
        if (i > 0)
            nanosleep(&pause, NULL);
        error = flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
    }
    return error;
}

static int keep(const char *path, struct flash *flash, int fd,
                struct fault *why)
{
    int error = lock(fd);
    if (error)
        return fault_set(why, FAULT_OPEN, error,
                         "another server keeps its contents in %.200s", path);
    error = flash_keep_contents(flash, fd);
    if (error == -EINVAL)
        return fault_set(why, FAULT_USAGE, error,
                         "%.200s cannot hold the contents: it must be a file "
                         "that is empty or as long as the drive, %" PRIu64
                         " bytes, of a drive that keeps contents",
                         path, flash_capacity_bytes(flash));
    if (error)
        return fault_set(why, FAULT_OPEN, error, "cannot write %.200s (%s)",
                         path, strerror(-error));
    return 0;
}

int contents_open(const char *path, struct flash *flash, int *fd,
                  struct fault *why)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*fd < 0)
        return fault_set(why, FAULT_OPEN, -errno, "cannot open %.200s (%s)",
                         path, strerror(errno));
    const int error = keep(path, flash, *fd, why);
    if (error) {
        close(*fd);
        *fd = -1;
    }
    return error;
}
