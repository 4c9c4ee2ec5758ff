/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_SEARCH_H
#define SSDPROBE_TWIN_SEARCH_H

#include "lib/twin/fit.h"

/* The searches of a fit; nobody else includes this. */

/*
 * How banks, stripe and channels make up the page and the block: only times
 * tell, so each geometry is fitted with its own, on few rows. Climbs from
 * `drive` while a neighbour fits better.
 */
int twin_search_geometry(const struct twin_rows *rows, unsigned tries_max,
                         struct drive *drive, struct twin *twin,
                         struct fault *why);

/*
 * Everything else of the structure: coordinate moves over the values of each
 * aspect that the findings leave open, scored with free levels. Notes what was
 * decided, and against which rival.
 */
int twin_search_structure(const struct twin_rows *rows,
                          const struct findings *findings, struct drive *drive,
                          struct twin *twin, struct fault *why);

/*
 * How many requests the drive works on at once, and over how many banks and
 * channels: only requests that were sent together tell. `rows` are those of the
 * probes that sent some. The times stay.
 */
int twin_search_together(const struct twin_rows *rows, struct drive *drive,
                         struct twin *twin, struct fault *why);

#endif
