/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/flashbench_rules.h"

double flashbench_choose(size_t n, size_t k)
{
    double product = 1;

    for (size_t i = 0; i < k; i++)
        product *= (double)(n - i) / (double)(k - i);
    return product;
}

double flashbench_confidence(double error)
{
    double confidence = 1 - error;

    return confidence < FLASHBENCH_CONFIDENCE_MOST ? confidence
                                                   : FLASHBENCH_CONFIDENCE_MOST;
}

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
