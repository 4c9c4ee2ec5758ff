/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_RUN_COST_H
#define SSDPROBE_CMD_SSDPROBE_RUN_COST_H

#include "cmd/ssdprobe/run/run.h"

/* The session's plan becomes the report's. */
void run_read_plan(struct run *run);

/* What the run took, beside what was expected of it. */
void run_read_cost(struct run *run, uint64_t wall_ns);

/* After the pilot: what it shows that the run will cost. */
void run_say_foreseen(const struct run *run);

/* A run of which nothing fits in the budget is refused before it begins. 0, or
 * -EDQUOT with run->why. */
int run_check_budget(struct run *run);

#endif
