/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_DRIVE_KEYS_H
#define SSDPROBE_FLASH_DRIVE_KEYS_H

#include "lib/base/fault.h"
#include "lib/flash/drive/drive.h"

/* Values by the table of keys (keys_table.h), as drive.h's drive_key_at
 * reads them. */

/* Every key at its default. 0, or the fault of a broken table. */
int drive_key_defaults(struct drive *drive, struct fault *why);

/* The keys of noise at their defaults: none of it. As above. */
int drive_quiet(struct drive *drive, struct fault *why);

/*
 * One value. `section` is NULL for an override on the command line: any will
 * do. -EINVAL or -ERANGE with a sentence that lacks file and line.
 */
int drive_key_set(struct drive *drive, const char *section, const char *name,
                  const char *value, struct fault *why);

#endif
