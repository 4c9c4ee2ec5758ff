/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_PNG_H
#define SSDPROBE_CMD_SSDPROBE_PNG_H

#include <stddef.h>

#include "lib/base/fault.h"

/*
 * The same picture as PNG, twice as large: rsvg-convert draws it, and has a
 * minute to do so. `svg` is the path of a file. The caller frees `bytes`. 0;
 * -ENOENT with `why`: rsvg-convert is not installed; -EIO or another -errno
 * with `why`.
 */
int png_of_svg(const char *svg, char **bytes, size_t *length,
               struct fault *why);

#endif
