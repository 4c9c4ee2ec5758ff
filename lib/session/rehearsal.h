/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_REHEARSAL_H
#define SSDPROBE_SESSION_REHEARSAL_H

#include "lib/infer/probe.h"
#include "lib/session/costs.h"
#include "lib/session/session.h"

/*
 * Runs the probe on a drive that is imagined from `costs`, without a request to
 * any: what it would ask, and how long that would take, given what is known so
 * far: the middle one of up to three such runs. `most` ends each, as it would end
 * the probe, and so does what is far beyond its usual need: then so much is
 * expected. Where `found` is not NULL (it may be `known`), it runs once, and what
 * it would conclude is added to it. 0 or -ENOMEM.
 */
int rehearse(const struct probe *probe, const struct setting *setting,
             const struct findings *known, const struct costs *costs,
             const struct probe_plan *most,
             struct session_expectation *expected, struct findings *found);

#endif
