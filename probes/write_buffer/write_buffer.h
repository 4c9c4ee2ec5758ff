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

/*
 * What the files of the write-buffer probe share: the writes and flushes that
 * it compares (cells), what a flush has to do after them (flush), the line that
 * they follow while they fit (line), the edge where they leave it (edge), and
 * what is said of that (follow).
 */

enum { BUFFER_FAST_MAX = 24, BUFFER_SMALL_SIZES = 6, BUFFER_DEAR_REPEATS = 2 };

static const double buffer_alpha = 1e-4;
static const uint64_t buffer_reserved_bytes = 32 * MIB; /* from base_bytes on */

enum buffer_kind {
    BUFFER_FLUSH_AFTER,  /* flush after nothing : flush after a write of size */
    BUFFER_FLUSH_FAR,    /* the same, where writes go anywhere */
    BUFFER_WRITE_TIME,   /* write of other : write of size */
    BUFFER_WRITE_SLOWLY, /* the same, with pauses between the host's requests */
    BUFFER_FLUSH_TIME,   /* flush after a write of other : after one of size */
    BUFFER_FLUSH_LATE,   /* flush after a write of size : the same after a
                          pause */
    BUFFER_WRITE_READ,   /* read of size : write of size */
    BUFFER_WRITE_READ_FAR, /* the same, both anywhere */
    BUFFER_WRITE_SPLIT, /* write at a page : the same from shift before one */
    BUFFER_WRITE_AGAIN  /* writes in order : writes of one place */
};

struct buffer_probe {
    struct study study;
    uint64_t base_bytes, grain_bytes;
    uint64_t pause_ns;   /* before a late flush, or in a write */
    bool flush_unseen;   /* nothing shows that a flush empties the buffer */
    bool unwaiting;      /* what is held is written out before a flush asks */
    bool everywhere;     /* writes go all over the region */
    bool second;         /* they did not, but nothing was found so */
    uint64_t part_bytes; /* longer writes go in parts of that; 0: as wholes */
    uint64_t reference_bytes;  /* a write that all others are compared to */
    uint64_t page_bytes;       /* that they begin with then */
    uint64_t known_page_bytes; /* the drive's clustered page; 0: not known */
};

/* The time of a write that fits, relative to one of reference_bytes. */
struct buffer_fit {
    double sizes[BUFFER_FAST_MAX], times[BUFFER_FAST_MAX];
    size_t count, small_count; /* of these, where it begins */
    struct line line;          /* of one request */
    uint64_t largest_small_bytes;
    bool bypass;         /* smaller writes than these pass the buffer by */
    uint64_t part_bytes; /* the host sends no more in one; 0: not seen */
    double part_time;    /* what each further one costs */
    double spread;       /* of one log ratio */
    uint32_t rounds_count;
};

/* ---- cells -------------------------------------------------------------- */

/* The contrast of a kind; `other_bytes` is 0 where there is none before. */
struct contrast buffer_compare(enum buffer_kind kind, uint64_t size_bytes,
                               uint64_t other_bytes, uint32_t repeats,
                               enum side expected);
/* Does it go anywhere? Each merge that is waited for is dear, but stands
 * out. */
bool buffer_is_dear(const struct buffer_probe *state, uint64_t size_bytes);
/* How often a write of the size is repeated in a cell. */
uint32_t buffer_repeats(const struct buffer_probe *state, uint64_t size_bytes);
/* The name of a phase, of its own for each way to write. */
void buffer_phase(const struct buffer_probe *state, const char *what,
                  char phase[LABEL_PHASE_MAX]);
/* How many requests a write becomes, of at most `part_bytes` (0: of any
 * length).
 */
uint64_t buffer_parts(uint64_t size_bytes, uint64_t part_bytes);
/* What a cell took, in ns. False when it is not there. */
bool buffer_cell_cost(const struct study *study, const char *phase,
                      const struct contrast *contrast, bool second,
                      uint32_t round, double *cost);
/* What struct study_ops asks for. */
void buffer_emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random);
bool buffer_value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio);

/* ---- flush -------------------------------------------------------------- */

enum buffer_flushing {
    FLUSHING_BUFFERED,
    FLUSHING_LARGE_ONLY, /* small writes pass the buffer by */
    FLUSHING_NOTHING,
    FLUSHING_UNCLEAR
};

/* Is there a buffer that a flush empties? `*first_bytes`: after a write of that
 * size it takes longer. */
enum buffer_flushing buffer_look_at_flush(struct buffer_probe *state,
                                          uint64_t *first_bytes);
/* Sets `everywhere` if what is held is written out before a flush asks for it:
 * not where the flush has as much to do after a pause. After a write of
 * `first_bytes` a flush takes longer. */
