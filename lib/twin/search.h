/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_SEARCH_H
#define SSDPROBE_TWIN_SEARCH_H

#include "lib/twin/fit.h"

/* The two searches of a fit; nobody else includes this. */

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

#endif
