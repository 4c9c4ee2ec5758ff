/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inter-request-distance: into how many segment groups is the drive divided,
 * and what does a switch of groups add to a read? (Sun & Zhang 4.1)
 *
 * Idea: read two places and time the second read; compare it with a read after
 * a nearby one. If it takes longer, the two places are in different groups. A
 * walk over the drive finds the address ranges of the groups.
 *
 *   second read                  places  0 . . . . . . . . . . . . region
 *    slow |        +------       group   0 0 0 0 | 1 1 1 1 | 2 2 2 2 | 3 ...
 *    fast +--------+             each border is certified from both sides
 *         distance
 *
 * Assumes: "nearby" is farther than read-ahead or a cache reaches; a group is
 * one range of addresses. Interleaved groups are noticed, but not counted.
 */
#include "probes/inter_request_distance/inter_request_distance.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/papers/papers.h"
#include "probes/probes.h"

enum { LOOKS = 3, DISTANCES = 3, EFFECT_ROUNDS = 64, TURNS = 12 };

static const double alpha = 1e-4;

/* Looks with more and more pairs per cell: a few pairs do not tell where read
 * times have several modes or much noise. */
static const struct look {
    const char *phase;
    uint32_t repeats;
    const uint32_t *rounds;
} looks[LOOKS] = {
    {"distance", 4, claim_long_looks},
    {"distance-closer", 16, claim_long_looks},
    {"distance-closest", DISTANCE_REPEATS_MAX, claim_longest_looks}};
/* A switch is seen if it adds more than 3 % to a read, and excluded if it adds
 * less than 5 %; in between either is allowed (log ratios). */
static const double switch_low = 0.03, switch_none = 0.05;
/* Ratio of the gap to the spread at which one cell nearly always tells a
 * switch. */
static const double gap_wanted = 3;
/* Least ratio of the gap to the spread; below it, some of the many places of
 * the walk stay undecided. */
static const double gap_least = 1.2;
/* Groups that alternate within a slot look like one group. */
static const double none_confidence = 0.95;
/* Widest slot. The wider a slot is, the fewer of its pages are still cached
 * when the window is read again. A window covers at most half of the distance
 * between two places of the walk. */
static const uint64_t widest_slot_bytes = MIB;

/* ---- what is said ------------------------------------------------------ */

static void say_none(double confidence, struct findings *findings)
{
    study_say_absent(
        &probe_inter_request_distance, findings, confidence,
        "a read costs the same after a nearby one as after one half, a third "
        "or a quarter of the region away: there is one group");
}

static void say_once(double confidence, struct findings *findings)
{
    study_say_absent(
        &probe_inter_request_distance, findings, confidence,
        "a distant read costs more, but only the first one: alternating reads "
        "of two places cost the same nearby and half, a third or a quarter of "
        "the region apart. A drive that fetches parts of its mapping behaves "
        "like this; a group switch would cost time on each read");
}

/* ---- is there a switch? ------------------------------------------------ */

/*
 * Measures the gap and the spread for the distance with the largest gap, on
 * fresh rounds: that distance was chosen for its gap, which is therefore
 * overestimated. Half of the gap is the threshold of the hundreds of questions
 * that follow, so a wrong gap would bias them all.
 */
static void measure_effect(struct distance_probe *state, const char *phase,
                           const struct contrast contrasts[])
{
    struct distance_effect *effect = &state->effect;
    double ratios[CONTRAST_ROUNDS_MAX];
    const struct contrast *best = &contrasts[0];

    for (int i = 1; i < DISTANCES; i++)
        if (contrasts[i].median > best->median)
            best = &contrasts[i];
    uint32_t seen = best->rounds_count;
    if (seen > CONTRAST_ROUNDS_MAX - EFFECT_ROUNDS)
        seen = CONTRAST_ROUNDS_MAX - EFFECT_ROUNDS;
    study_ratios(&state->study, phase, best, seen + EFFECT_ROUNDS, ratios);
    effect->gap = stats_median(ratios + seen, EFFECT_ROUNDS);
    effect->spread = stats_spread(ratios + seen, EFFECT_ROUNDS) + 1e-3;
    effect->repeats = best->repeats;
    while (effect->repeats < DISTANCE_REPEATS_MAX &&
           effect->gap < gap_wanted * effect->spread) {
        effect->repeats *= 2;
        effect->spread /= sqrt(2);
    }
}

enum switching { SWITCHING_SEEN, SWITCHING_NONE, SWITCHING_UNCLEAR };

/*
 * Is a nearby read slower than a distant one? Then "nearby" is not what it
 * seems. A few rounds may show that by chance, so it is confirmed with more
 * rounds.
 */
