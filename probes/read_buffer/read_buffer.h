/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_READ_BUFFER_H
#define SSDPROBE_PROBES_READ_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/edge.h"

/*
 * What the files of the read-buffer probe share: the pairs of reads of one
 * place (cells), the search for the size where they cease to profit (edge), and
 * what shows of a buffer where the host sends a read in parts (parts).
 */

enum {
    READ_REPEATS_MAX = 48,
    READ_REPEATS_LONG_MAX = 16, /* of more than 1 MiB */
    READ_REPEATS_USUAL_MAX = 8, /* where the noise is not known */
    READ_ATTEMPTS_MAX = 5
};

static const double read_alpha = 1e-4;
/* So much may pass for no profit of a long read, which is dear to repeat. */
static const double read_none_long = 0.10;
/* A profit that is searched for an edge: the certificate needs half of it. */
static const double read_gain_least = 0.03;
/* The rounds of a certificate should be right in nearly all cases: threshold /
 * spread. */
static const double read_round_clear = 2;

struct read_probe {
    struct study study;
    uint64_t grain_bytes;
    uint64_t page_bytes; /* 0: not known */
};

/* ---- cells -------------------------------------------------------------- */

/* The host's requests that a read becomes. */
uint64_t read_parts_of(const struct setting *setting, uint64_t size_bytes);

/* Of a read of so many bytes, the parts in which it is read downwards, where
 * the host's are `most_bytes`. */
uint64_t read_part_for(uint64_t length_bytes, uint64_t most_bytes);

/* Twice the same place. Sizes are read in one piece; downwards in parts of up
 * to `other_bytes` where that is set. */
struct contrast read_twice(const struct setting *setting, uint64_t size_bytes,
                           enum side expected);

/* What both reads of a round took, in ns. False when it is not there. */
bool read_costs(const struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round,
                double *first_ns, double *second_ns);

/* What struct study_ops asks for. */
void read_emit(struct study *study, const char *phase,
               const struct contrast *contrast, uint32_t round,
               struct random *random);
bool read_value(const struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round,
                struct random *random, double *ratio);

/* No size above this is looked at. */
uint64_t read_size_limit(const struct setting *setting);

/* Of what reads in parts save where they fit, so much they must to fit: a page
 * that two parts share is read twice each time, so it is kept for longer than
 * others, and where one page too many is read it makes up to half of what is
 * saved. */
static const double read_parts_share = 0.75;

/* ---- edge --------------------------------------------------------------- */

/* One search for the edge of the run of sizes that profit. */
struct read_edge {
    uint64_t low_bytes, high_bytes; /* on the two sides of the edge */
    uint64_t lead_bytes;            /* read in front of each size */
    uint64_t part_bytes;            /* read downwards in these; 0: in one go */
    uint64_t part_least_bytes;      /* no part is shorter */
    bool profits_below;             /* the upper edge: the buffer's size */
    double gain;                    /* log ratio where it profits */
    double spread;
};

/* As the edge's sizes are read: with what leads them, or in their parts. */
struct contrast read_as(const struct setting *setting,
                        const struct read_edge *edge, uint64_t size_bytes,
                        enum side expected);

/* How many pairs make one answer so clear (threshold / spread). The spread is
 * that of few pairs where the size allows no more. */
uint32_t read_repeats_for(const struct read_edge *edge, double clear);

/* From the survey's sizes on both sides of it. */
struct read_edge read_edge_between(struct read_probe *state,
                                   struct contrast *below,
                                   struct contrast *above, bool profits_below);

/* The last size on the near side of the edge, certified. `name`: what its
 * phases begin with. */
enum claim read_find_edge(struct read_probe *state,
                          const struct read_edge *whole, const char *name,
                          uint64_t *place_bytes, double *confidence);

/* ---- parts -------------------------------------------------------------- */

/* What of the buffer shows. */
struct read_shown {
    uint64_t bytes;
    uint64_t upwards_bytes;  /* the same, of reads in order */
    uint64_t smallest_bytes; /* that use it; 0: all do */
    double gain, confidence;
};

/* Reads that the host sends in parts show less than all of the buffer: where
 * the drive reads ahead, and where the first parts pass it by. */
enum claim read_look_again(struct read_probe *state,
                           const struct read_edge *upper,
                           struct read_shown *shown);

/* Where `upper` was not to be certified: read in shorter parts, each of which
 * profits as one read of that length does (`sizes` up to the `last` that
 * does). */
enum claim read_look_in_parts(struct read_probe *state,
                              const struct read_edge *upper,
                              const struct contrast sizes[], size_t last,
                              struct read_shown *shown);

#endif
