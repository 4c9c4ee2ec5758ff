/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_WRITE_BUFFER_H
#define SSDPROBE_PROBES_WRITE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/edge.h"
#include "lib/infer/finding.h"
#include "lib/infer/statistics/stats.h"
#include "lib/infer/study.h"
#include "probes/trial.h"

/*
 * What the files of the write-buffer probe share. cells: the writes and flushes
 * that it compares. flush: what a flush has to do after writes. line: the line
 * that the times of writes follow while they fit. edge: the size at which they
 * leave it. follow: what that says of the buffer. bursts: the same
 * where a flush does not wait for the flash.
 */

enum {
    BUFFER_FAST_MAX = 24,
    BUFFER_SMALL_SIZES = 6,
    BUFFER_DEAR_REPEATS = 2,
    BUFFER_REPEATS_MAX = 16
};

static const double buffer_alpha = 1e-4;
/* The bytes reserved for the probe, from base_bytes on. */
static const uint64_t buffer_reserved_bytes = 32 * MIB;

/* What a contrast has: n[] of it. */
enum { BUFFER_SIZE, BUFFER_OTHER, BUFFER_SHIFT, BUFFER_KIND };

enum buffer_kind {
    BUFFER_FLUSH_AFTER,  /* flush after nothing : flush after a write of size */
    BUFFER_FLUSH_FAR,    /* as BUFFER_FLUSH_AFTER, at random places */
    BUFFER_WRITE_TIME,   /* write of other : write of size */
    BUFFER_WRITE_SLOWLY, /* as BUFFER_WRITE_TIME, pauses between requests */
    BUFFER_FLUSH_TIME,   /* flush after a write of other : after one of size */
    BUFFER_FLUSH_LATE,   /* flush after a write of size : the same after a
                          pause */
    BUFFER_WRITE_READ,   /* read of size : write of size */
    BUFFER_WRITE_READ_FAR, /* as BUFFER_WRITE_READ, at random places */
    BUFFER_WRITE_SPLIT,    /* write at a page : one from `shift` before it */
    BUFFER_WRITE_AGAIN     /* writes in order : writes of one place */
};

struct buffer_probe {
    struct study study;
    uint64_t base_bytes, grain_bytes;
    uint64_t pause_ns;   /* before a late flush, or between requests */
    bool flush_unseen;   /* nothing shows that a flush empties the buffer */
    bool unwaiting;      /* the drive writes out before a flush asks for it */
    bool everywhere;     /* writes go to random places */
    bool second;         /* second pass: near places showed nothing */
    uint64_t part_bytes; /* longest part of a write; 0: no parts */
    uint64_t reference_bytes;  /* the write that others are compared with */
    uint64_t page_bytes;       /* with `everywhere`: alignment of writes */
    uint64_t known_page_bytes; /* the drive's clustered page; 0: not known */
    bool page_is_absent;       /* none larger than a block was found */
    uint64_t cache_bytes;      /* fast cache of flash; 0: none is known */
    bool cache_is_told;        /* it was found, or that there is none */
    bool no_logs;              /* it is known that there are none */
    bool flush_is_told;        /* it is known what a flush waits for */
    bool no_end;               /* single writes do not reach the end */
};

/* The times of writes that fit, in times of a write of reference_bytes. */
struct buffer_fit {
    double sizes[BUFFER_FAST_MAX], times[BUFFER_FAST_MAX];
    size_t count, small_count; /* small_count: those of buffer_fit_small() */
    struct line line;          /* time over size of one request */
    uint64_t largest_small_bytes;
    bool bypass;         /* smaller writes bypass the buffer */
    uint64_t part_bytes; /* length of a host's request; 0: not seen */
    double part_time;    /* what each further request costs */
    double spread;       /* spread of one log ratio */
    uint32_t rounds_count;
};

/* ---- cells -------------------------------------------------------------- */

/* A contrast of a kind, between two sizes. `other_bytes` is 0 if nothing is
 * written first. */
