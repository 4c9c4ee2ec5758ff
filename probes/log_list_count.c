/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log-list: how many places stay fast when they are written in turn, and what
 * counts as fast.
 */
#include "probes/log_list.h"

#include "lib/infer/stats.h"

/* A write that waits for a merge takes so many times as long, as a logarithm, as
 * one that may wait for something less: for one log, which is what it looks like
 * where it takes time to go from one log to another; and for more. */
static const double above_one_least = 0.1, above_more_least = 0.4;
/* Of either kind, that say where fast ends. */
enum { SPLIT_VOTES = 24 };
static const char *const count_phases[] = {"count", "wide-count"};
static const char *const above_phases[] = {"above", "wide-above"};

/* The largest number of places that stay fast. False: measure first. 0: none
 * is slow. */
static bool count_fast(struct log_probe *state, const char *phase,
                       double middle, uint32_t *logs)
{
    uint32_t low = 1, high = 2;

    for (;; low = high, high *= 2) {
        struct contrast contrast;
        if (high > state->places_max)
            high = state->places_max;
        contrast = log_in_turn(LOG_SPREAD, high, middle);
        enum log_answer answer = log_ask(state, phase, &contrast);
        if (answer == LOG_MEASURING)
            return false;
        if (answer == LOG_SLOW)
            break;
        if (high == state->places_max) {
            *logs = 0;
            return true;
        }
    }
    while (high - low > 1) {
        uint32_t half = (low + high) / 2;
        struct contrast contrast = log_in_turn(LOG_SPREAD, half, middle);
        enum log_answer answer = log_ask(state, phase, &contrast);
        if (answer == LOG_MEASURING)
            return false;
        *(answer == LOG_FAST ? &low : &high) = half;
    }
    *logs = low;
    return true;
}

bool log_count(struct log_probe *state, double middle, uint32_t *logs)
{
    return count_fast(state, count_phases[state->is_wide], middle, logs);
}

/* Writes to as many places in turn as there may be logs cost more than this. That
 * they do not must be sure. */
static enum claim claim_step(struct log_probe *state, double higher)
{
    const struct claim_rule rule = {.alpha = log_alpha / 4,
                                    .looks = claim_looks};
    struct contrast contrast =
        log_in_turn(LOG_SPREAD, state->places_max, higher);

    const enum claim claim = study_claim(
        &state->study, above_phases[state->is_wide], &contrast, 1, &rule);
    if (claim == CLAIM_MEASURING)
        return claim;
    return claim == CLAIM_HOLDS && contrast.side == SIDE_BELOW ? CLAIM_FALLS
                                                               : CLAIM_HOLDS;
}

bool log_count_above(struct log_probe *state, double cost_of_new,
                     double *middle, uint32_t *logs)
{
    const struct contrast slow = log_in_turn(LOG_SPREAD, *logs + 1, *middle);
    uint32_t votes = log_votes_of(&slow), above;
    double ratios[CONTRAST_ROUNDS_MAX];

    if (!study_ratios(&state->study, count_phases[state->is_wide], &slow, votes,
                      ratios))
        return false;
    double in_turn = stats_median(ratios, votes) + *middle;
    if (cost_of_new - in_turn <
        (*logs == 1 ? above_one_least : above_more_least))
        return true;
    votes = votes > SPLIT_VOTES ? votes : SPLIT_VOTES;
    if (!study_ratios(&state->study, count_phases[state->is_wide], &slow, votes,
                      ratios))
        return false;
    in_turn = stats_median(ratios, votes) + *middle;
    const double higher = 0.5 * (in_turn + cost_of_new);
    const enum claim claim = claim_step(state, higher);
    if (claim != CLAIM_HOLDS)
        return claim != CLAIM_MEASURING;
    if (!count_fast(state, above_phases[state->is_wide], higher, &above))
        return false;
    if (above > *logs) {
        *logs = above;
        *middle = higher;
    }
    return true;
}

/* Of the ratios of two kinds, the boundary that has fewest on the wrong side. */
static double best_boundary(const double fast[], const double slow[],
                            uint32_t count)
{
    double all[2 * SPLIT_VOTES], best = 0;
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < count; i++) {
        all[i] = fast[i];
        all[count + i] = slow[i];
    }
    stats_sort(all, 2 * count);
    for (uint32_t i = 0; i + 1 < 2 * count; i++) {
        const double boundary = 0.5 * (all[i] + all[i + 1]);
        uint32_t wrong = 0;
        for (uint32_t j = 0; j < count; j++)
            wrong +=
                (fast[j] > boundary ? 1U : 0U) + (slow[j] > boundary ? 0U : 1U);
        if (wrong < least) {
            least = wrong;
            best = boundary;
        }
    }
    return best;
}

bool log_refine_middle(struct log_probe *state, uint32_t logs, double *middle)
{
    double ratios[2][SPLIT_VOTES];
    const uint32_t places[] = {logs ? logs : 1,
                               logs ? logs + 1 : state->places_max};

    for (int i = 0; i < 2; i++) {
        const struct contrast contrast =
            log_in_turn(LOG_SPREAD, places[i], *middle);
        if (!study_ratios(&state->study, "split", &contrast, SPLIT_VOTES,
                          ratios[i]))
            return false;
    }
    *middle += best_boundary(ratios[0], ratios[1], SPLIT_VOTES);
    return true;
}
