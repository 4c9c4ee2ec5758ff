/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_CONTENT_H
#define SSDPROBE_PROBES_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/study.h"

/*
 * Shared by the files of the content probe: the blocks that it fills and the
 * cost of moving them (blocks), and the search for the smallest part of a block
 * that matters (unit).
 */

enum {
    CONTENT_VOTES = 32, /* comparisons (votes) of the first look */
    CONTENT_VOTES_MAX = 512,
    CONTENT_GROUP = 4, /* votes averaged into one when noise is large */
    CONTENT_KINDS_MAX = 3
};

/* Error rate for stating a difference. */
static const double content_alpha = 1e-4;

enum content_kind {
    CONTENT_MOVED,       /* pages in order, against pages at random */
    CONTENT_MOVED_FRONT, /* first pages of blocks, against last pages */
    CONTENT_ONES_ZEROS,  /* zeros against ones, with random data also
                            measured */
    CONTENT_RANDOM_ONES, /* ones against random data; shares rows with the
                            above */
    CONTENT_ONES_PARTS   /* parts of shift_bytes, shifted by pitch_bytes, :
                            ones */
};

struct content_probe {
    struct study study;
    uint64_t page_bytes, request_bytes;
    uint64_t block_bytes, phase_bytes; /* a block begins at phase_bytes */
    uint64_t written_from_bytes;       /* offset in a block where small
                                          writes begin */
    uint64_t probed_bytes;             /* length of a write of the first look */
    uint32_t logs_count; /* log blocks: a block is merged this many writes
                            later */
    bool logs_found, logs_absent, block_known;
};

/* ---- blocks ------------------------------------------------------------- */

/* Contrast of a kind. The part arguments count for CONTENT_ONES_PARTS only. */
struct contrast content_of(enum content_kind kind, uint64_t part_bytes,
                           uint64_t shift_bytes);

/* Functions of struct study_ops. A round is a vote, except for contrasts of
 * moving; the first round of a trial asks for the whole trial. `repeats` of the
 * contrast: turns of a trial, between which the contents of the blocks rotate.
 * 0: as many turns as contents, so that each block has held each content. */
study_emit content_emit;
study_value content_value;
/* The log ratios of the first `votes` votes, averaged in groups of `group`, at
 * most CONTENT_GROUP. All must be measured, and not of moving. Outliers are
 * clipped to the nearest usual value. votes / group <= STATS_RANKED_MAX. */
void content_group_values(const struct study *study, const char *phase,
                          const struct contrast *contrast, uint32_t votes,
                          uint32_t group, double ratios[]);

/* Log ratio of writes that make the drive move a block to writes that do not.
 * Takes the lower quartile of the former, so at least three quarters of them
 * are that much slower. Sorts both. Returns 0 if either is empty. */
double content_longer(double moving[], size_t moved, double staying[],
                      size_t stayed);
/* content_longer() of the rows of the comparison in `phase`. */
double content_waited(const struct content_probe *state, const char *phase);

/* ---- unit --------------------------------------------------------------- */

/* Searches for the smallest parts whose zeros save time, and certifies them on
 * fresh data; a search that fails is repeated once with a finer threshold.
 * `ones_to_zeros`: log ratio of moving ones to moving zeros. */
enum claim content_find_unit(struct content_probe *state, double ones_to_zeros,
                             uint64_t *unit_bytes, double *confidence);
void content_say_unit(uint64_t unit_bytes, double confidence,
                      struct findings *findings);

#endif
