/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inter-request-distance: into how many groups is the drive divided, and what
 * does a read in another group than the last one cost? (Sun & Zhang 4.1)
 *
 * Idea: read here, then there, and time the second read: against one that
 * follows a read nearby. If it takes longer, the two places are in different
 * groups. A walk over the drive finds the runs of places that belong together.
 *
 *   second read                  places  0 . . . . . . . . . . . . region
 *    slow |        +------       group   0 0 0 0 | 1 1 1 1 | 2 2 2 2 | 3 ...
 *    fast +--------+             each border is certified from both sides
 *         distance
 *
 * Assumes: nearby is farther than what the drive keeps or reads ahead; a group
 * is one run of addresses. Groups that alternate are noticed, not counted.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "lib/infer/stats.h"
#include "lib/infer/study.h"
#include "probes/paper.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/times.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)

enum {
    SLOTS = 32,  /* of a window: what counts as one place */
    REPEATS = 4, /* pairs of reads in one cell, where noise is small */
    REPEATS_MAX = SLOTS / 2,
    LOOKS = 2, /* the second with cells of the most pairs */
    NEAR_SLOTS = 3,
    WALK = 80, /* places of the walk */
    GROUPS_MAX = 20,
    DISTANCES = 3,
    BORDER_CONTRASTS = 4,
    CONTRASTS_MAX = BORDER_CONTRASTS * GROUPS_MAX,
    ASK_BATCH = 4,
    ASK_MAX = 64
};

static const double alpha = 1e-4;
/* A switch of 5 % of a read matters; from 3 % on it is looked for. */
static const double switch_low = 0.03, switch_none = 0.05;
/* Enough, and the most to be stated: either side of the cost of a switch. */
static const double width_wanted = 0.07, width_most = 0.10;
static const uint32_t switch_looks[] = {64, 128, CONTRAST_ROUNDS_MAX, 0};
/* Pairs of reads, nearby and across, that may be spent on it. */
static const uint64_t crossings_most = 150000;
/* Odds at which two places are taken for the same or for different. */
static const double ask_odds = 9.2; /* log 1e4 */
/* So many times the spread makes one cell tell a switch nearly always. */
static const double gap_wanted = 3;
/* The wider a slot, the fewer of its pages does the drive still hold when the
 * window is read again. */
static const uint64_t read_bytes = 4 * KIB, widest_slot_bytes = MIB;

enum kind {
    DISTANT, /* anywhere, and shift_bytes further */
    BETWEEN  /* from somewhere in [size, size + shift) to a place `other` */
};

struct state {
    struct study study;
    uint64_t first_bytes, length_bytes; /* where windows may begin */
    uint64_t slot_bytes;
    uint64_t window_bytes;
};

/* What the first look found. */
struct effect {
    double gap, spread; /* log ratio of a switch, and of one cell's noise */
    uint32_t repeats;   /* that cells need from then on */
};

/* Runs of places that belong together: run i begins at places[first[i]]. */
struct walk {
    uint64_t places[WALK];
    int first[GROUPS_MAX + 1];
    int count;
};

struct border {
    uint64_t low_bytes, high_bytes; /* the last place before, the first after */
};

/* What a switch adds to a read. */
struct switch_cost {
    double ns;
    struct interval interval;
    double confidence; /* 0: nothing can be said */
};

static struct contrast between(const struct state *state,
                               const struct effect *effect, uint64_t from_bytes,
                               uint64_t span_bytes, uint64_t to_bytes)
{
    struct contrast contrast = {.kind = BETWEEN,
                                .repeats = effect->repeats,
                                .size_bytes = from_bytes,
                                .shift_bytes = span_bytes,
                                .other_bytes = to_bytes};

    snprintf(contrast.name, sizeof(contrast.name), "from%llu-to%llu",
             (unsigned long long)(from_bytes / state->slot_bytes),
             (unsigned long long)(to_bytes / state->slot_bytes));
    return contrast;
}

/* ---- measuring --------------------------------------------------------- */

