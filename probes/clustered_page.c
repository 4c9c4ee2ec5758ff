/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-page: in which unit does the drive write? (Kim et al. III-B)
 *
 * Idea: a write that covers only a part of a clustered page makes the drive
 * read the rest first. A write of one page that is shifted by a part of it
 * touches two pages, each in part; shifted by a whole page it touches none in
 * part.
 *
 * Assumes: the drive has been written, flush works, pages begin at offset 0.
 *
 *   cost of a write of s at slot + s/2, over that at slot
 *
 *   1.6                     *           The smallest s with an effect is the
 *                           |   o       candidate P. It must survive: shifts by
 *   1.0  o    o    o    o   |   |   o   P/2 are dear, shifts by P are free in
 *     s = 1K   2K   4K   8K  16K 32K 64K  writes of 2P, 3P and 5P.
 *
 * A drive that updates single sectors (Kim's SSD-C) shows no such effect. Then
 * one sector more than a page costs one more program: a staircase over sizes.
 */
#include <assert.h>
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

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)

enum {
    SIZES_MAX = 64,
    REPEATS_MAX = 24,
    CERTIFY_REPEATS = 8,
    CANDIDATES_MAX = 4,
    DESCENTS_MAX = 2
};

/* Error rate of one claim; the smallest effect that matters, and the largest
 * that may pass for none. */
static const double alpha = 1e-4, effect_low = 0.03, effect_none = 0.12;
static const double effect_least = 0.025, effect_found = 0.05;
static const double effect_sure = 0.16, small_confidence = 0.95;
/* A shift that costs less than this may be a second page being programmed:
 * no proof that something is read first. */
static const double effect_read = 0.15, effect_read_large = 0.25;
/* A shift by the page gains nothing: by so much, what is not shifted does not
 * fit the page either. */
static const double gain_most = 0.06;
/* Two pages, each moved out and in and programmed, for one: four times as much
 * at most, and a read. What costs more is a merge, and says nothing of pages. */
static const double effect_most = 1.5; /* log 4.5 */
/* No flash does anything in less (the fastest reads a page in 3 us): what costs
 * so little more is the host's, as the pages of a RAM disk. */
static const double flash_least_ns = 2000;
/* A part of a page that costs so much more than all of it; or does not. */
static const double rest_least = 0.02, rest_none = 0.035;
/* The search may err: what it finds is certified on fresh data. */
static const double search_error = 0.004;
static const uint32_t open_rounds_least = 64;
/* Of cells of a few writes; then come long ones. */
static const uint32_t cell_looks[] = {18, 22, 28, 36, 48, 64, 90, 0};
static const uint64_t largest_bytes = MIB;
/* No erase block is smaller, and the pages of a block show less than itself. */
static const uint64_t block_least_bytes = 64 * KIB;
static const double effect_small = 0.04;

enum { SHIFTED, LONGER, PART };
enum { LOWEST, MIDDLE, MOST, SUMMARIES }; /* how a cell is summed up */

struct state {
    struct study study;
    uint64_t base_bytes, block_bytes;
};

/* What was learnt about one candidate. */
struct verdict_on {
    enum claim claim;
    double effect, confidence;
    bool of_host; /* the effects are too small, in ns, to be flash's */
};

static struct contrast shifted(uint64_t size_bytes, uint64_t shift_bytes,
                               uint64_t unit_bytes, enum side expected)
{
    struct contrast contrast = {
        .kind = SHIFTED,
        .size_bytes = size_bytes,
        .other_bytes = size_bytes,
        .shift_bytes = shift_bytes,
        .pitch_bytes = unit_bytes,
        .repeats = placing_repeats(size_bytes, 2, 16, MIB),
        .summaries_count = expected == SIDE_BELOW ? SUMMARIES : 1,
        .expected = expected,
        .low = effect_low,
        .high = expected == SIDE_ABOVE ? effect_low : effect_none};

    snprintf(contrast.name, sizeof(contrast.name), "w%llu+%llu",
             (unsigned long long)size_bytes, (unsigned long long)shift_bytes);
    return contrast;
}

static struct contrast longer(const struct state *state, uint64_t size_bytes,
                              enum side expected)
{
    uint64_t pitch = size_bytes;
    struct contrast contrast = {.kind = LONGER,
                                .size_bytes = size_bytes,
                                .other_bytes = size_bytes + state->block_bytes,
                                .repeats = 16,
                                .expected = expected,
                                .low = 0.02,
                                .high = 0.02};

    while (pitch < contrast.other_bytes)
        pitch += size_bytes;
    contrast.pitch_bytes = pitch;
    snprintf(contrast.name, sizeof(contrast.name), "w%llu-longer",
             (unsigned long long)size_bytes);
    return contrast;
}

/* ---- measuring --------------------------------------------------------- */

/* A few requests more or less, so that a cell does not lock on to the pattern
 * of fast and slow pages. The first number of the round's chance. */
static uint32_t repeats_of(const struct contrast *contrast,
                           struct random *random)
{
    uint32_t dither = (uint32_t)random_below(random, 3);
    return contrast->repeats < 4 ? contrast->repeats
                                 : contrast->repeats - 1 + dither;
}

/* Slots overlap, that both cells meet pages of each level: were an odd number of
 * pages always written from an even place on, or always from an odd one, one of
 * the two cells would have more of the slow ones. */
