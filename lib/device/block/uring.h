/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_URING_H
#define SSDPROBE_DEVICE_URING_H

#include <liburing.h>
#include <stdbool.h>

#include "lib/device/host/memory.h"
#include "lib/device/host/ready.h"

/*
 * Reads and writes through io_uring, stamped as close to the kernel as can be:
 * submit_ns right before the system call that sends the request, complete_ns
 * right after the one that brings it back.
 *
 * Sending and waiting are two calls, although one could do both: measured on a
 * loop disk of a busy machine the one call has a p99 of 4 ms, the two have
 * 0.2 ms, at the same median. The first call's return lets the kernel's worker
 * run before we lie down.
 *
 * One thread only: the ring belongs to the thread that made it.
 */
struct uring {
    struct io_uring ring;
    int fd;
    bool fixed_file, fixed_buffer;
    unsigned in_flight_count;
    int broken;      /* 0, or the -errno after which nothing can be sent */
    bool beat_armed; /* a timer in the ring that ends a wait for ever */
    unsigned silent_beats_count;
};

/* 0; -ENOSYS, -EPERM and such where io_uring is not to be had. */
int uring_create(struct uring *uring, int fd, unsigned depth_count);
void uring_destroy(struct uring *uring);

/* Registers the buffer in place of the last one, if the kernel lets it.
 * Nothing may be in flight. */
void uring_register(struct uring *uring, const struct memory *memory);

/* Sends a read or a write. 0 or -errno: not sent. */
int uring_submit(struct uring *uring, struct io *io);

/*
 * Waits until at least one request is done and moves all that are to `ready`.
 * -ETIME when none has come back for a second or two: look whether the disk is
 * still there, and ask again. Something must be in flight.
 */
int uring_wait(struct uring *uring, struct ready *ready);

#endif
