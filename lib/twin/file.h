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

/* Where the value of a drive file's key is from, in a few words; empty: nobody
 * asked. */
void twin_origin(const struct twin *twin, const struct drive_key *key,
                 char *text, size_t size);

/* The key at `index` of the table of keys, and whether the drive file states
 * it. False past the last. */
bool twin_states(const struct twin *twin, size_t index, bool *stated,
                 struct drive_key *key);

#endif
