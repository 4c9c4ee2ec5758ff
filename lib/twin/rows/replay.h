/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_REPLAY_H
#define SSDPROBE_TWIN_REPLAY_H

#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/drive/drive.h"
#include "lib/twin/rows/rows.h"

/*
 * What would this drive have answered? Sends the rows of a run, in their order,
 * to the flash model under a candidate drive. The host behaves as it did in the
 * run: it sends each request as long after the event that it followed as it did
 * then, so that a candidate that is slower or faster meets the same depth and
 * the same pauses. Data is not sent: all that is written counts as not zero.
 *
 * The state before the first row is the candidate's (`initial_state`,
 * `initial_phase` and `seed`). Its noise and faults are left out, so that one
 * candidate always gives the same times.
 *
 * To lay out a page map of millions of units takes longer than to answer. Where
 * the rows allow it (`may_fold`), places of such a candidate are folded into a
 * part of it that keeps every usual block's phase, with the same spare area in
 * bytes.
 *
 * `predicted_ns` has one entry for each row; 0 for pauses and for requests that
 * the candidate refused. 0; -EINVAL where the candidate cannot be, -ENOMEM,
 * with a sentence in `why`.
 */
int twin_replay(const struct drive *candidate, const struct twin_rows *rows,
                uint32_t predicted_ns[], struct fault *why);

/* How many steps the model takes for that: pages read, programmed and copied,
 * and some for each request. What a replay costs goes by it, on every machine
 * alike. As above. */
extern const uint64_t twin_steps_a_row;
int twin_replay_work(const struct drive *candidate,
                     const struct twin_rows *rows, uint64_t *steps_count,
                     struct fault *why);

#endif
