/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_PAPER_H
#define SSDPROBE_PROBES_PAPER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/infer/probe.h"
#include "lib/infer/study.h"

/*
 * The papers' procedures to the letter, with their parameters and fills, and
 * concluded as a reader of their figures would conclude. They serve to compare
 * costs, and to see what such a reading is worth.
 *
 * Each procedure is a probe with the name of the one that it replaces under
 * --method=paper. A reading counts only if both halves of the measurement
 * agree. Its confidence is never high, because the procedure has no test that
 * could refute it. Sizes shrink only if the region is smaller than the paper's
 * drive.
 */

/* ---- what both papers' procedures stand on (papers.c) ------------------ */

/* Confidence of a reading on which both halves agree; nothing tried to refute
 * it. */
extern const double paper_confidence;
extern const char paper_halves_disagree[];

/* The part of a measurement that is read: all, even or odd iterations. */
enum paper_half { PAPER_WHOLE, PAPER_EVEN, PAPER_ODD };

static inline bool paper_in_half(enum paper_half half, uint32_t i)
{
    return half == PAPER_WHOLE || (i % 2 == 0) == (half == PAPER_EVEN);
}

struct step paper_step(enum operation operation, uint64_t offset_bytes,
                       uint64_t length_bytes);
/* Asks for a step with this phase and cell, in round 0. */
void paper_ask(struct study *study, struct step step, const char *phase,
               const char *cell);
void paper_ask_flush(struct study *study, const char *phase, const char *cell);

/* Maps an offset on the paper's drive into the region, modulo its length. */
uint64_t paper_at(const struct study *study, uint64_t offset_bytes,
                  uint64_t length_bytes);

/* Writes the whole region in order, once per phase. Leaves until it is done. */
void paper_fill(struct study *study, const char *phase,
                enum step_content content);

/* The rows of a cell; NULL unless it has `count` rows and none failed. */
const struct timing *paper_rows(const struct study *study, const char *phase,
                                const char *cell, uint64_t count);

struct finding *paper_add(const struct study *study, struct findings *findings,
                          const char *parameter);
struct finding *paper_say_size(const struct study *study,
                               struct findings *findings, const char *parameter,
                               uint64_t bytes);

/* ---- Kim et al. (kim_*.c) ----------------------------------------------- */

/* Procedure 1: sizes in steps of 2 KiB, periodic drops. */
extern const struct probe paper_clustered_page;
/* Procedure 2: sequential against random, sizes that double. */
extern const struct probe paper_clustered_block;
/* Procedure 3: the distribution of page writes over 16 blocks. */
extern const struct probe paper_nand_type;
/* Procedures 4 and 5: a second read against a first, sizes in steps of 1 KiB.
 * Without the paper's fill, because the user allowed only reads. */
extern const struct probe paper_read_buffer;
/* Procedures 6 and 7: a write into an empty buffer and into a full one. */
extern const struct probe paper_write_buffer;

/* ---- Sun & Zhang (sun.c, sun_merges.c) ------------------------------- */

/* 3.2: a thousand reads and writes of 4 KiB, at random and in order. */
extern const struct probe paper_basic;
/* 4.1: a thousand random reads, by the distance from the previous one; then
 * within the groups that they suggest. */
extern const struct probe paper_distance;
/* 4.2: "0" or "1" over "0" or "1", and halves of a block, after fills. */
extern const struct probe paper_content;
/* 3.4 and 4.3: the distance between merges; then m writes at that distance,
 * twice, for increasing m. */
extern const struct probe paper_log_list;
/* 4.4: requests of 4 KiB to 30 * 4 KiB, and the same blocks one by one. */
extern const struct probe paper_large_request;

#endif
