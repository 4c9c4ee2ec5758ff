/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_ROUNDS_H
#define SSDPROBE_PROBES_ROUNDS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/infer/study.h"

/*
 * Sees to it that the first `rounds` rounds of each cell are measured, where
 * the probe's emit asks for one and its value says whether it is whole: in a
 * fresh random order each round, so that drift meets all alike. Leaves the
 * reasoning until they are. count <= ROUNDS_CELLS_MAX.
 */
enum { ROUNDS_CELLS_MAX = 64 };
void rounds_measure(struct study *study, const char *phase,
                    const struct contrast cells[], size_t count,
                    uint32_t rounds);

#endif