static uint64_t slots_of(const struct state *state,
                         const struct contrast *contrast)
{
    uint64_t pitch = contrast->pitch_bytes;
    uint64_t reach =
        contrast->shift_bytes + (contrast->other_bytes > contrast->size_bytes
                                     ? contrast->other_bytes
                                     : contrast->size_bytes);
    uint64_t window = 2 * ((reach + pitch - 1) / pitch * pitch);
    uint64_t end = state->study.setting.region_offset_bytes +
                   state->study.setting.region_length_bytes;

    /* Few blocks, or every write would merge another one. */
    window = window < 256 * KIB ? 256 * KIB : window;
    if (window > end - state->base_bytes - reach)
        window = end - state->base_bytes - reach;
    return window / pitch > 0 ? window / pitch : 1;
}

static void emit_write(struct study *study, const char *phase,
                       const struct contrast *contrast, bool second,
                       uint32_t round, struct random *random)
{
    const struct state *state = (const struct state *)study;
    /* Not at the base: a block may begin there, and what writes to its beginning
     * costs is no page's doing. */
    uint64_t slot = 1 + random_below(random, slots_of(state, contrast));
    uint64_t offset = state->base_bytes + contrast->pitch_bytes * slot;
    struct step step = placing_step(
        OPERATION_WRITE, offset + (second ? contrast->shift_bytes : 0),
        second ? contrast->other_bytes : contrast->size_bytes, phase, contrast,
        second ? 'b' : 'a', round);

    study_ask(study, &step);
    step.operation = OPERATION_FLUSH;
    step.offset_bytes = step.length_bytes = 0;
    study_ask(study, &step);
}

/* Writes of both kinds in pairs, a b then b a, or the other way by lot: so both
 * meet the same fast and slow pages, be they neighbours or in long runs. */
static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    uint32_t repeats = repeats_of(contrast, random);
    bool second = false;

    for (uint32_t i = 0; i < repeats; i++) {
        second = i % 2 ? !second : random_below(random, 2) == 1;
        emit_write(study, phase, contrast, second, round, random);
        emit_write(study, phase, contrast, !second, round, random);
    }
}

/* Mean of the lowest eighth: where pages take different times, both cells have
 * fast ones among their lowest, and rarely as many in their lower half. */
static double lowest_eighth(double costs[], uint32_t count)
{
    uint32_t eighth = (count + 7) / 8;
    double sum = 0;

    stats_sort(costs, count);
    for (uint32_t i = 0; i < eighth; i++)
        sum += costs[i];
    return sum / eighth;
}

/* Mean of all but the highest quarter: what stalls is among those. */
static double most_of(double costs[], uint32_t count)
{
    uint32_t most = count - count / 4;
    double sum = 0;

    stats_sort(costs, count);
    for (uint32_t i = 0; i < most; i++)
        sum += costs[i];
    return sum / most;
}

/* A write and its flush count as one. Where writes of several pages mix fast and
 * slow ones, most cost the same, and a few are lucky: then the middle tells. */
static bool cell_cost(const struct study *study, const char *phase,
                      const struct contrast *contrast, char suffix,
                      uint32_t round, uint32_t repeats, double *cost)
{
    double costs[REPEATS_MAX];
    const struct timing *rows =
        placing_rows(study, phase, contrast, suffix, round, 2 * repeats);

    if (!rows)
        return false;
    for (uint32_t i = 0; i < repeats; i++)
        costs[i] = (double)(rows[2 * i].ns + rows[2 * i + 1].ns);
    *cost = contrast->summary == LOWEST   ? lowest_eighth(costs, repeats)
            : contrast->summary == MIDDLE ? stats_median(costs, repeats)
                                          : most_of(costs, repeats);
    return true;
}

static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    uint32_t repeats = repeats_of(contrast, random);
    double a, b;

    if (!cell_cost(study, phase, contrast, 'a', round, repeats, &a) ||
        !cell_cost(study, phase, contrast, 'b', round, repeats, &b))
        return false;
    *ratio = log(b / a) - contrast->predicted;
    return true;
}

/* ---- reasoning --------------------------------------------------------- */

/* Sizes multiple x 2^k from two blocks up to `most`. */
static size_t ladder(const struct state *state, uint64_t multiple,
                     uint64_t most_bytes, uint64_t sizes[SIZES_MAX])
{
    size_t count = 0;

    for (uint64_t size = 2 * state->block_bytes * multiple;
         size <= most_bytes && count < SIZES_MAX; size *= 2)
        sizes[count++] = size;
    return count;
}

/*
 * Is `page` the period? A shift by page / q is dear for each prime q that
 * divides it (else a part of it would be the period), a shift by the whole of
 * it is free in longer writes (else the period would be a multiple, or foreign
 * to it).
 */
enum { CONTRASTS_MAX = 24, FIRST_FREE = 16, MULTIPLES = 6 };

static void free_within_half_effect(struct contrast contrasts[], size_t count)
{
    double extra = exp(contrasts[0].median) - 1;

    /* Half of what a shift costs one page, spread over q of them. */
    for (size_t i = 0; i < count; i++) {
        if (contrasts[i].expected != SIDE_BELOW)
            continue;
        double q =
            (double)contrasts[i].size_bytes / (double)contrasts[i].shift_bytes;
        double threshold = log1p(extra > 0 ? 0.5 * extra / q : 0);
        /* Were it the page of a longer write, the shift would cost that much
         * more, however many pages there are. */
        double least = q < 2.5 ? 0.02 : 0.06;
        threshold = threshold < least ? least : threshold;
        threshold = threshold > 0.40 ? 0.40 : threshold;
        contrasts[i].low = contrasts[i].high = threshold;
    }
}

/* What a shift costs more, in ns, beside the quickest of its rounds. */
static double extra_ns(const struct state *state, const char *phase,
                       const struct contrast *contrast)
{
    double least = HUGE_VAL, cost;

    for (uint32_t i = 0; i < contrast->rounds_count; i++)
        if (cell_cost(&state->study, phase, contrast, 'a', i,
                      contrast->repeats - 1, &cost))
            least = fmin(least, cost);
    return expm1(contrast->median) * least;
}

