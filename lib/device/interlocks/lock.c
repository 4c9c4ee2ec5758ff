/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/interlocks/lock.h"

#include <errno.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/device/host/clock.h"
#include "lib/device/host/sysfs.h"

/* Short beside what a person notices, long beside a system call. */
static const uint64_t PAUSE_NS = 50000000;

int lock_take(int fd, uint64_t wait_ns)
{
    const uint64_t end_ns = clock_now_ns() + wait_ns;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -errno;
        if (clock_now_ns() >= end_ns)
            return -EBUSY;
        clock_pause(PAUSE_NS);
    }
    return 0;
}

int lock_holder(int fd, char *holder, size_t size)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return -errno;
    FILE *locks = fopen("/proc/locks", "re");
    if (!locks)
        return -errno;
    char line[256];
    bool found = false;
    while (!found && fgets(line, sizeof(line), locks)) {
        unsigned long process, inode;
        unsigned major_number, minor_number;
        found = sscanf(line, "%*u: FLOCK %*s %*s %lu %x:%x:%lu", &process,
                       &major_number, &minor_number, &inode) == 4 &&
                makedev(major_number, minor_number) == status.st_dev &&
                inode == status.st_ino;
        if (found) {
            char folder[48], name[32];
            snprintf(folder, sizeof(folder), "/proc/%lu", process);
            (void)sysfs_text(folder, "comm", name, sizeof(name));
            snprintf(holder, size, "process %lu (%s)", process, name);
        }
    }
    fclose(locks);
    return found ? 1 : 0;
}
