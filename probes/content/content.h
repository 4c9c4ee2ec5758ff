/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_CONTENT_H
#define SSDPROBE_PROBES_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/study.h"
#include "probes/trial.h"

/* The blocks that the content probe fills, and the cost of moving them
 * (blocks); streams, where a flush does not wait (beyond). */

enum {
    CONTENT_VOTES = 32, /* comparisons (votes) of the first look */
    CONTENT_VOTES_MAX = 512,
    CONTENT_GROUP = 4, /* votes averaged into one when noise is large */
    CONTENT_KINDS_MAX = 3
};

/* Error rate for stating a difference. */
static const double content_alpha = 1e-4;

/* Pages in order, against pages at random; first pages of blocks, against last
 * pages. n[0]: the page. */
extern const struct trial_kind content_moved, content_moved_front;
/* Zeros against ones, with random data also measured; ones against random data,
 * of the same rows; and parts of n[0], shifted by n[1], against ones. A round
 * of these is a vote; the first one of a trial asks for the whole trial. n[2]:
 * turns of a trial, between which the contents of the blocks rotate. 0: as many
 * as contents, so that each block has held each content. */
extern const struct trial_kind content_ones_zeros, content_random_ones,
    content_ones_parts;

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
    uint32_t stream_writes; /* to as many places log-list wrote, beyond the
                               buffer where a flush does not wait */
};

/* ---- blocks ------------------------------------------------------------- */

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

/* ---- without a flush ----------------------------------------------------- */

/* Streams beyond the write buffer of each content: says whether they differ. */
void content_conclude_beyond(struct content_probe *state,
                             struct findings *findings);

#endif
