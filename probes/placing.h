/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_PLACING_H
#define SSDPROBE_PROBES_PLACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/probe.h"
#include "lib/infer/study.h"

/*
 * Where requests go, and how long they are: what several probes share.
 */

/*
 * An offset in the region from which at least `window_bytes` follow, at a
 * multiple of 105 MiB where the region has room (105 = 3 x 5 x 7: aligned for
 * pages and blocks of those factors as well), else of a smaller multiple.
 */
uint64_t placing_base(const struct setting *setting, uint64_t seed,
                      uint64_t window_bytes);

/* Which of `count` places is number `visit` (0, 1, ...) of those that go all
 * over them evenly, with none again soon: the fractional parts of multiples of
 * the golden ratio. */
uint64_t placing_evenly(uint64_t visit, uint64_t count);

/* A small request: 4 KiB, or the logical block where that is longer. */
uint64_t placing_small_bytes(const struct setting *setting);

/* The grain in which sizes are searched: 1 KiB, or the logical block. */
uint64_t placing_grain(const struct setting *setting);

/* How many requests of a size make one cell: `most` small ones, at least
 * `least` large ones, about `total_bytes` in all. */
uint32_t placing_repeats(uint64_t size_bytes, uint32_t least, uint32_t most,
                         uint64_t total_bytes);

/* A step that is measured, labelled "<contrast>-<suffix>". */
struct step placing_step(enum operation operation, uint64_t offset_bytes,
                         uint64_t length_bytes, const char *phase,
                         const struct contrast *contrast, char suffix,
                         uint32_t round);

/* One that only prepares: it has no cell. */
struct step placing_unmeasured(enum operation operation, uint64_t offset_bytes,
                               uint64_t length_bytes, const char *phase,
                               uint32_t round);

/* Asks for a step under this label. */
void placing_ask(struct study *study, struct step step, const char *phase,
                 const char *cell, uint32_t round);

/* Asks for a write and for a flush behind it, under the same label. */
void placing_ask_flushed(struct study *study, const struct step *write);

/* The rows of cell "<contrast>-<suffix>"; NULL unless all `count` are there and
 * none failed. */
const struct timing *placing_rows(const struct study *study, const char *phase,
                                  const struct contrast *contrast, char suffix,
                                  uint32_t round, uint32_t count);

/* What each of them took, in ns; false where there are no rows. */
bool placing_ns(const struct study *study, const char *phase,
                const struct contrast *contrast, char suffix, uint32_t round,
                uint32_t count, double ns[]);

#endif
