/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_LOG_LIST_H
#define SSDPROBE_PROBES_LOG_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/edge.h"

/*
 * What the files of the log-list probe share: the writes that it makes and what
 * they cost (writes), to which places (places), how many of these stay fast
 * (count), and where blocks begin and end (blocks).
 */

enum {
    LOG_PLACES_MAX = 64, /* written in turn, at most */
    LOG_RECENT_MAX = 2 * LOG_PLACES_MAX,
    LOG_STEADY_BYTES = 16 * KIB /* of one of many writes without a flush */
};

/* Error rate of one claim, in all of its parts. */
static const double log_alpha = 1e-4;
/* Of what something else may look like as well. */
static const double log_unsure_confidence = 0.9;
static const uint64_t log_smallest_bytes = 16 * KIB; /* of a block */

enum log_kind {
    LOG_EARLY,  /* a place far off : the same place again, after some others */
    LOG_FRESH,  /* a few of them, after as many as there may be logs */
    LOG_SPREAD, /* places in turn, each far from the others */
    LOG_STRIDE, /* places in turn, one block apart */
    LOG_PAIR,   /* distant places, and two that are shift_bytes apart */
    LOG_FLUSH,  /* a flush after a write : one after nothing */
    LOG_READ,   /* a write, without its flush : a read from elsewhere */
    LOG_STEADY  /* one of many writes anywhere, without a flush : `predicted` */
};

struct log_probe {
    struct study study;
    uint64_t page_bytes; /* of one write */
    /* Where was written last: a block whose log is left from before would
     * outlive its turn, so new places keep away from these. */
    uint64_t recent[LOG_RECENT_MAX];
    uint64_t recent_count;
    uint64_t visits_count; /* of places anywhere, so far */
    uint64_t likely_bytes; /* the erase unit, where it is known; else 0 */
    uint32_t places_max;
    bool is_wide;   /* so far apart that fewer are left to choose from */
    bool is_unsure; /* whether a merge is what the writes wait for */
    /* The places far off that a search wrote in turn last, and the place that
     * it asked about: they have the logs, so what comes next begins with
     * them. */
    uint64_t held[LOG_PLACES_MAX + 1], held_for_bytes;
    uint32_t held_count;
    bool holds;
    bool in_order; /* the logs that are in use, as far as is known */
};

/* ---- places ------------------------------------------------------------- */

/* Places that are far from each other: slot i begins at first + i * pitch. */
struct log_slots {
    uint64_t pitch_bytes, first_bytes, count;
};

/* As far apart as the region allows for so many places. */
struct log_slots log_slots_for(const struct log_probe *state, uint32_t places);

/* Are there so many blocks beside those with logs that which have one, and in
 * which order they got them, follows from the writes? */
bool log_has_choice(const struct log_probe *state);

/*
 * Places all over the region, one after the other, such that the drive is met
 * evenly: a 64th of it is not visited again before 34 others were
 * (placing_evenly). So a place is new to the logs even where logs are for half
 * of all blocks.
 */
uint64_t log_next_place(struct log_probe *state, struct random *random);

/*
 * Those of a contrast other than anywhere: in `trial`, away from what was
 * written last, which log_remember says. Returns how many were written in turn
 * last; where a pair was, all of them: then the blocks of the places far off,
 * and that of the first of the pair, have the logs.
 */
uint32_t log_choose_places(struct log_probe *state,
                           const struct contrast *contrast, uint32_t trial,
                           struct random *random,
                           uint64_t places[LOG_PLACES_MAX + 1]);
/*
 * From the places of a certificate whose blocks have all got their logs to
 * those of one block more, which is last: the others stay in their order. Where
 * some had logs from before, which may be out of turn, all are chosen anew.
 * Returns as above.
 */
uint32_t log_one_block_more(struct log_probe *state,
                            const struct contrast *contrast, uint32_t trial,
                            struct random *random,
                            uint64_t places[LOG_PLACES_MAX + 1]);
void log_remember(struct log_probe *state, uint64_t place);

/* ---- writes ------------------------------------------------------------- */

/* Writes to so many places in turn. But for LOG_EARLY and LOG_FRESH the ratio
 * is to `middle`, the logarithm of the time between fast and slow writes. */
struct contrast log_in_turn(enum log_kind kind, uint32_t places, double middle);
/* `logs` - 1 places far off, and the two at `offset` and `shift` further. */
struct contrast log_pair_of(uint32_t logs, uint64_t offset_bytes,
                            uint64_t shift_bytes, double middle);

/*
 * Certificate `which` of a block's length, of LOG_CERTIFICATES: writes that are
 * fast, at as many blocks as there are logs (0) or at both ends of one (2); and
 * then those to one block more (1, 3), of which the first LOG_VOTES_FIRST
 * rounds come with those of the one before it, whose blocks have their logs
 * then.
 */
enum { LOG_CERTIFICATES = 4, LOG_VOTES_FIRST = 20 };
struct contrast log_certificate(int which, uint32_t logs, uint64_t block_bytes,
                                uint64_t phase_bytes, uint64_t page_bytes,
                                double middle);

/* Of one trial: as many as let each place be written once more, and enough. */
uint32_t log_votes_of(const struct contrast *contrast);
void log_emit(struct study *study, const char *phase,
              const struct contrast *contrast, uint32_t round,
              struct random *random);
bool log_value(const struct study *study, const char *phase,
               const struct contrast *contrast, uint32_t round,
               struct random *random, double *ratio);
/* Of write `index` with its flush, in ns. */
double log_cost(const struct timing rows[], uint32_t index);

/* Are the writes of this contrast fast? By a clear majority, or after some
 * trials by whether many are slow: of two in turn one may be merged for less.
 * What is found is certified later. */
bool log_is_fast(struct log_probe *state, const char *phase,
                 const struct contrast *contrast);

/* ---- count -------------------------------------------------------------- */

/* How many places stay fast in turn; 0: as many as were tried. */
uint32_t log_count(struct log_probe *state, double middle);

/*
 * Where it takes time to go from one log to another, writes to two blocks in
 * turn are slow as well, but less so than a merge. So if those that were called
 * slow cost less than a write to a new place, which waits for a merge, the step
 * above them is looked for. CLAIM_HOLDS: there is one; CLAIM_OPEN: there may
 * be; then `logs` and `middle` are of that. CLAIM_FALLS: there is none.
 */
enum claim log_count_above(struct log_probe *state, double cost_of_new,
                           double *middle, uint32_t *logs);

/*
 * A write to a new place may wait for a merge of another kind than those to a
 * few places in turn, such as of a log that was written twice, or in the same
 * bank. So these writes themselves say where fast ends: those to as many places
 * as seem to have a log, and to one more; or if none of them seem slow, to one
 * place and to as many as were tried.
 */
double log_refine_middle(struct log_probe *state, uint32_t logs, double middle);

/* ---- blocks ------------------------------------------------------------- */

/* So many logs there are, it seems: finds where their blocks begin and how long
 * they are, and says what stands up to fresh data. `merge`: what a merge costs,
 * as the logarithm of its share of a fast write. `pass` (0, 1, ...): how often
 * it was called with other `logs` or another `middle`. False: nothing stands
 * up, and nothing is said. */
bool log_conclude(struct log_probe *state, int pass, uint32_t logs,
                  double middle, double merge, struct findings *findings);

#endif
