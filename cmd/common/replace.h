/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_COMMON_REPLACE_H
#define SSDPROBE_CMD_COMMON_REPLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "lib/base/fault.h"

/*
 * A file of results that takes the place of an older one only when it is whole.
 * Until then it is written beside it under a name of its own. A pipe or a
 * device such as /dev/null is written to directly. All zero: there is none.
 */
struct replace {
    FILE *file;           /* what to write to; NULL: not begun */
    char path[PATH_MAX];  /* the file to replace, without symbolic links */
    char fresh[PATH_MAX]; /* the new file; empty: `path` is no plain file */
};

/*
 * Could a file be written at `path`? Touches nothing. 0, or -errno with a
 * sentence in `why` (FAULT_OPEN): it is a directory or a block device, or its
 * folder is not there or not writable.
 */
int replace_check(const char *path, struct fault *why);

/* Begins. 0, or -errno with a sentence in `why` (FAULT_OPEN). */
int replace_begin(struct replace *replace, const char *path, struct fault *why);

/*
 * Ends. With `keep`, and if all of it was written, the new file takes the place
 * of the old one in one step; else the new one is removed and the old one stays
 * as it was. 0, or -errno where `keep` could not be done.
 */
int replace_end(struct replace *replace, bool keep);

/* All of it at once: `bytes` as the file at `path`. 0, or -errno with a
 * sentence in `why` (FAULT_OPEN). */
int replace_whole(const char *path, const char *bytes, size_t length,
                  struct fault *why);

#endif