/* Is everything that is open at least on the side where it should be? */
static bool leans_right(const struct contrast contrasts[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].side == SIDE_OPEN &&
            (contrasts[i].expected == SIDE_BELOW
                 ? contrasts[i].median > contrasts[i].high
                 : contrasts[i].median < contrasts[i].low))
            return false;
    return true;
}

/*
 * A claim that long cells decide where short ones cannot: pages of several
 * levels take different times, and what a few writes happen to hit varies more
 * than what is looked for. The first contrast is measured again as well, for it
 * sets the thresholds.
 */
static enum claim decide(struct state *state, const char *phase,
                         struct contrast contrasts[], size_t count,
                         const struct claim_rule *rule, double *confidence)
{
    struct contrast again[CONTRASTS_MAX];
    size_t which[CONTRASTS_MAX], n = 0;
    char name[LABEL_PHASE_MAX];
    struct claim_rule of_long_cells = *rule;
    enum claim claim =
        study_claim(&state->study, phase, contrasts, count, rule);

    of_long_cells.looks = claim_long_looks;
    if (claim == CLAIM_OPEN && leans_right(contrasts, count)) {
        for (size_t i = 0; i < count; i++)
            if (i == 0 || contrasts[i].side == SIDE_OPEN) {
                again[n] = contrasts[i];
                again[n].repeats =
                    placing_repeats(contrasts[i].size_bytes, CERTIFY_REPEATS,
                                    REPEATS_MAX - 1, 16 * MIB);
                which[n++] = i;
            }
        snprintf(name, sizeof(name), "%s-again", phase);
        claim = study_claim(&state->study, name, again, n, &of_long_cells);
        for (size_t i = 0; i < n; i++)
            if (contrasts[which[i]].side == SIDE_OPEN)
                contrasts[which[i]] = again[i];
    }
    *confidence = claim_confidence(contrasts, count, rule);
    return claim;
}

static enum claim certify_set(struct state *state, const char *phase,
                              struct contrast contrasts[], size_t count,
                              struct verdict_on *verdict)
{
    const struct claim_rule rule = {.alpha = alpha / 2,
                                    .looks = cell_looks,
                                    .adapt = free_within_half_effect};

    /* A certificate must not hang on which pages a few writes happened to hit:
     * not so few of the long ones, which are dear. */
    for (size_t i = 0; i < count; i++) {
        uint32_t least =
            placing_repeats(contrasts[i].size_bytes, CERTIFY_REPEATS / 2,
                            CERTIFY_REPEATS, 4 * MIB);
        if (contrasts[i].repeats < least)
            contrasts[i].repeats = least;
    }
    verdict->claim =
        decide(state, phase, contrasts, count, &rule, &verdict->confidence);
    for (size_t i = 0; verdict->claim == CLAIM_HOLDS && i < count; i++)
        if (contrasts[i].side == SIDE_BELOW
                ? contrasts[i].interval.high < -gain_most
                : contrasts[i].median > effect_most)
            verdict->claim = CLAIM_FALLS;
    if (verdict->claim == CLAIM_HOLDS && contrasts[0].rounds_count > 0 &&
        extra_ns(state, phase, &contrasts[0]) < flash_least_ns)
        verdict->claim = CLAIM_FALLS;
    verdict->effect = exp(contrasts[0].median);
    /* So small an effect may have another cause, such as a small buffer. */
    if (contrasts[0].median < effect_sure)
        verdict->confidence = fmin(verdict->confidence, small_confidence);
    return verdict->claim;
}

static enum claim certify(struct state *state, uint64_t page_bytes,
                          struct verdict_on *verdict)
{
    /* Writes of so many pages begin at multiples of their own size: were that
     * the page, then those not shifted would fit it. */
    static const uint64_t multiples[MULTIPLES] = {2, 3, 5, 4, 6, 8};
    struct contrast contrasts[CONTRASTS_MAX];
    char phase[LABEL_PHASE_MAX];
    size_t count = 0;
    uint64_t blocks = page_bytes / state->block_bytes;

    snprintf(phase, sizeof(phase), "certify-%llu",
             (unsigned long long)page_bytes);
    for (uint64_t q = 2; blocks > 1 && count < FIRST_FREE; q++) {
        if (blocks % q)
            continue;
        while (blocks % q == 0)
            blocks /= q;
        contrasts[count++] =
            shifted(page_bytes, page_bytes / q, page_bytes, SIDE_ABOVE);
    }
    for (size_t i = 0; i < 3; i++) {
        uint64_t size = multiples[i] * page_bytes;
        contrasts[count++] = shifted(size, page_bytes, size, SIDE_BELOW);
    }
    enum claim claim = certify_set(state, phase, contrasts, count, verdict);
    if (claim != CLAIM_HOLDS || 4 * page_bytes > 2 * largest_bytes)
        return claim;
    /* What is dear to write; so only where the rest holds. The effect that
     * decides what is free comes first again. */
    count = 1;
    for (size_t i = 3; i < MULTIPLES; i++) {
        uint64_t size = multiples[i] * page_bytes;
        if (size <= 2 * largest_bytes)
            contrasts[count++] = shifted(size, page_bytes, size, SIDE_BELOW);
    }
    double confidence = verdict->confidence;
    snprintf(phase, sizeof(phase), "more-%llu", (unsigned long long)page_bytes);
    claim = certify_set(state, phase, contrasts, count, verdict);
    /* Long writes may merge blocks, and then vary too much to tell. */
    if (claim == CLAIM_OPEN) {
        confidence = fmin(confidence, small_confidence);
        claim = verdict->claim = CLAIM_HOLDS;
    } else {
        confidence = fmin(confidence, verdict->confidence);
    }
    verdict->confidence = confidence;
    return claim;
}

