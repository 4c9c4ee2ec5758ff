/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/flashbench/rules.h"

void flashbench_infer(const struct flashbench *table, size_t run,
                      struct findings *findings)
{
    /* In CSV each test is a file of its own, and what it was not for is not
     * missing in it. */
    bool neither = table->aligns_count + table->speeds_count == 0;
    bool all = table->pasted || neither;

    findings->count = 0;
    if (all || table->aligns_count)
        flashbench_infer_align(table, run, findings);
    if (all || table->speeds_count) {
        flashbench_infer_open(table, run, false, findings);
        flashbench_infer_open(table, run, true, findings);
    }
}
