/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/ftl/ledger.h"

/*
 * The block with the largest (1 - u) / u x age (Rosenblum & Ousterhout; Lee &
 * Kim 2): one that will lose more by itself is left alone for a while. Age is
 * counted in writes of the host since the block was filled.
 */
static uint32_t choose(struct ledger *ledger)
{
    uint32_t now = ledger->writes_stamp, best = LEDGER_NONE;
    double best_worth = 0;

    for (uint32_t block = 0; block < ledger->blocks_count; block++) {
        const struct ledger_block *at = &ledger->blocks[block];
        double age = (double)(now - at->filled_stamp) + 1;
        double worth = ledger->gain[at->valid_count] * age;
        if (worth > best_worth && at->previous != LEDGER_OPEN) {
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
