/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_UBLK_GUARD_H
#define SSDPROBE_CMD_FLASHEMU_UBLK_GUARD_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/base/fault.h"
#include "cmd/flashemu/serve/place.h"

/*
 * A child process that outlives a killed server and removes its device, so that
 * nobody waits for an answer for ever. A device that another server may take up
 * it leaves alone for half a minute, and for good once one has.
 */
struct ublk_guard {
    pid_t pid;
    int leash_fd; /* a byte: nothing is left to do; its end: the server died */
};

/*
 * Forks; before any thread. `contents` is the file that makes the device
 * recoverable, locked by its server, NULL: none; `contents_fd` the server's own
 * descriptor, or -1.
 */
int ublk_guard_start(struct ublk_guard *guard, struct place *place,
                     const char *contents, int contents_fd, struct fault *why);

/* The server has removed everything itself. */
void ublk_guard_end(struct ublk_guard *guard);

#endif