static uint64_t within(const struct state *state, uint64_t span_bytes,
                       struct random *random)
{
    uint64_t slots = span_bytes / state->slot_bytes;
    return slots ? random_below(random, slots) * state->slot_bytes : 0;
}

static void choose_places(const struct state *state,
                          const struct contrast *contrast,
                          struct random *random, uint64_t *from, uint64_t *to)
{
    uint64_t blur = state->length_bytes / 8;
    uint64_t start;

    if (contrast->kind == BETWEEN) {
        *from =
            contrast->size_bytes + within(state, contrast->shift_bytes, random);
        *to = contrast->other_bytes;
        return;
    }
    start = within(state, state->length_bytes, random);
    *from = state->first_bytes + start;
    start += contrast->shift_bytes + within(state, blur, random) - blur / 2;
    start %= state->length_bytes;
    *to = state->first_bytes + start / state->slot_bytes * state->slot_bytes;
}

/* Two reads, of which the second is measured. */
static void ask_pair(struct study *study, const char *phase,
                     const struct contrast *contrast, char suffix,
                     uint32_t round, uint64_t first, uint64_t second)
{
    struct step step =
        placing_unmeasured(OPERATION_READ, first, read_bytes, phase, round);

    study_ask(study, &step);
    step = placing_step(OPERATION_READ, second, read_bytes, phase, contrast,
                        suffix, round);
    study_ask(study, &step);
}

/* A page of a slot at random, so that what is kept of it is not met again. */
static uint64_t in_slot(const struct state *state, size_t slot,
                        struct random *random)
{
    uint64_t pages = state->slot_bytes / read_bytes;
    return slot * state->slot_bytes + random_below(random, pages) * read_bytes;
}

static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    const struct state *state = (const struct state *)study;
    size_t near[SLOTS], far[SLOTS];
    uint64_t from, to;

    choose_places(state, contrast, random, &from, &to);
    random_order(random, near, SLOTS);
    random_order(random, far, SLOTS);
    for (uint32_t i = 0, at = 0; i < contrast->repeats; i++, at++) {
        /* Nearby is a few slots back: what was read ahead is not met. */
        while (near[at] < NEAR_SLOTS)
            at++;
        size_t back = 1 + random_below(random, NEAR_SLOTS);
        uint64_t here = from + in_slot(state, near[at], random);
        uint64_t next = from + in_slot(state, near[at] - back, random);
        uint64_t there = to + in_slot(state, far[i], random);
        bool far_first = random_below(random, 2) == 1;
        if (far_first)
            ask_pair(study, phase, contrast, 'b', round, here, there);
        ask_pair(study, phase, contrast, 'a', round, here, next);
        if (!far_first)
            ask_pair(study, phase, contrast, 'b', round, here, there);
    }
}

static bool costs(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round, char suffix,
                  double ns[REPEATS_MAX])
{
    const struct timing *rows =
        placing_rows(study, phase, contrast, suffix, round, contrast->repeats);

    if (!rows)
        return false;
    for (uint32_t i = 0; i < contrast->repeats; i++)
        ns[i] = (double)rows[i].ns;
    return true;
}

static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    double near[REPEATS_MAX], far[REPEATS_MAX];

    (void)random;
    if (!costs(study, phase, contrast, round, 'a', near) ||
        !costs(study, phase, contrast, round, 'b', far))
        return false;
    /* From anywhere to anywhere, some switch and some do not: the lower half
     * would see none. Between two places all do, or none. */
    double (*cost)(const double[], size_t) =
        contrast->kind == DISTANT ? stats_median : stats_lower_half_mean;
    *ratio = log(cost(far, contrast->repeats) / cost(near, contrast->repeats));
    return true;
}

/* ---- what is said ------------------------------------------------------ */

static struct finding *add(struct findings *findings, const char *parameter)
{
    return findings_add(findings, "inter-request-distance", parameter);
}

