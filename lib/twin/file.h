/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_FILE_H
#define SSDPROBE_TWIN_FILE_H

#include <stdio.h>

#include "lib/twin/check.h"

/*
 * Writes the twin as a drive file that flashemu and sim: take. A comment before
 * each key says where its value is from: measured, decided, fitted (how well),
 * or unknown. Keys that are as by default and that nothing was asked of are
 * left out. It has no truth: what a probe should find of it is not stated. 0,
 * or -errno of the stream.
 */
int twin_write(FILE *out, const struct twin *twin,
               const struct twin_check *check);

#endif
