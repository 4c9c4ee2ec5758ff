/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_INTER_REQUEST_DISTANCE_H
#define SSDPROBE_PROBES_INTER_REQUEST_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/study.h"
#include "probes/trial.h"

/*
 * Shared by the files of the inter-request-distance probe: the reads that it
 * compares (cells), the walk over the drive that finds the address ranges of
 * the groups (walk), and the cost of switching groups (switch).
 */

enum {
    DISTANCE_SLOTS = 32,       /* slots of a window; a window counts as one
                                  place */
    DISTANCE_REPEATS_MAX = 64, /* most pairs of reads in one cell */
    DISTANCE_WALK = 80,        /* places that the walk visits */
    DISTANCE_GROUPS_MAX = 20,
    DISTANCE_BORDER_CONTRASTS = 4,
    DISTANCE_CONTRASTS_MAX = DISTANCE_BORDER_CONTRASTS * DISTANCE_GROUPS_MAX
};

static const uint64_t distance_read_bytes = 4 * KIB;

enum distance_answer {
    DISTANCE_MEASURING, /* rows are missing; other questions may be asked too */
    DISTANCE_SAME,
    DISTANCE_OTHER,
    DISTANCE_UNSURE
};

/* Size of the effect, from the first look. */
struct distance_effect {
    double gap, spread; /* log ratio of a switch; spread of one cell's log
                           ratio */
    uint32_t repeats;   /* pairs per cell from then on */
};

struct distance_probe {
    struct study study;
    struct distance_effect effect;
    uint64_t first_bytes, length_bytes; /* range in which windows may begin */
    uint64_t slot_bytes;
    uint64_t window_bytes;
};

/* ---- cells -------------------------------------------------------------- */

/* A random place, and one n[0]-th of the region farther: pairs of reads, or
 * reads of both in turn. Cell 'a' is after a nearby read, 'b' after a distant
 * one. */
extern const struct trial_kind distance_part, distance_in_turn;
/* Two reads at `to_bytes`: after a read nearby, and after a read at a random
 * place of the span. */
struct contrast distance_between(const struct distance_probe *state,
                                 uint64_t from_bytes, uint64_t span_bytes,
                                 uint64_t to_bytes);
/* Offset of a random slot in the span. */
uint64_t distance_within(const struct distance_probe *state,
                         uint64_t span_bytes, struct random *random);

/* ---- walk --------------------------------------------------------------- */

/* Runs of consecutive places in the same group: run i begins at
 * places[first[i]]. */
struct distance_walk {
    uint64_t places[DISTANCE_WALK];
    int first[DISTANCE_GROUPS_MAX + 1];
    int count;
};

struct distance_border {
    uint64_t low_bytes, high_bytes; /* last place of one run, first place of
                                       the next */
};

/* Walks from place to place and asks whether each is in the group of the
 * current run. Returns DISTANCE_OTHER when the walk is complete; neighbouring
 * runs are then different groups. */
enum distance_answer distance_take_walk(struct distance_probe *state,
                                        struct distance_walk *walk);
/* Are all runs different groups? Returns DISTANCE_OTHER if so; DISTANCE_SAME if
 * two runs are one group. */
enum distance_answer distance_tell_apart(struct distance_probe *state,
                                         const struct distance_walk *walk);
/* Bisects the border between `run` and the next one down to two windows. */
enum distance_answer distance_find_border(struct distance_probe *state,
                                          const struct distance_walk *walk,
                                          int run,
                                          struct distance_border *border);

/* ---- switch ------------------------------------------------------------- */

/* States the cost of a switch from the rounds that certified the borders, with
 * a confidence of at most `confidence`, which is that of the groups. Measures
 * more rounds where the cost is a small part of a read. `contrasts`: the
 * certificate; their rounds_count is updated. */
void distance_say_switch(struct distance_probe *state,
                         struct contrast contrasts[], size_t count,
                         double confidence, struct findings *findings);

#endif
