/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_BLOCKING_H
#define SSDPROBE_DEVICE_BLOCKING_H

#include <stdbool.h>

#include "lib/base/apart.h"
#include "lib/device/device.h"
#include "lib/device/host/ready.h"

/*
 * Requests that are system calls which return when the disk has answered, and
 * not before: flushes and discards. A process apart makes them, and stamps them
 * right around the call; so one that never returns holds up nobody.
 */
struct blocking {
    struct apart apart;
    struct io *under_way; /* NULL: none */
};

/* `fd`: the open disk. 0 or -errno. */
int blocking_create(struct blocking *blocking, int fd, enum flush_method flush);
/* Waits for the process, unless a request is under way: that is left alone. */
void blocking_destroy(struct blocking *blocking);

/* One at a time. 0, or -errno: it was not sent. */
int blocking_submit(struct blocking *blocking, struct io *io);

/* Waits, and moves the request to `ready`. -ETIME when it has not come back for
 * a second: ask again. */
int blocking_wait(struct blocking *blocking, struct ready *ready);

#endif
