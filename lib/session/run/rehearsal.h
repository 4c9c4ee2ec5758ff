/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_REHEARSAL_H
#define SSDPROBE_SESSION_REHEARSAL_H

#include "lib/infer/probe.h"
#include "lib/session/forecast/costs.h"
#include "lib/session/run/session.h"

/* What is expected of a probe, and of its first stage alone: all that it asks
 * for before it comes to another phase. */
struct rehearsal {
    struct cost_expectation all, stage;
};

/*
 * Runs the probe on a drive that is imagined from `costs`, without a request to
 * any: what it would ask, and how long that would take, given what is known so
 * far: the middle one of up to three such runs. `most` ends each, as it would
 * end the probe, and so does what is far beyond its usual need: then so much is
 * expected. Where `found` is not NULL (it may be `known`), it runs once, and
 * what it would conclude is added to it. 0 or -ENOMEM.
 */
int rehearse(const struct probe *probe, const struct setting *setting,
             const struct findings *known, const struct costs *costs,
             const struct probe_plan *most, struct rehearsal *expected,
             struct findings *found);

/*
 * The stage that a probe begins whose `state`, which stays as it is, has just
 * asked for `next`: once, by chance of `seed`. `most` is what the probe may
 * still do. It must be one that can be copied. 0 or -ENOMEM.
 */
int rehearse_stage(const struct probe *probe, const void *state,
                   const struct step *next, const struct costs *costs,
                   const struct probe_plan *most, uint64_t seed,
                   struct cost_expectation *expected);

#endif
