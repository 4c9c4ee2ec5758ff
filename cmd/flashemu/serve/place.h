/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_PLACE_H
#define SSDPROBE_CMD_FLASHEMU_PLACE_H

#include <stdint.h>

#include "lib/base/fault.h"
#include "cmd/flashemu/live/loop.h"

/*
 * What a server leaves in the system, written down before it exists, so that
 * the next server can clear it away if this one is killed. Everything is in
 * one folder (/run/flashemu, else under TMPDIR): a record NAME.state, locked
 * for as long as its server lives, and for a loop device NAME.drive, the file
 * that is mounted over.
 */
struct place {
    char folder[160];
    char state_path[224];
    char mount_path[224];
    int state_fd;        /* holds the lock */
    struct loop loop;    /* number -1: none yet */
    uint64_t ublk_label; /* of the ublk device; 0: a loop device it is */
};

/*
 * Clears away what dead servers left, but a ublk device of this label, then
 * makes this server's place.
 */
int place_open(struct place *place, uint64_t ublk_label, struct fault *why);

/* Writes down the loop device about to be used. */
int place_note_loop(struct place *place, int number, struct fault *why);

/*
 * Detaches the loop device written down, if it is still ours. Waits for what
 * the kernel writes back: only where that is answered, or fails.
 */
void place_detach_loop(const struct place *place);

/* Removes record and file; the mount and loop device must be gone. */
void place_close(struct place *place);

#endif
