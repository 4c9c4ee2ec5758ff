/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_LEDGER_H
#define SSDPROBE_INFER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/sample.h"

/*
 * The rows of a probe, grouped by label: all that it knows. Rows of one label
 * keep their order. Rows with an empty cell only prepare and are not kept.
 */

struct timing {
    enum operation operation;
    enum returned returned;
    uint64_t submit_ns, complete_ns;
    uint64_t ns; /* complete_ns - submit_ns */
};

/* The rows of one phase, cell and round. */
struct ledger_entry {
    char phase[LABEL_PHASE_MAX], cell[LABEL_CELL_MAX];
    uint32_t round;
    bool failed;   /* one of its requests had an error */
    uint64_t hash; /* of the three */
    struct timing *timings;
    uint32_t count, size;
};

struct ledger {
    struct ledger_entry *entries; /* open addressing; count 0 is free */
    size_t used, size;
};

/* 0 or -ENOMEM. An all-zero struct is an empty ledger. */
int ledger_add(struct ledger *ledger, const struct sample *sample);
void ledger_free(struct ledger *ledger);

/* NULL when no row has that label. */
const struct ledger_entry *ledger_get(const struct ledger *ledger,
                                      const char *phase, const char *cell,
                                      uint32_t round);

#endif
