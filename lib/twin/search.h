/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_SEARCH_H
#define SSDPROBE_TWIN_SEARCH_H

#include "lib/twin/fit.h"

/* The searches of a fit; nobody else includes this. */

/*
 * The structure that fits best, from `drive` on: geometry, and what the
 * findings leave open, each with times of its own. Ends where no change of one
 * thing or of two fits better, or after so many replays. Its cost is
 * `twin->times.cost`.
 */
int twin_search_climb(const struct twin_rows *rows,
                      const struct findings *findings, size_t replays_max,
                      struct drive *drive, struct twin *twin,
                      struct fault *why);

/*
 * What the rows say of each aspect of a structure that was chosen, scored with
 * free levels: notes what was decided, and against which rival.
 */
int twin_judge_structure(const struct twin_rows *rows,
                         const struct findings *findings, struct twin *twin,
                         struct fault *why);

/*
 * How many logs a drive with logs has, where the findings leave that open, and
 * which is merged first. The times stay.
 */
int twin_search_logs(const struct twin_rows *rows,
                     const struct findings *findings, struct drive *drive,
                     struct fault *why);

#endif
