/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_CLUSTERED_PAGE_H
#define SSDPROBE_PROBES_CLUSTERED_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/study.h"
#include "probes/streams.h"
#include "probes/trial.h"

/*
 * What the files of the clustered-page probe share. cells: the writes that it
 * compares. certify: is one size the page? parts: is it a page of several
 * parts, or a block of pages? rest: is the rest of a page read before a part is
 * written? stairs: the page where shifts show nothing. stream_cells:
 * streams beyond the write buffer. saturated: the page where a flush does not
 * wait for the flash.
 */

/* The length of the range that the probe writes to, from base_bytes on. */
#define PAGE_ROOM_BYTES (48 * MIB)

enum {
    PAGE_SIZES_MAX = 64,
    PAGE_REPEATS_MAX = 24, /* requests a cell */
    PAGE_CONTRASTS_MAX = 24
};

/* What a contrast has: lengths of the write and of the other, by how much that
 * is shifted, and of what both lie at multiples. */
enum { PAGE_SIZE, PAGE_SHIFT, PAGE_OTHER, PAGE_PITCH };

/* How a cell is summed up: the mean of the lowest eighth, the median, or the
 * mean of all but the highest quarter. */
enum page_summary { PAGE_LOWEST, PAGE_MIDDLE, PAGE_MOST, PAGE_SUMMARIES };

struct page_probe {
    struct study study;
    uint64_t base_bytes, block_bytes;
    bool in_order;         /* sequential writes, so that no block is merged */
    uint64_t whole_bytes;  /* block: whole writes need no merge; 0: unknown */
    uint64_t stream_bytes; /* of a stream beyond the write buffer; 0: writes
                              have their flush */
};

/* What was learnt about one candidate. */
struct page_verdict {
    enum claim claim;
    double effect, confidence;
    bool of_host; /* the effects are too small, in ns, to be flash's */
};

/* The error rate of one claim. Effects are log ratios: the smallest that
 * matters, and the largest that may pass for none. */
static const double page_alpha = 1e-4;
static const double page_effect_low = 0.03, page_effect_none = 0.12;
/* The most confidence where an effect may have another cause. */
static const double page_small_confidence = 0.95;
/* An effect below 0.16 (log) may have another cause, so confidence is at most
 * 0.85. Where a buffer or the host splits a page, the longest part that is
 * written at once shows such an effect. So it was with 10 of 70 pages of random
 * drives. */
static const double page_effect_sure = 0.16, page_effect_confidence = 0.85;
static const double page_search_error = 0.004;
static const uint64_t page_largest_bytes = MIB;

/* ---- cells -------------------------------------------------------------- */

/* A write of a size at multiples of `unit_bytes`, against the same write
 * shifted by `shift_bytes`. */
struct contrast page_shifted(uint64_t size_bytes, uint64_t shift_bytes,
                             uint64_t unit_bytes, enum side expected);
/* A write of a size in a sequential run, against one at a random multiple of
 * its size. Expected: the random one costs no more. */
struct contrast page_anywhere(uint64_t size_bytes);
/* A write of a size, against one that is a logical block longer. */
struct contrast page_longer(const struct page_probe *state, uint64_t size_bytes,
                            enum side expected);

/* Of shifted ones: all of a round at one place; where the host splits the write
 * inside pages; and one page at multiples of a longer write. */
extern const struct trial_kind page_shifted_kind, page_steady, page_pieces,
    page_beside;
struct contrast page_shifted_as(const struct trial_kind *kind,
                                uint64_t size_bytes, uint64_t shift_bytes,
                                uint64_t unit_bytes, enum side expected);
/* Of two lengths: one logical block longer; the same by all but the slowest;
 * twice the length; a part of a page; and 16 times the
 * length, where both may merge a block. */
extern const struct trial_kind page_longer_kind, page_whole, page_doubled,
    page_part, page_larger;
struct contrast page_pair(const struct trial_kind *kind, uint64_t size_bytes,
                          uint64_t other_bytes, uint64_t pitch_bytes,
                          uint32_t repeats);

/* The extra time of a shift, in ns: its median effect on the quickest round of
 * unshifted writes. */
double page_extra_ns(const struct page_probe *state, const char *phase,
                     const struct contrast *contrast);

/* Sizes of multiple x 2^k logical blocks, from 2 x multiple up to `most_bytes`.
 * Returns how many. */
size_t page_ladder(const struct page_probe *state, uint64_t multiple,
                   uint64_t most_bytes, uint64_t sizes[PAGE_SIZES_MAX]);

/* page_shifted(). If the probe writes sequentially now, in sequential runs,
 * which begin at random places and do not use `unit_bytes`. */
struct contrast page_moved(const struct page_probe *state, uint64_t size_bytes,
                           uint64_t shift_bytes, uint64_t unit_bytes,
                           enum side expected);

/* ---- certify ------------------------------------------------------------ */

/* The largest effect of a page. A shifted page costs two pages that are read
 * and programmed, with both transfers: four times one aligned page at most, and
 * a read. What costs more is a merge, and says nothing of pages. */
