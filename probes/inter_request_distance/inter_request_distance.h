/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_INTER_REQUEST_DISTANCE_H
#define SSDPROBE_PROBES_INTER_REQUEST_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/study.h"

/*
 * What the files of the inter-request-distance probe share: the reads that it
 * compares (cells), the walk over the drive that finds the runs of addresses
 * which belong together (walk), and what it costs to leave one (switch).
 */

enum {
    DISTANCE_SLOTS = 32,       /* of a window: what counts as one place */
    DISTANCE_REPEATS_MAX = 64, /* pairs of reads in one cell */
    DISTANCE_WALK = 80,        /* places of the walk */
    DISTANCE_GROUPS_MAX = 20,
    DISTANCE_ANSWERED_MAX = 1024, /* a power of two, and half of them asked */
    DISTANCE_BORDER_CONTRASTS = 4,
    DISTANCE_CONTRASTS_MAX = DISTANCE_BORDER_CONTRASTS * DISTANCE_GROUPS_MAX
};

static const uint64_t distance_read_bytes = 4 * KIB;

enum distance_kind {
    DISTANCE_DISTANT, /* anywhere, and shift_bytes further */
    DISTANCE_BETWEEN  /* from somewhere in [size, size + shift) to a place
                        `other` */
};

enum distance_answer {
    DISTANCE_MEASURING, /* asked for; others may be asked for as well */
    DISTANCE_SAME,
    DISTANCE_OTHER,
    DISTANCE_UNSURE
};

/* Questions whose rows have answered them: there are hundreds, and to weigh all
 * of their rows again for each next one takes long. */
struct distance_answered {
    uint64_t key; /* 0: free */
    enum distance_answer answer;
};

struct distance_probe {
    struct study study;
    struct distance_answered answered[DISTANCE_ANSWERED_MAX];
    uint64_t first_bytes, length_bytes; /* where windows may begin */
    uint64_t slot_bytes;
    uint64_t window_bytes;
};

/* What the first look found. */
struct distance_effect {
    double gap, spread; /* log ratio of a switch, and of one cell's noise */
    uint32_t repeats;   /* that cells need from then on */
};

/* ---- cells -------------------------------------------------------------- */

/* A read at a place after one nearby, against one after a read somewhere in the
 * span. */
struct contrast distance_between(const struct distance_probe *state,
                                 const struct distance_effect *effect,
                                 uint64_t from_bytes, uint64_t span_bytes,
                                 uint64_t to_bytes);
/* The beginning of a slot of the span, at random. */
uint64_t distance_within(const struct distance_probe *state,
                         uint64_t span_bytes, struct random *random);

void distance_emit(struct study *study, const char *phase,
                   const struct contrast *contrast, uint32_t round,
                   struct random *random);
bool distance_value(const struct study *study, const char *phase,
                    const struct contrast *contrast, uint32_t round,
                    struct random *random, double *ratio);
/* The times of one cell: 'a' for nearby, 'b' for far away. */
bool distance_costs(const struct study *study, const char *phase,
                    const struct contrast *contrast, uint32_t round,
                    char suffix, double ns[DISTANCE_REPEATS_MAX]);

/* ---- walk --------------------------------------------------------------- */

/* Runs of places that belong together: run i begins at places[first[i]]. */
struct distance_walk {
    uint64_t places[DISTANCE_WALK];
    int first[DISTANCE_GROUPS_MAX + 1];
    int count;
};

struct distance_border {
    uint64_t low_bytes, high_bytes; /* the last place before, the first after */
};

/* From place to place: still in the group of the run so far? OTHER: the walk is
 * whole, and each run is another group than the one before. */
enum distance_answer distance_take_walk(struct distance_probe *state,
                                        const struct distance_effect *effect,
                                        struct distance_walk *walk);
/* Is each run a group of its own? SAME: two of them are one group. */
enum distance_answer distance_tell_apart(struct distance_probe *state,
                                         const struct distance_effect *effect,
                                         const struct distance_walk *walk);
/* Narrows the border between two runs to two windows. */
enum distance_answer distance_find_border(struct distance_probe *state,
                                          const struct distance_effect *effect,
                                          const struct distance_walk *walk,
                                          int run,
                                          struct distance_border *border);

/* ---- switch ------------------------------------------------------------- */

/* What a switch adds to a read. */
struct distance_cost {
    double ns;
    struct interval interval;
    double confidence; /* 0: nothing can be said */
};

/* What the rounds that certified the borders say of a switch; where it is a
 * small part of a read, these are too few. */
void distance_find_switch(struct distance_probe *state,
                          struct contrast contrasts[], size_t count,
                          struct distance_cost *cost);
/* No more surely than the groups are. */
void distance_say_switch(const struct distance_cost *cost, double confidence,
                         struct findings *findings);

#endif
