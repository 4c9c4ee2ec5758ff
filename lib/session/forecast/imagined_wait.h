/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_IMAGINED_WAIT_H
#define SSDPROBE_SESSION_IMAGINED_WAIT_H

#include "lib/session/forecast/imagined_kind.h"

/*
 * The mean time of requests beyond their typical time. It has two parts: delay
 * by other load on the machine, and waits for merges or cleaning, which only a
 * few requests meet.
 */

/* Models a page-mapping drive, which cleans for written data wherever it goes.
 * Makes all kinds of writes wait equally for each page, and all flushes too,
 * from recent measurements. Returns the wait of one written byte, its flush
 * included. */
double imagined_wait_alike(struct imagined_kind kinds[COST_KINDS],
                           const struct costs *costs);

/* Models a drive with log blocks, where a log fills up after a fixed number of
 * bytes. Sizes with few measurements get the mean wait per byte of sequential
 * and nearby writes of other sizes. */
void imagined_wait_logs(struct imagined_kind kinds[COST_KINDS],
                        const struct costs *costs);

/* Mean extra time of a request of `bytes` whose typical time is `usual_ns`. */
double imagined_wait_ns(const struct imagined_kind *kind, double bytes,
                        double usual_ns);

#endif
