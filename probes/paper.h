/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_PAPER_H
#define SSDPROBE_PROBES_PAPER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/infer/probe.h"
#include "lib/infer/study.h"

/*
 * Kim et al. by the letter: their procedures 1 to 7 with their parameters,
 * fills included, and concluded as a reader of their figures would: to compare
 * costs, and what such a reading is worth. Each is the `think` of its probe
 * under --method=paper. A reading counts when both halves of the measurement
 * lead to it as well; its confidence is never high, for no test could fail it.
 * Sizes shrink only where the region is smaller than the paper's drive.
 */

/* Procedure 1: sizes in steps of 2 KiB, periodic drops. */
bool paper_clustered_page(struct study *study, struct findings *findings);
void paper_clustered_page_plan(const struct setting *setting,
                               struct probe_plan *plan);

/* Procedure 2: sequential against random, sizes that double. */
bool paper_clustered_block(struct study *study, uint64_t page_bytes,
                           struct findings *findings);
void paper_clustered_block_plan(const struct setting *setting,
                                struct probe_plan *plan);

/* Procedure 3: the distribution of page writes over 16 blocks. */
bool paper_nand_type(struct study *study, uint64_t page_bytes,
                     uint64_t block_bytes, struct findings *findings);
void paper_nand_type_plan(const struct setting *setting,
                          struct probe_plan *plan);

/* Procedures 4 and 5: a second read against a first, sizes in steps of 1 KiB.
 * Without their fill: who lets a probe read has not let it write. */
bool paper_read_buffer(struct study *study, struct findings *findings);
void paper_read_buffer_plan(struct probe_plan *plan);

/* Procedures 6 and 7: a write into an empty and into a full buffer. */
bool paper_write_buffer(struct study *study, struct findings *findings);
void paper_write_buffer_plan(const struct setting *setting,
                             struct probe_plan *plan);

#endif
