/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log-list: how many blocks have logs, whichever is merged next?
 *
 * Distant places are written in turn. If there is a log for each, all have one
 * after some turns, by any rule of replacement, and no write waits for a merge.
 * With one place more, some place has no log in each turn.
 */
#include "probes/log_list/log_list.h"

#include <assert.h>
#include <math.h>

#include "lib/infer/statistics/stats.h"

/* Turns that are timed, behind those in which the places get their logs: where
 * a random log is merged, one in twenty series of three turns a place has not
 * all of them by then. */
enum { TIMED_TURNS = 10, TURNS_A_PLACE = 3, TURNS_LEAST = 20 };
enum { SEARCH_SERIES = 3, SLOTS_MOST = 4096 };
static const uint32_t looks[] = {10, 14, 20, 28, 0};

static void send(const struct trial *trial)
{
    const struct log_probe *state = (const struct log_probe *)trial->study;
    const uint32_t count = trial->contrast->repeats;
    const struct log_slots slots = log_slots_for(state, count);
    const uint64_t turns =
        larger_of((uint64_t)TURNS_A_PLACE * count, TURNS_LEAST);
    size_t order[SLOTS_MOST];
    uint64_t places[LOG_SETTLED_MOST + 1];

    assert(slots.count <= SLOTS_MOST && count <= LOG_SETTLED_MOST + 1);
    random_order(trial->random, order, slots.count);
    for (uint32_t i = 0; i < count; i++)
        places[i] = slots.first_bytes + order[i] * slots.pitch_bytes +
                    random_below(trial->random,
                                 log_smallest_bytes / state->page_bytes) *
                        state->page_bytes;
    for (uint64_t turn = 0; turn < turns + TIMED_TURNS; turn++)
        for (uint32_t i = 0; i < count; i++)
            trial_write_flushed(trial, turn < turns ? '\0' : 'a', places[i],
                                state->page_bytes);
}

/* The slowest write of a turn, in the middle of the turns. */
static bool slowest_of_turn(const struct trial *trial, double *ratio)
{
    const uint32_t count = trial->contrast->repeats;
    double ns[TIMED_TURNS * (LOG_SETTLED_MOST + 1)], slowest[TIMED_TURNS] = {0};

    if (!trial_flushed_ns(trial, 'a', TIMED_TURNS * count, ns))
        return false;
    for (uint32_t i = 0; i < TIMED_TURNS * count; i++)
        slowest[i / count] = fmax(slowest[i / count], ns[i]);
    *ratio = log(stats_median(slowest, TIMED_TURNS));
    return true;
}

static struct contrast settled(uint32_t places, double middle,
                               enum side expected)
{
    static const struct trial_kind kind =
        TRIAL_ROUND("settled{places}", send, slowest_of_turn);
    struct contrast contrast =
        trial_expect(trial_of(&kind, places), expected, 0, 0, NULL);

    contrast.repeats = places;
    contrast.predicted = middle;
    return contrast;
}

bool log_is_settled(struct log_probe *state, uint32_t places, double middle)
{
    const struct contrast contrast = settled(places, middle, SIDE_OPEN);
    double ratios[SEARCH_SERIES];

    study_ratios(&state->study, "settle", &contrast, SEARCH_SERIES, ratios);
    return stats_median(ratios, SEARCH_SERIES) < 0;
}

uint32_t log_count_settled(struct log_probe *state, double middle,
                           double *confidence)
{
    const struct claim_rule rule = {.alpha = 0.01, .looks = looks};
    uint32_t low = 1, high = 2;

    for (; log_is_settled(state, high, middle); low = high, high *= 2)
        if (high == LOG_SETTLED_MOST)
            return 0;
    while (high - low > 1) {
        const uint32_t half = (low + high) / 2;
        *(log_is_settled(state, half, middle) ? &low : &high) = half;
    }
    struct contrast contrasts[] = {settled(low, middle, SIDE_BELOW),
                                   settled(low + 1, middle, SIDE_ABOVE)};
    const bool holds = study_claim(&state->study, "settled", contrasts, 2,
                                   &rule) == CLAIM_HOLDS;
    *confidence = claim_confidence(contrasts, 2, &rule);
    return holds ? low : 0;
}
