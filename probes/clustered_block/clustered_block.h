/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_CLUSTERED_BLOCK_H
#define SSDPROBE_PROBES_CLUSTERED_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/period.h"
#include "lib/infer/study.h"

/*
 * What the files of the clustered-block probe share: slow writes at a distance
 * (walk), whether they come after a pause as well (pauses) and which of those
 * of a cache begin a block (folds), what random writes cost beside sequential
 * ones (gaps), where what a small write costs begins again (borders), what all
 * that says together (conclude) and in which words (say).
 */

enum { BLOCK_GAPS_MAX = 8 };

enum block_kind {
    BLOCK_GAP,
    BLOCK_PLACES, /* a small write at one place, against one at another */
    BLOCK_BORDER  /* just behind a border, against just before it */
};

/* What a search of a walk's first writes found: they stay as they are, and
 * searching takes long. */
struct block_search {
    uint64_t key; /* of the walk and of what was searched */
    int error;    /* of period_search() */
    struct period_rule rule;
    struct period period;
};

enum { BLOCK_SEARCHES_MAX = 128 };

struct block_probe {
    struct study study;
    uint64_t page_bytes; /* where it is known; else 0 */
    uint64_t base_bytes, room_bytes;
    double page_confidence;
    bool page_is_absent;      /* as far as it was looked for */
    uint64_t log_block_bytes; /* where it is known; else 0 */
    double log_block_confidence;
    bool log_list_is_absent; /* as far as it was looked for */
    /* How much was walked so far to see hidden logs: in order, and anywhere. */
    size_t hidden_chunks[2];
    struct block_search searches[BLOCK_SEARCHES_MAX];
    size_t searches_count;
};

/* ---- walk -------------------------------------------------------------- */

struct block_spikes {
    bool found, scattered;
    struct period_rule rule;
    struct period period;
    uint64_t write_bytes; /* of the walk */
    uint64_t block_bytes;
    uint64_t phase_bytes; /* of the first slow write, of those in order */
    double write_ns;      /* what a write took without its flush, as most did */
};

/* Which writes a walk makes. */
struct block_course {
    int number; /* its own */
    uint64_t write_bytes;
    /* Anywhere in the region, and not in order: what maps pages fills a block
     * with any of them, and what is cleaned for the next one then always has
     * pages that are still valid. */
    bool scattered;
    /* Then at no place again soon: what is written again while a cache has it
     * is not copied. */
    bool evenly;
    /* Then at so much behind multiples of a pitch; 0: at multiples of
     * write_bytes. */
    uint64_t pitch_bytes, shift_bytes;
    /* In order, a pitch apart, but of each two the second comes first: no log
     * that takes them is a block by itself, so that it must be copied. */
    bool by_twos;
    uint64_t skip_bytes; /* those in order begin so far behind the base */
    uint64_t most_bytes;
    size_t most_writes;
    /* Before each leg but the first the drive is left alone; 0: one leg. */
    size_t leg_chunks;
    uint64_t pause_ns;
    bool begins_paused; /* before the first leg as well */
};

enum { BLOCK_CHUNK_WRITES = 256 }; /* of a walk, under one label */

/* Does one write at a distance of its own take longer? True with `*spikes`. */
bool block_walk(struct block_probe *state, const struct block_course *course,
                struct block_spikes *spikes);

/* What the writes of a walk cost with their flushes, as logarithms, and what
 * that is above their neighbours: of study_alloc(). */
struct block_costs {
    const double *values, *residuals;
    size_t count;
};

/* Of the first `chunks` of a walk. Those in order are behind what walks that
 * look for a distance write. */
struct block_costs block_walk_costs(struct block_probe *state,
                                    const struct block_course *course,
                                    size_t chunks,
                                    const struct period_rule *rule);

/* Of one walk in pieces that are no page. */
static const uint64_t block_piece_bytes = 512 * MIB;
static const size_t block_piece_writes = 16384;

/* What is written to use up the spare area, at most. */
uint64_t block_fill_bytes(const struct setting *setting);
/* Writes it, in requests of a multiple of `unit_bytes`. */
void block_fill(struct block_probe *state, uint64_t unit_bytes);

