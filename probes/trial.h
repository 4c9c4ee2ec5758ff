/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_TRIAL_H
#define SSDPROBE_PROBES_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/infer/study.h"

/*
 * An experiment as a row: what its arms are, what each sends, how often in a
 * round, and how the times of an arm become one number. A probe's struct
 * study_ops has trial_emit and trial_value; its contrasts come from trial_of().
 */

/* A round that is being asked for. */
struct trial {
    struct study *study;
    const char *phase;
    const struct contrast *contrast; /* its numbers: contrast->n */
    uint32_t round;
    struct random *random;
};

struct trial_kind {
    const char *name; /* "gap": the cells of n[0] = 4096 are "gap4096-a", ... */
    /* What n[] holds, each with its unit; NULL behind the last. */
    const char *numbers[TRIAL_NUMBERS];
    const char *arms; /* a letter each; of two, the ratio is second to first */
    uint32_t sent;    /* how often each arm is sent in a round */
    uint32_t timed;   /* requests that are timed each time; 0 is 1 */
    void (*send)(const struct trial *trial, char arm);
    /* The times of an arm, `sent` * `timed` of them, as one. NULL: a round has
     * no ratio, only rows. */
    double (*sum)(const double ns[], size_t count);
};

/* A contrast of this kind with these numbers; 0 behind those that it has. */
struct contrast trial_of(const struct trial_kind *kind, uint64_t first,
                         uint64_t second, uint64_t third);

/* Sends each arm so often, in an order that is left to chance each time. */
study_emit trial_emit;

/* The log ratio of the arms; 0 where the kind has none. False while rows are
 * missing. */
study_value trial_value;

/* A multiple of `pitch_bytes` at random, from which `span_bytes` follow in the
 * region. */
uint64_t trial_place(const struct trial *trial, uint64_t pitch_bytes,
                     uint64_t span_bytes);

/* A multiple of `pitch_bytes` from the region's beginning at random. */
uint64_t trial_anywhere(const struct trial *trial, uint64_t pitch_bytes);

/* Prepares: has no cell. */
void trial_read(const struct trial *trial, uint64_t at_bytes,
                uint64_t length_bytes);
void trial_pause(const struct trial *trial, uint64_t ns);

/* Is timed, as the arm's. */
void trial_time(const struct trial *trial, char arm, enum operation operation,
                uint64_t at_bytes, uint64_t length_bytes);

#endif
