/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_CHOICE_H
#define SSDPROBE_CMD_SSDPROBE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/fault.h"
#include "lib/infer/probe.h"

enum { CHOICE_MAX = 32 };

/* Which probes are asked for. */
struct choice {
    const struct probe *asked[CHOICE_MAX + 1]; /* ends in NULL */
    bool writes;                               /* will one of them write? */
};

/* `names`: "basic,write-buffer", or with spaces; NULL or empty: every probe. 0,
 * or -EINVAL with a sentence (FAULT_USAGE). */
int choice_make(const char *names, bool read_only, struct choice *choice,
                struct fault *why);

/* The names of what --quick asks for. */
extern const char choice_quick[];

/* What is to run before the others. Only where there is room: -EINVAL with a
 * sentence. */
int choice_first(struct choice *choice, const struct probe *probe,
                 struct fault *why);

/* The names asked for, with spaces, as a recording keeps them. What does not
 * fit is an error: -ERANGE. */
int choice_names(const struct choice *choice, char *text, size_t size);

#endif