struct contrast buffer_compare(enum buffer_kind kind, uint64_t size_bytes,
                               uint64_t other_bytes, uint32_t repeats,
                               enum side expected);
/* Does a write of this size go to random places? It may then wait for a merge,
 * which costs much to repeat but is easily seen. */
bool buffer_is_dear(const struct buffer_probe *state, uint64_t size_bytes);
/* The writes of this size in a cell. */
uint32_t buffer_repeats(const struct buffer_probe *state, uint64_t size_bytes);
/* The name of a phase; it differs for each way to write. */
const char *buffer_phase(struct buffer_probe *state, const char *what);
/* The number of requests for a write, of at most `part_bytes` each (0: one). */
uint64_t buffer_parts(uint64_t size_bytes, uint64_t part_bytes);
/* What each repeat of an arm takes, in ns. Returns how many; 0: it was not
 * measured. */
uint32_t buffer_costs(const struct trial *trial, char arm,
                      double costs[BUFFER_REPEATS_MAX]);
/* The mean time of the faster half of an arm in the first round; 0: it was not
 * measured. */
double buffer_first_ns(const struct buffer_probe *state, const char *phase,
                       const struct contrast *contrast, char arm);
/* Decides one contrast at this threshold. `*confidence`: of that, unless
 * NULL. */
enum claim buffer_claim(struct buffer_probe *state, const char *phase,
                        struct contrast *contrast, double threshold,
                        double alpha, double *confidence);

/* ---- flush -------------------------------------------------------------- */

/* Where no flush has work: do writes of some large size take less than those of
 * 4 KiB? Then they are held, and short ones go past the buffer. */
bool buffer_longer_is_quicker(const struct buffer_probe *state);

enum buffer_flushing {
    FLUSHING_BUFFERED,
    FLUSHING_LARGE_ONLY, /* small writes bypass the buffer */
    FLUSHING_NOTHING,
    FLUSHING_UNCLEAR
};

/* Is there a buffer that a flush empties? `*first_bytes`: a size of writes
 * after which a flush takes longer. */
enum buffer_flushing buffer_look_at_flush(struct buffer_probe *state,
                                          uint64_t *first_bytes);
/* Sets `everywhere` if the drive writes out what it holds before a flush asks
 * for it. Then a flush after a pause has less to do. A flush is known to take
 * longer after a write of `first_bytes`. */
void buffer_look_at_waiting(struct buffer_probe *state, uint64_t first_bytes);
/* The smallest write that is held in the buffer. One of `first_bytes` is, and
 * one of a quarter of it is not. */
uint64_t buffer_search_first_held(struct buffer_probe *state,
                                  uint64_t first_bytes);
/* Does a flush take longer after writes of this size at random places? */
enum claim buffer_is_held_far(struct buffer_probe *state, uint64_t size_bytes);

/* ---- line --------------------------------------------------------------- */

enum buffer_stay {
    BUFFER_FAST,
    BUFFER_SLOW,
    BUFFER_BELOW, /* faster than the line: smaller ones bypassed the buffer */
    BUFFER_UNSURE
};

/* Fits the line to writes of these sizes. False: they do not lie on one. */
bool buffer_fit_small(struct buffer_probe *state,
                      const uint64_t sizes_bytes[BUFFER_SMALL_SIZES],
                      struct buffer_fit *fit);
/* Fits it again to the first `count` sizes. */
void buffer_refit(struct buffer_fit *fit);
/* The time that the line predicts for a size: log, in times of a write of
 * reference_bytes. */
double buffer_expected_log(const struct buffer_fit *fit, uint64_t size_bytes);
/* Doubles the size until a write leaves the line. BUFFER_SLOW: *low_bytes is on
 * the line, *high_bytes above it by `*excess` (log). BUFFER_BELOW: *high_bytes
 * is below the line. BUFFER_FAST: none left it. */