/* ---- pauses ------------------------------------------------------------ */

enum { BLOCK_PAUSES_COUNT = 4 }; /* in a walk, at the most */
/* Drives begin to make room after tenths of a second to a few. */
static const uint64_t block_pause_ns = UINT64_C(10000000000);

/* What becomes of slow writes at a distance when the drive is left alone. */
enum block_pauses {
    BLOCK_PAUSES_MORE,   /* one is not enough */
    BLOCK_PAUSES_UNTOLD, /* there are none at present */
    BLOCK_PAUSES_SAME,   /* they come as before */
    BLOCK_PAUSES_PASSED, /* none for a while, and what is written is faster */
    BLOCK_PAUSES_ROOM    /* none for a while, and all else is as before */
};

/*
 * Of a walk in `legs_count` legs (two, or one more than there are pauses at the
 * most) of `leg_writes` writes each: what each cost, as logarithms, and what
 * that is above its neighbours. Of `spikes` the period and the rule count.
 * `*quiet`: the most writes between a pause and the next slow one; as it was
 * where there are none before the first.
 */
enum block_pauses block_judge_pauses(const double values[],
                                     const double residuals[],
                                     size_t leg_writes, size_t legs_count,
                                     const struct block_spikes *spikes,
                                     size_t *quiet);

/* Slow writes at a distance, and what that says. */
struct block_distance {
    const struct block_spikes *spikes;
    uint64_t pitch_bytes; /* at which each such write uses up what it should */
    uint64_t block_bytes; /* were they those of a block */
    double confidence;    /* of all that it rests on */
};

/* ---- folds ------------------------------------------------------------- */

/* The slow writes of a walk, in their order. */
struct block_copies {
    const double *residuals; /* of all writes; log cost */
    size_t first, length, count;
};

/* Where most are slow, of what comes from the middle of the walk on; and from
 * where on, for a cache takes some before it is full. None: a count of 0. */
struct block_copies block_copies_of(const double residuals[], size_t count,
                                    size_t length, double threshold);

/* Cells have two to four bits, and a part of a block may be left over. */
enum { BLOCK_COPIES_MAX = 8 };

struct block_folds {
    size_t units;        /* of a block */
    size_t hits, trials; /* of copies with which a block begins, those slower */
    size_t elsewhere;    /* slower as well */
    double excess;       /* of those above the others; log cost */
};

/*
 * Of a walk with slow writes `length` apart, at least from its middle on, each
 * of which copies `copied` units: which number of units from one of those that
 * are slower still to the next explains them all? HOLDS with `*folds`: one
 * alone. OPEN: more writes may tell. `scratch`: room for BLOCK_COPIES_MAX *
 * `copied`.
 */
enum claim block_judge_folds(const double residuals[], size_t count,
                             size_t length, size_t copied, double threshold,
                             uint32_t scratch[][2], struct block_folds *folds);

/* How much of what a cache in front copies fills a block behind it? */
bool block_find_folds(struct block_probe *state,
                      const struct block_distance *distance,
                      struct block_folds *folds);
/* The same in writes anywhere, for a drive that has no logs to merge. */
bool block_find_folds_anywhere(struct block_probe *state,
                               const struct block_distance *distance,
                               struct block_folds *folds);

/* What was found of a cache of flash in front. HOLDS: slow writes at a distance
 * stay away for a while after the drive was left alone, for such a cache has
 * them. FALLS: they come as before. OPEN: there are none at present, or such a
 * cache lets writes pass once it is full. The rest is known where it holds. */
struct block_cache {
    enum claim claim;
    uint64_t quiet_bytes; /* for so long they stay away */
    bool may_hide_logs;
    bool is_seen_through; /* the block behind it is known */
    struct block_folds folds;
};

struct block_cache block_look_at_cache(struct block_probe *state,
                                       const struct block_distance *distance);

/* ---- hidden logs ------------------------------------------------------- */

/* What such a cache copies at once, behind a pause. */
struct block_copying {
    double ns;           /* that it takes, by the median */
    size_t quiet_writes; /* before the first */
};

