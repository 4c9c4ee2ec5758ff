/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_TWIN_FORMATS_H
#define SSDPROBE_CMD_SSDPROBE_TWIN_FORMATS_H

#include <stdio.h>

#include "cmd/ssdprobe/twin/twin_made.h"

/*
 * Writes the twin as the configuration of another simulator. A comment says of
 * each key where its value is from; what the simulator has no key for comes
 * last. 0 or -errno of the stream.
 */
int twin_format_write(FILE *out, enum twin_format format,
                      const struct twin_made *made);

#endif
