/* SPDX-License-Identifier: GPL-3.0-or-later */
/* throughput: the depth beyond which more random reads under way do not pay. */
#include "probes/throughput/throughput.h"

#include <math.h>

/* Each doubling is compared with the one before: gains that grow smaller bit by
 * bit have no one knee. */
const double knee_confidence = 0.95;

static const struct claim_rule rule = {.alpha = 1e-4, .looks = claim_looks};

/* Decides what the depth of this index gains over half of it, and twice of it
 * over that. */
static enum claim decide(struct throughput_probe *state, size_t index,
                         struct knee *knee)
{
    struct contrast contrasts[2];
    size_t count = 0;
    double confidence = 1;

    if (index > 0)
        contrasts[count++] = block_pair(pace_depth(index - 1));
    if (index + 1 < PACE_DEPTHS)
        contrasts[count++] = block_pair(pace_depth(index));
    const enum claim claim =
        study_claim(&state->study, "knee", contrasts, count, &rule);
    confidence =
        fmin(claim_confidence(contrasts, count, &rule), knee_confidence);
    *knee = (struct knee){.index = index, .confidence = confidence};
    if (index > 0)
        knee->gained = contrasts[0];
    if (index + 1 < PACE_DEPTHS)
        knee->none = contrasts[count - 1];
    return claim;
}

struct knee knee_find(struct throughput_probe *state, size_t from)
{
    struct knee knee = {.claim = CLAIM_OPEN};
    bool went_up = false, went_down = false;

    for (size_t index = from;;) {
        knee.claim = decide(state, index, &knee);
        const bool more = knee.none.side == SIDE_ABOVE;
        const bool less = knee.gained.side == SIDE_BELOW;
        if (!more && !less)
            return knee;
        /* A rate that rises, stays and rises again has no knee. */
        went_up = went_up || more;
        went_down = went_down || (less && !more);
        if (went_up && went_down) {
            knee.claim = CLAIM_FALLS;
            return knee;
        }
        index = more ? index + 1 : index - 1;
    }
}
