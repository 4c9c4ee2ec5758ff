/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_JOINT_H
#define SSDPROBE_TWIN_JOINT_H

#include "lib/infer/finding.h"
#include "lib/twin/check.h"

/*
 * What the twin does to the findings of its run. One that it contradicts states
 * at most twin_contradicted_most, and says by what. What the probes left open,
 * and one value explains better than all others, is found with
 * twin_decided_most. Only sizes and kinds of which every usual value was tried
 * are decided so: a buffer may have any size. A twin that does not explain the
 * drive does nothing. No finding gains confidence.
 */
extern const double twin_contradicted_most, twin_decided_most;

void twin_join(const struct twin *twin, const struct twin_check *check,
               struct findings *findings);

#endif
