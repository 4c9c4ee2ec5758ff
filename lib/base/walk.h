/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_WALK_H
#define SSDPROBE_BASE_WALK_H

#include <limits.h>
#include <stdbool.h>

#include "lib/base/fault.h"

/*
 * The way along a path, folder by folder, each held open: whoever exchanges a
 * folder or a link behind us leads us nowhere else. Links are followed, but not
 * one that another user has put into a folder that everybody may write to
 * (sticky, such as /tmp): this is the kernel's own rule, which can be switched
 * off there.
 */
struct walk {
    int folder;              /* O_PATH; -1: none */
    char name[NAME_MAX + 1]; /* in it; no link, and it need not be there; "."
                                where the path is the folder itself */
    bool is_open_file; /* a link of /proc/PID/fd, which only the kernel follows:
                          the name is that link */
};

enum walk_kind {
    WALK_ANY,
    WALK_SAFE /* only through folders in which no other user can exchange
                 anything; root and the user who called sudo are no others */
};

/* 0; or -errno, and then `folder` is -1 and `why` (FAULT_OPEN) holds the end of
 * a sentence, "/tmp/link is a link of another user". */
int walk_begin(struct walk *walk, const char *path, enum walk_kind kind,
               struct fault *why);
void walk_end(struct walk *walk);

/* May nobody but this process's user (and root) change what is in a folder? 0
 * or -EPERM with `why` as above. `path` is only for `why`. */
int walk_check_own(int folder, const char *path, struct fault *why);

#endif
