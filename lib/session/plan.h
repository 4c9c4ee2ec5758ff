/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_PLAN_H
#define SSDPROBE_SESSION_PLAN_H

#include "lib/session/session.h"

/* Adds the part of a probe that may run, and at most so many times. It is added
 * to the sums if what it is expected to write is left in the budget. Returns the
 * part. */
const struct session_part *plan_add(struct session_plan *plan,
                                    const struct probe *probe,
                                    const struct setting *setting,
                                    uint64_t tries);

/* After the last part: all of them together are stopped at the budget. */
void plan_end(struct session_plan *plan);

/* The part of a probe; one that was not expected to run has one from now. */
struct session_part *plan_find(struct session_plan *plan,
                               const struct probe *probe,
                               const struct setting *setting);

/* The turn of this probe is over, whether it ran or was skipped: nothing is
 * kept for it any longer. */
void plan_pass(struct session_plan *plan, const struct probe *probe);

/*
 * How much of what is left of the budget the running part may write: no more
 * than its plan allows; while others are to come that write, half, or what is
 * over when they have twice of what they expect; but what it expects itself, if
 * that fits. So one that meets a hard drive does not leave the
 * others without an answer.
 */
uint64_t plan_allowance(const struct session_plan *plan,
                        const struct session_part *running,
                        uint64_t left_bytes);

#endif
