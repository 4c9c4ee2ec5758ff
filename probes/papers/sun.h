/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_PAPER_SUN_H
#define SSDPROBE_PROBES_PAPER_SUN_H

#include "probes/papers/papers.h"

/* Common to the benchmarks of Sun & Zhang: requests of one block of 4 KiB, and
 * times in milliseconds. */
extern const uint64_t paper_block_bytes;

/* A random block of the region. */
uint64_t paper_random_block(const struct study *study, struct random *random);

/* Asks for a request of one block with that content. part_bytes: for
 * CONTENT_STRIPES only. */
void paper_ask_block(struct study *study, enum operation operation,
                     uint64_t place, enum step_content content,
                     uint64_t part_bytes, const char *phase, const char *cell);

void paper_take_ms(const struct timing rows[], size_t count, double ms[]);

#endif