/* The sizes below `page` that may have an effect. */
struct smaller {
    uint64_t sizes[CONTRASTS_MAX];
    size_t count;
};

/* Does no smaller size show an effect of `most`, or of half as much? */
static enum claim none_smaller(struct state *state, const char *name,
                               uint64_t page_bytes, double most,
                               struct verdict_on *verdict,
                               struct smaller *smaller)
{
    const struct claim_rule rule = {
        .alpha = alpha / 2, .looks = cell_looks, .to_the_end = true};
    struct contrast contrasts[CONTRASTS_MAX];
    uint64_t sizes[SIZES_MAX], odd = page_bytes / state->block_bytes;
    char phase[LABEL_PHASE_MAX];
    size_t count = 0;

    while (odd % 2 == 0)
        odd /= 2;
    for (uint64_t multiple = 1;; multiple = odd) {
        size_t n = ladder(state, multiple, page_bytes / 2, sizes);
        for (size_t i = 0; i < n && count < CONTRASTS_MAX; i++)
            contrasts[count++] =
                shifted(sizes[i], sizes[i] / 2, page_bytes, SIDE_BELOW);
        if (multiple == odd)
            break;
    }
    *smaller = (struct smaller){.count = 0};
    if (count == 0)
        return CLAIM_HOLDS;
    /* What is smaller is dearer to shift, so half of the effect would show. */
    double threshold = 0.5 * log(verdict->effect);
    threshold = threshold < effect_least ? effect_least : threshold;
    threshold = threshold > most ? most : threshold;
    for (size_t i = 0; i < count; i++)
        contrasts[i].low = contrasts[i].high = threshold;
    snprintf(phase, sizeof(phase), "%s-%llu", name,
             (unsigned long long)page_bytes);
    double confidence;
    enum claim claim =
        decide(state, phase, contrasts, count, &rule, &confidence);
    size_t without = 0;
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].side == SIDE_BELOW)
            contrasts[without++] = contrasts[i];
        else if (claim != CLAIM_MEASURING)
            smaller->sizes[smaller->count++] = contrasts[i].size_bytes;
    confidence = claim_confidence(contrasts, without, &rule);
    if (confidence < verdict->confidence)
        verdict->confidence = confidence;
    return claim;
}

/*
 * Candidate, and nothing below it that would do as well: a chip's page inside
 * the clustered one shows an effect too, but longer writes shifted by it are
 * dear as well, and it is refuted. On HOLDS, *page_bytes is the page: it may
 * have become a smaller one.
 */
static enum claim settle(struct state *state, uint64_t *page_bytes,
                         struct verdict_on *verdict)
{
    struct smaller smaller;
    enum claim claim = certify(state, *page_bytes, verdict);

    for (int descent = 0; claim == CLAIM_HOLDS && descent < DESCENTS_MAX;
         descent++) {
        claim = none_smaller(state, "smaller", *page_bytes, effect_none,
                             verdict, &smaller);
        if (claim == CLAIM_HOLDS || claim == CLAIM_MEASURING)
            return claim;
        size_t refuted = 0;
        for (; refuted < smaller.count; refuted++) {
            struct verdict_on other;
            claim = certify(state, smaller.sizes[refuted], &other);
            if (claim == CLAIM_FALLS)
                continue;
            if (claim != CLAIM_HOLDS)
                return claim;
            *page_bytes = smaller.sizes[refuted];
            *verdict = other;
            break;
        }
        if (refuted == smaller.count)
            return CLAIM_HOLDS;
    }
    return claim == CLAIM_HOLDS ? CLAIM_OPEN : claim;
}

/* ---- is the rest read? -------------------------------------------------- */

/* A part of a page against all of it. */
static struct contrast part_of(uint64_t page_bytes, uint64_t part_bytes)
{
    struct contrast contrast = {.kind = PART,
                                .size_bytes = page_bytes,
                                .other_bytes = part_bytes,
                                .pitch_bytes = page_bytes,
                                .repeats =
                                    placing_repeats(page_bytes, 8, 16, 4 * MIB),
                                .low = rest_least,
                                .high = rest_none};

    snprintf(contrast.name, sizeof(contrast.name), "w%llu-part%llu",
             (unsigned long long)page_bytes, (unsigned long long)part_bytes);
    return contrast;
}

/*
 * Does a part of a page cost more than all of it? It is less to transfer and as
 * much to program, so only reading the rest first can make it dearer. (A shift
 * makes a write dearer also where nothing is read: it programs two pages.)
 * ABOVE: the rest is read; BELOW: it is not, or costs nothing that would matter.
 */
static enum claim reads_rest(struct state *state, uint64_t page_bytes,
                             enum side *side, double *confidence)
{
    const struct claim_rule rule = {
        .alpha = alpha,
        .looks = page_bytes < MIB / 2 ? claim_long_looks : claim_looks};
    const uint64_t block = state->block_bytes;
    struct contrast contrasts[2];
    size_t count = 0;

