/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_IMAGINED_CURVE_H
#define SSDPROBE_SESSION_IMAGINED_CURVE_H

#include "lib/session/forecast/imagined_kind.h"

/* The curve of typical times over request sizes (imagined_kind.h): lookup
 * between the measured sizes. */

/* Index of the point in the size class of `bytes`; the kind's `count` when
 * there is none. */
size_t imagined_point_of(const struct imagined_kind *kind, double bytes);

/*
 * Finds the end of the write buffer in the curves of a write and its flush.
 *
 * Data that fits the buffer is written by the flush; beyond the buffer the
 * write itself waits. So the buffer ends between two sizes where the write's
 * time jumps and the flush's time drops. The jump is placed half way between
 * the sizes, such that the sum of write and flush rises as it would without a
 * buffer.
 */
void imagined_curve_end_buffer(struct imagined_kind *write,
                               struct imagined_kind *flush);

#endif
