/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/ledger.h"

/*
 * The block with the largest (1 - u) / u x age (Rosenblum & Ousterhout; Lee &
 * Kim 2): one that will lose more by itself is left alone for a while. Age is
 * counted in writes of the host since the block was filled.
 */
static uint32_t choose(struct ledger *ledger)
{
    uint32_t units = ledger->block_units_count, best = LEDGER_NONE;
    double best_worth = -1;

    for (uint32_t block = 0; block < ledger->blocks_count; block++) {
        const struct ledger_block *at = &ledger->blocks[block];
        if (at->previous == LEDGER_OPEN || at->valid_count == units)
            continue;
        if (at->valid_count == 0)
            return block;
        uint32_t age = ledger->writes_stamp - at->filled_stamp;
        double worth = (double)(units - at->valid_count) /
                       (double)at->valid_count * ((double)age + 1);
        if (worth > best_worth) {
            best_worth = worth;
            best = block;
        }
    }
    return best;
}

const struct victim_ops victim_cost_benefit_ops = {
    .name = "cost-benefit",
    .choose = choose,
};
