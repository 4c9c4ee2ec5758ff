/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_CLUSTERED_PAGE_H
#define SSDPROBE_PROBES_CLUSTERED_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/study.h"

/*
 * What the files of the clustered-page probe share: the writes that it compares
 * (cells), what makes one size the page (certify), what tells a page of several
 * parts from a block (parts), whether the rest of a page is read (rest), and
 * what remains where shifts show nothing (stairs).
 */

/* What the probe writes to, from base_bytes on. */
#define PAGE_ROOM_BYTES (48 * MIB)

enum {
    PAGE_SIZES_MAX = 64,
    PAGE_REPEATS_MAX = 24, /* requests a cell */
    PAGE_CONTRASTS_MAX = 24
};

enum page_kind {
    PAGE_SHIFTED,
    PAGE_STEADY, /* shifted, all of a round in one place */
    PAGE_PIECES, /* the same, and the host splits it inside pages */
    PAGE_LONGER,
    PAGE_WHOLE, /* the same, and most of them count, not the lowest */
    PAGE_PART,
    PAGE_IN_ORDER,
    PAGE_LARGER, /* much longer, and both may merge a block */
    PAGE_ORDER   /* in a run, against one at any place */
};

/* How a cell is summed up. */
enum page_summary { PAGE_LOWEST, PAGE_MIDDLE, PAGE_MOST, PAGE_SUMMARIES };

struct page_probe {
    struct study study;
    uint64_t base_bytes, block_bytes;
    bool in_order; /* writes follow each other, that no block is merged */
    uint64_t whole_bytes; /* writes of all of it merge nothing; 0: of nothing */
};

/* What was learnt about one candidate. */
struct page_verdict {
    enum claim claim;
    double effect, confidence;
    bool of_host; /* the effects are too small, in ns, to be flash's */
};

/* Error rate of one claim; the smallest effect that matters, and the largest
 * that may pass for none. */
static const double page_alpha = 1e-4;
static const double page_effect_low = 0.03, page_effect_none = 0.12;
/* What may have another cause. */
static const double page_small_confidence = 0.95;
/* So small an effect (log) may have one: where a buffer or the host splits a
 * page, the longest part of it that is written at once shows one. So it was
 * with ten of seventy pages of drives made at random. */
static const double page_effect_sure = 0.16, page_effect_confidence = 0.85;
static const double page_search_error = 0.004;
static const uint64_t page_largest_bytes = MIB;

/* ---- cells -------------------------------------------------------------- */

/* A write of a size at multiples of `unit_bytes`, against the same shifted. */
struct contrast page_shifted(uint64_t size_bytes, uint64_t shift_bytes,
                             uint64_t unit_bytes, enum side expected);
/* The same in runs that begin anywhere and go on without a gap. */
struct contrast page_in_order(uint64_t size_bytes, uint64_t shift_bytes,
                              enum side expected);
/* A write of a size in such a run, against one at any multiple of it: not
 * dearer. */
struct contrast page_anywhere(uint64_t size_bytes);
/* A write of a size, against one that is a logical block longer. */
struct contrast page_longer(const struct page_probe *state, uint64_t size_bytes,
                            enum side expected);

void page_emit(struct study *study, const char *phase,
               const struct contrast *contrast, uint32_t round,
               struct random *random);
bool page_value(const struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round,
                struct random *random, double *ratio);

/* What a shift costs more, in ns, beside the quickest of its rounds. */
double page_extra_ns(const struct page_probe *state, const char *phase,
                     const struct contrast *contrast);

/* Sizes multiple x 2^k from two blocks up to `most_bytes`; how many. */
size_t page_ladder(const struct page_probe *state, uint64_t multiple,
                   uint64_t most_bytes, uint64_t sizes[PAGE_SIZES_MAX]);

/* The one or the other, as the probe writes now: `unit_bytes` is only of the
 * first. */
