/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_DRAW_H
#define SSDPROBE_FLASH_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/drive/drive.h"

/*
 * Random drives: a seed gives a drive. "nvme", "sata", "card" and "stick" are
 * drawn as they are sold (draw_sold.h).
 * "ssd", "usb", "sd" and "emmc", or "old" for any of these, have the ranges of
 * 2010, in draw.c; they are wider than any shop's shelf on purpose, so that a
 * probe that is tuned to a few drives is found out.
 */

enum { DRAW_TEXT_MAX = 16384 };

/* Names of the kinds, "old" among them; NULL past the last. */
const char *draw_kind_name(size_t index);

/*
 * Draws a drive of `kind` (NULL: the seed chooses a sold one), sets `keys`
 * ("KEY=VALUE, ...", NULL: none). Its truth is not stated: see oracle_state().
 * The same seed, kind and keys give the same drive. -EINVAL for an unknown
 * kind, and what drive_set() and drive_check() say of the keys.
 */
int draw_drive(uint64_t seed, const char *kind, const char *keys,
               struct drive *drive, struct fault *why);

/* The drive as a complete drive file: every key, then [truth]. The length, or
 * -ENOSPC. */
int draw_text(const struct drive *drive, char *text, size_t size);

#endif
