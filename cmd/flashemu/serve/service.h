/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_SERVICE_H
#define SSDPROBE_CMD_FLASHEMU_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/flash.h"
#include "cmd/common/options.h"
#include "cmd/flashemu/serve/place.h"

/*
 * What serving a drive is by any way into the kernel: the drive, the signals
 * that end it, and what is said when it is ready. The ways are functions, a
 * file each.
 */
struct service {
    const struct options_given *given;
    struct drive drive;
    struct flash *flash;
    struct place place;
    int contents_fd; /* -1: contents go with the server */
    int signal_fd;
    bool announced; /* standard output has had its line or document */
};

/* What is said of the device. */
struct service_device {
    const char *path, *via; /* "loop", "ublk" */
    const char *how;        /* what else there is to say; "" */
    uint64_t request_limit_bytes;
};

/* 0 or -EIO: standard output does not take it. */
int service_say_ready(struct service *service,
                      const struct service_device *device, struct fault *why);

/* Was it a signal? To be called when signal_fd is readable. */
bool service_take_signal(const struct service *service);

/*
 * After a signal, before the device at `path` is taken down: while it is
 * mounted, swap space or part of another device, says so, and waits until it is
 * not, or for another signal, or until one of two descriptors is readable (-1:
 * none), which say that there is nothing left to wait for.
 */
void service_wait_unused(const struct service *service, const char *path,
                         int ended_fd, int other_fd);

/* Serve until a signal, and take everything down. 0 or -errno. */
int service_run_loop(struct service *service, struct fault *why);
int service_run_ublk(struct service *service, struct fault *why);

#endif
