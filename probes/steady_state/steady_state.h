/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_STEADY_STATE_H
#define SSDPROBE_PROBES_STEADY_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/study.h"
#include "probes/load.h"

/* When the rate of the writes lasts, and how long the longest take (steady). */

/* Reads before the writes tell what else holds up a request; those behind them
 * whether the drive is hot. */
enum { STEADY_READS = 4096, STEADY_READS_AFTER = 256 };

struct steady_probe {
    struct study study;
    struct load load;
    size_t blocks_most;
    double longest_ns;    /* that all writes together may take */
    size_t memory_blocks; /* memory takes in no more */
    uint64_t unit_bytes;  /* what a write takes of the flash, at least */
    bool merges;          /* it has log blocks */
};

/* ---- reads -------------------------------------------------------------- */

/* What else holds up reads of the drive at rest. Leaves until they are
 * measured. */
struct steady_rest {
    double longest_ns;  /* INFINITY where a read failed */
    double added_times; /* as long as the usual read takes the mean, at most */
};

/* ---- steady ------------------------------------------------------------- */

/* Why a rate lasts, or why that is not known. */
enum steady_reason {
    STEADY_UNUSED,    /* it stays, but the spare flash may not be in use */
    STEADY_FELL,      /* it fell and stays since */
    STEADY_MERGES,    /* each write costs a merge, from the first on */
    STEADY_ALL_OF_IT, /* it stays, longer than any spare flash lasts */
};

/* The rate behind what settles. */
struct steady_rate {
    enum steady_reason reason;
    size_t fell_at;       /* so many blocks were quick; 0: none */
    size_t from, to;      /* these blocks count */
    double ns, low, high; /* of a write, on average */
    double drift;         /* of the later half, on a logarithmic scale */
    double fresh_ns;      /* what a write took before it fell; 0: unknown */
    bool lasts;           /* known well enough to stop */
};

/* So many blocks are more than any drive has spare flash for. */
size_t steady_blocks_of_spare(const struct steady_probe *state);

struct steady_rate steady_rate(const struct steady_probe *state,
                               const double block_ns[], size_t count);

/* ---- stall -------------------------------------------------------------- */

/* So many of a thousand writes take no longer than cleaning_stall. */
enum { STEADY_STALL_PERMILLE = 999 };

struct steady_stall {
    double ns;
    struct interval range;
};

/* Sorts the writes, which are in order of time. */
struct steady_stall steady_stall(struct resample_item writes[], size_t count,
                                 uint64_t seed);

#endif
