/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stripe: how many consecutive bytes lie on one parallel unit, and how many
 * such units are there? (Chen, Lee & Zhang 2011, section 3)
 *
 * Idea: two reads sent together at distance d. On one unit the second waits for
 * the first; on two units they take as long as one. Where neighbouring pieces
 * of u bytes lie on N units in turn, pairs collide at multiples of N u:
 *
 *    a pair    |\        /\        /\     each triangle is 2 u wide, for the
 *    collides  | \      /  \      /  \    place of a pair within its piece is
 *              |  \____/    \____/    \_  not known
 *              +---------------------------  d
 *              0          N u        2 N u
 *
 * Colliding means the longest that any distance shows: pairs that only share a
 * bus wait for less. A pair may take little longer than one read where dies are
 * many and the bus is quick, so what is compared is pairs with pairs. Each pair
 * is its own control: pages of a block differ in what they take, so both reads
 * are sent alone as well.
 *
 * Assumes: the addresses that are read were written in order; a unit is a power
 * of two of 4 KiB, or 3, 5 or 9 times one; there are at most 256.
 */
#include "probes/stripe/stripe.h"

#include <math.h>

#include "lib/base/units.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/rounds.h"

static const uint64_t read_least_bytes = 2 * KIB;
/* Distances up to this are looked at, a quarter MiB at a time, in a window
 * whose mapping most controllers hold. */
static const uint64_t window_most_bytes = 128 * MIB;
/* Up to 256 steps of the grain; then 128 in each octave. */
enum { FIRST_STEPS = 256, OCTAVE_STEPS = 128 };

/* Two reads of which one waits for the other take as long as both: less than a
 * tenth is gained; nor are the quickest quarter of them much quicker. */
static const double serial_least = 1.9, serial_quickest = 1.7;
/* Where pairs take so much longer than other reads they may be serial, for
 * pages differ in their times; and where so much, nothing else shows. */
static const double serial_perhaps = 1.4, serial_likely = 1.8;
/* Where reads whose mapping was brought take so much less, others wait for it;
 * pages make means of so many differ by some hundredths. */
static const double waits_least = 1.1;
/* Of pairs that are to collide such a share does, and of those that are not,
 * not: the host holds up some of these. */
static const double share_full = 0.7, share_none = 0.15;
/* Where noise hides whether pairs wait in full, or in part as for a bus of
 * several units. Of 12 drawn drives at heavy noise 4 were stated, 3 rightly. */
static const double part_confidence = 0.75;
/* There may be more units than show: blocks that lie on others begin beyond the
 * window, or a bus takes nearly all of the time of those behind it. */
static const double units_confidence = 0.95;
/* A clock whose ticks are what reads wait for says nothing of the drive. */
static const double tick_most = 0.1;

enum { SCREEN_ROUNDS = 12, PRIMES_MAX = 4, CONTRASTS_MAX = 6 + PRIMES_MAX };

static const struct claim_rule rule = {.alpha = 0.004, .looks = claim_looks};

static void say_open(struct findings *findings, const char *why)
{
    study_say_open(&probe_stripe, findings, why);
}

/* ---- one read at a time ------------------------------------------------- */

static double screen_ns(struct study *study, const struct contrast *cell,
                        double (*take)(const struct trial *trial))
{
    double ns[SCREEN_ROUNDS], sum = 0;

    for (uint32_t round = 0; round < SCREEN_ROUNDS; round++) {
        const struct trial trial = trial_round(study, "screen", cell, round);
        ns[round] = take(&trial);
        sum += ns[round];
    }
    return sum / SCREEN_ROUNDS;
}

/* How long any pair takes, in units of a read alone. Reads of any place take
 * longer than those whose mapping was brought if some wait for it. */
static double screen(struct stripe_probe *state)
{
    struct study *study = &state->study;
    const struct contrast cells[] = {pairs_contrast(PAIRS_ANY, 0, 0),
                                     pairs_contrast(PAIRS_EACH, 0, 0)};
    double ratios[CONTRAST_ROUNDS_MAX];

    rounds_measure(study, "screen", cells, 2, SCREEN_ROUNDS);
    state->waits_for_mapping =
        screen_ns(study, &cells[0], pairs_alone_ns) >
        waits_least * screen_ns(study, &cells[1], pairs_own_ns);
    study_ratios(study, "screen", &cells[0], SCREEN_ROUNDS, ratios);
    return exp(stats_median(ratios, SCREEN_ROUNDS));
}

/* At one threshold. */
static struct contrast expect(struct contrast contrast, enum side expected,
                              double threshold)
{
    return trial_expect(contrast, expected, threshold, threshold, NULL);
}