static bool say_none(double confidence, struct findings *findings)
{
    static const char *const answers[] = {"segment_groups", "group_switch"};

    for (int i = 0; i < 2; i++) {
        struct finding *finding = add(findings, answers[i]);
        finding_absent(finding, confidence);
        finding_why(finding,
                    "a read costs the same after one nearby as after one half, "
                    "a third or a quarter of the region away: there is one "
                    "group");
    }
    return true;
}

/* ---- is there a switch? ------------------------------------------------ */

static void measure_effect(struct state *state, const char *phase,
                           const struct contrast contrasts[],
                           struct effect *effect)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    const struct contrast *best = &contrasts[0];

    for (int i = 1; i < DISTANCES; i++)
        if (contrasts[i].median > best->median)
            best = &contrasts[i];
    study_ratios(&state->study, phase, best, best->rounds_count, ratios);
    effect->gap = best->median;
    effect->spread = stats_spread(ratios, best->rounds_count) + 1e-3;
    effect->repeats = best->repeats;
    while (effect->repeats < REPEATS_MAX &&
           effect->gap < gap_wanted * effect->spread) {
        effect->repeats *= 2;
        effect->spread /= sqrt(2);
    }
}

enum switching {
    SWITCHING_MEASURING,
    SWITCHING_SEEN,
    SWITCHING_NONE,
    SWITCHING_UNCLEAR
};

static enum switching look_at_distance(struct state *state, const char *phase,
                                       uint32_t repeats, struct effect *effect,
                                       double *confidence)
{
    const struct claim_rule rule = {
        .alpha = alpha / LOOKS, .looks = claim_long_looks, .to_the_end = true};
    struct contrast contrasts[DISTANCES];
    bool seen = false, equal = true;

    for (int i = 0; i < DISTANCES; i++) {
        contrasts[i] = (struct contrast){.kind = DISTANT,
                                         .repeats = repeats,
                                         .shift_bytes = state->length_bytes /
                                                        (uint64_t)(i + 2),
                                         .low = switch_low,
                                         .high = switch_none};
        snprintf(contrasts[i].name, sizeof(contrasts[i].name), "part%d", i + 2);
    }
    enum claim claim =
        study_claim(&state->study, phase, contrasts, DISTANCES, &rule);
    if (claim == CLAIM_MEASURING)
        return SWITCHING_MEASURING;
    for (int i = 0; i < DISTANCES; i++) {
        seen = seen || contrasts[i].side == SIDE_ABOVE;
        /* Dearer nearby than far away? Then nearby is not what it seems. */
        equal = equal && contrasts[i].median > -switch_low;
    }
    *confidence = claim_confidence(contrasts, DISTANCES, &rule);
    measure_effect(state, phase, contrasts, effect);
    if (seen)
        return SWITCHING_SEEN;
    return claim == CLAIM_HOLDS && equal ? SWITCHING_NONE : SWITCHING_UNCLEAR;
}

/* Where reads take one of a few times, or the noise is great, a few of them do
 * not tell: then more. */
static enum switching look_for_switch(struct state *state,
                                      struct effect *effect, double *confidence)
{
    enum switching switching =
        look_at_distance(state, "distance", REPEATS, effect, confidence);

    if (switching != SWITCHING_UNCLEAR)
        return switching;
    return look_at_distance(state, "distance-closer", REPEATS_MAX, effect,
                            confidence);
}

/* ---- same group or another? -------------------------------------------- */

enum answer { ANSWER_MEASURING, ANSWER_SAME, ANSWER_OTHER, ANSWER_UNSURE };

/* Places known to be in one group: reads that begin anywhere in them seldom meet
 * what the drive still holds. */
struct places {
    uint64_t first_bytes, span_bytes;
};

/* All of a run, up to the place before `end`. */
static struct places places_of(const struct walk *walk, int run, int end)
{
    uint64_t first = walk->places[walk->first[run]];

    return (struct places){first, walk->places[end - 1] - first};
}

/* A sequential test: each cell is right with the chance that the gap and the
 * spread leave it. */
