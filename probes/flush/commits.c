/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flush: what commits of a database take, one behind the other. A median says
 * nothing of the slow ones, and these are what it waits for. */
#include "probes/flush/flush.h"

#include <math.h>
#include <stdio.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

static const char phase[] = "commits", cell[] = "c";
/* A row of them is asked for at once. */
enum { BLOCKS = 8, BLOCK_WRITES = FLUSH_COMMITS / BLOCKS };

/* In order, as a log is written, and each on the medium before the next. */
static void ask_block(struct study *study, uint32_t block)
{
    const uint64_t length_bytes = flush_bytes(FLUSH_FUA);
    struct step step = {.operation = OPERATION_WRITE,
                        .length_bytes = length_bytes,
                        .fua = true};
    const uint64_t first = placing_base(
        &study->setting, random_mix(study->seed ^ random_hash(phase)),
        FLUSH_COMMITS * length_bytes);

    snprintf(step.label.phase, sizeof(step.label.phase), "%s", phase);
    snprintf(step.label.cell, sizeof(step.label.cell), "%s", cell);
    step.label.round = block;
    for (uint32_t i = 0; i < BLOCK_WRITES; i++) {
        step.offset_bytes = first + (block * BLOCK_WRITES + i) * length_bytes;
        study_ask(study, &step);
    }
}

void flush_say_commits(struct study *study, struct finding *finding)
{
    double *ns = study_alloc(study, FLUSH_COMMITS * sizeof(*ns));
    bool all = true;

    for (uint32_t block = 0; block < BLOCKS; block++) {
        const struct timing *rows =
            study_rows(study, phase, cell, block, BLOCK_WRITES);
        if (!rows)
            ask_block(study, block);
        all = all && rows;
        for (uint32_t i = 0; rows && i < BLOCK_WRITES; i++)
            ns[block * BLOCK_WRITES + i] = (double)rows[i].ns;
    }
    if (!all)
        study_leave(study);
    stats_sort(ns, FLUSH_COMMITS);
    finding_extra(finding, "p99",
                  value_integer((uint64_t)ns[FLUSH_COMMITS * 99 / 100]));
    finding_extra(finding, "requests", value_integer(FLUSH_COMMITS));
}