static bool is_dearer_nearby(struct distance_probe *state, const char *phase,
                             const struct contrast contrasts[])
{
    const uint32_t look_rounds = 256;
    double ratios[CONTRAST_ROUNDS_MAX];
    bool measured = true, dearer = false;

    for (int i = 0; i < DISTANCES; i++) {
        if (contrasts[i].median > -switch_low)
            continue;
        if (!study_ask_ratios(&state->study, phase, &contrasts[i], look_rounds,
                              ratios))
            measured = false;
        else if (stats_median(ratios, look_rounds) <= -switch_low)
            dearer = true;
    }
    if (!measured)
        study_leave(&state->study);
    return dearer;
}

/* One contrast for each distance: half, a third, a quarter of the region. */
static void at_distances(const struct trial_kind *kind, uint32_t repeats,
                         enum side expected,
                         struct contrast contrasts[DISTANCES])
{
    for (int i = 0; i < DISTANCES; i++) {
        contrasts[i] = trial_expect(trial_of(kind, (uint64_t)i + 2), expected,
                                    switch_low, switch_none, NULL);
        contrasts[i].repeats = repeats;
    }
}

static enum switching look_at_distance(struct distance_probe *state,
                                       const struct look *look,
                                       double *confidence)
{
    const struct claim_rule rule = {
        .alpha = alpha / LOOKS, .looks = look->rounds, .to_the_end = true};
    struct contrast contrasts[DISTANCES];
    bool seen = false;

    at_distances(&distance_part, look->repeats, SIDE_OPEN, contrasts);
    enum claim claim =
        study_claim(&state->study, look->phase, contrasts, DISTANCES, &rule);
    for (int i = 0; i < DISTANCES; i++)
        seen = seen || contrasts[i].side == SIDE_ABOVE;
    *confidence = claim_confidence(contrasts, DISTANCES, &rule);
    if (seen) {
        measure_effect(state, look->phase, contrasts);
        return SWITCHING_SEEN;
    }
    return claim == CLAIM_HOLDS &&
                   !is_dearer_nearby(state, look->phase, contrasts)
               ? SWITCHING_NONE
               : SWITCHING_UNCLEAR;
}

/* Does only the first read far away cost more? What is kept at hand of two
 * places need not be fetched again; a switch of groups costs each time. */
static bool costs_once(struct distance_probe *state, double *confidence)
{
    const struct claim_rule rule = {.alpha = alpha, .looks = claim_long_looks};
    struct contrast contrasts[DISTANCES];

    at_distances(&distance_in_turn, TURNS, SIDE_BELOW, contrasts);
    if (study_claim(&state->study, "in-turn", contrasts, DISTANCES, &rule) !=
            CLAIM_HOLDS ||
        is_dearer_nearby(state, "in-turn", contrasts))
        return false;
    *confidence = claim_confidence(contrasts, DISTANCES, &rule);
    return true;
}

/* ---- certifying -------------------------------------------------------- */

/* Builds four contrasts for each border, two windows away from it on either
 * side: reads within each group must be fast, and reads across the border slow,
 * in both directions. Returns their number; 0 if a run is too narrow, which
 * means that a place was misjudged. */
static size_t certificates(const struct distance_probe *state,
                           const struct distance_walk *walk,
                           const struct distance_border borders[],
                           struct contrast contrasts[DISTANCE_CONTRASTS_MAX])
{
    uint64_t window = state->window_bytes;
    size_t count = 0;

    for (int run = 0; run + 1 < walk->count; run++) {
        uint64_t left = borders[run].low_bytes - window;
        uint64_t right = borders[run].high_bytes + window;
        uint64_t begin =
            run ? borders[run - 1].high_bytes + window : state->first_bytes;
        uint64_t end = run + 2 < walk->count
                           ? borders[run + 1].low_bytes - window
                           : state->first_bytes + state->length_bytes;
        if (borders[run].low_bytes < begin + window || right > end)
            return 0;
        struct contrast four[DISTANCE_BORDER_CONTRASTS] = {
            distance_between(state, begin, left - begin, left),
            distance_between(state, right, end - right, right),
            distance_between(state, left, 0, right),
            distance_between(state, right, 0, left)};
        for (int i = 0; i < DISTANCE_BORDER_CONTRASTS; i++) {
            static const char *const names[] = {"left", "right", "up", "down"};
            four[i].expected = i < 2 ? SIDE_BELOW : SIDE_ABOVE;
            four[i].low = four[i].high = 0.5 * state->effect.gap;
            snprintf(four[i].name, sizeof(four[i].name), "border%d-%s", run + 1,
                     names[i]);
            contrasts[count++] = four[i];
        }
    }
    return count;
}

