/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * content: the smallest part of a block that is moved faster when it is zero.
 */
#include "probes/content/content.h"

#include <math.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

enum {
    PARTS_COUNT = 11, /* from 1 KiB to 32 KiB */
    LARGER = 3,       /* index of the contrast of the next larger parts */
    FRACTIONS = 4     /* index of the first contrast that must save nothing */
};

static const uint32_t unit_looks[] = {CONTENT_VOTES,     64, 128, 256,
                                      CONTENT_VOTES_MAX, 0};
/* If all votes leave the claim open, it is tried once more with this larger
 * error rate and confidence at most 0.95, where small savings of half units
 * pass as none. It stays open if the parts save less than a unit should: parts
 * of any size contain some whole units where two parts of zeros meet. */
static const double unit_alpha_most = 0.02, unit_confidence_less = 0.95;
static const uint64_t smallest_part_bytes = KIB;
/* Least savings, as shares of what zeros save. If a part is a unit, half of all
 * units are zeros; a quarter is looked for. If two banks move pages in
 * parallel, only pairs of zero units save, a quarter of all, and fewer with
 * more banks; so a second search accepts a tenth. Certified parts must save 60
 * % of the measured saving, others less than half. */
static const double share_least = 0.25, share_of_banks = 0.1, whole_least = 0.6,
                    part_most = 0.5;
/* Thresholds for parts of the next larger size, as multiples of the unit's
 * saving. They save about two thirds of what the unit saves; if they are the
 * unit themselves, they save four times as much as the parts tested. */
static const double larger_least = 1.5, larger_most = 1.25;
/* Most that a half or a third of a unit may save, as a share of the unit's
 * saving. It should be nothing. With parallel banks only a row of zero pages
 * saves program time, but a single one saves a little bus time; so the second,
 * less certain, test allows more. */
static const double fraction_most = 0.1, fraction_less_sure = 0.2;
/* A saving (log ratio) this small counts as nothing; more looks would not
 * tell. */
static const double saving_none = 0.015;
/* Standard errors above zero that are no noise. */
static const double clear_errors = 5;

/* Log ratio saved if `share` of the units of a block are zeros. */
static double saving(double ones_to_zeros, double share)
{
    return -log(1 - share * (1 - exp(-ones_to_zeros)));
}

/* Size of candidate `index`: a power of two, or three times one. */
static uint64_t part_of(size_t index)
{
    return index % 2 ? (smallest_part_bytes << (index / 2)) / 2 * 3
                     : smallest_part_bytes << (index / 2);
}

/* Threshold of a saving, from what whole blocks of zeros save. The second
 * search (`again`) also uses the standard error of the median. */
static double saving_least(double ones_to_zeros, bool again,
                           const double ratios[])
{
    const double usual = saving(ones_to_zeros, share_least);
    const double error = 1.2533 * stats_spread(ratios, CONTENT_VOTES) /
                         sqrt((double)CONTENT_VOTES);

    return again ? fmax(saving(ones_to_zeros, share_of_banks),
                        fmin(usual, clear_errors * error))
                 : usual;
}

/* Returns the index of the smallest parts that save anything; PARTS_COUNT: none
 * do. Tests sizes in ascending order: larger parts may save less, if they cover
 * only some of the parallel banks. */
static size_t search_unit(struct content_probe *state, const char *phase,
                          uint32_t turns, double ones_to_zeros)
{
    for (size_t index = 0; index < PARTS_COUNT; index++) {
        const struct contrast contrast =
            trial_of(&content_ones_parts, part_of(index), 0, turns);
        double ratios[CONTENT_VOTES];
        study_ratios(&state->study, phase, &contrast, CONTENT_VOTES, ratios);
        if (stats_median(ratios, CONTENT_VOTES) >
            saving_least(ones_to_zeros, turns == 0, ratios))
            return index;
    }
    return PARTS_COUNT;
}

/* Sets thresholds relative to the saving of the unit in the fresh data: the
 * search prefers sizes that save more by chance. */
static void set_thresholds(struct contrast contrasts[], size_t count,
                           double fraction)
{
    const double saved = contrasts[0].median;

    contrasts[0].low = fmax(whole_least * saved, saving_none);
    contrasts[0].high = saving_none;
    for (size_t i = 1; i < count; i++) {
        contrasts[i].low = whole_least * saved;
        contrasts[i].high = part_most * saved;
    }
    contrasts[LARGER].low = larger_least * saved;
    contrasts[LARGER].high = larger_most * saved;
    for (size_t i = FRACTIONS; i < count; i++)
        contrasts[i].low = contrasts[i].high =
            fmax(fraction * saved, saving_none);
}

