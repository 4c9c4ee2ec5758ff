/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_CONTENT_H
#define SSDPROBE_PROBES_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/study.h"

/*
 * What the files of the content probe share: the blocks that it fills and what
 * it costs to move them (blocks), and the smallest part that matters (unit).
 */

enum {
    CONTENT_VOTES = 32, /* comparisons in the first trial */
    CONTENT_VOTES_MAX = 512,
    CONTENT_GROUP = 4, /* of these count as one where noise is large */
    CONTENT_KINDS_MAX = 3
};

/* Error rate of a difference. */
static const double content_alpha = 1e-4;

enum content_kind {
    CONTENT_MOVED,       /* pages in order : pages at random */
    CONTENT_MOVED_FRONT, /* first pages of blocks : last pages */
    CONTENT_ONES_ZEROS,  /* zeros : ones; and the same for random data, */
    CONTENT_RANDOM_ONES, /* ones : random; these two share their rows */
    CONTENT_ONES_PARTS   /* parts of shift_bytes, pitch_bytes shifted : ones */
};

struct content_probe {
    struct study study;
    uint64_t page_bytes, request_bytes;
    uint64_t block_bytes, phase_bytes; /* a block begins at the phase */
    uint64_t written_from_bytes;       /* of a block, by the small writes */
    uint64_t probed_bytes;             /* of a write of the first look */
    uint32_t logs_count; /* writes until a block's turn is merged */
    bool logs_found, logs_absent, block_known;
};

/* ---- blocks ------------------------------------------------------------- */

/* The parts: of CONTENT_ONES_PARTS only. */
struct contrast content_of(enum content_kind kind, uint64_t part_bytes,
                           uint64_t shift_bytes);

/* Is it one of the two that tell whether writes make the drive move
 * anything? */
bool content_is_of_moving(const struct contrast *contrast);

/* Rounds are votes, but of those of moving: the first of a trial asks for all
 * of it. `repeats` of the contrast: turns of a trial, in which the contents of
 * the blocks move on; 0: as many as contents, so that each block has held
 * each. */
void content_emit(struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random);
bool content_value(const struct study *study, const char *phase,
                   const struct contrast *contrast, uint32_t round,
                   struct random *random, double *ratio);
/* The ratios of so many votes, all of them measured and not of moving: one
 * of each `group`, at most CONTENT_GROUP. Costs that lie far out are taken as
 * the next ones that do not. At most STATS_RANKED_MAX of them. */
void content_group_values(const struct study *study, const char *phase,
                          const struct contrast *contrast, uint32_t votes,
                          uint32_t group, double ratios[]);

/* How much longer writes take, with their flush, for which a block is to be
 * moved than those for which none is, as a logarithm: three quarters of them at
 * least. Sorts both. 0: there are none of one kind. */
double content_longer(double moving[], size_t moved, double staying[],
                      size_t stayed);
/* The same of the comparison of contents in `phase`. */
double content_waited(const struct content_probe *state, const char *phase);

/* ---- unit --------------------------------------------------------------- */

/* The smallest parts that save anything and stand up to fresh data; a search
 * that was led astray is made again, and closer. `ones_to_zeros`: the log ratio
 * of what it costs to move them. */
enum claim content_find_unit(struct content_probe *state, double ones_to_zeros,
                             uint64_t *unit_bytes, double *confidence);
void content_say_unit(uint64_t unit_bytes, double confidence,
                      struct findings *findings);

#endif
