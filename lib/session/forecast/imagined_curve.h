/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_IMAGINED_CURVE_H
#define SSDPROBE_SESSION_IMAGINED_CURVE_H

#include "lib/session/forecast/imagined_kind.h"

/* What is typical of a kind between the sizes that were seen (see imagined_ns
 * in imagined_kind.h). */

/* The point of the class of a size, or the kind's `count`: there is none. */
size_t imagined_point_of(const struct imagined_kind *kind, double bytes);

/*
 * What a buffer takes in is left to the flush, and from its end on the write
 * waits for that itself. So where writes take much longer at once and their
 * flush the less, it ends half way between the sizes, and both together rise as
 * if there were none.
 */
void imagined_curve_end_buffer(struct imagined_kind *write,
                               struct imagined_kind *flush);

#endif
