/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_RANDOM_DRAW_SOLD_H
#define SSDPROBE_FLASH_RANDOM_DRAW_SOLD_H

#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/drive/drive.h"

/*
 * Makes a drive with the defaults of all keys one of `kind` ("nvme", "sata",
 * "card", "stick") as they are sold: shares.c says how often it has what. The
 * same seed and kind give the same drive. 0; -ENOENT: there is no such kind; or
 * what drive_set() says, which would be an error of shares.c.
 */
int draw_sold(uint64_t seed, const char *kind, struct drive *drive,
              struct fault *why);

#endif