static enum answer ask(struct state *state, const char *phase,
                       const struct effect *effect, const struct places *from,
                       uint64_t to_bytes)
{
    struct contrast contrast =
        between(state, effect, from->first_bytes, from->span_bytes, to_bytes);
    double ratios[CONTRAST_ROUNDS_MAX];
    double wrong = stats_normal_cdf(-0.5 * effect->gap / effect->spread) + 0.03;

    wrong = wrong > 0.35 ? 0.35 : wrong;
    double weight = log((1 - wrong) / wrong);
    for (uint32_t rounds = ASK_BATCH; rounds <= ASK_MAX; rounds += ASK_BATCH) {
        double odds = 0;
        if (!study_ratios(&state->study, phase, &contrast, rounds, ratios))
            return ANSWER_MEASURING;
        for (uint32_t i = 0; i < rounds; i++)
            odds += ratios[i] > 0.5 * effect->gap ? weight : -weight;
        if (fabs(odds) > ask_odds)
            return odds > 0 ? ANSWER_OTHER : ANSWER_SAME;
    }
    return ANSWER_UNSURE;
}

/* ---- the walk ---------------------------------------------------------- */

static void choose_walk(const struct state *state, struct walk *walk)
{
    uint64_t pitch = state->length_bytes / WALK;
    struct random random;

    study_random(&state->study, "walk", "places", 0, &random);
    for (uint64_t i = 0; i < WALK; i++) {
        uint64_t place = i * pitch + within(state, pitch / 2, &random);
        walk->places[i] =
            state->first_bytes + place / state->slot_bytes * state->slot_bytes;
    }
}

/* From place to place: still in the group of the run so far? */
static enum answer take_walk(struct state *state, const struct effect *effect,
                             struct walk *walk)
{
    choose_walk(state, walk);
    walk->count = 1;
    walk->first[0] = 0;
    for (int i = 1; i < WALK; i++) {
        struct places run = places_of(walk, walk->count - 1, i);
        enum answer answer = ask(state, "walk", effect, &run, walk->places[i]);
        if (answer == ANSWER_SAME)
            continue;
        if (answer != ANSWER_OTHER)
            return answer;
        if (walk->count == GROUPS_MAX)
            return ANSWER_UNSURE;
        walk->first[walk->count++] = i;
    }
    walk->first[walk->count] = WALK;
    return ANSWER_OTHER;
}

static uint64_t middle_place(const struct walk *walk, int run)
{
    return walk->places[(walk->first[run] + walk->first[run + 1] - 1) / 2];
}

/* Is each run a group of its own? ANSWER_SAME: two of them are one group. */
static enum answer tell_apart(struct state *state, const struct effect *effect,
                              const struct walk *walk)
{
    enum answer result = ANSWER_OTHER;

    for (int i = 0; i < walk->count; i++) {
        struct places run = places_of(walk, i, walk->first[i + 1]);
        for (int j = i + 2; j < walk->count; j++) {
            enum answer answer =
                ask(state, "apart", effect, &run, middle_place(walk, j));
            if (answer == ANSWER_MEASURING || result == ANSWER_MEASURING)
                result = ANSWER_MEASURING;
            else if (answer != ANSWER_OTHER)
                result = answer;
        }
    }
    return result;
}

/* Narrows the border between two runs to two windows. */
static enum answer find_border(struct state *state, const struct effect *effect,
                               const struct walk *walk, int run,
                               struct border *border)
{
    int after = walk->first[run + 1];
    struct places known = places_of(walk, run, after);

    border->low_bytes = walk->places[after - 1];
    border->high_bytes = walk->places[after];
    while (border->high_bytes - border->low_bytes > 2 * state->window_bytes) {
        uint64_t middle = (border->low_bytes + border->high_bytes) / 2;
        middle -= middle % state->slot_bytes;
        enum answer answer = ask(state, "border", effect, &known, middle);
        if (answer == ANSWER_MEASURING)
            return answer;
        if (answer == ANSWER_SAME)
            border->low_bytes = middle;
        else if (answer == ANSWER_OTHER)
            border->high_bytes = middle;
        else /* it lies across the border */
            break;
    }
    return ANSWER_OTHER;
}

