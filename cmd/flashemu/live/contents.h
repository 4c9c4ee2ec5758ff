/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_CONTENTS_H
#define SSDPROBE_CMD_FLASHEMU_CONTENTS_H

#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/flash.h"

/*
 * A drive's contents in a file that outlives its server, however that ends:
 * what was answered is in the file. Locked against other servers for as long as
 * the descriptor is open; one that was just killed may leave its lock a little
 * later, so this waits for it, up to ten seconds.
 *
 * Makes the file where there is none. 0, and `fd` is the caller's to close when
 * the drive is no longer used; -errno with a sentence, and `fd` is -1.
 */
int contents_open(const char *path, struct flash *flash, int *fd,
                  struct fault *why);

#endif