/* False: there are too few copies, or the cache was not full by the middle of
 * the walk. */
bool block_judge_copies(const struct block_costs *costs,
                        const struct block_spikes *spikes,
                        struct block_copying *copying);

/* Does one write of a walk anywhere take so much longer than the copies of one
 * in order that no more are needed? */
bool block_merges_for_sure(const struct block_costs *costs,
                           const struct block_copying *in_order);

/* Walks in order and anywhere, the latter after twice the pause. True: log
 * blocks may sit behind the cache, because its copies take longer in the
 * walk anywhere, or because the cache was not empty at the start of both
 * walks. It copies `length` writes at once. */
bool block_judge_hidden(const struct block_copying *in_order,
                        const struct block_copying *anywhere, size_t length);

/* May logs be behind the cache that these slow writes are of? */
bool block_may_hide_logs(struct block_probe *state,
                         const struct block_spikes *spikes);

/* ---- gaps -------------------------------------------------------------- */

/* A gap of 6 % between random and sequential writes matters. */
static const double block_gap_least = 0.06;

struct block_verdict {
    enum claim claim;
    double effect, confidence; /* of the open gap nearest to the block */
    const struct contrast *culprit;
    struct contrast contrasts[BLOCK_GAPS_MAX];
    size_t count;
};

/* A block as it is supposed to be: one begins at the phase. */
struct block_guess {
    uint64_t page_bytes, block_bytes, phase_bytes;
};

/* Random writes of a size against sequential ones, at multiples of it from
 * where a block begins. */
struct contrast block_gap(uint64_t size_bytes, const struct block_guess *guess,
                          enum side expected);
/* What struct study_ops asks for, of BLOCK_GAP. */
void block_emit_gap(struct study *study, const char *phase,
                    const struct contrast *contrast, uint32_t round,
                    struct random *random);
bool block_value_gap(const struct study *study, const char *phase,
                     const struct contrast *contrast, uint32_t round,
                     double *ratio);

/* Is there room for runs of whole blocks at random places? */
bool block_has_ground(const struct block_probe *state,
                      const struct block_guess *guess);

/*
 * Is `block` the unit? Random writes of it cost no more than sequential ones
 * (the unit divides it), random writes of block / q do, for each prime q (it is
 * no smaller part).
 */
enum claim block_certify(struct block_probe *state,
                         const struct block_guess *guess,
                         struct block_verdict *verdict);

/* Do random writes of a part of it cost more than sequential ones at all? Not
 * of too small a part: runs must cover the pattern of fast and slow pages. */
enum side block_any_gap(struct block_probe *state,
                        const struct block_guess *guess);

/* ---- pieces ------------------------------------------------------------ */

/* A walk in pieces that showed a distance. */
struct block_walked {
    uint64_t piece_bytes;
    struct block_spikes spikes;
};

enum { BLOCK_WALKED_MAX = 32 };

/* Walks in pieces of several lengths, and what explains their distances. */
struct block_pieces {
    bool scattered; /* of the caller */
    struct block_walked walked[BLOCK_WALKED_MAX];
    size_t count;
    bool crossed; /* pieces across two pages told how long one is */
    bool missed;  /* pieces showed no distance, and shorter ones did */
    uint64_t page_bytes, block_bytes;
};

/*
 * CLAIM_HOLDS with `*pieces`: a block explains at which distances pieces of
 * several lengths are slow to write. Its page is known then as well, or 0: all
 * were whole pages.
 */
enum claim block_compare_pieces(struct block_probe *state,
                                struct block_pieces *pieces);
/*
 * The same in pieces that divide a page which is known: as long as the drive
 * takes each at once, it uses up a page, and as many of each length fill a
 * block as it has pages. Of whole pages so many do, or 0 where that is not
 * known.
 */
enum claim block_compare_parts(struct block_probe *state, uint64_t page_bytes,
                               size_t pages_count, struct block_pieces *pieces);

/* ---- across pages ------------------------------------------------------ */

/* Of one walk in pieces: those that are long need not be many. */
static const uint64_t block_pieces_bytes = GIB;

