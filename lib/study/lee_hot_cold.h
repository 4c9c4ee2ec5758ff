/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_STUDY_LEE_HOT_COLD_H
#define SSDPROBE_STUDY_LEE_HOT_COLD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/base/random.h"

/*
 * Writes with hot and cold places, and what they do to the drive of Lee & Kim
 * under each of their policies: shared by the experiments of that paper.
 */

enum hot_policy {
    HOT_BASELINE,
    HOT_ORACLE,
    HOT_LRU,
    HOT_MBF,
    HOT_DAC,
    HOT_POLICIES
};

extern const char *const hot_policy_names[HOT_POLICIES];

struct hot_workload {
    const char *name;
    /* So many permille of the writes go to the others of the drive, its
     * beginning: 700 to 300. They change evenly from the first to the last
     * write. 500: no skew. */
    uint32_t skew_permille, last_skew_permille;
    /* Mixed in: share of the writes that belong to runs of whole files, and
     * how many pages one has. */
    uint32_t file_permille, file_pages_count;
    uint32_t cold_permille; /* of the drive that is never written again */
};

struct hot_run {
    const struct hot_workload *workload;
    enum hot_policy policy;
    uint64_t capacity_mib, writes_count, seed;
    /* A recorded trace, whose writes come in place of the workload's, over and
     * over, folded onto the drive; NULL: none. */
    const char *trace_path;
};

struct hot_result {
    double write_amplification; /* of the second half of the writes */
    uint64_t writes_count, cleaned_count, steps_count;
};

/* 0, or -errno with a sentence. */
int hot_cold_run(const struct hot_run *run, struct hot_result *result,
                 struct fault *why);

/* Shares of the writes to hot data, as the oracle knows it, and to cold data
 * that a policy takes for hot, in the second half of the writes. */
struct hot_found {
    double hot, cold;
};

/* Of a policy with two levels that does not ask where a page lies (MBF, LRU),
 * and of a made workload. 0, or -errno with a sentence. */
int hot_cold_found(const struct hot_run *run, struct hot_found *found,
                   struct fault *why);

#endif
