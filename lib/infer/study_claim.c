/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a study decides: contrasts by rounds of measurements that it asks for
 * once, claims of several, and searches for a threshold. */
#include <math.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "lib/infer/study.h"

/* Most drives are decided at the first look; the noisy ones pay for theirs. */
const uint32_t claim_looks[] = {18, 22, 28, 36, 48, 64, 90, 128, 0};
const uint32_t claim_long_looks[] = {18, 22,  28,  36,  48, 64,
                                     90, 128, 180, 256, 0};
const uint32_t claim_longest_looks[] = {18,  22,  28,  36,  48,  64, 90,
                                        128, 180, 256, 360, 512, 0};
/* From 8 rounds on, an interval from least to most errs with 0.4 % a side. */
const uint32_t search_looks[] = {8, 12, 16, 24, 32, 48, 64, 0};

static bool get_ratio(const struct study *study, const char *phase,
                      const struct contrast *contrast, uint32_t round,
                      double *ratio)
{
    struct random random;

    study_random(study, phase, contrast->name, round, &random);
    return study->ops->value(study, phase, contrast, round, &random, ratio) &&
           isfinite(*ratio);
}

/* Puts a key into the set; false when it was there, or memory ran out. */
static bool remember(struct study *study, uint64_t key)
{
    size_t mask = study->rounds_size - 1, at;

    if (2 * (study->rounds_used + 1) > study->rounds_size) {
        size_t size = study->rounds_size ? 2 * study->rounds_size : 1024;
        uint64_t *old = study->rounds, *fresh = calloc(size, sizeof(*fresh));
        if (!fresh) {
            study->failed = true;
            return false;
        }
        mask = size - 1;
        for (size_t i = 0; i < study->rounds_size; i++) {
            if (!old[i])
                continue;
            for (at = old[i] & mask; fresh[at]; at = (at + 1) & mask)
                ;
            fresh[at] = old[i];
        }
        free(old);
        study->rounds = fresh;
        study->rounds_size = size;
    }
    key |= 1; /* 0 marks a free place */
    for (at = key & mask; study->rounds[at]; at = (at + 1) & mask)
        if (study->rounds[at] == key)
            return false;
    study->rounds[at] = key;
    study->rounds_used++;
    return true;
}

/* Asks for a round, once: two contrasts of one name share its rows, and rows
 * that do not come as expected end the probe instead of being asked for again
 * without end. */
static void ask_round(struct study *study, const char *phase,
                      const struct contrast *contrast, uint32_t round)
{
    struct random random;
    uint64_t key = random_mix(random_hash(phase) ^
                              random_mix(random_hash(contrast->name) + round));

    if (!remember(study, key))
        return;
    study_random(study, phase, contrast->name, round, &random);
    study->ops->emit(study, phase, contrast, round, &random);
}

bool study_ask_ratios(struct study *study, const char *phase,
                      const struct contrast *contrast, uint32_t rounds,
                      double ratios[])
{
    bool all = true;

    for (uint32_t round = 0; round < rounds; round++) {
        if (get_ratio(study, phase, contrast, round, &ratios[round]))
            continue;
        ask_round(study, phase, contrast, round);
        all = false;
    }
    return all;
}

void study_ratios(struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t rounds,
                  double ratios[])
{
    if (!study_ask_ratios(study, phase, contrast, rounds, ratios))
        study_leave(study);
}

/* The ratios of a contrast by one of its summaries, from round 0 on. Looks come
 * back to the same rounds, and each ratio is many rows. */
struct ratios {
    double *ratios;
    uint32_t count;
    double predicted; /* what they were taken with; a rule may adapt it */
};

static uint32_t summaries_of(const struct contrast *contrast)
{
    return contrast->summaries_count ? contrast->summaries_count : 1;
}

/* For each contrast, and for each summary of it. */
static struct ratios **begin_ratios(struct study *study,
                                    const struct contrast contrasts[],
                                    size_t count, const uint32_t looks[])
{
    struct ratios **all = study_alloc(study, count * sizeof(struct ratios *));
    uint32_t rounds = 0;

    for (const uint32_t *look = looks; *look; look++)
        rounds = *look;
    for (size_t i = 0; i < count; i++) {
        const uint32_t summaries = summaries_of(&contrasts[i]);
        all[i] = study_alloc(study, summaries * sizeof(*all[i]));
        for (uint32_t k = 0; k < summaries; k++)
            all[i][k].ratios = study_alloc(study, rounds * sizeof(double));
    }
    return all;
}

