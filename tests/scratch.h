/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TESTS_SCRATCH_H
#define SSDPROBE_TESTS_SCRATCH_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Files and folders of a test's own, where the machine wants such: in $TMPDIR,
 * else in /tmp. The test removes them. */

enum { SCRATCH_MAX = 128 };

static inline void scratch_name(char path[SCRATCH_MAX], const char *name)
{
    const char *folder = getenv("TMPDIR");

    ck_assert_int_lt(snprintf(path, SCRATCH_MAX, "%s/%s.XXXXXX",
                              folder && *folder ? folder : "/tmp", name),
                     SCRATCH_MAX);
}

/* An empty file whose path begins so. Returns its descriptor. */
static inline int scratch_file(char path[SCRATCH_MAX], const char *name)
{
    scratch_name(path, name);
    const int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    return descriptor;
}

static inline void scratch_folder(char path[SCRATCH_MAX], const char *name)
{
    scratch_name(path, name);
    ck_assert_ptr_nonnull(mkdtemp(path));
}

#endif
