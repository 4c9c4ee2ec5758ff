/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_PLAN_H
#define SSDPROBE_SESSION_PLAN_H

#include "lib/session/run/session.h"

/* Adds the part of a probe to the plan and returns it. Its cost is added to the
 * sums, `tries` times for the maxima, if its expected writes fit in the budget
 * that is left. */
const struct cost_part *plan_add(struct cost_plan *plan,
                                 const struct probe *probe,
                                 const struct setting *setting, uint64_t tries);

/* Call it after the last part: limits the total of the maxima to the budget. */
void plan_end(struct cost_plan *plan);

/* Returns the part of a probe, and makes one if the plan has none. */
struct cost_part *plan_find(struct cost_plan *plan, const struct probe *probe,
                            const struct setting *setting);

/* Call it when a probe has run or was skipped: no budget is reserved for it any
 * longer. */
void plan_pass(struct cost_plan *plan, const struct probe *probe);

/* Bytes that the running part may write, of the budget that is left: what it
 * needs to begin, and its share of what the parts to come do not need for that
 * (struct probe: budget_share); at most its plan. What it leaves goes to the
 * others. What prepares or surveys may take all. */
uint64_t plan_allowance(const struct cost_plan *plan,
                        const struct cost_part *running, uint64_t left_bytes);

#endif
