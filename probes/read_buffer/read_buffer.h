/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_READ_BUFFER_H
#define SSDPROBE_PROBES_READ_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/edge.h"
#include "probes/trial.h"

/*
 * What the files of the read-buffer probe share. A size profits if a second
 * read of a place is faster than the first. cells: such pairs of reads. edge:
 * the size at which they cease to profit. parts: the buffer's size where the
 * host sends a read in parts.
 */

enum {
    READ_REPEATS_MAX = 48,
    READ_REPEATS_LONG_MAX = 16, /* reads of more than 1 MiB */
    READ_REPEATS_USUAL_MAX = 8, /* where the noise is unknown */
    READ_ATTEMPTS_MAX = 5
};

static const double read_alpha = 1e-4;
/* Profits are log ratios, first / second. So much may pass for none in a long
 * read, which costs much to repeat. */
static const double read_none_long = 0.10;
/* The least profit whose edge is searched; the certificate needs half of it. */
static const double read_gain_least = 0.03;
/* Threshold / spread that a round of a certificate should have. At 2, nearly
 * all rounds are right. */
static const double read_round_clear = 2;

struct read_probe {
    struct study study;
    uint64_t grain_bytes;
    bool has_entries;    /* of the mapping, which second reads find cached */
    uint64_t page_bytes; /* 0: not known */
};

/* ---- cells -------------------------------------------------------------- */

/* The number of the host's requests for a read. */
uint64_t read_parts_of(const struct setting *setting, uint64_t size_bytes);

/* The length of the parts in which a read of `length_bytes` is read downwards.
 * `most_bytes`: the longest request of the host. */
uint64_t read_part_for(uint64_t length_bytes, uint64_t most_bytes);

/* What a contrast has. A read has a lead and a size; in one piece, or downwards
 * in parts of up to READ_PART_MOST where that is set, the last of which is no
 * shorter than READ_PART_LEAST. */
enum { READ_SIZE, READ_PART_MOST, READ_LEAD, READ_PART_LEAST };

/* Two reads of one place. */
struct contrast read_twice(const struct setting *setting, uint64_t size_bytes,
                           enum side expected);
/* Of those, one where the host sends one request more than for the size of the
 * edge. */
extern const struct trial_kind read_beyond_split;
/* The times of both reads of a round, in ns. False: it was not measured. */
bool read_costs(const struct trial *trial, double *first_ns, double *second_ns);

/* Of the contrast, at least so many. */
void read_repeat(struct contrast *contrast, uint32_t repeats);

/* The largest size to look at. */
uint64_t read_size_limit(const struct setting *setting);

/* Reads in parts fit if they save this share of what they save when they surely
 * fit. A page that two parts share is read twice each time, so it is kept
 * longer than others. Where one page too many is read, that leaves up to half
 * of what is saved. */
static const double read_parts_share = 0.75;

/* ---- edge --------------------------------------------------------------- */

/* One search for the edge of the run of sizes that profit. */
struct read_edge {
    uint64_t low_bytes, high_bytes; /* between them lies the edge */
    uint64_t lead_bytes;            /* read before each size, and not kept */
    /* of a part in a read downwards; 0: no parts */
    uint64_t part_bytes;
    /* of the shortest part in a read downwards */
    uint64_t part_least_bytes;
    bool profits_below; /* the upper edge: the buffer's size */
    double gain;        /* log ratio of a size that profits */
    double spread;
};

/* Two reads of one place in the way of this edge: behind its lead, or downwards
 * in its parts. */
struct contrast read_as(const struct setting *setting,
                        const struct read_edge *edge, uint64_t size_bytes,
                        enum side expected);

/* The pairs of reads in a cell after which threshold / spread reaches `clear`;
 * at most 8. */
uint32_t read_repeats_for(const struct read_edge *edge, double clear);

/* The edge between two sizes of the survey. */
struct read_edge read_edge_between(struct read_probe *state,
                                   struct contrast *below,
                                   struct contrast *above, bool profits_below);

/* Searches the last size on the near side of the edge and certifies it. Phases
 * begin with `name`. */
enum claim read_find_edge(struct read_probe *state,
                          const struct read_edge *whole, const char *name,
                          uint64_t *place_bytes, double *confidence);

/* ---- parts -------------------------------------------------------------- */

/* What was found of the buffer. */
struct read_shown {
    uint64_t bytes;
    uint64_t upwards_bytes;  /* the size that reads upwards show */
    uint64_t smallest_bytes; /* the smallest read that uses it; 0: all do */
    double gain, confidence;
};

/* Corrects `*shown` where the host sends reads in parts. Such reads show less
 * than the whole buffer if the drive reads ahead, or if the first parts bypass
 * the buffer. */
enum claim read_look_again(struct read_probe *state,
                           const struct read_edge *upper,
                           struct read_shown *shown);

/* For an edge `upper` that could not be certified. Reads are then sent in
 * shorter parts, each of which profits as a single read of its length does.
 * sizes[last] is the last size that profits. */
enum claim read_look_in_parts(struct read_probe *state,
                              const struct read_edge *upper,
                              const struct contrast sizes[], size_t last,
                              struct read_shown *shown);

#endif
