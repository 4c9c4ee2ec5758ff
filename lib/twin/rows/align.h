/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_ALIGN_H
#define SSDPROBE_TWIN_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/twin/rows/rows.h"

/*
 * A drive's times come in turns: pages of a cell are programmed at different
 * speeds, and a buffer is emptied when it is full. Where in its turn the drive
 * stood no row tells, least of all after rows that were left out. A candidate
 * with the right times at the wrong turn is no wrong drive.
 *
 * So the predictions of a few requests of one kind that follow each other may
 * change places: the shortest goes to the request that took least. That is done
 * where it explains the group better by more than twin_align_cost for each of
 * its requests. A candidate that has the order right does not pay that.
 */
extern const double twin_align_cost; /* in log likelihood, a request */

/*
 * `from` gets for each row the row whose prediction it has: itself where
 * nothing changed places. `moved` (NULL: not asked for) is whether its group
 * pays. `rows` must have groups: see twin_rows_sort().
 */
void twin_align(const struct twin_rows *rows, const uint32_t predicted_ns[],
                uint32_t from[], bool moved[]);

/* The same, in place: `predicted_ns` are changed. 0 or -ENOMEM. */
int twin_align_times(const struct twin_rows *rows, uint32_t predicted_ns[],
                     bool moved[]);

/* Makes the groups: `groups` and `group_ends` of `rows`, in which the rows of a
 * group are in ascending order of their times. 0 or -ENOMEM. */
int twin_align_group(struct twin_rows *rows);

#endif
