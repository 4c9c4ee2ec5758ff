/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_RESULTS_H
#define SSDPROBE_INFER_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/fault.h"
#include "lib/infer/finding.h"

/*
 * What other tools measured, and what follows from it. Any number of their
 * files may be of one drive: what they say is collected, then concluded. What a
 * file cannot tell is a note.
 */

enum { RESULT_SHARES_MAX = 40 };

/* Did the page cache of the host lie in between? */
enum result_cache { CACHE_UNKNOWN, CACHE_BYPASSED, CACHE_USED };

/* One measurement. What is 0 was not said. */
struct result_point {
    const char *tool;
    bool writes, random;
    bool synced;  /* each write is durable when it has returned */
    bool of_file; /* its time has the file system's work in it */
    enum result_cache cache;
    double block_bytes, depth;
    double bytes_per_second, requests_per_second;
    double mean_ns, requests_count;
    /* Percentiles, rising: so large a share takes at most so long. */
    struct result_share {
        double share, ns;
    } shares[RESULT_SHARES_MAX];
    size_t shares_count;
};

/* What a test of the capacity found. */
struct result_capacity {
    char kind[16];       /* as capacity_kind; empty: there was none, or it tells
                       nothing of the whole drive */
    uint64_t bytes;      /* that keep data; 0: not known */
    uint64_t bytes_most; /* likewise: there are no more */
    uint64_t bytes_least; /* so many do, and perhaps all */
    bool wrote_all;       /* f3write filled what was free */
    double confidence;
    char why[300];
};

enum { RESULT_NOTES_MAX = 24, RESULT_NOTE_BYTES = 300 };

struct results {
    struct result_point *points;
    size_t points_count, points_room;
    struct result_capacity capacity;
    char notes[RESULT_NOTES_MAX][RESULT_NOTE_BYTES];
    size_t notes_count;
    char device[64]; /* that the first file names; empty: none does */
    bool is_of_many; /* others name other ones */
};

/*
 * Adds what a file says, or all files of a folder. `*is_result` says whether it
 * is the output of a tool that is known here. Where it is not, nothing is added
 * and 0 returned, also where it cannot be opened: whoever reads it next says
 * so. Else 0; -EINVAL
 * with file, line and what is wrong in `why`; -ENOMEM. `results` is empty or
 * was added to; free with results_free().
 */
int results_read(const char *path, struct results *results, bool *is_result,
                 struct fault *why);
void results_free(struct results *results);

/* Rows for plots/matrix.gp: random requests of each size and depth. */
void results_put_matrix(const struct results *results, FILE *out);

/* What all of them together say. */
void results_infer(const struct results *results, struct findings *findings);

#endif