enum buffer_stay buffer_gallop(struct buffer_probe *state,
                               struct buffer_fit *fit, uint64_t *low_bytes,
                               uint64_t *high_bytes, double *excess);

/* ---- edge --------------------------------------------------------------- */

struct buffer_edge {
    uint64_t bytes;          /* the longest write that fits */
    double step, confidence; /* step: ratio that one grain more takes */
    double write_ns;         /* time of a write of `bytes` */
    double gain; /* log of how much longer the slowest shorter write takes */
};

/* Searches the edge in a bracket and certifies it. HOLDS with `*edge`, else
 * OPEN. `excess`: how far the bracket's high end lies above the line (log). */
enum claim buffer_find_edge(struct buffer_probe *state,
                            const struct buffer_fit *fit,
                            const struct edge_bracket *whole, double excess,
                            struct buffer_edge *edge);
/* HOLDS: a flush takes no longer after a write of three times `from_bytes`.
 * That marks a full buffer; where a host splits writes, flushes go on
 * growing. */
enum claim buffer_flush_stops_growing(struct buffer_probe *state,
                                      uint64_t from_bytes);
/*
 * Does the step at the edge come from a read, not from a full buffer? A write
 * one grain longer begins a page, and the drive may have to read the rest of
 * that page. Then two things hold. Shorter writes, which begin a page as well,
 * take longer than the edge. Several times as much takes no more than its
 * share, while a full buffer would make it wait. Needs the rows of
 * buffer_flush_stops_growing().
 */
bool buffer_is_page_begun(struct buffer_probe *state,
                          const struct buffer_edge *edge);
/* Does a flush after a pause still have all its work to do? The pause is twice
 * `flush_ns`, the time of a flush without a pause. FALLS: the drive wrote out
 * in the pause. */
enum claim buffer_as_long_later(struct buffer_probe *state, const char *phase,
                                uint64_t size_bytes, uint32_t repeats,
                                double flush_ns);
/*
 * Does the drive keep what it holds until a flush? HOLDS: it does. Else it also
 * writes out while it is filled. What it takes in then depends on how fast it
 * writes at these places.
 */
enum claim buffer_waits_for_flush(struct buffer_probe *state,
                                  uint64_t edge_bytes);
/*
 * A drive that writes out by itself takes in more if writes come more slowly.
 * HOLDS: the edge stays where it is if the host's requests for a write come at
 * half the speed, or if that speed cannot be chosen.
 */
enum claim buffer_stands_slowly(struct buffer_probe *state,
                                const struct buffer_edge *edge);
/* Does the host send one more request for one grain more? Then the step may be
 * the request's. */
bool buffer_host_splits_at(const struct buffer_probe *state,
                           uint64_t edge_bytes);

/* ---- deep --------------------------------------------------------------- */

/* Fills a buffer that a flush empties with many writes in order, 32 to 1024
 * MiB as the budget allows. True: its end was seen, and a finding added. False:
 * it was not, or no flush is known to empty it. */
bool buffer_look_deep(struct buffer_probe *state, struct findings *findings);

/* ---- follow: adds a finding -------------------------------------------- */

struct finding *buffer_add(struct findings *findings);
/* Adds an inconclusive finding with this reason. */
void buffer_say_open(struct findings *findings, const char *reason);
/* Follows the line to where writes leave it. Writes to near places may overflow
 * at little cost. If they show nothing, writes go to random places. */
void buffer_follow_line(struct buffer_probe *state,
                        const struct buffer_fit *fit,
                        struct findings *findings);
/* For a buffer that holds writes of `first_bytes`, while writes of a quarter of
 * that bypass it. */
void buffer_conclude_bypassed(struct buffer_probe *state, uint64_t first_bytes,
                              struct findings *findings);

/* ---- bursts ------------------------------------------------------------- */

/* Concludes without a flush. */
void buffer_conclude_bursts(struct buffer_probe *state,
                            struct findings *findings);

#endif