/* ---- certifying -------------------------------------------------------- */

/* On both sides of each border, two windows off: reads from anywhere in the
 * group are fast, and those across are slow, in both directions. */
static size_t certificates(const struct state *state,
                           const struct effect *effect, const struct walk *walk,
                           const struct border borders[],
                           struct contrast contrasts[CONTRASTS_MAX])
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
        struct contrast four[BORDER_CONTRASTS] = {
            between(state, effect, begin, left - begin, left),
            between(state, effect, right, end - right, right),
            between(state, effect, left, 0, right),
            between(state, effect, right, 0, left)};
        for (int i = 0; i < BORDER_CONTRASTS; i++) {
            static const char *const names[] = {"left", "right", "up", "down"};
            four[i].expected = i < 2 ? SIDE_BELOW : SIDE_ABOVE;
            snprintf(four[i].name, sizeof(four[i].name), "border%d-%s", run + 1,
                     names[i]);
            contrasts[count++] = four[i];
        }
    }
    return count;
}

/* What the cells that cross a border say of one round: what a switch adds, and
 * what a read nearby costs. False: nothing. */
static bool round_costs(const struct state *state,
                        const struct contrast contrasts[], size_t count,
                        uint32_t round, double *added_ns, double *near_ns)
{
    double added[CONTRASTS_MAX], nearby[CONTRASTS_MAX];
    double near[REPEATS_MAX], far[REPEATS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        const struct contrast *contrast = &contrasts[i];
        uint32_t repeats = contrast->repeats;
        if (contrast->expected != SIDE_ABOVE ||
            round >= contrast->rounds_count ||
            !costs(&state->study, "certify", contrast, round, 'a', near) ||
            !costs(&state->study, "certify", contrast, round, 'b', far))
            continue;
        nearby[n] = stats_median(near, repeats);
        added[n] = stats_median(far, repeats) - nearby[n];
        n++;
    }
    if (n == 0)
        return false;
    *added_ns = stats_median(added, n);
    *near_ns = stats_median(nearby, n);
    return true;
}

/* How much single reads nearby vary, as a share. */
static double spread_nearby(const struct state *state,
                            const struct contrast contrasts[], size_t count)
{
    double singles[CONTRAST_ROUNDS_MAX + REPEATS_MAX], near[REPEATS_MAX];
    size_t n = 0;

    for (uint32_t round = 0;
         n < CONTRAST_ROUNDS_MAX && round < CONTRAST_ROUNDS_MAX; round++)
        for (size_t i = 0; i < count && n < CONTRAST_ROUNDS_MAX; i++) {
            if (!costs(&state->study, "certify", &contrasts[i], round, 'a',
                       near))
                continue;
            for (uint32_t j = 0; j < contrasts[i].repeats; j++)
                singles[n++] = near[j];
        }
    return n ? stats_spread(singles, n) / stats_median(singles, n) : INFINITY;
}

/* What a switch adds to a read nearby, as a share of it: what slows the drive down
 * for a while slows both. All costs drift together, slowly: the interval is widened
 * by what those of reads nearby have drifted meanwhile. */
static void measure_switch(const struct state *state,
                           const struct contrast contrasts[], size_t count,
                           struct switch_cost *cost)
{
    /* Rounds over which drift is averaged: the more parts, the further apart
     * are their extremes by noise alone. */
    enum { PARTS = 8, PART_LEAST = 6 };
    double shares[CONTRAST_ROUNDS_MAX], near[CONTRAST_ROUNDS_MAX];
    double least = INFINITY, most = 0;
    size_t n = 0;

