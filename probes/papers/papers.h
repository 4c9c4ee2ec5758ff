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
 * and what such a reading is worth. Each is a probe of its own, which bears the
 * name of the one that it stands in for under --method=paper. A reading counts
 * when both halves of the measurement lead to it as well; its confidence is
 * never high, for no test could fail it. Sizes shrink only where the region is
 * smaller than the paper's drive.
 */

/* ---- what both papers' procedures stand on (papers.c) ------------------ */

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

/* All of the region in order, once in this phase. Leaves until it is done. */
void paper_fill(struct study *study, const char *phase,
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

/* struct probe's `start` of a procedure whose state is its study. */
int paper_start(const struct probe *probe, const struct study_ops *ops,
                const struct setting *setting, void **state);

/* Defines the `start` of such a procedure, and its `think`. */
#define PAPER_START(procedure)                                                 \
    static int start_##procedure(const struct setting *setting,                \
                                 const struct findings *known, void **state)   \
    {                                                                          \
        static const struct study_ops ops = {.think = think_##procedure};      \
        (void)known;                                                           \
        return paper_start(&paper_##procedure, &ops, setting, state);          \
    }

/* ---- Kim et al. (kim_*.c) ----------------------------------------------- */

/* Procedure 1: sizes in steps of 2 KiB, periodic drops. */
extern const struct probe paper_clustered_page;
/* Procedure 2: sequential against random, sizes that double. */
extern const struct probe paper_clustered_block;
/* Procedure 3: the distribution of page writes over 16 blocks. */
extern const struct probe paper_nand_type;
/* Procedures 4 and 5: a second read against a first, sizes in steps of 1 KiB.
 * Without their fill: who lets a probe read has not let it write. */
extern const struct probe paper_read_buffer;
/* Procedures 6 and 7: a write into an empty and into a full buffer. */
extern const struct probe paper_write_buffer;

/* ---- Sun & Zhang (sun.c, sun_merges.c) ------------------------------- */

/* 3.2: a thousand reads and writes of 4 KiB, at random and in order. */
extern const struct probe paper_basic;
/* 4.1: a thousand random reads by the distance from the one before; then
 * within the groups that this suggests. */
extern const struct probe paper_distance;
/* 4.2: "0" or "1" over "0" or "1", and halves of a block, after fills. */
extern const struct probe paper_content;
/* 3.4 and 4.3: the distance of merges; m writes one such distance apart, twice,
 * for a rising m. */
extern const struct probe paper_log_list;
/* 4.4: requests of 4 KiB to 30 * 4 KiB. */
extern const struct probe paper_large_request;

#endif