static void adapt(struct contrast contrasts[], size_t count)
{
    set_thresholds(contrasts, count, fraction_most);
}

static void adapt_less_sure(struct contrast contrasts[], size_t count)
{
    set_thresholds(contrasts, count, fraction_less_sure);
}

/* Returns the likelier unit after `index` failed: a smaller size that saves
 * too; else the next larger one, if shifted parts save as much or larger ones
 * save more. PARTS_COUNT: none. */
static size_t likelier(const struct contrast contrasts[], size_t count,
                       size_t index)
{
    for (size_t i = count - 1; i > 1; i--)
        for (size_t j = 0; j < index; j++)
            if (contrasts[i].side == SIDE_ABOVE &&
                part_of(j) == contrasts[i].n[0])
                return j;
    return contrasts[1].side == SIDE_ABOVE ||
                   contrasts[LARGER].side == SIDE_ABOVE
               ? index + 1
               : PARTS_COUNT;
}

static struct contrast parts(uint64_t part_bytes, uint64_t shift_bytes)
{
    return trial_of(&content_ones_parts, part_bytes, shift_bytes);
}

/*
 * Certifies a unit with these contrasts:
 * - parts of the unit's size save time
 * - shifted by half a unit they save less than half of that
 * - so do parts of the next smaller size: with a unit of 12 KiB, parts of 16
 *   KiB hold some whole units and would pass otherwise
 * - parts of the next larger size do not save more: with a unit of 48 KiB,
 *   parts of 32 KiB hold some, where two of zeros meet
 * - parts of a half and, if possible, a third of the unit save nothing
 *
 * If it falls, `index` becomes the likelier candidate.
 */
static enum claim certify_unit(struct content_probe *state,
                               double ones_to_zeros, size_t *index,
                               double *confidence)
{
    struct claim_rule rule = {
        .alpha = content_alpha, .looks = unit_looks, .adapt = adapt};
    const uint64_t unit_bytes = part_of(*index),
                   next_bytes =
                       *index % 2 ? unit_bytes / 3 * 2 : unit_bytes / 4 * 3,
                   larger_bytes = part_of(*index + 1);
    struct contrast contrasts[] = {
        parts(unit_bytes, 0),     parts(unit_bytes, unit_bytes / 2),
        parts(next_bytes, 0),     parts(larger_bytes, 0),
        parts(unit_bytes / 2, 0), parts(unit_bytes / 3, 0)};
    size_t count = sizeof(contrasts) / sizeof(contrasts[0]);
    double most = 1;

    if (unit_bytes % 3)
        count--;
    for (size_t i = 0; i < count; i++)
        contrasts[i].expected = i == 0 ? SIDE_ABOVE : SIDE_BELOW;
    enum claim claim =
        study_claim(&state->study, "certify", contrasts, count, &rule);
    if (claim == CLAIM_OPEN) {
        rule.alpha = unit_alpha_most;
        rule.adapt = adapt_less_sure;
        claim = study_claim(&state->study, "certify", contrasts, count, &rule);
        most = unit_confidence_less;
        if (claim == CLAIM_HOLDS &&
            contrasts[0].median <
                whole_least * saving(ones_to_zeros, share_least))
            claim = CLAIM_OPEN;
    }
    *confidence = fmin(claim_confidence(contrasts, count, &rule), most);
    if (claim == CLAIM_FALLS)
        *index = likelier(contrasts, count, *index);
    return claim;
}

void content_conclude_unit(struct content_probe *state, double ones_to_zeros,
                           struct findings *findings)
{
    static const char *const searches[] = {"search", "again"};
    struct study *study = &state->study;
    bool tried[PARTS_COUNT] = {false};
    double confidence;

    for (int i = 0; i < 2; i++) {
        size_t index = search_unit(state, searches[i], i == 0, ones_to_zeros);
        while (index < PARTS_COUNT && !tried[index]) {
            const uint64_t unit_bytes = part_of(index);
            tried[index] = true;
            if (certify_unit(state, ones_to_zeros, &index, &confidence) !=
                CLAIM_HOLDS)
                continue;
            struct finding *finding =
                findings_add(findings, "content", "content_unit");
            finding_found(finding, value_integer(unit_bytes), confidence);
            finding_why(
                finding,
                "zeros in every second %s save half of what all zeros save; "
                "zeros in every second %s save nothing, and the former shifted "
                "by that size next to nothing",
                study_bytes(study, unit_bytes),
                study_bytes(study, unit_bytes / 2));
            return;
        }
    }
    finding_why(findings_add(findings, "content", "content_unit"),
                "moving zeros is cheaper, but no unit from 1 KiB to 32 KiB is "
                "confirmed by fresh data");
}