/* get_ratio() for each round before `rounds`, as far as it is measured. Returns
 * how many are. */
static uint32_t take_ratios(const struct study *study, const char *phase,
                            const struct contrast *contrast, uint32_t rounds,
                            struct ratios *known)
{
    if (known->predicted < contrast->predicted ||
        known->predicted > contrast->predicted)
        known->count = 0;
    known->predicted = contrast->predicted;
    while (known->count < rounds &&
           get_ratio(study, phase, contrast, known->count,
                     &known->ratios[known->count]))
        known->count++;
    return known->count < rounds ? known->count : rounds;
}

/* Measures so many rounds of the open contrasts. */
static void measure(struct study *study, const char *phase,
                    const struct contrast contrasts[], size_t count,
                    uint32_t rounds, struct ratios *known[])
{
    enum { OPEN_MAX = 128 };
    size_t order[OPEN_MAX];
    uint32_t first = rounds;

    for (size_t i = 0; i < count; i++)
        if (contrasts[i].side == SIDE_OPEN)
            first = (uint32_t)smaller_of(
                first,
                take_ratios(study, phase, &contrasts[i], rounds, known[i]));
    if (first == rounds)
        return;
    for (uint32_t round = first; round < rounds; round++) {
        struct random random;
        study_random(study, phase, "order", round, &random);
        random_order(&random, order, count < OPEN_MAX ? count : OPEN_MAX);
        for (size_t i = 0; i < count; i++) {
            const size_t at = i < OPEN_MAX ? order[i] : i;
            double ratio;
            if (contrasts[at].side != SIDE_OPEN || round < known[at]->count ||
                get_ratio(study, phase, &contrasts[at], round, &ratio))
                continue;
            ask_round(study, phase, &contrasts[at], round);
        }
    }
    study_leave(study);
}

/* How surely the median lies beyond the threshold: an exact sign test. */
static double sign_error(const double ratios[], size_t count, double threshold,
                         bool above)
{
    size_t hits = 0;

    for (size_t i = 0; i < count; i++)
        hits += above ? ratios[i] > threshold : ratios[i] < threshold;
    return stats_sign_test(hits, count);
}

/* Sums up the rounds, which are measured, by the contrast's summary. */
static const double *summarise(const struct study *study, const char *phase,
                               struct contrast *contrast, uint32_t rounds,
                               struct ratios known[])
{
    struct ratios *all = &known[contrast->summary];

    take_ratios(study, phase, contrast, rounds, all);
    contrast->rounds_count = rounds;
    contrast->median = stats_median(all->ratios, rounds);
    return all->ratios;
}

/*
 * By how much a ratio may be larger than it looks: completions that are seen at
 * ticks are half a tick late on average, both of a pair, and by the quickest
 * request there is no ratio suffers more.
 */
static double understatement(const struct study *study)
{
    const double late_ns = (double)study->setting.clock_step_ns / 2;

    return study->quickest_ns ? 1 + late_ns / (double)study->quickest_ns : 1;
}

static void decide(const struct study *study, struct contrast *contrast,
                   const double ratios[], double alpha)
{
    const double stretch = understatement(study);
    struct interval *interval = &contrast->interval;

    *interval = stats_median_interval(ratios, contrast->rounds_count, alpha);
    interval->low *= interval->low < 0 ? stretch : 1;
    interval->high *= interval->high > 0 ? stretch : 1;
    if (interval->low > contrast->low) {
        contrast->side = SIDE_ABOVE;
        contrast->error_rate =
            sign_error(ratios, contrast->rounds_count, contrast->low, true);
    } else if (interval->high < contrast->high) {
        contrast->side = SIDE_BELOW;
        contrast->error_rate = sign_error(ratios, contrast->rounds_count,
                                          contrast->high / stretch, false);
    }
}

/*
 * Decides a contrast by each summary of its cells until one does. The lowest of
 * a few costs is the best where pages take different times, and the worst where
 * a lucky request now and then is faster than the rest. Only the first may find
 * an effect: the others settle that there is none.
 */
static void decide_by_any(const struct study *study, const char *phase,
                          struct contrast *contrast, uint32_t rounds,
                          struct ratios known[], double alpha)
{
    const uint32_t count = summaries_of(contrast);