    for (uint32_t round = 0; round < CONTRAST_ROUNDS_MAX; round++)
        if (round_costs(state, contrasts, count, round, &shares[n], &near[n])) {
            shares[n] /= near[n];
            n++;
        }
    cost->interval = (struct interval){0, 0};
    cost->ns = 0;
    if (n < 2 * PART_LEAST)
        return;
    size_t part = n / PARTS > PART_LEAST ? n / PARTS : PART_LEAST;
    for (size_t i = 0; i + part <= n; i += part) {
        double level = stats_median(near + i, part);
        least = level < least ? level : least;
        most = level > most ? level : most;
    }
    double near_ns = stats_median(near, n);
    cost->ns = stats_median(shares, n) * near_ns;
    cost->interval = stats_median_interval(shares, n, 5e-4);
    cost->interval.low *= near_ns * least / most;
    cost->interval.high *= near_ns * most / least;
}

static bool is_narrow(const struct switch_cost *cost, double share)
{
    return cost->ns > 0 && times_narrow(&cost->interval, cost->ns, share);
}

static bool say_groups(const struct walk *walk, const struct border borders[],
                       double confidence, struct findings *findings)
{
    struct finding *finding = add(findings, "segment_groups");
    char place[24];

    finding_found(finding, value_integer((uint64_t)walk->count), confidence);
    format_bytes(borders[0].low_bytes, place, sizeof(place));
    finding_why(finding,
                "%d runs of addresses, the first of which ends near %s: reads "
                "within a run are fast, and at each border they are slow in "
                "both directions",
                walk->count, place);
    return true;
}

static void say_switch(const struct switch_cost *cost, double confidence,
                       struct findings *findings)
{
    struct finding *finding = add(findings, "group_switch");

    if (cost->confidence <= 0 || !is_narrow(cost, width_most)) {
        finding_why(finding, "the groups are certain, but the cost of a switch "
                             "varies too much for a number");
        return;
    }
    finding_found(finding, value_integer((uint64_t)llround(cost->ns)),
                  fmin(cost->confidence, confidence));
    finding->low = value_integer((uint64_t)cost->interval.low);
    finding->high = value_integer((uint64_t)ceil(cost->interval.high));
    finding_why(finding, "the median of what a read costs more when the one "
                         "before it was on the other side of a border");
}

/* Reads on across the borders, as long as that is not too much. False: measure
 * first. */
static bool cross_more(struct state *state, struct contrast contrasts[],
                       size_t count, uint32_t rounds)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    bool measured = true;

    /* Half of them cross a border. */
    for (size_t i = 0; i < count; i++) {
        if (contrasts[i].expected != SIDE_ABOVE ||
            contrasts[i].rounds_count >= rounds ||
            count * contrasts[i].repeats * rounds > crossings_most)
            continue;
        if (!study_ratios(&state->study, "certify", &contrasts[i], rounds,
                          ratios))
            measured = false;
        contrasts[i].rounds_count = rounds;
    }
    return measured;
}

/* What the rounds that certified the borders say of a switch; where it is a
 * small part of a read, these are too few. False: measure first. */
static bool find_switch(struct state *state, struct contrast contrasts[],
                        size_t count, struct switch_cost *cost)
{
    cost->confidence = times_confidence(spread_nearby(state, contrasts, count));
    measure_switch(state, contrasts, count, cost);
    for (const uint32_t *look = switch_looks;
         *look && cost->confidence > 0 && !is_narrow(cost, width_wanted);
         look++) {
        if (!cross_more(state, contrasts, count, *look))
            return false;
        measure_switch(state, contrasts, count, cost);
    }
    return true;
}

static bool conclude_groups(struct state *state, const struct effect *effect,
                            const struct walk *walk, struct findings *findings)
{
    const struct claim_rule rule = {.alpha = alpha, .looks = claim_long_looks};
    struct border borders[GROUPS_MAX];
    struct contrast contrasts[CONTRASTS_MAX];
    struct switch_cost cost;
    bool measuring = false;

    for (int run = 0; run + 1 < walk->count; run++)
        if (find_border(state, effect, walk, run, &borders[run]) ==
            ANSWER_MEASURING)
            measuring = true;
    if (measuring)
        return false;
    size_t count = certificates(state, effect, walk, borders, contrasts);
    for (size_t i = 0; i < count; i++)
        contrasts[i].low = contrasts[i].high = 0.5 * effect->gap;
    enum claim claim =
        study_claim(&state->study, "certify", contrasts, count, &rule);
    if (claim == CLAIM_MEASURING)
        return false;
    if (claim != CLAIM_HOLDS)
        return study_say_open(
            &probe_inter_request_distance, findings,
            "some reads far away cost more, but the borders that "
            "this suggests do not stand up to fresh data");
    double confidence = claim_confidence(contrasts, count, &rule);
    say_groups(walk, borders, confidence, findings);
    if (!find_switch(state, contrasts, count, &cost))
        return false;
    say_switch(&cost, confidence, findings);
    return true;
}

