/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/live/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/loop.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/base/units.h"

int loop_find_free(int *number, struct fault *why)
{
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    int found, error;
    if (control < 0)
        return fault_set(why, FAULT_OPEN, -errno,
                         "cannot open /dev/loop-control (%s); serving a drive "
                         "needs root and the kernel's loop driver",
                         strerror(errno));
    found = ioctl(control, LOOP_CTL_GET_FREE);
    error = errno;
    close(control);
    if (found < 0)
        return fault_set(why, FAULT_OPEN, -error,
                         "the kernel has no free loop device (%s)",
                         strerror(error));
    *number = found;
    return 0;
}

char *loop_path(const struct loop *loop, char *path, size_t size)
{
    snprintf(path, size, "/dev/loop%d", loop->number);
    return path;
}

static bool carries_label(const struct loop *loop, int device, uint32_t *flags)
{
    struct loop_info64 info;
    if (ioctl(device, LOOP_GET_STATUS64, &info) < 0)
        return false;
    *flags = info.lo_flags;
    return strncmp((const char *)info.lo_file_name, loop->label,
                   sizeof(info.lo_file_name)) == 0;
}

static int configure(const struct loop *loop, int device, int file)
{
    struct loop_config config = {
        .fd = (uint32_t)file,
        .block_size = LOOP_BLOCK_BYTES,
        .info = {.lo_flags = LO_FLAGS_DIRECT_IO},
    };
    uint32_t flags = 0;
    memcpy(config.info.lo_file_name, loop->label, sizeof(loop->label));
    if (ioctl(device, LOOP_CONFIGURE, &config) < 0)
        return -errno;
    /* The kernel drops the flag in silence where it cannot be had. */
    if (carries_label(loop, device, &flags) && (flags & LO_FLAGS_DIRECT_IO))
        return 0;
    ioctl(device, LOOP_CLR_FD, 0);
    return -EOPNOTSUPP;
}

int loop_attach(const struct loop *loop, int file, struct fault *why)
{
    char path[32];
    int error = 0;
    int device = open(loop_path(loop, path, sizeof(path)), O_RDWR | O_CLOEXEC);
    if (device < 0)
        return fault_set(why, FAULT_OPEN, -errno, "cannot open %s (%s)", path,
                         strerror(errno));
    error = configure(loop, device, file);
    if (error)
        fault_set(why, FAULT_OPEN, error, "cannot put the drive behind %s (%s)",
                  path, strerror(-error));
    close(device);
    return error;
}

static int open_queue(const struct loop *loop, const char *name, int flags)
{
    char path[96];
    int fd;
    snprintf(path, sizeof(path), "/sys/block/loop%d/queue/%s", loop->number,
             name);
    fd = open(path, flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int loop_queue_get(const struct loop *loop, const char *name, uint64_t *value)
{
    char text[32] = "";
    ssize_t length;
    int fd = open_queue(loop, name, O_RDONLY);
    if (fd < 0)
        return fd;
    length = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (length <= 0)
        return -EIO;
    text[strcspn(text, "\n")] = '\0';
    return parse_integer(text, value);
}

int loop_queue_set(const struct loop *loop, const char *name, uint64_t value)
{
    char text[32];
    int error = 0;
    int length = snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
    int fd = open_queue(loop, name, O_WRONLY);
    if (fd < 0)
        return fd;
    if (write(fd, text, (size_t)length) < 0)
        error = -errno;
    close(fd);
    return error;
}

/* The kernel keeps these settings for whoever has the device next. */
static void forget_queue(const struct loop *loop)
{
    uint64_t value;
    loop_queue_set(loop, "rq_affinity", 1);
    /* 0 is the default, where the kernel knows that. */
    if (loop_queue_set(loop, "max_sectors_kb", 0) != 0 &&
        loop_queue_get(loop, "max_hw_sectors_kb", &value) == 0)
        loop_queue_set(loop, "max_sectors_kb", value);
}

void loop_detach(const struct loop *loop)
{
    char path[32];
    uint32_t flags;
    int device;
    if (loop->number < 0)
        return;
    device = open(loop_path(loop, path, sizeof(path)), O_RDWR | O_CLOEXEC);
    if (device < 0)
        return;
    if (carries_label(loop, device, &flags)) {
        forget_queue(loop);
        ioctl(device, LOOP_CLR_FD, 0);
    }
    close(device);
}
