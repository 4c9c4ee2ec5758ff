/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/ftl/ledger.h"

/* The block with the fewest valid units: the least to copy now. */
static uint32_t choose(struct ledger *ledger)
{
    while (ledger->lowest_valid < ledger->block_units_count &&
           ledger->first_with_valid[ledger->lowest_valid] == LEDGER_NONE)
        ledger->lowest_valid++;
    return ledger->lowest_valid < ledger->block_units_count
               ? ledger->first_with_valid[ledger->lowest_valid]
               : LEDGER_NONE;
}

const struct victim_ops victim_greedy_ops = {
    .name = "greedy",
    .choose = choose,
};
