/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/edge.h"

#include <math.h>
#include <stdio.h>

#include "lib/infer/statistics/bisect.h"

void edge_name(struct contrast *contrast, uint32_t index, uint64_t place_bytes)
{
    snprintf(contrast->name, sizeof(contrast->name), "q%u-%llu", index,
             (unsigned long long)place_bytes);
}

uint64_t edge_bisect(const char *phase, const struct edge_bisection *bisection)
{
    const double certain = 0.98, least = 0.65, most = 0.92;
    double probability = 0;
    struct bisect bisect;

    bisect_init(&bisect, bisection->bracket.low_bytes,
                bisection->bracket.high_bytes, bisection->grain_bytes,
                fmax(least, fmin(bisection->reliability, most)));
    /* Several times what a sound reliability needs; the certificate decides. */
    const uint32_t queries_max =
        60 + 12 * (uint32_t)log2((double)bisect.count + 1);
    uint64_t best = bisection->bracket.low_bytes;
    for (uint32_t i = 0; i < queries_max; i++) {
        best = bisect_best(&bisect, &probability);
        if (probability > certain || bisect.count < 2)
            break;
        const uint64_t place = bisect_query(&bisect);
        bisect_answer(&bisect, place,
                      bisection->holds(bisection->context, phase, i, place));
    }
    return best;
}

enum claim edge_find(struct study *study, const struct edge_search *search,
                     struct edge *edge)
{
    struct edge_bisection bisection = {.bracket = search->bracket,
                                       .grain_bytes = search->grain_bytes,
                                       .holds = search->holds,
                                       .context = search->context};

    for (int attempt = 1; attempt <= search->attempts_max; attempt++) {
        snprintf(edge->phase, sizeof(edge->phase), "%sbisect-%d", search->name,
                 attempt);
        bisection.reliability = search->reliability(search->context);
        edge->bytes = edge_bisect(edge->phase, &bisection);
        edge->count =
            search->beside(search->context, edge->bytes, edge->contrasts);
        snprintf(edge->phase, sizeof(edge->phase), "%scertify-%d", search->name,
                 attempt);
        const enum claim claim = study_claim(
            study, edge->phase, edge->contrasts, edge->count, search->rule);
        edge->confidence =
            claim_confidence(edge->contrasts, edge->count, search->rule);
        if (claim == CLAIM_HOLDS ||
            !search->reopen(search->context, claim, edge, &bisection.bracket))
            return claim;
    }
    return CLAIM_OPEN;
}
