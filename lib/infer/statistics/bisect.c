/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/statistics/bisect.h"

#include <assert.h>

void bisect_init(struct bisect *bisect, uint64_t low, uint64_t high,
                 uint64_t step, double reliability)
{
    assert(high > low && step > 0);
    while ((high - low + step - 1) / step > BISECT_CELLS_MAX)
        step *= 2;
    bisect->first = low;
    bisect->step = step;
    bisect->count = (size_t)((high - low + step - 1) / step);
    bisect->reliability = reliability;
    for (size_t i = 0; i < bisect->count; i++)
        bisect->weights[i] = 1 / (double)bisect->count;
}

uint64_t bisect_query(const struct bisect *bisect)
{
    double sum = 0;
    size_t at = 0;

    if (bisect->count < 2)
        return bisect->first;
    while (at + 1 < bisect->count && sum + bisect->weights[at] < 0.5)
        sum += bisect->weights[at++];
    /* Asking at cell `at` splits below it, at `at + 1` behind it: the evener.
     */
    if (0.5 - sum > sum + bisect->weights[at] - 0.5)
        at++;
    if (at == 0)
        at = 1;
    if (at >= bisect->count)
        at = bisect->count - 1;
    return bisect->first + at * bisect->step;
}

void bisect_answer(struct bisect *bisect, uint64_t place, bool holds)
{
    size_t at = (size_t)((place - bisect->first) / bisect->step);
    double right = bisect->reliability, sum = 0;

    /* If it holds at a place, the threshold is in that cell or above. */
    for (size_t i = 0; i < bisect->count; i++) {
        bisect->weights[i] *= (i >= at) == holds ? right : 1 - right;
        sum += bisect->weights[i];
    }
    for (size_t i = 0; i < bisect->count; i++)
        bisect->weights[i] /= sum;
}

uint64_t bisect_best(const struct bisect *bisect, double *probability)
{
    size_t best = 0;

    for (size_t i = 1; i < bisect->count; i++)
        if (bisect->weights[i] > bisect->weights[best])
            best = i;
    *probability = bisect->weights[best];
    return bisect->first + best * bisect->step;
}
