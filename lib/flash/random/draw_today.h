/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_DRAW_TODAY_H
#define SSDPROBE_FLASH_DRAW_TODAY_H

#include <stdint.h>

#include "lib/flash/drive/drive.h"

/*
 * Gives a drawn drive what drives of today have: a mapping table of which a
 * part is in memory, buffers that drain while they are filled, caches that
 * shrink, planes and one-shot programs, queues of dies, power states,
 * correlated noise, a capacity that is not there; each by chance, from a stream
 * of its own, and only what goes with what it has already.
 */
void draw_today(uint64_t seed, struct drive *drive);

#endif
