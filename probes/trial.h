/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_TRIAL_H
#define SSDPROBE_PROBES_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/infer/study.h"

/*
 * An experiment as a row: what its arms are, what each sends, how often in a
 * round, and how the times of an arm become one number. A probe of experiments
 * is a TRIAL_PROBE; its contrasts come from trial_of().
 */

/* A round that is asked for, or looked at; then `random` may be NULL. */
struct trial {
    struct study *study;
    const char *phase;
    const struct contrast *contrast; /* its numbers: contrast->n */
    uint32_t round;
    struct random *random;
};

struct trial_kind {
    /* "gap{gap_kib}": the cells of n[0] = 4096 are "gap4-a" and "gap4-b". The
     * braces name the numbers of n[] in order, or by a digit: "{2other_mib}".
     * Kinds of one name share their rows. */
    const char *name;
    const char *arms; /* a letter each; of two, the ratio is second to first */
    /* How often each arm is sent in a round; 0: the contrast's `repeats`. */
    uint32_t sent;
    uint32_t timed; /* requests that are timed each time; 0 is 1 */
    void (*send)(const struct trial *trial, char arm);
    /* Instead: sends the whole round. */
    void (*round)(const struct trial *trial);
    /* The times of an arm, `sent` * `timed` of them, as one. NULL: a round has
     * no ratio, only rows. */
    double (*sum)(const double ns[], size_t count);
    /* Instead: what a round says. False while rows are missing. */
    bool (*ratio)(const struct trial *trial, double *ratio);
};

/* One that sends two arms, and one that sends the whole round. */
#define TRIAL_ARMS(name_, sent_, timed_, send_, sum_)                          \
    {                                                                          \
        .name = (name_), .arms = "ab", .sent = (sent_), .timed = (timed_),     \
        .send = (send_), .sum = (sum_)                                         \
    }
#define TRIAL_ROUND(name_, round_, ratio_)                                     \
    {                                                                          \
        .name = (name_), .round = (round_), .ratio = (ratio_)                  \
    }

#define TRIAL_PROBE(state, think_)                                             \
    STUDY_PROBE(state, .think = (think_), .emit = trial_emit,                  \
                .value = trial_value)

/* A contrast of this kind with these numbers; 0 behind those that are given. */
#define trial_of(kind, ...)                                                    \
    trial_with(kind, (const uint64_t[TRIAL_NUMBERS]){__VA_ARGS__})
struct contrast trial_with(const struct trial_kind *kind,
                           const uint64_t numbers[TRIAL_NUMBERS]);
/* That is expected on a side of `low`, and of `high`. `unless` it is: why
 * nothing follows. */
struct contrast trial_expect(struct contrast contrast, enum side expected,
                             double low, double high, const char *unless);

/* Sends each arm so often, in an order that is left to chance each time. */
study_emit trial_emit;

/* The log ratio of the arms less what is predicted; 0 where the kind has none.
 * False while rows are missing. */
study_value trial_value;

/* What the claim that a look at these rounds belongs to has them named. */
struct trial trial_round(const struct study *study, const char *phase,
                         const struct contrast *contrast, uint32_t round);

/* The rows of an arm, and what each took; NULL and false: not all are there. */
const struct timing *trial_rows(const struct trial *trial, char arm,
                                uint32_t count);
bool trial_ns(const struct trial *trial, char arm, uint32_t count, double ns[]);
/* Of writes with a flush behind each, what both took. */
bool trial_flushed_ns(const struct trial *trial, char arm, uint32_t count,
                      double ns[]);

/* The quickest of them, for `sum`. */
double trial_quickest(const double ns[], size_t count);

/* A multiple of `pitch_bytes` at random, from which `span_bytes` follow in the
 * region. */
uint64_t trial_place(const struct trial *trial, uint64_t pitch_bytes,
                     uint64_t span_bytes);

/* A multiple of `pitch_bytes` from the region's beginning at random. */
uint64_t trial_anywhere(const struct trial *trial, uint64_t pitch_bytes);

/* Is timed, as the arm's; arm 0: prepares, has no cell. */
void trial_ask(const struct trial *trial, char arm, struct step step);
void trial_time(const struct trial *trial, char arm, enum operation operation,
                uint64_t at_bytes, uint64_t length_bytes);
void trial_flush(const struct trial *trial, char arm);
/* A write and a flush behind it. */
void trial_write_flushed(const struct trial *trial, char arm, uint64_t at_bytes,
                         uint64_t length_bytes);

/* Prepares. */
void trial_read(const struct trial *trial, uint64_t at_bytes,
                uint64_t length_bytes);
void trial_pause(const struct trial *trial, uint64_t ns);
/* Prepares: a short read 256 KiB away, in the same half MiB, so that what is
 * asked of the place later does not wait for its mapping (DFTL). */
void trial_bring_mapping(const struct trial *trial, uint64_t at_bytes);

#endif
