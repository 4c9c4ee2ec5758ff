/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inter-request-distance: walks over the drive and finds the address ranges of
 * the segment groups.
 */
#include "probes/inter_request_distance/inter_request_distance.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"

enum { ASK_BATCH = 4, ASK_MAX = 128, LONG_RUN = 3 };

/* Log odds needed to decide whether two places are in one group: a million to
 * one, as there are hundreds of pairs to ask about. */
static const double ask_odds = 13.8; /* log 1e6 */

/* ---- same group or another? -------------------------------------------- */

/* A range of addresses in one group. Reads that begin anywhere in it seldom hit
 * a cache. */
struct places {
    uint64_t first_bytes, span_bytes;
};

/* The range of a run up to the place before `end`. */
static struct places places_of(const struct distance_walk *walk, int run,
                               int end)
{
    uint64_t first = walk->places[walk->first[run]];

    return (struct places){first, walk->places[end - 1] - first};
}

/* Sequential test whether a place is in the group of these. Each cell votes;
 * its error probability gives the weight of a vote. */
static enum distance_answer ask(struct distance_probe *state, const char *phase,
                                const struct places *from, uint64_t to_bytes)
{
    const struct distance_effect *effect = &state->effect;
    const struct contrast contrast =
        distance_between(state, from->first_bytes, from->span_bytes, to_bytes);
    const double wrong = fmin(
        stats_normal_cdf(-0.5 * effect->gap / effect->spread) + 0.03, 0.35);
    const double weight = log((1 - wrong) / wrong);
    double ratios[CONTRAST_ROUNDS_MAX];

    for (uint32_t rounds = ASK_BATCH; rounds <= ASK_MAX;
         rounds += (uint32_t)larger_of(rounds / 4, ASK_BATCH)) {
        double odds = 0;
        if (!study_ask_ratios(&state->study, phase, &contrast, rounds, ratios))
            return DISTANCE_MEASURING;
        for (uint32_t i = 0; i < rounds; i++)
            odds += ratios[i] > 0.5 * effect->gap ? weight : -weight;
        if (fabs(odds) > ask_odds)
            return odds > 0 ? DISTANCE_OTHER : DISTANCE_SAME;
    }
    return DISTANCE_UNSURE;
}

/* ---- the walk ---------------------------------------------------------- */

static void choose_walk(const struct distance_probe *state,
                        struct distance_walk *walk)
{
    uint64_t pitch = state->length_bytes / DISTANCE_WALK;
    struct random random;

    study_random(&state->study, "walk", "places", 0, &random);
    for (uint64_t i = 0; i < DISTANCE_WALK; i++) {
        uint64_t place = i * pitch + distance_within(state, pitch / 2, &random);
        walk->places[i] =
            state->first_bytes + place / state->slot_bytes * state->slot_bytes;
    }
}

/* Does the last run consist of one place, behind a long run? Then a border
 * crosses the place's window, so the place tells nothing; it is added to the
 * run before. (If it were a group of its own, the certificate of the border
 * would fail.) */
static bool lies_across(const struct distance_walk *walk, int i)
{
    const int run = walk->count - 1;

    return run > 0 && i - walk->first[run] == 1 &&
           walk->first[run] - walk->first[run - 1] >= LONG_RUN;
}

enum distance_answer distance_take_walk(struct distance_probe *state,
                                        struct distance_walk *walk)
{
    int across = -1;

    choose_walk(state, walk);
    walk->count = 1;
    walk->first[0] = 0;
    for (int i = 1; i < DISTANCE_WALK; i++) {
        struct places run = places_of(walk, walk->count - 1, i);
        enum distance_answer answer = ask(state, "walk", &run, walk->places[i]);
        if (answer == DISTANCE_MEASURING)
            study_leave(&state->study);
        if (answer == DISTANCE_SAME)
            continue;
        /* Undecided: a border crosses this place's window, so it is added to
         * the run before. Two such places in a row have another cause. */
        if (answer == DISTANCE_UNSURE && across != i - 1) {
            across = i;
            continue;
        }
        if (answer != DISTANCE_OTHER)
            return answer;
        if (lies_across(walk, i)) {
            walk->first[walk->count - 1] = i;
            continue;
        }
        if (walk->count == DISTANCE_GROUPS_MAX)
            return DISTANCE_UNSURE;
        walk->first[walk->count++] = i;
    }
    walk->first[walk->count] = DISTANCE_WALK;
    return DISTANCE_OTHER;
}

static uint64_t middle_place(const struct distance_walk *walk, int run)
{
    return walk->places[(walk->first[run] + walk->first[run + 1] - 1) / 2];
}

enum distance_answer distance_tell_apart(struct distance_probe *state,
                                         const struct distance_walk *walk)
{
    enum distance_answer result = DISTANCE_OTHER;

    for (int i = 0; i < walk->count; i++) {
        struct places run = places_of(walk, i, walk->first[i + 1]);
        for (int j = i + 2; j < walk->count; j++) {
            enum distance_answer answer =
                ask(state, "apart", &run, middle_place(walk, j));
            if (answer == DISTANCE_MEASURING || result == DISTANCE_MEASURING)
                result = DISTANCE_MEASURING;
            else if (answer != DISTANCE_OTHER)
                result = answer;
        }
    }
    if (result == DISTANCE_MEASURING)
        study_leave(&state->study);
    return result;
}

enum distance_answer distance_find_border(struct distance_probe *state,
                                          const struct distance_walk *walk,
                                          int run,
                                          struct distance_border *border)
{
    int after = walk->first[run + 1];
    struct places known = places_of(walk, run, after);

    border->low_bytes = walk->places[after - 1];
    border->high_bytes = walk->places[after];
    while (border->high_bytes - border->low_bytes > 2 * state->window_bytes) {
        uint64_t middle = (border->low_bytes + border->high_bytes) / 2;
        middle -= middle % state->slot_bytes;
        enum distance_answer answer = ask(state, "border", &known, middle);
        if (answer == DISTANCE_MEASURING)
            return answer;
        if (answer == DISTANCE_SAME)
            border->low_bytes = middle;
        else if (answer == DISTANCE_OTHER)
            border->high_bytes = middle;
        else /* the border crosses this window */
            break;
    }
    return DISTANCE_OTHER;
}
