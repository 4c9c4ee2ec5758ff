/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/rounds.h"

#include <assert.h>

#include "lib/base/random.h"

void rounds_measure(struct study *study, const char *phase,
                    const struct contrast cells[], size_t count,
                    uint32_t rounds)
{
    size_t order[ROUNDS_CELLS_MAX];
    struct random random;
    bool all = true;

    assert(count <= ROUNDS_CELLS_MAX);
    for (uint32_t round = 0; round < rounds; round++) {
        study_random(study, phase, "order", round, &random);
        random_order(&random, order, count);
        for (size_t i = 0; i < count; i++) {
            const struct contrast *cell = &cells[order[i]];
            double ignored;
            study_random(study, phase, cell->name, round, &random);
            if (study->ops->value(study, phase, cell, round, &random, &ignored))
                continue;
            study_random(study, phase, cell->name, round, &random);
            study->ops->emit(study, phase, cell, round, &random);
            all = false;
        }
    }
    if (!all)
        study_leave(study);
}