/* So many writes show a distance of `length`. */
size_t block_enough_writes(size_t length);

/* A part of a page, and at what distance those within a page are slow. */
struct block_piece {
    uint64_t bytes;
    const struct block_spikes *spikes;
};

/* How many pieces of a walk are slow, and the quartiles of what all cost, as
 * logarithms. */
struct block_counted {
    size_t slow_count;
    double low, high;
};

/* Of `count` pieces within pages, one of `length` of them is slow not for
 * noise: does each of those across touch two pages? FALLS: half of them do at
 * the most. */
enum claim block_judge_counts(const struct block_counted *within,
                              const struct block_counted *across, size_t count,
                              size_t length);

/*
 * At multiples of which length, the shortest, does each piece touch two pages?
 * HOLDS with the page and the block in `*pieces`. It is a multiple of
 * `part_bytes`, for pieces of that length never touched two.
 */
enum claim block_find_page(struct block_probe *state,
                           struct block_pieces *pieces,
                           const struct block_piece *piece,
                           uint64_t part_bytes);

/* ---- borders ----------------------------------------------------------- */

struct block_borders {
    uint64_t block_bytes, phase_bytes; /* of any border */
    double effect, confidence;         /* of what is cheap behind one */
};

/* What borders with these numbers save, as logarithms: do some, of which every
 * so many is one, save more than others? Then only those are borders of
 * blocks. */
bool block_borders_alike(const double ratios[], const uint64_t indexes[],
                         uint32_t count);

/* CLAIM_HOLDS with `*borders`; FALLS: what a write costs begins nowhere
 * again. */
enum claim block_find_borders(struct block_probe *state,
                              struct block_borders *borders);
void block_emit_border(struct study *study, const char *phase,
                       const struct contrast *contrast, uint32_t round,
                       struct random *random);

/* ---- what is said ------------------------------------------------------ */

/* All add the finding, and measure nothing. */

void block_say_gap(struct findings *findings, uint64_t block_bytes,
                   const struct block_spikes *spikes,
                   const struct block_verdict *verdict);
/* Of slow writes alone, by what was found of a cache (`cached`). */
void block_say_spikes(struct findings *findings,
                      const struct block_spikes *spikes, enum claim cached,
                      double confidence, const char *why_alone);
/* Likewise of writes of several lengths, of which `first` uses up one page
 * each. */
void block_say_agreed(struct findings *findings,
                      const struct block_pieces *pieces,
                      const struct block_walked *first, enum claim cached,
                      double confidence);
/* Of a cache in front, that slow writes at a distance are left out for so long
 * after a pause tells: of the block behind it, or that it is not known; and
 * that logs, which log-list did not see, may be behind it. */
void block_say_cache(struct findings *findings,
                     const struct block_distance *distance,
                     const struct block_cache *cache);
void block_say_log_block(const struct block_probe *state,
                         struct findings *findings);
void block_say_borders(struct findings *findings,
                       const struct block_borders *borders);
void block_say_open(struct findings *findings, const char *reason);
/* Where writes of one length are slow at a distance and those of another at
 * none. */
void block_say_lost(struct findings *findings);

/* ---- conclusions ------------------------------------------------------- */

/* From what was walked and compared, and what that leaves to be measured. */

/* Of slow writes that nothing else confirms: as long as what was written? */
void block_conclude_one_route(struct block_probe *state,
                              const struct block_spikes *spikes,
                              const char *why_alone, struct findings *findings);
/* Of slow writes that were certified: what does the gap between random and
 * sequential ones say? */
void block_conclude_spikes(struct block_probe *state,
                           const struct block_spikes *spikes,
                           struct findings *findings);
/* Of writes of several lengths that agree. */
void block_conclude_agreed(struct block_probe *state,
                           const struct block_pieces *pieces, double confidence,
                           struct findings *findings);
/* Of no slow writes at a distance, while random ones cost more. `page_bytes`:
 * or what stands for it. */
void block_conclude_ladder(struct block_probe *state, uint64_t page_bytes,
                           struct findings *findings);

#endif
