/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_REPLACE_H
#define SSDPROBE_BASE_REPLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/base/fault.h"
#include "lib/base/walk.h"

/*
 * A file of results that takes the place of an older one only when it is whole.
 * Until then it is written beside it under a name of its own. A pipe or a
 * device such as /dev/null, and what is open already (/dev/stdout), is written
 * to directly. All zero: there is none.
 */
struct replace {
    FILE *file;               /* what to write to; NULL: not begun */
    struct walk place;        /* of the file to replace */
    char fresh[NAME_MAX + 1]; /* the new file; empty: it is no plain file */
    bool is_unnamed;          /* which has not got that name yet */
};

/*
 * Could a file be written at `path`? Touches nothing. 0, or -errno with a
 * sentence in `why` (FAULT_OPEN): it is a directory or a block device, its
 * folder is not there or not writable, or a link of another user leads there
 * (walk.h).
 */
int replace_check(const char *path, struct fault *why);

/* Are these two paths of one file, be it there or not? */
bool replace_is_same(const char *path, const char *other);

/* Begins. The new file gets mode and owner of the old one. 0, or -errno with a
 * sentence in `why` (FAULT_OPEN). */
int replace_begin(struct replace *replace, const char *path, struct fault *why);

/* The same of `name` in an open folder, with this mode. A link of that name is
 * replaced, not followed. 0 or -errno. */
int replace_begin_in(struct replace *replace, int folder, const char *name,
                     mode_t mode);

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