    *side = SIDE_OPEN;
    *confidence = 0;
    if (page_bytes < 2 * block)
        return CLAIM_OPEN;
    /* Hardly less to transfer; and half of it to read, where that is more. */
    contrasts[count++] = part_of(page_bytes, page_bytes - block);
    if (page_bytes / 2 / block * block < page_bytes - block)
        contrasts[count++] =
            part_of(page_bytes, page_bytes / 2 / block * block);
    enum claim claim =
        study_claim(&state->study, "rest", contrasts, count, &rule);
    if (claim == CLAIM_MEASURING)
        return claim;
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].side == SIDE_ABOVE) {
            *side = SIDE_ABOVE;
            *confidence = claim_confidence(&contrasts[i], 1, &rule);
            return CLAIM_HOLDS;
        }
    if (claim == CLAIM_HOLDS)
        *side = SIDE_BELOW;
    *confidence = claim_confidence(contrasts, count, &rule);
    return claim;
}

static void say_rest(struct findings *findings, uint64_t page_bytes,
                     enum side side, double confidence)
{
    struct finding *rest =
        findings_add(findings, "clustered-page", "read_modify_write");
    char size[24];

    format_bytes(page_bytes, size, sizeof(size));
    if (side != SIDE_OPEN)
        finding_found(rest, value_boolean(side == SIDE_ABOVE), confidence);
    if (side == SIDE_ABOVE)
        finding_why(rest,
                    "a write of a part of a %s page costs more than one of all "
                    "of it, though it is less: the rest is read first",
                    size);
    else if (side == SIDE_BELOW)
        finding_why(rest,
                    "a write of half of a %s page, or of nearly all of it, "
                    "costs no more than one of all of it",
                    size);
    else
        finding_why(rest,
                    "it cannot be told whether a part of a %s page costs more "
                    "to write than all of it",
                    size);
}

static void say_found(struct findings *findings, uint64_t page_bytes,
                      const struct verdict_on *verdict)
{
    struct finding *page =
        findings_add(findings, "clustered-page", "clustered_page");
    char size[24];

    finding_found(page, value_integer(page_bytes), verdict->confidence);
    format_bytes(page_bytes, size, sizeof(size));
    finding_why(
        page,
        "a write of %s costs %.2f times as much when it is shifted by a "
        "part of %s, longer writes shifted by the whole of it cost the "
        "same, and no smaller size shows the effect",
        size, verdict->effect, size);
}

static void say_open(struct findings *findings, const char *reason)
{
    static const char *const parameters[] = {"clustered_page",
                                             "read_modify_write"};

    for (int i = 0; i < 2; i++)
        finding_why(findings_add(findings, "clustered-page", parameters[i]),
                    "%s", reason);
}

/*
 * A page that was found by shifts is certified: is the rest of it read? Where it
 * is not, the block of a drive that updates sectors has the same effects, for
 * writes of all of it leave nothing to merge; and its pages may show little.
 * False while it is measured.
 */
static bool conclude_shifts(struct state *state, uint64_t page_bytes,
                            const struct verdict_on *verdict,
                            struct findings *findings)
{
    struct verdict_on page = *verdict;
    struct smaller smaller;
    enum claim alone = CLAIM_HOLDS;
    enum side side;
    double confidence;

    if (reads_rest(state, page_bytes, &side, &confidence) == CLAIM_MEASURING)
        return false;
    if (side != SIDE_ABOVE && page_bytes >= block_least_bytes) {
        alone = none_smaller(state, "pages", page_bytes, effect_small, &page,
                             &smaller);
        page.confidence = fmin(page.confidence, small_confidence);
    }
    if (alone == CLAIM_MEASURING)
        return false;
    if (alone != CLAIM_HOLDS) {
        say_open(findings, "writes are cheapest where whole blocks of them are "
                           "aligned, and whether these have pages cannot be "
                           "told");
        return true;
    }
    say_found(findings, page_bytes, &page);
    /* What is known of a part is known no better than of what it is part. */
    say_rest(findings, page_bytes, side, fmin(confidence, page.confidence));
    return true;
}

/* Sizes with an effect, the largest effect first: what is certified first is
 * what most likely holds. Last, those that may have one. */
struct candidates {
    struct contrast found[2 * SIZES_MAX];
    size_t count;
};

static bool likelier(const struct contrast *a, const struct contrast *b)
{
    bool a_sure = a->side == SIDE_ABOVE, b_sure = b->side == SIDE_ABOVE;

    return a_sure == b_sure ? a->median > b->median : a_sure;
}

static void add_candidate(struct candidates *candidates,
                          const struct contrast *contrast)
{
    size_t at = candidates->count++;

    for (; at > 0 && likelier(contrast, &candidates->found[at - 1]); at--)
        candidates->found[at] = candidates->found[at - 1];
    candidates->found[at] = *contrast;
}

/*
 * A search looks a few times at first: what costs half as much again shows at
 * once, while sizes much larger than the page, whose small effects are hard to
 * tell from none, would cost most of what the whole probe writes. Only if no
 * size that has shown an effect is the page are the rest looked at to the end.
 */
static const uint32_t first_looks[] = {8, 12, 0};
static const uint32_t *const search_stages[] = {first_looks, search_looks};

/* Quick look at one ladder of sizes. True when it has been measured. */
static bool search(struct state *state, uint64_t multiple,
                   const uint32_t looks[], struct candidates *candidates)
{
    struct contrast contrasts[SIZES_MAX];
    uint64_t sizes[SIZES_MAX];
    char phase[LABEL_PHASE_MAX];
    size_t count = ladder(state, multiple, largest_bytes, sizes);
    size_t looks_count = 0;

    while (looks[looks_count])
        looks_count++;
    const struct claim_rule rule = {
        .alpha = search_error * (double)(looks_count * count), .looks = looks};

    for (size_t i = 0; i < count; i++) {
        contrasts[i] = shifted(sizes[i], sizes[i] / 2, sizes[i], SIDE_OPEN);
        contrasts[i].high = effect_found;
    }
    snprintf(phase, sizeof(phase), "search-%u", (unsigned)multiple);
    if (count == 0)
        return true;
    if (study_claim(&state->study, phase, contrasts, count, &rule) ==
        CLAIM_MEASURING)
        return false;
    /* What many rounds could not decide may be one; few say nothing. */
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].side == SIDE_ABOVE ||
            (contrasts[i].side == SIDE_OPEN &&
             contrasts[i].rounds_count >= open_rounds_least &&
             contrasts[i].median > effect_low))
            add_candidate(candidates, &contrasts[i]);
    return true;
}

