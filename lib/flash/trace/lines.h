/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_TRACE_LINES_H
#define SSDPROBE_FLASH_TRACE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/fault.h"

/*
 * The lines of a text, whatever it comes through: a file, a pipe, "-" for the
 * standard input, compressed or not. Memory does not depend on its length. The
 * first lines can be looked at without being taken.
 */

struct lines;

/* 0, or -errno with a sentence. `path` is copied. */
int lines_open(const char *path, struct lines **lines, struct fault *why);
void lines_close(struct lines *lines); /* accepts NULL */

/* The next line without its end, until the next call: 1; 0: no more; -errno
 * with a sentence. */
int lines_next(struct lines *lines, char **line, struct fault *why);

/* Begins again at the first line; only while no more than LINES_LOOK_BYTES were
 * read. */
enum { LINES_LOOK_BYTES = 1 << 18 };
bool lines_can_look(const struct lines *lines);
void lines_again(struct lines *lines);

uint64_t lines_count(const struct lines *lines);
uint64_t lines_bytes(const struct lines *lines); /* of those */
/* That the whole text has; 0: not known. */
uint64_t lines_size_bytes(const struct lines *lines);

#endif
