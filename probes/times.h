/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_TIMES_H
#define SSDPROBE_PROBES_TIMES_H

#include <stdbool.h>

#include "lib/infer/statistics/stats.h"
#include "lib/infer/study.h"

/*
 * How surely a time is the drive's, of which single requests vary by `spread`
 * (a share of it, as a standard deviation). Its interval knows of chance only:
 * drift, throttling and other load move all times together, for longer than a
 * probe lasts, and a drive on which single times vary much has much of those.
 * So it is certain where they hardly vary (0.99), likely where they vary more
 * (0.8: so often it was right on drives made at random), and where they vary by
 * a fifth and more it is no number: 0.
 */
double times_confidence(double spread);

/* Most confidence of a time that a model makes of others: a line through sizes,
 * a difference of two kinds of requests, one number for all flushes. The
 * requests are measured, and that the drive follows the model is not. */
static const double times_model_confidence = 0.95;

/* Of slow drift, of a minute or so, a shorter measurement sees a part only:
 * where times vary much, it lasts as long as this. */
static const double times_drift_ns = 120e9;

/* Do single requests vary so little that nothing else is to be expected? */
bool times_quiet(double spread);

/* Does the interval reach no farther than this share of `value` on each
 * side? */
bool times_narrow(const struct interval *interval, double value, double share);

/* States the median of what single requests took, or why there is no one time.
 * `what` they are: "discards of 1 MiB each". Changes `ns`. */
void times_say(const struct study *study, struct finding *finding,
               const char *what, double ns[], size_t count);

/* The mean of values, which it sorts, without 3 of 16 at each end: pages
 * differ in what they take, so that the median may be that of either kind. */
double times_middle(double values[], size_t count);

#endif
