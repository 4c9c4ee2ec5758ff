/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_LOG_LIST_H
#define SSDPROBE_PROBES_LOG_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/edge.h"
#include "probes/trial.h"

/*
 * Shared by the files of the log-list probe: writes, their places and their
 * cost (writes); stalls at regular gaps (stalls); logs in any order (settled);
 * the boundaries of blocks, and whether several share a log (blocks); streams,
 * where a flush does not wait (beyond).
 */

enum {
    LOG_PLACES_MAX = 64, /* most places written in turn */
    LOG_RECENT_MAX = 2 * LOG_PLACES_MAX,
    LOG_STEADY_BYTES = 16 * KIB /* length of each unflushed write of
                                   LOG_STEADY */
};

/* Error rate of one claim, over all its parts. */
static const double log_alpha = 1e-4;
/* Highest confidence of a finding that another cause could explain too. */
static const double log_unsure_confidence = 0.9;
static const double log_none_confidence = 0.6;
/* Shortest merge. It erases a block, in 0.7 ms or more, and copies at least 32
 * pages, each in 0.1 ms or more; 2 ms is about half of that sum. */
static const double log_merge_shortest_ns = 2e6;
static const uint64_t log_smallest_bytes = 16 * KIB; /* smallest log block */

/* What a contrast has: the number in its name; where a pair lies, or a block
 * begins; and the length of that, of certificates only. */
enum { LOG_NUMBER, LOG_FROM, LOG_BLOCK };

/* First write to a distant place : a rewrite of it soon after; the same after
 * as many places as there may be log blocks. n[LOG_NUMBER] in a round. */
extern const struct trial_kind log_early, log_fresh;
/* A flush after a write : a flush after nothing; a write without its flush : a
 * read elsewhere; the same of much. n[LOG_FROM] bytes. */
extern const struct trial_kind log_flush, log_read, log_much;
/* Unflushed writes anywhere : the time whose logarithm is predicted. */
extern const struct trial_kind log_steady;

struct log_probe {
    struct study study;
    uint64_t page_bytes; /* length of one write */
    /* Last places written, a ring. New places keep away from these, because a
     * block that still has its log would distort the order in which logs are
     * replaced. */
    uint64_t recent[LOG_RECENT_MAX];
    uint64_t recent_count;
    uint64_t visits_count; /* places taken by log_next_place() so far */
    uint64_t likely_bytes; /* erase unit; 0: unknown */
    uint32_t places_max;
    bool is_wide;   /* places are farther apart, which leaves a smaller
                       choice */
    bool is_unsure; /* the slow writes may wait for something other than a
                       merge */
    /* Distant places that a search wrote in turn last, and the place that it
     * asked about. Their blocks have logs, so the next search step begins with
     * them. */
    uint64_t held[LOG_PLACES_MAX + 1], held_for_bytes;
    uint32_t held_count;
    bool holds;
    bool in_order; /* which blocks have logs, and in which order, is known */
};

/* ---- places ------------------------------------------------------------- */

/* Slots for distant places: slot i begins at first + i * pitch. */
struct log_slots {
    uint64_t pitch_bytes, first_bytes, count;
};

/* Slots with the largest distance that leaves room for so many places. */
struct log_slots log_slots_for(const struct log_probe *state, uint32_t places);

/* Is the region large enough that new places never need a block that may still
 * have a log? Then the writes alone tell which blocks have logs, and in which
 * order they got them. */
bool log_has_choice(const struct log_probe *state);

/*
 * Returns a new place, spread evenly over the region (placing_evenly()): a 64th
 * of the region is visited again only after 34 others. So the block of the
 * place has no log, even if half of all blocks could have one.
 */
uint64_t log_next_place(struct log_probe *state, struct random *random);

void log_remember(struct log_probe *state, uint64_t place);

/* ---- writes ------------------------------------------------------------- */

/* Writes to `places` distant places in turn. `middle`: logarithm, in ns, of the
 * threshold between fast and slow writes, to which the ratio refers. */
struct contrast log_in_turn(uint32_t places, double middle);
/* Writes to `logs` - 1 distant places and a pair of places in turn: one at
 * `offset_bytes`, the other `shift_bytes` behind it. */
struct contrast log_pair_of(uint32_t logs, uint64_t offset_bytes,
                            uint64_t shift_bytes, double middle);

/*
 * Certificate `which`, below LOG_CERTIFICATES, for the length and the phase of
 * a block. The first two write one page in each of adjacent blocks: as many as
 * there are logs (0, must be fast) and one more (1, must be slow). The last two
 * write distant blocks and a pair: the first and the last page of a block (2,
 * fast), or the last page of a block and a page of the next one (3, slow).
 *
 * The first LOG_VOTES_FIRST rounds of 1 and 3 follow directly on those of 0 and
 * 2, whose blocks have logs by then.
 */
enum { LOG_CERTIFICATES = 4, LOG_VOTES_FIRST = 20 };
struct contrast log_certificate(int which, uint32_t logs, uint64_t block_bytes,
                                uint64_t phase_bytes, uint64_t page_bytes,
                                double middle);

/* Writes of a vote: a drive that merges in two banks at once makes every other
 * write wait. */
enum { LOG_VOTE_WRITES = 2 };
/* Votes of one trial: enough to write each place once more, and at least
 * four. */
uint32_t log_votes_of(const struct contrast *contrast);
/* Are the writes of this contrast fast? Decides by a clear majority of votes.
 * After several trials without one, more than 35 % slow votes mean slow, since
 * of two writes in turn one may need only a cheap merge. The result is
 * certified later. */
bool log_is_fast(struct log_probe *state, const char *phase,
                 const struct contrast *contrast);

/* ---- stalls ------------------------------------------------------------- */

enum { LOG_STALL_WRITES = 256, LOG_STALL_ROUNDS_MOST = 32 };
/* Writes to new places: the gap, in writes, between stalls that come at regular
 * gaps. 0: none do, or it is too long to see several. */
double log_stall_gap(struct log_probe *state);

/* ---- without a flush ----------------------------------------------------- */

/* Streams beyond the write buffer: says that nothing is merged, or why that is
 * not known. */
void log_conclude_beyond(struct log_probe *state, struct findings *findings);

/* ---- logs in any order -------------------------------------------------- */

enum { LOG_SETTLED_MOST = 16 };
/* Do so many places in turn wait for no merge after some turns, whichever log
 * is merged next? At most LOG_SETTLED_MOST + 1 places; not certified. */
bool log_is_settled(struct log_probe *state, uint32_t places, double middle);
/* The number of logs, where the next one to be merged does not follow an order;
 * 0: fresh data confirms none, or there are more than LOG_SETTLED_MOST. */
uint32_t log_count_settled(struct log_probe *state, double middle,
                           double *confidence);

/* ---- blocks ------------------------------------------------------------- */

/* Finds and certifies the length and the phase of the blocks, given the number
 * of logs, and adds the findings. `merge`: log ratio of a write with a merge to
 * a fast write. `pass` (0, 1, ...): distinguishes calls with other `logs` or
 * `middle`. Returns false, without findings, when nothing could be
 * certified. */
bool log_conclude(struct log_probe *state, int pass, uint32_t logs,
                  double middle, double merge, struct findings *findings);

#endif
