/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_REHEARSAL_H
#define SSDPROBE_SESSION_REHEARSAL_H

#include "lib/infer/cost.h"
#include "lib/session/forecast/costs.h"

/*
 * Dry run: runs the probe on the imagined drive of `costs` and predicts its
 * requests and their time, given the findings so far. Sends nothing to a
 * device.
 *
 * The dry run ends at `most`, the probe's plan, or far beyond the probe's usual
 * need; the cost up to there is then the result. What it finds is appended to
 * `found`, which may be `known`, or NULL. Returns 0 or -ENOMEM.
 */
int rehearse(const struct probe *probe, const struct setting *setting,
             const struct findings *known, const struct costs *costs,
             const struct probe_plan *most, struct cost_expectation *expected,
             struct findings *found);

#endif