static bool conclude_switching(struct state *state, const struct effect *effect,
                               struct findings *findings)
{
    struct walk walk;

    switch (take_walk(state, effect, &walk)) {
    case ANSWER_MEASURING:
        return false;
    case ANSWER_OTHER:
        break;
    case ANSWER_SAME:
    case ANSWER_UNSURE:
        return study_say_open(
            &probe_inter_request_distance, findings,
            "some reads far away cost more, but places do not fall "
            "into a few runs of addresses: groups that alternate, "
            "many groups, or too much noise");
    }
    if (walk.count < 2)
        return study_say_open(
            &probe_inter_request_distance, findings,
            "some reads far away cost more, but no place is in "
            "another group than the first: it is the distance, or "
            "groups that alternate finely");
    switch (tell_apart(state, effect, &walk)) {
    case ANSWER_MEASURING:
        return false;
    case ANSWER_OTHER:
        break;
    case ANSWER_SAME:
    case ANSWER_UNSURE:
        return study_say_open(
            &probe_inter_request_distance, findings,
            "reads switch between runs of addresses, but distant "
            "runs belong to one group: groups alternate, so their "
            "number is not that of the runs");
    }
    return conclude_groups(state, effect, &walk, findings);
}

static bool think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    struct effect effect;
    double confidence;

    if (study->setting.method == METHOD_PAPER)
        return paper_distance(study, findings);
    switch (look_for_switch(state, &effect, &confidence)) {
    case SWITCHING_MEASURING:
        return false;
    case SWITCHING_SEEN:
        return conclude_switching(state, &effect, findings);
    case SWITCHING_NONE:
        return say_none(confidence, findings);
    case SWITCHING_UNCLEAR:
        break;
    }
    return study_say_open(&probe_inter_request_distance, findings,
                          "it cannot be told whether reads far away cost "
                          "more than reads nearby");
}

/* ---- the probe --------------------------------------------------------- */

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    if (setting->method == METHOD_PAPER) {
        paper_distance_plan(plan);
        return;
    }
    (void)setting;
    plan->requests = 4000;
    plan->requests_max = 600000;
    plan->bytes_read = plan->requests * read_bytes;
    plan->bytes_read_max = plan->requests_max * read_bytes;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = emit, .value = value};
    struct state *state = study_create(
        sizeof(*state), &probe_inter_request_distance, &ops, setting);
    uint64_t slot = widest_slot_bytes;
    uint64_t offset = setting->region_offset_bytes;

    (void)known;
    if (!state)
        return -ENOMEM;
    while (slot > read_bytes &&
           setting->region_length_bytes / WALK < 8 * SLOTS * slot)
        slot /= 2;
    state->slot_bytes = slot;
    state->window_bytes = SLOTS * slot;
    state->first_bytes = (offset + slot - 1) / slot * slot;
    state->length_bytes = (offset + setting->region_length_bytes -
                           state->first_bytes - state->window_bytes) /
                          slot * slot;
    *result = state;
    return 0;
}

const struct probe probe_inter_request_distance = {
    .name = "inter-request-distance",
    .question = "Into how many groups is the drive divided, and what does a "
                "read in another one cost?",
    .idea = "A read after one in another group takes longer than after one "
            "nearby; a walk over the drive finds where the groups end.",
    .region_min_bytes = 64 * MIB,
    .answers = {"segment_groups", "group_switch"},
    .plan = plan,
    .start = start,
    STUDY_PROBE_FUNCTIONS,
};
