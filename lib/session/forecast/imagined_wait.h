/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_IMAGINED_WAIT_H
#define SSDPROBE_SESSION_IMAGINED_WAIT_H

#include "lib/session/forecast/imagined_kind.h"

/*
 * What requests take on average over what is typical of them: they are held up,
 * and wait while blocks are merged or cleaned, which few of them meet.
 */

/* A drive that maps pages cleans for whatever is written, wherever it goes:
 * from now on `kinds` wait alike, for each of their pages, as those did that
 * were seen lately. What one byte written waits, its flush included. */
double imagined_wait_alike(struct imagined_kind kinds[COST_KINDS],
                           const struct costs *costs);

/* On a drive of logs a log is full after so many bytes, whatever their writes
 * were: what little was seen of waits as those of other lengths that go near,
 * or in order. */
void imagined_wait_logs(struct imagined_kind kinds[COST_KINDS],
                        const struct costs *costs);

/* A request that typically takes `usual_ns`. */
double imagined_wait_ns(const struct imagined_kind *kind, double bytes,
                        double usual_ns);

#endif
