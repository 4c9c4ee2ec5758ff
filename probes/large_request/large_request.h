/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_LARGE_REQUEST_H
#define SSDPROBE_PROBES_LARGE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/infer/method/line.h"
#include "lib/base/units.h"
#include "lib/infer/study.h"
#include "probes/trial.h"

/*
 * Shared by the files of the large-request probe: reads and writes of each size
 * in turn (cells), and the line through their times (line).
 */

static const uint64_t request_unit_bytes = 4 * KIB;

/* Index of the reads of 4 KiB, which come after the sizes of the line. */
enum { REQUEST_SMALL = LINE_SIZES, REQUEST_SIZES = LINE_SIZES + 1 };

enum request_kind { REQUEST_READS, REQUEST_WRITES, REQUEST_KINDS };

struct request_probe;

/* ---- cells -------------------------------------------------------------- */

/* Whose rounds contain each size once; n[0] is the kind. A round has no
 * ratio. */
struct contrast request_contrast(enum request_kind kind);

/* Number of sizes in a round; reads also include 4 KiB. */
size_t request_sizes_count(enum request_kind kind);

/* Time of one size in a round, for a write with its flush. Returns false when
 * rows are missing. */
bool request_ns(const struct trial *trial, size_t size, double *ns);

/* Times of `rounds_count` rounds by size. */
struct request_times {
    double ns[REQUEST_SIZES][CONTRAST_ROUNDS_MAX];
    size_t sizes_count; /* sizes of the kind: reads or writes */
    uint32_t rounds_count;
};

/* Total duration of these rounds. Of writes it includes the small writes that
 * precede the measured ones, which may take most of the time. */
double request_rounds_ns(const struct request_probe *state,
                         const struct request_times *times,
                         const struct contrast *contrast);

/* ---- line --------------------------------------------------------------- */

/* The line through the times, with its uncertainty from resampling the
 * rounds. */
struct request_line {
    struct line line;
    size_t sizes_count; /* sizes on the line, from the smallest; all, if they do
                        not lie on a line */
    struct interval slope; /* interval by chance alone */
    struct interval
        stated; /* also covers the choice of points, if some lie off the line */
    double off; /* log distance of the farthest point, beyond its error */
    /* Reads: time of a request without its data, and time of a read of 4
     * KiB. */
    double overhead_ns, small_ns;
    struct interval overhead;
    bool begins_elsewhere; /* reads of 4 KiB lie off the line */
    double left_out_share; /* share of writes left out because they merged */
    double spread;         /* relative spread of the times of one size */
    bool depends;          /* the slope depends on the place */
    double batch_error;    /* relative standard error of the slope, from
                              batches */
    double confidence;     /* that times are the drive's own; 0: times tell
                              nothing */
    uint32_t rounds_count;
    double rounds_ns; /* duration of the rounds */
};

enum { REQUEST_LOOKS = 16 };

struct request_probe {
    struct study study;
    uint64_t sizes[REQUEST_SIZES];
    bool vary;         /* reads vary so much that drift is likely */
    uint64_t pause_ns; /* before each round */
    /* Fit after each look, as the rows of a look do not change. rounds_count is
     * 0 before the fit. */
    struct request_line known[REQUEST_KINDS][REQUEST_LOOKS];
};

/* A point may lie off the line by this log distance, beyond its own error. */
static const double request_off_most = 0.10;

/* Fits the line; sets everything but the confidence and rounds_ns.
 * times->rounds_count >= 1. */
void request_fit(const struct request_probe *state,
                 const struct request_times *times,
                 struct request_line *result);

#endif
