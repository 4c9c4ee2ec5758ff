/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_PAPER_H
#define SSDPROBE_PROBES_PAPER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/infer/probe.h"
#include "lib/infer/study.h"

/*
 * The papers by the letter: their procedures with their parameters, fills
 * included, and concluded as a reader of their figures would: to compare costs,
 * and what such a reading is worth. Each is the `think` of its probe under
 * --method=paper. A reading counts when both halves of the measurement lead to
 * it as well; its confidence is never high, for no test could fail it. Sizes
 * shrink only where the region is smaller than the paper's drive.
 */

/* ---- what both papers' procedures stand on (paper.c) ------------------- */

/* Of a reading that both halves share; nothing ever tried to refute it. */
extern const double paper_confidence;
extern const char paper_halves_disagree[];

/* Of a measurement; so much of it is read at a time. */
enum paper_half { PAPER_WHOLE, PAPER_EVEN, PAPER_ODD };

static inline bool paper_in_half(enum paper_half half, uint32_t i)
{
    return half == PAPER_WHOLE || (i % 2 == 0) == (half == PAPER_EVEN);
}

struct step paper_step(enum operation operation, uint64_t offset_bytes,
                       uint64_t length_bytes);
/* Asks for a step of that phase and cell, round 0. */
void paper_ask(struct study *study, struct step step, const char *phase,
               const char *cell);
void paper_ask_flush(struct study *study, const char *phase, const char *cell);

/* An offset of the paper's drive in this region: its end comes round again. */
uint64_t paper_at(const struct study *study, uint64_t offset_bytes,
                  uint64_t length_bytes);

/* All of the region in order. True when it was done in this phase. */
bool paper_filled(struct study *study, const char *phase,
                  enum step_content content);

/* The rows of a cell; NULL unless there are `count` and none failed. */
const struct timing *paper_rows(const struct study *study, const char *phase,
                                const char *cell, uint64_t count);

struct finding *paper_add(const struct study *study, struct findings *findings,
                          const char *parameter);
struct finding *paper_say_size(const struct study *study,
                               struct findings *findings, const char *parameter,
                               uint64_t bytes);
void paper_say_open(const struct study *study, struct findings *findings,
                    const char *parameter, const char *reason);

/* ---- Kim et al. (paper_kim_*.c) ----------------------------------------- */

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

/* ---- Sun & Zhang (paper_sun.c, paper_sun_merges.c) --------------------- */

/* 3.2: a thousand reads and writes of 4 KiB, at random and in order. */
bool paper_basic(struct study *study, struct findings *findings);
void paper_basic_plan(struct probe_plan *plan);

/* 4.1: a thousand random reads by the distance from the one before; then
 * within the groups that this suggests. */
bool paper_distance(struct study *study, struct findings *findings);
void paper_distance_plan(struct probe_plan *plan);

/* 4.2: "0" or "1" over "0" or "1", and halves of a block, after fills. */
bool paper_content(struct study *study, struct findings *findings);
void paper_content_plan(const struct setting *setting, struct probe_plan *plan);

/* 3.4 and 4.3: the distance of merges; m writes one such distance apart, twice,
 * for a rising m. */
bool paper_log_list(struct study *study, struct findings *findings);
void paper_log_list_plan(struct probe_plan *plan);

/* 4.4: requests of 4 KiB to 30 * 4 KiB. */
bool paper_large_request(struct study *study, struct findings *findings);
void paper_large_request_plan(struct probe_plan *plan);

#endif
