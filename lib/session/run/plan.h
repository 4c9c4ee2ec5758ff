/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_PLAN_H
#define SSDPROBE_SESSION_PLAN_H

#include "lib/session/run/session.h"

/* Adds the part of a probe that may run, and at most so many times. It is added
 * to the sums if what it is expected to write is left in the budget. Returns
 * the part. */
const struct cost_part *plan_add(struct cost_plan *plan,
                                 const struct probe *probe,
                                 const struct setting *setting, uint64_t tries);

/* After the last part: all of them together are stopped at the budget. */
void plan_end(struct cost_plan *plan);

/* The part of a probe; one that was not expected to run has one from now. */
struct cost_part *plan_find(struct cost_plan *plan, const struct probe *probe,
                            const struct setting *setting);

/* The turn of this probe is over, whether it ran or was skipped: nothing is
 * kept for it any longer. */
void plan_pass(struct cost_plan *plan, const struct probe *probe);

/* May what is left of the budget not be enough for all that is still to come,
 * as much as each may write at most? */
bool plan_is_tight(const struct cost_plan *plan, uint64_t left_bytes);

/*
 * How much of what is left of the budget the running part may write: no more
 * than its plan allows, and what is over when each of those still to come has
 * its share. That is what it is to write, which it needs to begin, and as much
 * again where that is expected of it; of the second the running one takes what
 * it expects itself. So one that meets a hard drive leaves no other without an
 * answer, and what it leaves is the others'.
 */
uint64_t plan_allowance(const struct cost_plan *plan,
                        const struct cost_part *running, uint64_t left_bytes);

#endif
