/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_UBLK_H
#define SSDPROBE_CMD_FLASHEMU_UBLK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/flash.h"

/*
 * An emulated drive as /dev/ublkbN, in real time. One thread owns the model and
 * serves every queue: it receives requests, tells the model when they arrived,
 * and answers each at the time the model says. One other thread, the caller,
 * makes, stops and removes the device.
 */

struct ublk;

struct ublk_wish {
    uint16_t queues_count;        /* at most the kernel's processors; 0: 1 */
    uint16_t depth_count;         /* requests a queue holds at once; 0: 128 */
    uint64_t request_limit_bytes; /* 0: 1 MiB */
    uint64_t without;             /* UBLK_FEATURE_...: not to be used */
    uint64_t label;               /* what the device is known by again */
    /* Contents outlive the server: so does the device, for another server of
     * the same label, which takes it up with the requests under way. */
    bool is_recoverable;
};

/*
 * Makes a device, or takes up the one that a killed server of this label left
 * (then with that one's queues and depth). `flash` is borrowed: nobody else
 * may use it before ublk_close().
 */
int ublk_open(struct flash *flash, const struct ublk_wish *wish,
              struct ublk **ublk, struct fault *why);

/* Starts the thread and the device; from here on it answers. */
int ublk_start(struct ublk *ublk, struct fault *why);

/* "/dev/ublkb0". Returns `path`. */
char *ublk_path(const struct ublk *ublk, char *path, size_t size);

/* What the kernel gave. */
struct ublk_facts {
    uint64_t request_limit_bytes; /* up to here requests arrive whole */
    uint16_t queues_count, depth_count;
    bool was_taken_up; /* from a killed server */
    bool copies;       /* user copy */
    bool is_encoded;   /* ioctl encoding */
};
struct ublk_facts ublk_facts(const struct ublk *ublk);

/* Readable once the thread has ended, also of its own accord. */
int ublk_ended_fd(const struct ublk *ublk);

/*
 * Begins to stop the device: what is dirty is written to the drive, which
 * serves on. 0, and ublk_ended_fd() is readable when that is done; or -errno.
 */
int ublk_stop(struct ublk *ublk);

/* Answers everything with an error from now on: the end does not wait. */
void ublk_abandon(struct ublk *ublk);

/* Stops and removes the device. Accepts NULL. */
void ublk_close(struct ublk *ublk);

#endif
