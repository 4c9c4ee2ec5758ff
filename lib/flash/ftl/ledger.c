/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/ftl/ledger.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flash/drive/drive.h"

static const struct victim_ops *const rules[] = {
    [VICTIM_GREEDY] = &victim_greedy_ops,
    [VICTIM_COST_BENEFIT] = &victim_cost_benefit_ops,
};

const struct victim_ops *victim_ops(uint64_t kind)
{
    return rules[kind];
}

int ledger_create(struct ledger *ledger, uint32_t blocks_count,
                  uint32_t block_units_count)
{
    memset(ledger, 0, sizeof(*ledger));
    ledger->blocks_count = blocks_count;
    ledger->block_units_count = block_units_count;
    ledger->lowest_valid = block_units_count;
    ledger->blocks = calloc(blocks_count, sizeof(*ledger->blocks));
    ledger->first_with_valid =
        malloc((block_units_count + UINT64_C(1)) * sizeof(uint32_t));
    ledger->gain = malloc((block_units_count + UINT64_C(1)) * sizeof(double));
    if (!ledger->blocks || !ledger->first_with_valid || !ledger->gain) {
        ledger_destroy(ledger);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < blocks_count; i++)
        ledger->blocks[i].previous = LEDGER_OPEN;
    for (uint32_t i = 0; i <= block_units_count; i++) {
        ledger->first_with_valid[i] = LEDGER_NONE;
        ledger->gain[i] =
            i ? (double)(block_units_count - i) / (double)i : INFINITY;
    }
    return 0;
}

void ledger_destroy(struct ledger *ledger)
{
    free(ledger->blocks);
    free(ledger->first_with_valid);
    free(ledger->gain);
    memset(ledger, 0, sizeof(*ledger));
}

uint64_t ledger_memory_bytes(const struct ledger *ledger)
{
    return ledger->blocks_count * sizeof(*ledger->blocks) +
           (ledger->block_units_count + UINT64_C(1)) *
               (sizeof(uint32_t) + sizeof(double));
}

void ledger_settle(struct ledger *ledger)
{
    while (ledger->late_begin != ledger->late_end)
        ledger_lose(ledger, ledger->late[ledger->late_begin++ % LEDGER_LATE],
                    1);
}

void ledger_close(struct ledger *ledger, uint32_t block)
{
    ledger_settle(ledger);
    ledger->blocks[block].filled_stamp = ledger->writes_stamp;
    ledger_link(ledger, block);
}

void ledger_reopen(struct ledger *ledger, uint32_t block)
{
    ledger_unlink(ledger, block);
    ledger->blocks[block].previous = LEDGER_OPEN;
}
