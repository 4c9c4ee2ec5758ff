/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/flashbench/rules.h"

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
