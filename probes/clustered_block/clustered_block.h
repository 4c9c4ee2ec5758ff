/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_CLUSTERED_BLOCK_H
#define SSDPROBE_PROBES_CLUSTERED_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/period.h"
#include "lib/infer/statistics/recurrence.h"
#include "lib/infer/study.h"
#include "probes/clustered_block/counter.h"

/* What the files of the clustered-block probe share. A walk is a sweep of
 * flushed writes. It shows slow writes at one distance (walk, compare), which
 * an SLC cache may cause (pauses). Block boundaries (borders) show the block as
 * well. */

/* The result of one search for a period. think() runs again after each answer,
 * a search takes long, and the rows that it reads stay the same. */
struct block_search {
    uint64_t key; /* hash of the sweep and of the range searched */
    int error;    /* what period_search() returned */
    struct period_rule rule;
    struct period period;
    struct recurrence recurrence;
};

enum { BLOCK_SEARCHES_MAX = 128 };

struct block_probe {
    struct study study;
    uint64_t page_bytes; /* 0: not known */
    uint64_t base_bytes, room_bytes;
    uint64_t cache_bytes; /* SLC cache in front, as far as known */
    double page_confidence;
    bool page_is_absent;      /* clustered-page found that there is none */
    uint64_t log_block_bytes; /* of log-list; 0: not known */
    double log_block_confidence;
    bool settles; /* takes an answer that other lengths did not confirm */
    struct block_search searches[BLOCK_SEARCHES_MAX];
    size_t searches_count;
};

/* ---- walk -------------------------------------------------------------- */

struct block_spikes {
    bool found, scattered;
    struct period_rule rule;
    struct period period;
    /* Round and round. Its length is 0 where single writes show the period;
     * else `period` is as long, and is not certified. */
    struct recurrence recurrence;
    uint64_t write_bytes; /* of each write of the sweep */
    uint64_t round_bytes; /* not 0: without flushes, round and round in so
                             much */
    uint64_t block_bytes;
    uint64_t phase_bytes; /* address of the first slow write; sequential only */
    double write_ns;      /* median time of a write without its flush */
    size_t count;         /* writes of the sweep */
};

/* The writes of one sweep. */
struct block_course {
    int number; /* names the sweep */
    uint64_t write_bytes;
    /* Random places, not sequential ones. On a drive that maps pages, each
     * block that is cleaned then has valid pages left to copy. */
    bool scattered;
    /* Distance between places; 0: write_bytes. Random writes lie `shift_bytes`
     * behind multiples of it. */
    uint64_t pitch_bytes, shift_bytes;
    uint64_t skip_bytes; /* sequential ones begin so far behind base_bytes */
    /* So many writes share a flush, and count as one. 0: each has its own. */
    size_t gather_count;
    /* Sequential, not 0: after so much it begins again, and no write has a
     * flush. */
    uint64_t round_bytes;
    double least_ns; /* beyond its neighbours, of a write that counts as slow */
    double most_ns;  /* no longer search begins after so much; 0: no limit */
    uint64_t most_bytes;
    size_t most_writes;
    size_t first_writes;    /* of the first search; 0: 1024 */
    size_t certify_periods; /* on fresh data; 0: 16 */
    size_t certify_writes;  /* at least */
    /* The drive is left idle before each leg but the first. 0: one leg. */
    size_t leg_chunks;
    uint64_t pause_ns;
};

enum { BLOCK_CHUNK_WRITES = 256 }; /* of a sweep; they share a label */

/* Sweeps until slow writes at one distance are certified on fresh data. True
 * with `*spikes`; false when the limits of `course` are reached without any. */
bool block_walk(struct block_probe *state, const struct block_course *course,
                struct block_spikes *spikes);

/* The log cost of each write of a sweep with its flush, and its residual: how
 * far that is above the neighbours' median. Memory of study_alloc(). */
struct block_costs {
    const double *values, *residuals;
    size_t count;
};

/* Measures the first `chunks` of a sweep and returns their costs. `rule` tells
 * which writes are neighbours. */
struct block_costs block_walk_costs(struct block_probe *state,
                                    const struct block_course *course,
                                    size_t chunks,
                                    const struct period_rule *rule);

/* Limits of one sweep whose writes are no single page. */
static const uint64_t block_piece_bytes = 512 * MIB;
static const size_t block_piece_writes = 16384;

/* The most bytes that block_fill() may write. */
uint64_t block_fill_bytes(const struct setting *setting);
/* Writes at random to use up the spare area, until writes stay slow. The length
 * of a request is a multiple of `unit_bytes`. */
void block_fill(struct block_probe *state, uint64_t unit_bytes);

/* ---- pauses ------------------------------------------------------------ */

enum { BLOCK_PAUSES_COUNT = 4 }; /* in a sweep, at most */
/* 10 s. Drives make room after 0.1 to a few seconds of idle time. */
static const uint64_t block_pause_ns = UINT64_C(10000000000);

/* Do the slow writes at one distance still come after idle time? */
enum block_pauses {
    BLOCK_PAUSES_MORE,   /* undecided after one pause */
    BLOCK_PAUSES_UNTOLD, /* no regular slow writes */
    BLOCK_PAUSES_SAME,   /* slow writes come after a pause as before */
    BLOCK_PAUSES_PASSED, /* no slow ones for a while; all are faster */
    BLOCK_PAUSES_ROOM    /* no slow ones for a while; others as before */
};

/* Judges a sweep of `legs_count` legs (2, or BLOCK_PAUSES_COUNT + 1) with a
 * pause between each two. `values` are log costs, `residuals` what is above the
 * neighbours. `*quiet`: the most writes from a pause to the next slow one; not
 * set where the first leg has no slow writes. */