struct contrast page_moved(const struct page_probe *state, uint64_t size_bytes,
                           uint64_t shift_bytes, uint64_t unit_bytes,
                           enum side expected);

/* ---- certify ------------------------------------------------------------ */

/* Two pages, each moved out and in and programmed, for one: four times as much
 * at most, and a read. What costs more is a merge, and says nothing of
 * pages. */
static const double page_effect_most = 1.5; /* log 4.5 */
/* No flash does anything in less (the fastest reads a page in 3 us): what costs
 * so little more is the host's, as the pages of a RAM disk. */
static const double page_flash_least_ns = 2000;

/* What a shift costs one page more than it takes aligned, `parts` times that,
 * spread over the pages of a longer write; log. */
double page_spread_effect(const struct contrast *of_page, double parts,
                          const struct contrast *longer);

/*
 * Of a claim that holds: does this contrast, a part of a page that is dear or a
 * longer write that is not, cost what it would if the first is of a page? OPEN:
 * it is a merge's doing, and says nothing.
 */
enum claim page_judge_size(const struct contrast *of_page,
                           const struct contrast *contrast, bool in_order);

/* The sizes below a page that may have an effect. */
struct page_smaller {
    uint64_t sizes[PAGE_CONTRASTS_MAX];
    size_t count;
};

/* Does no size of up to an n-th of the page show an effect of `most` (log), or
 * of half as much as it does itself? Phases begin with `name`. */
enum claim page_none_smaller(struct page_probe *state, const char *name,
                             uint64_t page_bytes, uint64_t n_th, double most,
                             struct page_verdict *verdict,
                             struct page_smaller *smaller);

/*
 * Is it the page? A certificate, and nothing below it that would do as well: a
 * chip's page inside the clustered one shows an effect too, but longer writes
 * shifted by it are dear as well, and it is refuted. On HOLDS, *page_bytes is
 * the page: it may have become a smaller one.
 */
enum claim page_settle(struct page_probe *state, uint64_t *page_bytes,
                       struct page_verdict *verdict);

/*
 * A block more than a page is in two pages, which costs more. Were this but the
 * longest part of a page that a buffer or the host lets through at once, most
 * such writes would stay in one. Where they cost no more, the verdict is less
 * sure: a flush may also take longer than all that is to be written.
 */
void page_weigh_whole(struct page_probe *state, uint64_t page_bytes,
                      struct page_verdict *verdict);

/*
 * What has this effect, and smaller sizes that have one as well: is it a page
 * with parts, as of several chips, or a block with pages? HOLDS: a page.
 * Anything else: it cannot be told, or is none.
 */
enum claim page_has_parts(struct page_probe *state, uint64_t page_bytes,
                          const struct page_smaller *smaller,
                          struct page_verdict *verdict);

/* ---- rest --------------------------------------------------------------- */

/*
 * Does a part of a page cost more than all of it? It is less to transfer and as
 * much to program, so only reading the rest first can make it dearer. (A shift
 * makes a write dearer also where nothing is read: it programs two pages.)
 * ABOVE: the rest is read; BELOW: it is not, or costs nothing that would
 * matter.
 */
enum side page_reads_rest(struct page_probe *state, uint64_t page_bytes,
                          double *confidence);
void page_say_rest(struct findings *findings, uint64_t page_bytes,
                   enum side side, double confidence);

/*
 * Whichever the page is: is the rest of one read? Then a part of it would cost
 * more than all of it, and no shift did. HOLDS: no part of any size does.
 */
enum claim page_no_rest(struct page_probe *state, double *confidence);

/* ---- stairs ------------------------------------------------------------- */

/* An empty finding of this probe; and both, inconclusive for this reason. */
struct finding *page_add(struct findings *findings, const char *parameter);
void page_say_open(struct findings *findings, const char *reason);

/* Shifts show nothing, which is known with this confidence: does one block more
 * cost a program? */
void page_conclude_without_rmw(struct page_probe *state, double confidence,
                               struct findings *findings);

#endif