static void conclude_groups(struct distance_probe *state,
                            const struct distance_walk *walk,
                            struct findings *findings)
{
    const struct claim_rule rule = {.alpha = alpha, .looks = claim_long_looks};
    struct distance_border borders[DISTANCE_GROUPS_MAX];
    struct contrast contrasts[DISTANCE_CONTRASTS_MAX];
    bool measuring = false;

    for (int run = 0; run + 1 < walk->count; run++)
        if (distance_find_border(state, walk, run, &borders[run]) ==
            DISTANCE_MEASURING)
            measuring = true;
    if (measuring)
        study_leave(&state->study);
    const size_t count = certificates(state, walk, borders, contrasts);
    if (count == 0 || study_claim(&state->study, "certify", contrasts, count,
                                  &rule) != CLAIM_HOLDS) {
        study_say_open(&probe_inter_request_distance, findings,
                       "some distant reads cost more, but fresh data does not "
                       "confirm the borders that this suggests");
        return;
    }
    const double confidence = claim_confidence(contrasts, count, &rule);
    struct finding *finding =
        findings_add(findings, "inter-request-distance", "segment_groups");
    finding_found(finding, value_integer((uint64_t)walk->count), confidence);
    finding_why(
        finding,
        "%d address ranges, the first of which ends near %s: reads within a "
        "range are fast, and at each border they are slow in both directions",
        walk->count, study_bytes(&state->study, borders[0].low_bytes));
    distance_say_switch(state, contrasts, count, confidence, findings);
}

/* Finds the address ranges of the groups. Returns NULL if each range is one
 * group; else why they must not be counted. */
static const char *find_runs(struct distance_probe *state,
                             struct distance_walk *walk)
{
    if (state->effect.gap < gap_least * state->effect.spread)
        return "some distant reads cost more, but by less than the noise, so "
               "groups cannot be located";
    if (distance_take_walk(state, walk) != DISTANCE_OTHER)
        return "some distant reads cost more, but places do not form a few "
               "address ranges: groups may alternate, be many, or be hidden by "
               "noise";
    if (walk->count < 2)
        return "some distant reads cost more, but no place is in another group "
               "than the first: the distance itself costs time, or groups "
               "alternate finely";
    if (distance_tell_apart(state, walk) != DISTANCE_OTHER)
        return "reads switch between address ranges, but distant ranges belong "
               "to one group: groups alternate, so the number of ranges is not "
               "the number of groups";
    return NULL;
}

static void think(struct study *study, struct findings *findings)
{
    struct distance_probe *state = (struct distance_probe *)study;
    struct distance_walk walk;
    double confidence;
    const char *doubt =
        "whether distant reads cost more than nearby ones could not be decided";
    enum switching switching = SWITCHING_UNCLEAR;

    for (int i = 0; i < LOOKS && switching == SWITCHING_UNCLEAR; i++)
        switching = look_at_distance(state, &looks[i], &confidence);
    if (switching == SWITCHING_NONE) {
        say_none(fmin(confidence, none_confidence), findings);
        return;
    }
    if (switching == SWITCHING_SEEN && costs_once(state, &confidence)) {
        say_once(fmin(confidence, none_confidence), findings);
        return;
    }
    if (switching == SWITCHING_SEEN)
        doubt = find_runs(state, &walk);
    if (doubt)
        study_say_open(&probe_inter_request_distance, findings, doubt);
    else
        conclude_groups(state, &walk, findings);
}

/* ---- the probe --------------------------------------------------------- */

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct distance_probe *state = memory;
    uint64_t slot = widest_slot_bytes;
    uint64_t offset = setting->region_offset_bytes;

    (void)known;
    while (slot > distance_read_bytes &&
           setting->region_length_bytes / DISTANCE_WALK <
               2 * DISTANCE_SLOTS * slot)
        slot /= 2;
    state->slot_bytes = slot;
    state->window_bytes = DISTANCE_SLOTS * slot;
    state->first_bytes = (offset + slot - 1) / slot * slot;
    state->length_bytes = (offset + setting->region_length_bytes -
                           state->first_bytes - state->window_bytes) /
                          slot * slot;
}

const struct probe probe_inter_request_distance = {
    .name = "inter-request-distance",
    .question = "How many groups does the drive have, and what does a read in "
                "another group cost?",
    .idea =
        "A read after one in another group takes longer than after a nearby "
        "one. A sweep over the drive finds the borders of the groups.",
    .region_min_bytes = 64 * MIB,
    .by_operation = true,
    .answers = {"segment_groups", "group_switch"},
    .literal = &paper_distance,
    .usual = {.requests = 4000, .requests_max = 2000000},
    .begin = begin,
    TRIAL_PROBE(struct distance_probe, think),
};
