/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_LARGE_REQUEST_H
#define SSDPROBE_PROBES_LARGE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/line.h"
#include "lib/base/units.h"
#include "lib/infer/study.h"

/*
 * What the files of the large-request probe share: reads and writes of each
 * size in turn (cells), and the line through what they took (line).
 */

static const uint64_t request_unit_bytes = 4 * KIB;

/* Reads of 4 KiB stand behind the sizes of the line. */
enum { REQUEST_SMALL = LINE_SIZES, REQUEST_SIZES = LINE_SIZES + 1 };

enum request_kind { REQUEST_READS, REQUEST_WRITES };

struct request_probe;

/* ---- cells -------------------------------------------------------------- */

/* Its rounds hold each size once. */
struct contrast request_contrast(enum request_kind kind);

/* How many sizes a round has: reads also the small one. */
size_t request_sizes_count(enum request_kind kind);

/* What struct study_ops asks for; a value says no more than that its round is
 * whole. */
void request_emit(struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random);
bool request_value(const struct study *study, const char *phase,
                   const struct contrast *contrast, uint32_t round,
                   struct random *random, double *ratio);

/* The time of one size in one round, a write's with its flush. False when it is
 * not there. */
bool request_ns(const struct study *study, const char *phase,
                const struct contrast *contrast, size_t size, uint32_t round,
                double *ns);

/* Times of `rounds_count` rounds, by size. */
struct request_times {
    double ns[REQUEST_SIZES][CONTRAST_ROUNDS_MAX];
    size_t sizes_count; /* of one kind */
    uint32_t rounds_count;
};

/* How long the requests of these rounds took: of writes most of it may be what
 * came before those that are measured. */
double request_rounds_ns(const struct request_probe *state,
                         const struct request_times *times,
                         const struct contrast *contrast);

/* ---- line --------------------------------------------------------------- */

/* The line, with what resampling the rounds leaves open. */
struct request_line {
    struct line line;
    size_t
        sizes_count; /* the first ones, that are on it; all, if they are not */
    struct interval slope; /* by chance */
    struct interval
        stated; /* also by which points there are, if some are off */
    double off; /* of the point farthest from the line, beyond its error */
    /* Of reads, what a request costs before its data, from those of 4 KiB. */
    double overhead_ns, small_ns;
    struct interval overhead;
    bool begins_elsewhere; /* 4 KiB lie off the line */
    double left_out_share; /* of the writes, for they merged */
    double spread;         /* of the times of one size, as a share of them */
    bool depends;          /* on the place */
    double batch_error;    /* of the slope, as a share */
    double confidence;     /* that times are the drive's; 0: they say nothing */
    uint32_t rounds_count;
    double rounds_ns; /* how long they took */
};

enum { REQUEST_KINDS = 2, REQUEST_LOOKS = 16 };

struct request_probe {
    struct study study;
    uint64_t sizes[REQUEST_SIZES];
    bool vary;         /* reads, so much that drift is to be expected */
    uint64_t pause_ns; /* before each round */
    /* What is known after each look: its rows stay as they are. rounds_count is
     * 0 before it. */
    struct request_line known[REQUEST_KINDS][REQUEST_LOOKS];
};

/* A point may lie so far off the line, besides its own error. */
static const double request_off_most = 0.10;

/* All of it but the confidence. times->rounds_count >= 1. */
void request_fit(const struct request_probe *state,
                 const struct request_times *times,
                 struct request_line *result);

#endif
