/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_REHEARSAL_H
#define SSDPROBE_SESSION_REHEARSAL_H

#include "lib/infer/probe.h"
#include "lib/session/forecast/costs.h"
#include "lib/session/run/session.h"

/* Expected cost of a probe, and of its first stage alone. A stage ends where
 * the probe asks for a step with another phase label. */
struct rehearsal {
    struct cost_expectation all, stage;
};

/*
 * Dry run: runs the probe on the imagined drive of `costs` and predicts its
 * requests and their time, given the findings so far. Sends nothing to a
 * device.
 *
 * The result is the median of up to three dry runs. A dry run ends at `most`,
 * the probe's plan, or far beyond the probe's usual need; the cost up to there
 * is then the result. If `found` is not NULL, there is one dry run and its
 * findings are appended to `found`, which may be `known`. Returns 0 or -ENOMEM.
 */
int rehearse(const struct probe *probe, const struct setting *setting,
             const struct findings *known, const struct costs *costs,
             const struct probe_plan *most, struct rehearsal *expected,
             struct findings *found);

/*
 * Dry run of one stage, from the middle of a probe. `state` has just asked for
 * `next` and is not changed; the probe must have a `copy` function. `most` is
 * what the probe may still do. One dry run, with random numbers from `seed`.
 * Returns 0 or -ENOMEM.
 */
int rehearse_stage(const struct probe *probe, const void *state,
                   const struct step *next, const struct costs *costs,
                   const struct probe_plan *most, uint64_t seed,
                   struct cost_expectation *expected);

#endif
