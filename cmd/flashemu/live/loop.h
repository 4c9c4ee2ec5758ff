/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_LOOP_H
#define SSDPROBE_CMD_FLASHEMU_LOOP_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"

enum { LOOP_LABEL_SIZE = 48, LOOP_BLOCK_BYTES = 512 };

/* A loop device, marked with a label so that it is known again. */
struct loop {
    int number;
    char label[LOOP_LABEL_SIZE];
};

/* The number of a loop device that is free now; others may take it first. */
int loop_find_free(int *number, struct fault *why);

/*
 * Puts `file`, opened for reading and writing, behind loop->number with direct
 * I/O. -EBUSY: somebody else was faster, find another.
 */
int loop_attach(const struct loop *loop, int file, struct fault *why);

/*
 * Takes the file away, if the device still carries the label; a device that is
 * in use is taken down at its last close. Blocks while the kernel writes back,
 * so the file must still answer, or be dead.
 */
void loop_detach(const struct loop *loop);

/* "/dev/loop5". Returns `path`. */
char *loop_path(const struct loop *loop, char *path, size_t size);

/* One number of /sys/block/loopN/queue. 0 or -errno. */
int loop_queue_get(const struct loop *loop, const char *name, uint64_t *value);
int loop_queue_set(const struct loop *loop, const char *name, uint64_t value);

#endif