enum outcome { OUTCOME_MEASURING, OUTCOME_SAID, OUTCOME_GO_ON };

static enum outcome try_stage(struct state *state, const uint64_t multiples[2],
                              const uint32_t looks[], struct findings *findings)
{
    struct candidates candidates = {.count = 0};

    if (!search(state, multiples[0], looks, &candidates) ||
        !search(state, multiples[1], looks, &candidates))
        return OUTCOME_MEASURING;
    for (size_t i = 0; i < candidates.count && i < CANDIDATES_MAX; i++) {
        struct verdict_on verdict;
        uint64_t page_bytes = candidates.found[i].size_bytes;
        switch (settle(state, &page_bytes, &verdict)) {
        case CLAIM_MEASURING:
            return OUTCOME_MEASURING;
        case CLAIM_HOLDS:
            return conclude_shifts(state, page_bytes, &verdict, findings)
                       ? OUTCOME_SAID
                       : OUTCOME_MEASURING;
        case CLAIM_OPEN:
        case CLAIM_FALLS:
            break;
        }
    }
    return OUTCOME_GO_ON;
}

static enum outcome try_candidates(struct state *state,
                                   const uint64_t multiples[2],
                                   struct findings *findings)
{
    enum outcome outcome = OUTCOME_GO_ON;

    for (size_t i = 0; outcome == OUTCOME_GO_ON &&
                       i < sizeof(search_stages) / sizeof(*search_stages);
         i++)
        outcome = try_stage(state, multiples, search_stages[i], findings);
    return outcome;
}

/* No size in either ladder shows an effect that would matter. */
static enum claim no_effect(struct state *state, struct verdict_on *verdict)
{
    const struct claim_rule rule = {.alpha = alpha, .looks = claim_long_looks};
    struct contrast contrasts[2 * SIZES_MAX];
    uint64_t sizes[SIZES_MAX];
    size_t count = 0;

    for (uint64_t multiple = 1; multiple <= 3; multiple += 2) {
        size_t n = ladder(state, multiple, largest_bytes, sizes);
        for (size_t i = 0; i < n; i++) {
            contrasts[count] =
                shifted(sizes[i], sizes[i] / 2, sizes[i], SIDE_BELOW);
            contrasts[count].low = contrasts[count].high =
                sizes[i] < 128 * KIB ? effect_read : effect_read_large;
            count++;
        }
    }
    enum claim claim =
        study_claim(&state->study, "no-effect", contrasts, count, &rule);
    verdict->confidence = claim_confidence(contrasts, count, &rule);
    verdict->of_host = true;
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].side == SIDE_ABOVE &&
            extra_ns(state, "no-effect", &contrasts[i]) >= flash_least_ns)
            verdict->of_host = false;
    return claim;
}

/* ---- the staircase of a drive without read-modify-write ---------------- */

/* One program more must cost this much to be a stair. */
static const double stair_least = 0.03, stairs_none = 0.05;

static void steps_within_half(struct contrast contrasts[], size_t count)
{
    double threshold = 0.5 * contrasts[0].median;

    threshold = threshold < 0.5 * stair_least ? 0.5 * stair_least : threshold;
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].expected == SIDE_BELOW || contrasts[i].kind == SHIFTED)
            contrasts[i].low = contrasts[i].high = threshold;
}

/* One block more costs a program at P and 2P, and not at P/2, P/4, 3P/4, 1.5P,
 * nor at P/q for any other prime q. So far it might be a limit on the length of
 * requests, or a buffer that is full: but P shifted by a half costs a program
 * more as well, and is no longer. */
static enum claim certify_stairs(struct state *state, uint64_t page_bytes,
                                 struct verdict_on *verdict)
{
    const struct claim_rule rule = {
        .alpha = alpha, .looks = claim_long_looks, .adapt = steps_within_half};
    const uint64_t quarter = page_bytes / 4;
    struct contrast contrasts[CONTRASTS_MAX];
    char phase[LABEL_PHASE_MAX];
    uint64_t blocks = page_bytes / state->block_bytes;
    size_t count = 0;

    contrasts[count++] = longer(state, page_bytes, SIDE_ABOVE);
    contrasts[count++] = longer(state, 2 * page_bytes, SIDE_ABOVE);
    contrasts[count] =
        shifted(page_bytes, page_bytes / 2, page_bytes, SIDE_ABOVE);
    contrasts[count].low = contrasts[count].high = 0.5 * stair_least;
    contrasts[count++].repeats = 16;
    contrasts[count++] = longer(state, 6 * quarter, SIDE_BELOW);
    contrasts[count++] = longer(state, 2 * quarter, SIDE_BELOW);
    if (quarter >= 2 * state->block_bytes) {
        contrasts[count++] = longer(state, quarter, SIDE_BELOW);
        contrasts[count++] = longer(state, 3 * quarter, SIDE_BELOW);
    }
    while (blocks % 2 == 0)
        blocks /= 2;
    for (uint64_t q = 3; blocks > 1 && count < FIRST_FREE; q += 2) {
        if (blocks % q)
            continue;
        while (blocks % q == 0)
            blocks /= q;
        contrasts[count++] = longer(state, page_bytes / q, SIDE_BELOW);
    }
    snprintf(phase, sizeof(phase), "stairs-%llu",
             (unsigned long long)page_bytes);
    verdict->claim = study_claim(&state->study, phase, contrasts, count, &rule);
    verdict->effect = exp(contrasts[0].median);
    verdict->confidence = claim_confidence(contrasts, count, &rule);
    return verdict->claim;
}

