/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_INTERFERENCE_H
#define SSDPROBE_PROBES_INTERFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/method/beside.h"
#include "lib/infer/study.h"
#include "probes/trial.h"

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

/* Contrasts of one round: they share its rows. */
enum {
    WRITES_WAIT, /* log ratio of writes, deepest over middle */
    READS_WAIT,  /* how much longer reads are, over how much writes are: from
                    before the writes to behind them, */
    READS_QUEUE, /* and no longer than in one queue with them */
    CONTRASTS
};
extern const struct trial_kind interference_writes, interference_reads;

/* What a round says; false where it is not whole. */
bool round_take(const struct trial *trial, struct beside_times *times);

/* The last of rising counts that end in 0. */
uint32_t interference_last(const uint32_t counts[]);

/* Measures rounds of this contrast, `rounds` and more, until it is known how
 * many times as long a read takes beside writes; and says so. */
void slowdown_conclude(struct study *study, const char *phase,
                       const struct contrast *contrast, uint32_t rounds,
                       struct finding *finding);

#endif
