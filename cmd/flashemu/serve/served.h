/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_SERVED_H
#define SSDPROBE_CMD_FLASHEMU_SERVED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/flash.h"

/*
 * An emulated drive in real time, as one file of the drive's capacity: a FUSE
 * file system whose root is a regular file. One thread owns the model: it
 * receives requests, tells the model when they arrived, and answers each at
 * the time the model says. It sleeps until shortly before that time and spins
 * the rest; without requests it blocks.
 */

struct served;

/* The largest requests that arrived while measuring. */
struct served_sizes {
    uint64_t read_bytes, write_bytes;
};

/*
 * Mounts the file over `mount_path`, an existing regular file. `flash` is
 * borrowed: nobody else may use it before served_close().
 */
int served_open(struct flash *flash, const char *mount_path,
                struct served **served, struct fault *why);

/* Starts the thread; from here on the file answers. No fork() after this. */
int served_start(struct served *served, struct fault *why);

/* Readable once the thread has ended, also of its own accord. */
int served_ended_fd(const struct served *served);

/*
 * A child process that uses the file must first give up its copy of the
 * connection: else its waiting on the file could keep a dead server's
 * connection, and so itself, for ever.
 */
void served_forget_in_child(struct served *served);

/*
 * While measuring, requests are answered at once, the model does not see them,
 * reads give zeros and writes vanish. Ending returns the largest ones seen.
 * Both may be called in the child.
 */
void served_measure_begin(struct served *served);
struct served_sizes served_measure_end(struct served *served);

/* While measuring: answer requests after this time, not at once. */
void served_measure_hold(struct served *served, uint64_t hold_ns);

/*
 * By how much answers after holds of this length and longer reach a client too
 * late: later ones leave so much earlier. In rising order of `hold_ns`.
 */
void served_note_lateness(struct served *served, uint64_t hold_ns,
                          uint64_t late_ns);

/* Stops the thread: what is outstanding and what follows fails. */
void served_stop(struct served *served);

/* Stops, unmounts. Accepts NULL. */
void served_close(struct served *served);

#endif