static bool deny(struct study *study, double pair, struct findings *findings)
{
    struct contrast contrasts[] = {
        expect(pairs_contrast(PAIRS_EACH, 0, 0), SIDE_ABOVE, log(serial_least)),
        expect(pairs_contrast(PAIRS_EACH_QUICKEST, 0, 0), SIDE_ABOVE,
               log(serial_quickest))};

    if (study_claim(study, "serial", contrasts, 2, &rule) != CLAIM_HOLDS) {
        if (pair <= serial_likely)
            return false;
        say_open(findings,
                 study_text(study,
                            "two simultaneous reads take %.2f times as long as "
                            "one, but it is not certain that they are always "
                            "served one after the other",
                            pair));
        return true;
    }
    study_say_absent(&probe_stripe, findings,
                     claim_confidence(contrasts, 2, &rule),
                     "two simultaneous reads take %.2f times as long as one at "
                     "every distance: they are served one after the other",
                     exp(contrasts[0].median));
    return true;
}

/* ---- a stripe ----------------------------------------------------------- */

static struct contrast at(uint64_t distance_bytes, enum side expected,
                          double threshold)
{
    return expect(pairs_contrast(PAIRS_DISTANCE, distance_bytes, 0), expected,
                  threshold);
}

static size_t stripe_contrasts(const struct stripe *stripe,
                               struct contrast contrasts[CONTRASTS_MAX])
{
    const uint64_t period = stripe->period_bytes, unit = stripe->unit_bytes;
    const double partly =
        stripe->shorter_bytes
            ? (1 - (double)stripe->shorter_bytes / (double)unit) / 2
            : share_none;
    /* What is held up by something else is so in all of them. */
    const double none = fmin(share_none, partly) + stripe->held_up;
    uint32_t rest = stripe->units;
    size_t count = 0;

    contrasts[count++] = at(period, SIDE_ABOVE, share_full);
    contrasts[count++] = stripe->reaches_all
                             ? expect(pairs_contrast(PAIRS_MULTIPLE, 0, period),
                                      SIDE_ABOVE, share_full)
                             : at(stripe->reach_bytes, SIDE_ABOVE, share_full);
    contrasts[count++] = at(period + unit, SIDE_BELOW, none);
    contrasts[count++] = at(period - unit, SIDE_BELOW, none);
    if (stripe->shorter_bytes)
        contrasts[count++] = at(period + stripe->shorter_bytes, SIDE_ABOVE,
                                partly + stripe->held_up);
    contrasts[count++] =
        expect(pairs_contrast(PAIRS_BETWEEN, unit, period), SIDE_BELOW, none);
    /* A part of the period would be the period of a stripe of fewer units. */
    for (uint32_t prime = 2; prime <= rest && rest > 1; prime++) {
        if (rest % prime)
            continue;
        while (rest % prime == 0)
            rest /= prime;
        if (prime < stripe->units)
            contrasts[count++] = at(period / prime, SIDE_BELOW, none);
    }
    return count;
}

static void say_units(struct study *study, const struct stripe *stripe,
                      double confidence, struct finding *finding)
{
    const char *unit = study_bytes(study, stripe->unit_bytes);

    if (!stripe->reaches_all) {
        finding_why(
            finding,
            "%s lie on one unit, and %u units follow one another; but places "
            "more than %s apart lie on other units, so there may be more",
            unit, stripe->units, study_bytes(study, stripe->reach_bytes));
        return;
    }
    finding_found(finding, value_integer(stripe->units),
                  fmin(confidence, units_confidence));
    finding_why(finding,
                "one of two reads waits for the other at every multiple of %s, "
                "and at no other multiple of %s",
                study_bytes(study, stripe->period_bytes), unit);
}

/* Do places wait for each other a multiple of the period apart, also where they
 * are farther apart than the window is long? */
static void look_far(struct study *study, struct stripe *stripe)
{
    const struct stripe_probe *state = (const struct stripe_probe *)study;
    struct contrast far =
        expect(pairs_contrast(PAIRS_FAR, 0, stripe->period_bytes), SIDE_ABOVE,
               share_full);

    if (study_claim(study, "all-over", &far, 1, &rule) == CLAIM_HOLDS)
        return;
    stripe->reaches_all = false;
    stripe->reach_bytes = state->span_bytes;
}