/* The sizes beyond which one block more costs something, ascending. */
static bool search_stairs(struct state *state, uint64_t found[SIZES_MAX],
                          size_t *found_count)
{
    static const uint64_t multiples[] = {1, 3};
    struct contrast contrasts[2 * SIZES_MAX];
    size_t count = 0;

    for (size_t m = 0; m < 2; m++) {
        uint64_t sizes[SIZES_MAX];
        size_t n = ladder(state, multiples[m], 256 * KIB, sizes);
        for (size_t i = 0; i < n; i++) {
            contrasts[count] = longer(state, sizes[i], SIDE_OPEN);
            contrasts[count].low = contrasts[count].high = stair_least;
            count++;
        }
    }
    const struct claim_rule rule = {.alpha = search_error * 7 * (double)count,
                                    .looks = search_looks};
    *found_count = 0;
    if (study_claim(&state->study, "search-stairs", contrasts, count, &rule) ==
        CLAIM_MEASURING)
        return false;
    for (uint64_t size = 0, next; *found_count < CANDIDATES_MAX; size = next) {
        next = UINT64_MAX;
        for (size_t i = 0; i < count; i++)
            if (contrasts[i].side == SIDE_ABOVE &&
                contrasts[i].size_bytes > size &&
                contrasts[i].size_bytes < next)
                next = contrasts[i].size_bytes;
        if (next == UINT64_MAX)
            break;
        found[(*found_count)++] = next;
    }
    return true;
}

/* Twice as much costs at most twice as much. If more, something took in the
 * smaller writes and the flush did not make it pass them on, so that what they
 * cost is paid by others: then no comparison of single writes shows a page. */
static struct contrast doubled(uint64_t size_bytes)
{
    struct contrast contrast = {.kind = LONGER,
                                .size_bytes = size_bytes,
                                .other_bytes = 2 * size_bytes,
                                .pitch_bytes = 2 * size_bytes,
                                .predicted = log(2),
                                .repeats = 16,
                                .expected = SIDE_BELOW,
                                .low = effect_none,
                                .high = effect_none};

    snprintf(contrast.name, sizeof(contrast.name), "w%llu-doubled",
             (unsigned long long)size_bytes);
    return contrast;
}

static enum claim no_debt(struct state *state, double *confidence)
{
    const struct claim_rule rule = {.alpha = alpha, .looks = claim_looks};
    struct contrast contrasts[SIZES_MAX];
    size_t count = 0;

    for (uint64_t size = 64 * KIB; size < largest_bytes; size *= 2)
        contrasts[count++] = doubled(size);
    enum claim claim =
        study_claim(&state->study, "no-debt", contrasts, count, &rule);
    *confidence = claim_confidence(contrasts, count, &rule);
    return claim;
}

/* One block more costs nothing that would matter at any size. */
static enum claim no_stairs(struct state *state, double *confidence)
{
    const struct claim_rule rule = {.alpha = alpha, .looks = claim_looks};
    struct contrast contrasts[SIZES_MAX];
    uint64_t sizes[SIZES_MAX];
    size_t count = ladder(state, 1, 256 * KIB, sizes);

    for (size_t i = 0; i < count; i++) {
        contrasts[i] = longer(state, sizes[i], SIDE_BELOW);
        contrasts[i].low = contrasts[i].high = stairs_none;
    }
    enum claim claim =
        study_claim(&state->study, "no-stairs", contrasts, count, &rule);
    *confidence = claim_confidence(contrasts, count, &rule);
    return claim;
}

static struct finding *add(struct findings *findings, const char *parameter)
{
    return findings_add(findings, "clustered-page", parameter);
}

static void say_stairs(struct findings *findings, uint64_t page_bytes,
                       const struct verdict_on *verdict)
{
    struct finding *page = add(findings, "clustered_page");
    char size[24];

    finding_found(page, value_integer(page_bytes), verdict->confidence);
    finding_why(page,
                "one sector more than %s costs %.2f times as much, as at "
                "twice that size and not between",
                format_bytes(page_bytes, size, sizeof(size)), verdict->effect);
}

static bool conclude_stairs(struct state *state, uint64_t page_bytes,
                            const struct verdict_on *verdict,
                            struct findings *findings)
{
    enum side side;
    double confidence;

    if (reads_rest(state, page_bytes, &side, &confidence) == CLAIM_MEASURING)
        return false;
    say_stairs(findings, page_bytes, verdict);
    say_rest(findings, page_bytes, side, confidence);
    return true;
}

/*
 * Whichever the page is: is the rest of one read? Then a part of it would cost
 * more than all of it, and no shift did. HOLDS: no part of any size does.
 */
static enum claim no_rest(struct state *state, double *confidence)
{
    const struct claim_rule rule = {.alpha = alpha, .looks = claim_looks};
    struct contrast contrasts[4 * SIZES_MAX];
    uint64_t sizes[SIZES_MAX];
    size_t count = 0;