static const double page_effect_most = 1.5; /* log 4.5 */
/* No flash operation takes less: the fastest reads a page in 3 us. What costs
 * so little more is caused by the host, as in a RAM disk. */
static const double page_flash_least_ns = 2000;

/* The effect (log) of a shift on `longer`, if it adds `parts` times what it
 * adds to the one page of `of_page`. A longer write spreads that over its
 * pages. */
double page_spread_effect(const struct contrast *of_page, double parts,
                          const struct contrast *longer);

/*
 * For a contrast of a claim that holds: is its effect of the size that a page
 * explains? `of_page` is the effect on one page. `contrast` is a shift by a
 * part of it, which is dear, or a longer write shifted by all of it, which is
 * not. HOLDS: a page explains it. FALLS: it does not. OPEN: a merge causes it,
 * so it says nothing.
 */
enum claim page_judge_size(const struct contrast *of_page,
                           const struct contrast *contrast, bool in_order);

/* The sizes below a page that may have an effect. */
struct page_smaller {
    uint64_t sizes[PAGE_CONTRASTS_MAX];
    size_t count;
};

/* HOLDS: no size up to page_bytes / n_th has an effect, neither half of the
 * page's own nor `most` (log). `*smaller` gets the sizes that may have one.
 * Phases begin with `name`. */
enum claim page_none_smaller(struct page_probe *state, const char *name,
                             uint64_t page_bytes, uint64_t n_th, double most,
                             struct page_verdict *verdict,
                             struct page_smaller *smaller);

/*
 * Is `*page_bytes` the page? HOLDS: it is certified, and no smaller size is;
 * `*page_bytes` may have become a smaller one. A chip's page inside the
 * clustered page has an effect too. But it is refuted, since longer writes
 * shifted by it are dear as well.
 */
enum claim page_settle(struct page_probe *state, uint64_t *page_bytes,
                       struct page_verdict *verdict);

/*
 * Lowers the confidence unless a write one logical block longer than the page
 * costs more, since it lies in two pages. If `page_bytes` is only the longest
 * part of a page that a buffer or the host lets through at once, most such
 * writes lie in one page. (A long flush may hide the cost as well.)
 */
void page_weigh_whole(struct page_probe *state, uint64_t page_bytes,
                      struct page_verdict *verdict);

/*
 * For a size with an effect, where smaller sizes have one as well: is it a page
 * with parts, as of several chips, or a block with pages? HOLDS: a page. Else
 * it cannot be told, or is a block.
 */
enum claim page_has_parts(struct page_probe *state, uint64_t page_bytes,
                          const struct page_smaller *smaller,
                          struct page_verdict *verdict);

/* ---- rest --------------------------------------------------------------- */

/*
 * Does a part of a page cost more than all of it? A part is less to transfer
 * and as much to program, so it can cost more only if the rest is read first.
 * (A shift proves no read: it also programs two pages.) ABOVE: the rest is
 * read. BELOW: it is not, or at a cost that does not matter.
 */
enum side page_reads_rest(struct page_probe *state, uint64_t page_bytes,
                          double *confidence);
void page_say_rest(struct study *study, struct findings *findings,
                   uint64_t page_bytes, enum side side, double confidence);

/*
 * The same where the page is not known and no shift had an effect. HOLDS: no
 * part costs more than the whole, at any size, so nothing is read.
 */
enum claim page_no_rest(struct page_probe *state, double *confidence);

/* ---- stairs ------------------------------------------------------------- */

/* Concludes where shifts show nothing, which is known with this confidence.
 * Does one logical block more than a page cost one more program? */
void page_conclude_without_rmw(struct page_probe *state, double confidence,
                               struct findings *findings);

/* ---- stream_cells ------------------------------------------------------- */

/* The looks and the error rate of one contrast of streams. */
extern const uint32_t page_stream_looks[];
extern const double page_stream_alpha;
/* Log ratios: less is no effect, and more is one. A page that is shifted by a
 * part costs two programs instead of one. */
static const double page_stream_free = 0.1133, page_stream_dear = 0.1823;
/* A third of 3 x 2^k: half would cross into the page of 4 x 2^k. Half of any
 * other size. */
uint64_t page_stream_shift(uint64_t size_bytes);
/* Streams of a size at slots, against the same shifted; 0 repeats: the region
 * has too few slots. */
struct contrast page_stream(const struct page_probe *state, uint64_t size_bytes,
                            uint64_t shift_bytes, enum side expected);
/* The same, expected to cost more: each stream before and behind the other. */
struct contrast page_stream_twice(const struct page_probe *state,
                                  uint64_t size_bytes, uint64_t shift_bytes);
/* All of a page against a part of it. */
struct contrast page_stream_part(const struct page_probe *state,
                                 uint64_t page_bytes, uint64_t part_bytes);
/* What an aligned write of a contrast takes. */
double page_stream_ns(const struct page_probe *state, const char *phase,
                      const struct contrast *contrast);

/* What small random writes say of the write buffer. */
struct stream_buffer page_fill_buffer(struct page_probe *state);

/* ---- saturated ---------------------------------------------------------- */

/* Concludes without a flush, from streams of writes. */
void page_conclude_streams(struct page_probe *state, struct findings *findings);

#endif