static void say_stripe(struct study *study, const struct stripe *stripe,
                       const struct contrast contrasts[], double level,
                       double confidence, struct findings *findings)
{
    struct finding *finding = findings_add(findings, "stripe", "stripe_unit");

    finding_found(finding, value_integer(stripe->unit_bytes), confidence);
    finding_why(
        finding,
        "of simultaneous reads %s apart, %.0f %% wait for each other and take "
        "%.2f times as long as one; of those %s more or less apart, few do",
        study_bytes(study, stripe->period_bytes), 100 * contrasts[0].median,
        level, study_bytes(study, stripe->unit_bytes));
    say_units(study, stripe, confidence,
              findings_add(findings, "stripe", "parallel_units"));
}

static void say_unproved(struct study *study, const struct stripe *stripe,
                         const struct contrast *culprit,
                         struct findings *findings)
{
    say_open(
        findings,
        study_text(
            study,
            "reads %s apart seem to lie on one unit, but then %s reads that "
            "are %s%s apart should wait for each other, and %.0f %% do",
            study_bytes(study, stripe->period_bytes),
            culprit->expected == SIDE_BELOW ? "few" : "most",
            culprit->n[2] != PAIRS_DISTANCE ? "multiples of " : "",
            study_bytes(study, larger_of(culprit->n[0], culprit->n[1])),
            100 * culprit->median));
}

static void certify(struct study *study, struct stripe *stripe, double level,
                    struct findings *findings)
{
    struct contrast contrasts[CONTRASTS_MAX];
    size_t count = stripe_contrasts(stripe, contrasts);
    enum claim claim = study_claim(study, "certify", contrasts, count, &rule);

    /* Some multiples of the period lie on other units: there may be more. */
    if (claim != CLAIM_HOLDS &&
        claim_culprit(contrasts, count)->n[2] == PAIRS_MULTIPLE) {
        stripe->reaches_all = false;
        stripe->reach_bytes = stripe->period_bytes;
        count = stripe_contrasts(stripe, contrasts);
        claim = study_claim(study, "certify", contrasts, count, &rule);
    }
    if (claim != CLAIM_HOLDS) {
        say_unproved(study, stripe, claim_culprit(contrasts, count), findings);
        return;
    }
    if (stripe->reaches_all)
        look_far(study, stripe);
    say_stripe(study, stripe, contrasts, level,
               fmin(claim_confidence(contrasts, count, &rule),
                    stripe->full_known ? units_confidence : part_confidence),
               findings);
}

/* ---- the probe ---------------------------------------------------------- */

static void think(struct study *study, struct findings *findings)
{
    struct stripe_probe *state = (struct stripe_probe *)study;
    struct stripe stripe;
    double level;

    const double pair = screen(state);
    if ((double)study->setting.clock_step_ns >
        tick_most * (double)study->quickest_ns) {
        say_open(findings, "completions are seen at clock ticks that are "
                           "longer than a tenth of a read");
        return;
    }
    if (pair > serial_perhaps && deny(study, pair, findings))
        return;
    const char *why = stripe_search(state, pair, &stripe, &level);
    if (why)
        say_open(findings, why);
    else
        certify(study, &stripe, level, findings);
}

static void make_levels(struct stripe_probe *state)
{
    uint64_t step = state->read_bytes, first = step;
    size_t count = FIRST_STEPS;

    while (state->levels_count < STRIPE_LEVELS_MAX &&
           first + count * step <= state->span_bytes) {
        state->levels[state->levels_count++] =
            (struct stripe_level){first, step, count};
        first += (count - 1) * step;
        step *= 2;
        first += step;
        count = OCTAVE_STEPS;
    }
}

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct stripe_probe *state = memory;

    (void)known;
    state->read_bytes =
        larger_of(setting->logical_block_bytes, read_least_bytes);
    state->window_bytes =
        smaller_of(window_most_bytes, setting->region_length_bytes / MIB * MIB);
    state->span_bytes = state->window_bytes / 2;
    state->first_bytes =
        placing_base(setting, state->study.seed, state->window_bytes);
    make_levels(state);
}

const struct probe probe_stripe = {
    .name = "stripe",
    .question = "How much data lies on one parallel unit before the next "
                "begins, and how many units are there?",
    .idea = "Two simultaneous reads wait for each other where they lie on one "
            "unit. The distances at which they do reveal the stripe.",
    .region_min_bytes = 16 * MIB,
    .by_operation = true,
    .answers = {"stripe_unit", "parallel_units"},
    /* A scan, looks at up to a hundred distances, and a certificate at its
     * first look and its last. */
    .usual = {.requests =
                  3 * 12 * 16 + 5 * 4 * 1024 + 4 * (100 * 32 + 8 * 18 * 16),
              .requests_max =
                  3 * 12 * 16 + 5 * 4 * 1024 + 4 * (400 * 32 + 10 * 128 * 16)},
    .begin = begin,
    TRIAL_PROBE(struct stripe_probe, think),
};