    for (uint64_t multiple = 1; multiple <= 3; multiple += 2) {
        /* What little is read beside a long write would not show. */
        size_t n = ladder(state, multiple, largest_bytes / 2, sizes);
        for (size_t i = 0; i < n; i++) {
            contrasts[count++] = part_of(sizes[i], sizes[i] / 2);
            if (sizes[i] <= largest_bytes / 4)
                contrasts[count++] =
                    part_of(sizes[i], sizes[i] - state->block_bytes);
        }
    }
    for (size_t i = 0; i < count; i++) {
        contrasts[i].expected = SIDE_BELOW;
        contrasts[i].low = rest_none;
        contrasts[i].summaries_count = SUMMARIES;
    }
    enum claim claim =
        study_claim(&state->study, "no-rest", contrasts, count, &rule);
    *confidence = claim_confidence(contrasts, count, &rule);
    return claim;
}

/* The page stays unknown, for this reason; whether the rest of it is read may
 * be known all the same. False while it is measured. */
static bool conclude_pageless(struct state *state, const char *reason,
                              struct findings *findings)
{
    double confidence;
    enum claim none = no_rest(state, &confidence);

    if (none == CLAIM_MEASURING)
        return false;
    finding_why(add(findings, "clustered_page"), "%s", reason);
    struct finding *rest = add(findings, "read_modify_write");
    finding_why(rest, "%s", reason);
    if (none != CLAIM_HOLDS)
        return true;
    finding_found(rest, value_boolean(false),
                  fmin(confidence, small_confidence));
    finding_why(rest, "no write of any size up to 1 MiB costs more when it is "
                      "shifted by a part, nor one of up to 512 KiB when it is "
                      "shortened, so what is not written is not read either");
    return true;
}

static bool think_without_rmw(struct state *state, double confidence,
                              struct findings *findings)
{
    uint64_t found[SIZES_MAX];
    size_t count;
    double certainty;

    if (!search_stairs(state, found, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct verdict_on verdict;
        switch (certify_stairs(state, found[i], &verdict)) {
        case CLAIM_MEASURING:
            return false;
        case CLAIM_HOLDS:
            return conclude_stairs(state, found[i], &verdict, findings);
        case CLAIM_FALLS:
        case CLAIM_OPEN:
            break;
        }
    }
    enum claim none = no_debt(state, &certainty);
    confidence = fmin(certainty, confidence);
    if (none == CLAIM_FALLS || none == CLAIM_OPEN)
        return conclude_pageless(
            state,
            "small writes cost less than their share of large ones, flush "
            "included, so the drive may put off what it costs to write",
            findings);
    if (none == CLAIM_HOLDS)
        none = no_stairs(state, &certainty);
    if (none == CLAIM_MEASURING)
        return false;
    if (none != CLAIM_HOLDS)
        return conclude_pageless(
            state,
            "shifted writes cost nothing more, and the steps in the cost of "
            "longer ones fit no page size",
            findings);
    for (int i = 0; none == CLAIM_HOLDS && i < 2; i++) {
        struct finding *finding =
            add(findings, i ? "read_modify_write" : "clustered_page");
        finding_absent(finding, fmin(certainty, confidence));
        finding_why(finding,
                    "neither a shift by half the size nor one sector more "
                    "costs anything that would matter, up to 1 MiB");
    }
    return true;
}

static bool think(struct study *study, struct findings *findings)
{
    if (study->setting.method == METHOD_PAPER)
        return paper_clustered_page(study, findings);
    static const uint64_t multiples[2][2] = {{1, 3}, {5, 7}};
    struct state *state = (struct state *)study;
    struct verdict_on verdict;

    for (size_t i = 0; i < 2; i++) {
        switch (try_candidates(state, multiples[i], findings)) {
        case OUTCOME_MEASURING:
            return false;
        case OUTCOME_SAID:
            return true;
        case OUTCOME_GO_ON:
            break;
        }
    }
    switch (no_effect(state, &verdict)) {
    case CLAIM_MEASURING:
        return false;
    case CLAIM_HOLDS:
        return think_without_rmw(state, verdict.confidence, findings);
    case CLAIM_FALLS:
        say_open(findings,
                 verdict.of_host
                     ? "some shifted writes cost more, but by less than any "
                       "flash operation takes: it is the host's doing, or the "
                       "device is memory"
                     : "some shifted writes cost more, but no page size "
                       "explains which");
        return true;
    case CLAIM_OPEN:
        break;
    }
    say_open(findings, "the noise is too large to tell whether shifted writes "
                       "cost more; try a quieter host or another port");
    return true;
}

/* ---- the probe --------------------------------------------------------- */

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    if (setting->method == METHOD_PAPER) {
        paper_clustered_page_plan(setting, plan);
        return;
    }
    /* Expected: one ladder and one certificate; at most: all, to the end. */
    plan->requests = 26000;
    plan->requests_max = 1000000;
    plan->bytes_written = 300 * MIB;
    plan->bytes_written_max = 16000 * MIB;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = emit, .value = value};
    struct state *state =
        study_create(sizeof(*state), &probe_clustered_page, &ops, setting);

    (void)known;
    if (!state)
        return -ENOMEM;
    state->block_bytes = setting->logical_block_bytes;
    state->base_bytes = placing_base(setting, state->study.seed, 48 * MIB);
    *result = state;
    return 0;
}

const struct probe probe_clustered_page = {
    .name = "clustered-page",
    .question = "In which unit does the drive write?",
    .idea = "A write that covers only a part of a clustered page makes the "
            "drive read the rest first, so a write of one page costs more when "
            "it is shifted by a part of it.",
    .writes = true,
    .region_min_bytes = 64 * MIB,
    .answers = {"clustered_page", "read_modify_write"},
    .plan = plan,
    .start = start,
    STUDY_PROBE_FUNCTIONS,
};
