/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log-list: the number of places that stay fast when written in turn, and the
 * threshold between fast and slow.
 */
#include "probes/log_list/log_list.h"

#include "lib/infer/statistics/stats.h"

/* Least log ratio of a merge to a lesser wait. With one log the lesser wait is
 * a switch between logs (0.1); with more logs, another kind of merge (0.4). */
static const double above_one_least = 0.1, above_more_least = 0.4;
/* Writes to many places and to few wait for the same thing if they differ by
 * less than this log ratio, half of the smallest step looked for. */
static const double step_least = 0.05;
/* Votes of each kind, fast and slow, for the threshold between them. */
enum { SPLIT_VOTES = 24, STEP_LOOKS = 8 };
static const char *const count_phases[] = {"count", "wide-count"};
static const char *const above_phases[] = {"above", "wide-above"};

/*
 * Returns the largest number of places that stay fast in turn; 0: none was
 * slow. It grows in steps of a quarter: beyond the limit every write waits for
 * a merge, while below it only the new places do.
 */
static uint32_t count_fast(struct log_probe *state, const char *phase,
                           double middle)
{
    uint32_t low = 1, high = 2;

    for (;; low = high, high += log_has_choice(state) ? 1 + high / 4 : high) {
        struct contrast contrast;
        if (high > state->places_max)
            high = state->places_max;
        contrast = log_in_turn(high, middle);
        if (!log_is_fast(state, phase, &contrast))
            break;
        if (high == state->places_max)
            return 0;
    }
    while (high - low > 1) {
        uint32_t half = (low + high) / 2;
        struct contrast contrast = log_in_turn(half, middle);
        *(log_is_fast(state, phase, &contrast) ? &low : &high) = half;
    }
    return low;
}

uint32_t log_count(struct log_probe *state, double middle)
{
    return count_fast(state, count_phases[state->is_wide], middle);
}

/*
 * Do writes to places_max places in turn take longer than `slow`, which were
 * called slow at fewer places? *higher: the threshold between the two, as a
 * logarithm.
 */
static enum claim claim_step(struct log_probe *state,
                             const struct contrast *slow, double *higher)
{
    const struct contrast all = log_in_turn(state->places_max, slow->predicted);
    double few[CONTRAST_ROUNDS_MAX], many[CONTRAST_ROUNDS_MAX],
        steps[CONTRAST_ROUNDS_MAX];

    for (const uint32_t *look = claim_looks; *look; look++) {
        const bool is_few = study_ask_ratios(
            &state->study, count_phases[state->is_wide], slow, *look, few);
        if (!study_ask_ratios(&state->study, above_phases[state->is_wide], &all,
                              *look, many) ||
            !is_few)
            study_leave(&state->study);
        for (uint32_t i = 0; i < *look; i++)
            steps[i] = many[i] - few[i];
        const struct interval step =
            stats_median_interval(steps, *look, log_alpha / STEP_LOOKS);
        if (step.high < step_least)
            return CLAIM_FALLS;
        *higher = slow->predicted +
                  0.5 * (stats_median(few, *look) + stats_median(many, *look));
        if (step.low > step_least)
            return CLAIM_HOLDS;
    }
    return CLAIM_OPEN;
}

enum claim log_count_above(struct log_probe *state, double cost_of_new,
                           double *middle, uint32_t *logs)
{
    const struct contrast slow = log_in_turn(*logs + 1, *middle);
    const uint32_t votes = log_votes_of(&slow);
    double ratios[CONTRAST_ROUNDS_MAX], higher = 0;

    study_ratios(&state->study, count_phases[state->is_wide], &slow, votes,
                 ratios);
    if (cost_of_new - stats_median(ratios, votes) - *middle <
        (*logs == 1 ? above_one_least : above_more_least))
        return CLAIM_FALLS;
    const enum claim claim = claim_step(state, &slow, &higher);
    if (claim == CLAIM_FALLS)
        return claim;
    const uint32_t above =
        count_fast(state, above_phases[state->is_wide], higher);
    if (above > *logs) {
        *logs = above;
        *middle = higher;
    }
    return claim;
}

/* Returns the threshold with the fewest values on the wrong side. */
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

double log_refine_middle(struct log_probe *state, uint32_t logs, double middle)
{
    double ratios[2][SPLIT_VOTES];
    const uint32_t places[] = {logs ? logs : 1,
                               logs ? logs + 1 : state->places_max};

    for (int i = 0; i < 2; i++) {
        const struct contrast contrast = log_in_turn(places[i], middle);
        study_ratios(&state->study, "split", &contrast, SPLIT_VOTES, ratios[i]);
    }
    return middle + best_boundary(ratios[0], ratios[1], SPLIT_VOTES);
}
