/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_FLASHBENCH_RULES_H
#define SSDPROBE_INFER_FLASHBENCH_RULES_H

#include "lib/infer/flashbench/flashbench.h"

/* What the rules for flashbench's tables share. */

/* Four planes of the largest pages there were. What shows in requests of this
 * size and more is not about pages. */
#define FLASHBENCH_PAGE_MOST_BYTES UINT64_C(65536)

/* 64 pages of 2 KiB: the smallest erase units there were. */
#define FLASHBENCH_UNIT_LEAST_BYTES UINT64_C(131072)

/* An effect counts when it is at least so many times any other: a reader who
 * sees two alike cannot say which is meant. */
#define FLASHBENCH_DOMINANCE 2.0

/* A claim that holds by chance more often than this is not made. */
#define FLASHBENCH_ERROR_MOST 0.1

/* Few cards have been compared with these rules, so that they may claim to err
 * once in twenty, whatever the rows of one card say; and once in five where the
 * rows show less than the rule asks for. */
#define FLASHBENCH_CONFIDENCE_MOST 0.95
#define FLASHBENCH_CONFIDENCE_WEAK 0.8

/* n over k, as a real number. */
double flashbench_choose(size_t n, size_t k);

/* 1 - error, bounded. */
double flashbench_confidence(double error);

void flashbench_infer_align(const struct flashbench *table, size_t run,
                            struct findings *findings);
void flashbench_infer_open(const struct flashbench *table, size_t run,
                           bool random, struct findings *findings);

#endif
