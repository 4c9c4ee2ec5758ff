/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_THROUGHPUT_H
#define SSDPROBE_PROBES_THROUGHPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/infer/method/pace.h"
#include "lib/infer/study.h"
#include "probes/trial.h"

/*
 * What the files of the throughput probe share: blocks of requests at one depth
 * (blocks), the depth beyond which more do not pay (knee), and rates
 * (throughput).
 */

/* Requests of one kind of which so many are kept under way. */
enum block_kind { BLOCK_RANDOM, BLOCK_ORDER, BLOCK_WRITE };
enum { BLOCK_DEPTH, BLOCK_KIND }; /* n[] of a contrast */

struct throughput_probe {
    struct study study;
    uint64_t order_bytes;        /* of a request in order */
    uint64_t write_first_bytes;  /* where writes in order begin, */
    uint32_t write_rounds_count; /* and how many blocks of them may be */
};

/* ---- blocks ------------------------------------------------------------- */

/* A round is one block; it has no ratio. */
struct contrast block_of(enum block_kind kind, uint32_t depth);
/* A round is a block of random reads at `depth` and one at twice that, side by
 * side; its ratio says by how much the second is faster. */
struct contrast block_pair(uint32_t depth);

/* Times of requests of some blocks of one kind. */
struct block_times {
    double
        rounds_ns[CONTRAST_ROUNDS_MAX]; /* of each block, by its median part */
    uint32_t rounds_count;
    double ns;       /* the pace of all of them, a request */
    double quick_ns; /* the lower quarter of the parts */
    double mean_ns;  /* of all parts */
    /* Of single requests, sent alone; at other depths 0: how much they vary,
     * and which share takes far longer than most. */
    double spread, far_share;
};

/* Takes the first rounds of a block; false where some are missing. */
bool block_take(const struct throughput_probe *state, const char *phase,
                const struct contrast *block, uint32_t rounds,
                struct block_times *times);

/* ---- knee --------------------------------------------------------------- */

struct knee {
    enum claim claim;
    size_t index;           /* of the depth, where it holds */
    struct contrast gained; /* of the depth below it; its name is empty at 1 */
    struct contrast none;   /* of twice the depth; empty at the largest */
    double confidence;
};

/* Finds the smallest depth at which twice as many random reads do not pay,
 * beginning at the depth that a quick look found. */
extern const double knee_confidence;
struct knee knee_find(struct throughput_probe *state, size_t from);

/* ---- writes ------------------------------------------------------------- */

/* What a write in order takes, of the second half of them and its quarters. */
struct write_times {
    double half_ns, third_ns, fourth_ns;
    double mean_ns; /* of the half, with all that holds writes up */
    uint64_t written_bytes;
    bool held_up; /* now and then by something else, as reads are */
    bool bursts;  /* so uneven that drive and others cannot be told apart */
};

/* Writes until twice as many would be too much or take too long. `far_share` is
 * the share of reads that something else holds up. */
void writes_measure(struct throughput_probe *state, double far_share,
                    struct write_times *times);

#endif
