/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_INTERFERENCE_H
#define SSDPROBE_PROBES_INTERFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/method/beside.h"
#include "lib/infer/study.h"

/* What the files of the interference probe share: a round of reads alone and
 * beside writes (rounds), how much slower reads are (slowdown), and who goes
 * first (interference). */

struct interference_probe {
    struct study study;
    uint64_t read_bytes, write_bytes;
    uint64_t window_first_bytes, window_writes;
    /* Rising counts of rounds, ending in 0; NULL: the budget is too small for
     * any. */
    const uint32_t *looks;
};

/* Contrasts of one round: they have one name, and so the same rows. */
enum contrast_kind {
    WRITES_WAIT, /* log ratio of writes, deepest over middle */
    READS_WAIT,  /* how much longer reads are, over how much writes are: from
                    before the writes to behind them, */
    READS_QUEUE, /* and no longer than in one queue with them */
    CONTRASTS
};

/* What struct study_ops asks for. */
study_emit round_emit;
study_value round_value;

/* What a round says; false where it is not whole. */
bool round_take(const struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round,
                struct beside_times *times);

/* Measures rounds of this contrast, `rounds` and more, until it is known how
 * many times as long a read takes beside writes; and says so. */
void slowdown_conclude(struct study *study, const char *phase,
                       const struct contrast *contrast, uint32_t rounds,
                       struct findings *findings);

#endif
