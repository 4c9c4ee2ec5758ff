/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_NOISE_H
#define SSDPROBE_TWIN_NOISE_H

#include "lib/flash/drive/drive.h"
#include "lib/twin/rows/rows.h"

/*
 * Sets the noise of a fitted drive from what its classes leave over: the middle
 * of the residuals gives the spread, those far above it the share of outliers
 * and how long they take. Slow drift counts as spread. Levels are free here, so
 * that what the model gets wrong does not count as noise. 0 or -ENOMEM.
 */
int twin_noise(const struct twin_rows *rows, const uint32_t predicted_ns[],
               struct drive *drive);

#endif