    for (uint32_t i = 0; i < count && contrast->side == SIDE_OPEN; i++) {
        contrast->summary = i;
        decide(study, contrast,
               summarise(study, phase, contrast, rounds, known), alpha / count);
        if (i > 0 && contrast->side == SIDE_ABOVE)
            contrast->side = SIDE_OPEN;
    }
    contrast->summary = 0;
    if (contrast->side == SIDE_OPEN && count > 1)
        summarise(study, phase, contrast, rounds, known);
}

static size_t looks_count(const struct claim_rule *rule)
{
    size_t count = 0;

    while (rule->looks[count])
        count++;
    return count;
}

static bool fell(const struct contrast *contrast)
{
    return contrast->side != SIDE_OPEN && contrast->expected != SIDE_OPEN &&
           contrast->side != contrast->expected;
}

const struct contrast *claim_culprit(const struct contrast contrasts[],
                                     size_t count)
{
    const struct contrast *open = NULL;

    for (size_t i = 0; i < count; i++) {
        if (fell(&contrasts[i]))
            return &contrasts[i];
        if (contrasts[i].side == SIDE_OPEN && !open)
            open = &contrasts[i];
    }
    return open;
}

/* Notes how large an effect may be, as a share of a request, that a claim of
 * none at all has passed over: the largest that was seen, and what the
 * intervals leave room for, by half of them. */
static enum claim note_denial(struct study *study,
                              const struct contrast contrasts[], size_t count)
{
    double *room = study_alloc(study, count * sizeof(*room)), seen = 0;

    for (size_t i = 0; i < count; i++) {
        if (contrasts[i].expected != SIDE_BELOW)
            return CLAIM_HOLDS;
        seen = fmax(seen, expm1(contrasts[i].median));
        room[i] = expm1(contrasts[i].interval.high);
    }
    seen = fmax(seen, stats_median(room, count));
    study->passed_over = fmax(study->passed_over, seen);
    study->denies = true;
    return CLAIM_HOLDS;
}

enum claim study_claim(struct study *study, const char *phase,
                       struct contrast contrasts[], size_t count,
                       const struct claim_rule *rule)
{
    double alpha = rule->alpha / (double)(count * looks_count(rule));
    struct ratios **known = begin_ratios(study, contrasts, count, rule->looks);

    for (size_t i = 0; i < count; i++) {
        contrasts[i].side = SIDE_OPEN;
        contrasts[i].rounds_count = 0;
        contrasts[i].median = 0;
        contrasts[i].error_rate = 1;
    }
    for (const uint32_t *look = rule->looks; *look; look++) {
        bool open = false;
        measure(study, phase, contrasts, count, *look, known);
        for (size_t i = 0; i < count; i++)
            if (contrasts[i].side == SIDE_OPEN)
                summarise(study, phase, &contrasts[i], *look, known[i]);
        if (rule->adapt)
            rule->adapt(contrasts, count);
        for (size_t i = 0; i < count; i++) {
            if (contrasts[i].side != SIDE_OPEN)
                continue;
            decide_by_any(study, phase, &contrasts[i], *look, known[i], alpha);
            open = open || contrasts[i].side == SIDE_OPEN;
        }
        for (size_t i = 0; i < count; i++)
            if (fell(&contrasts[i]) && (!rule->to_the_end || !open))
                return CLAIM_FALLS;
        if (!open)
            return note_denial(study, contrasts, count);
    }
    for (size_t i = 0; i < count; i++)
        if (fell(&contrasts[i]))
            return CLAIM_FALLS;
    return CLAIM_OPEN;
}

double claim_confidence(const struct contrast contrasts[], size_t count,
                        const struct claim_rule *rule)
{
    double error = 0;

    for (size_t i = 0; i < count; i++)
        error += contrasts[i].error_rate;
    error *= (double)looks_count(rule);
    return error < 1 ? 1 - error : 0;
}

struct finding *claim_finding(struct study *study, const char *phase,
                              struct contrast contrasts[], size_t count,
                              const struct claim_rule *rule,
                              struct findings *findings, const char *parameter)
{
    const enum claim claim = study_claim(study, phase, contrasts, count, rule);
    struct finding *finding =
        findings_add(findings, study->probe->name, parameter);

    if (claim != CLAIM_HOLDS) {
        finding_why(finding, "%s", claim_culprit(contrasts, count)->unless);
        return NULL;
    }
    finding->confidence = claim_confidence(contrasts, count, rule);
    return finding;
}