void buffer_look_at_waiting(struct buffer_probe *state, uint64_t first_bytes);
/* The smallest write that is held: `first_bytes` is, and a quarter of it is
 * not. */
uint64_t buffer_search_first_held(struct buffer_probe *state,
                                  uint64_t first_bytes);
/* Does a flush take longer after writes of a size that go anywhere? */
enum claim buffer_is_held_far(struct buffer_probe *state, uint64_t size_bytes);

/* ---- line --------------------------------------------------------------- */

enum buffer_stay {
    BUFFER_FAST,
    BUFFER_SLOW,
    BUFFER_BELOW, /* faster: what is smaller passed the buffer by */
    BUFFER_UNSURE
};

/* Draws the line through writes of these sizes. False: they already leave
 * it. */
bool buffer_fit_small(struct buffer_probe *state,
                      const uint64_t sizes_bytes[BUFFER_SMALL_SIZES],
                      struct buffer_fit *fit);
/* Draws it again through the first `count` sizes. */
void buffer_refit(struct buffer_fit *fit);
/* Log of what the line says of a size, in times of one of reference_bytes. */
double buffer_expected_log(const struct buffer_fit *fit, uint64_t size_bytes);
/* Gallops along the line. BUFFER_SLOW: *low_bytes is fast and *high_bytes slow;
 * BUFFER_BELOW: *high_bytes is faster than the line. */
enum buffer_stay buffer_gallop(struct buffer_probe *state,
                               struct buffer_fit *fit, uint64_t *low_bytes,
                               uint64_t *high_bytes, double *excess);

/* ---- edge --------------------------------------------------------------- */

struct buffer_edge {
    uint64_t bytes;          /* the longest write that fits */
    double step, confidence; /* how many times as long one grain more takes */
    double write_ns;         /* what it takes itself */
    double gain; /* log of how much longer the slowest part of it takes */
};

/* Searches the edge in a bracket and certifies it: CLAIM_HOLDS with `*edge`,
 * or CLAIM_OPEN. `excess`: log of what the long end takes beyond the line. */
enum claim buffer_find_edge(struct buffer_probe *state,
                            const struct buffer_fit *fit,
                            const struct edge_bracket *whole, double excess,
                            struct buffer_edge *edge);
/* A buffer's limit also ends the growth of the flush; a host's split does not.
 */
enum claim buffer_flush_stops_growing(struct buffer_probe *state,
                                      uint64_t from_bytes);
/*
 * Is the step at whole pages, and what one grain more takes there to read the
 * rest of a page that is written in part? Then parts of as much take longer
 * than it does, and several times as much takes no more than that: a full
 * buffer would keep it waiting. Once buffer_flush_stops_growing() has measured
 * these.
 */
bool buffer_is_page_begun(const struct buffer_probe *state,
                          const struct buffer_edge *edge);
/* A flush after a pause twice as long as the flush takes at once: does it still
 * have as much to do? */
enum claim buffer_as_long_later(struct buffer_probe *state, const char *phase,
                                uint64_t size_bytes, uint32_t repeats,
                                double flush_ns);
/*
 * Does the drive write out what it holds while nobody asks? Then it also does
 * while it is filled, and what it takes in at once depends on how fast it
 * writes just there. HOLDS: it does not.
 */
enum claim buffer_waits_for_flush(struct buffer_probe *state,
                                  uint64_t edge_bytes);
/*
 * Such a drive takes in more the more slowly it is written to. HOLDS: this edge
 * stays where it is though the parts that the host makes of a write come at
 * half the speed (or there is but one, and no speed to choose).
 */
enum claim buffer_stands_slowly(struct buffer_probe *state,
                                const struct buffer_edge *edge);
/* Does the host send one more request just there? Then the step is its. */
bool buffer_host_splits_at(const struct buffer_probe *state,
                           uint64_t edge_bytes);

/* ---- follow: adds a finding -------------------------------------------- */

struct finding *buffer_add(struct findings *findings);
/* What is found is that, for this reason, nothing is. */
void buffer_say_open(struct findings *findings, const char *reason);
/* Follows the line to where writes leave it; writes that go near to each other
 * may overflow for next to nothing: if nothing is found so, they go
 * anywhere. */
void buffer_follow_line(struct buffer_probe *state,
                        const struct buffer_fit *fit,
                        struct findings *findings);
/* A write of `first_bytes` is held, those of a quarter of it pass the buffer
 * by.
 */
void buffer_conclude_bypassed(struct buffer_probe *state, uint64_t first_bytes,
                              struct findings *findings);

#endif