enum block_pauses block_judge_pauses(const double values[],
                                     const double residuals[],
                                     size_t leg_writes, size_t legs_count,
                                     const struct block_spikes *spikes,
                                     size_t *quiet);

/* How much longer the slow writes take than the others, in ns. */
double block_pause_of(const struct block_spikes *spikes);
/* The share of time that they are held up. */
double block_held_up(const struct block_spikes *spikes);
/* Is that so much more than an erase takes that something is copied? */
bool block_copies(const struct block_spikes *spikes);

/* Is there an SLC cache in front? HOLDS: slow writes stay away for a while
 * after idle time, and quiet_bytes is valid. FALLS: they come as before.
 * OPEN: there are none at present, or writes bypass the cache once it is
 * full. */
struct block_cache {
    enum claim claim;
    uint64_t quiet_bytes; /* bytes after a pause without a slow write; 0: it is
                             known otherwise */
};

struct block_cache block_look_at_cache(struct block_probe *state,
                                       const struct block_spikes *spikes);

/* ---- round and round ---------------------------------------------------- */

/* Adds the finding, or returns false: no unit shows so. */
bool block_conclude_rounds(struct block_probe *state,
                           struct findings *findings);

/* ---- sweeps of several lengths ----------------------------------------- */

/* What sweeps of several lengths say together. */
struct block_compared {
    enum claim claim;
    uint64_t block_bytes;       /* HOLDS: the block. OPEN: that of `model` */
    struct counter_model model; /* FALLS: none. The simplest that is left */
    struct block_spikes first;  /* of the first sweep */
    bool is_plain;              /* each page of a known length by itself */
    size_t lengths_count;       /* sweeps that showed a distance */
    bool crossed; /* pieces that straddle two pages told the page */
    bool missed;  /* a length showed no distance, though it should */
};

/*
 * Which block explains how often writes of other lengths are slow? `first`:
 * those of writes of a page, or where it is not known of any length. HOLDS: one
 * does. FALLS: none does, so it is not what was written that makes writes slow.
 * OPEN: several do.
 */
void block_compare(struct block_probe *state, const struct block_spikes *first,
                   struct block_compared *compared);

/* Sweeps at random in parts of the page, or where it is not known in pieces of
 * several lengths, until one shows a distance. */
bool block_walk_pieces(struct block_probe *state, struct block_spikes *spikes);

/* The number of slow pieces in a sweep, and the quartiles of all log costs. */
struct block_counted {
    size_t slow_count;
    double low, high;
};

/* Compares two sweeps of `count` pieces. In `within`, each lies in one page and
 * one in `length` is slow, besides noise. Is one in length / 2 in `across`, as
 * where each piece straddles two pages? HOLDS: it is. FALLS: at most half as
 * many come on top. Else OPEN. */
enum claim block_judge_counts(const struct block_counted *within,
                              const struct block_counted *across, size_t count,
                              size_t length);

/* ---- borders ----------------------------------------------------------- */

struct block_borders {
    uint64_t block_bytes, phase_bytes; /* phase: of a boundary */
    /* effect: cost before / behind a boundary */
    double effect, confidence;
};

/* Do all boundaries save the same? `ratios` are log costs before over behind
 * the boundaries with the numbers `indexes`. False: one in every n saves more
 * than the others, so only those are block boundaries. */
bool block_borders_alike(const double ratios[], const uint64_t indexes[],
                         uint32_t count);

/* HOLDS with `*borders`. FALLS: no boundary was seen. OPEN: no distance between
 * two of them was certified. */
enum claim block_find_borders(struct block_probe *state,
                              struct block_borders *borders);
/* ---- what is said ------------------------------------------------------ */

/* Each adds the finding, and measures nothing. */

/* For slow writes that nothing confirms. `cached`: was an SLC cache found? */
void block_say_spikes(struct findings *findings,
                      const struct block_spikes *spikes, enum claim cached,
                      double confidence, const char *why_alone);
/* Adds to the block that was just found what each flushed write uses up, where
 * that is more than the page that was found. */
void block_say_unit(struct findings *findings, uint64_t unit_bytes);
/* For writes of several lengths. */
void block_say_agreed(struct findings *findings,
                      const struct block_compared *compared, enum claim cached,
                      double confidence);
/* For writes round and round; `bits` of a cell where the pauses are those of a
 * cache that copies out its blocks, else 1. */
void block_say_rounds(struct study *study, const struct block_spikes *spikes,
                      unsigned bits, double pause_ns,
                      struct findings *findings);
/* For an SLC cache in front: the block behind it is not known. Doubts
 * log-list's findings, since log blocks may sit behind the cache. */
void block_say_cache(struct findings *findings,
                     const struct block_spikes *spikes, uint64_t quiet_bytes);
void block_say_log_block(const struct block_probe *state,
                         struct findings *findings);
void block_say_borders(struct findings *findings,
                       const struct block_borders *borders);
void block_say_open(struct findings *findings, const char *reason);
/* For a distance that writes of another length do not show. */
void block_say_lost(struct findings *findings);

/* ---- conclusions ------------------------------------------------------- */

/* Each may measure more before it adds the finding. Returns NULL, or why it
 * adds none: then another route may tell. */

/* Of writes in order no length but one told anything: at random more may. */
extern const char block_unsettled[], block_few_agree[];

/* For slow writes of a page that nothing confirms yet. Tests whether their
 * distance is one in bytes, not in requests. */
const char *block_conclude_one_route(struct block_probe *state,
                                     const struct block_spikes *spikes,
                                     const char *why_alone,
                                     struct findings *findings);
/* For slow writes of a piece that is no page. */
const char *block_conclude_pieces(struct block_probe *state,
                                  const struct block_spikes *spikes,
                                  double confidence, struct findings *findings);
#endif
