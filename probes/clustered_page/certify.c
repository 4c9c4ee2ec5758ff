/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clustered-page: is a size that shows an effect the page? */
#include "probes/clustered_page/clustered_page.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "probes/placing.h"

enum {
    CERTIFY_REPEATS = 8,
    DESCENTS_MAX = 2,
    FIRST_FREE = 16,
    MULTIPLES = 6,
    WHOLE_PITCH = 6
};

static const double effect_least = 0.025;
/* A shift by the page gains nothing: by so much, what is not shifted does not
 * fit the page either. */
static const double gain_most = 0.06;
/* Of what one part costs, what any other must: so much varies where pages take
 * up to four times as long as others. */
static const double least_share = 1.0 / 3;
/* What a shift may cost more, of writes of three pages and more. */
static const double long_none = 0.06;
/* Of cells of a few writes; then come long ones. */
static const uint32_t cell_looks[] = {18, 22, 28, 36, 48, 64, 90, 0};

double page_spread_effect(const struct contrast *of_page, double parts,
                          const struct contrast *longer)
{
    double extra = expm1(of_page->median);
    double q = (double)longer->size_bytes / (double)of_page->size_bytes;

    return log1p(extra > 0 ? parts * extra / q : 0);
}

/*
 * Is `page` the period? A shift by page / q is dear for each prime q that
 * divides it (else a part of it would be the period), a shift by the whole of
 * it is free in longer writes (else the period would be a multiple, or foreign
 * to it).
 */
static void free_within_half_effect(struct contrast contrasts[], size_t count)
{
    /* Half of what a shift costs one page, spread over q of them. */
    for (size_t i = 0; i < count; i++) {
        if (contrasts[i].expected != SIDE_BELOW)
            continue;
        double q =
            (double)contrasts[i].size_bytes / (double)contrasts[0].size_bytes;
        double threshold =
            page_spread_effect(&contrasts[0], 0.5, &contrasts[i]);
        /* Were it the page of a longer write, the shift would cost that much
         * more, however many pages there are. */
        double least = q < 2.5                            ? 0.02
                       : contrasts[i].kind == PAGE_PIECES ? page_effect_none
                                                          : long_none;
        threshold = threshold < least ? least : threshold;
        threshold = threshold > 0.40 ? 0.40 : threshold;
        contrasts[i].low = contrasts[i].high = threshold;
    }
}

/*
 * May everything that is open still be on the side where it should be? What is
 * not free costs twice what it may cost at most, or more, and what is dear
 * twice what it must: so halfway between is as likely to be the one as the
 * other.
 */
static bool leans_right(const struct contrast contrasts[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].side == SIDE_OPEN &&
            (contrasts[i].expected == SIDE_BELOW
                 ? contrasts[i].median > 1.5 * contrasts[i].high
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
static enum claim decide(struct page_probe *state, const char *phase,
                         struct contrast contrasts[], size_t count,
                         const struct claim_rule *rule, double *confidence)
{
    struct contrast again[PAGE_CONTRASTS_MAX];
    size_t which[PAGE_CONTRASTS_MAX], n = 0;
    char name[LABEL_PHASE_MAX];
    struct claim_rule of_long_cells = *rule;
    enum claim claim =
        study_claim(&state->study, phase, contrasts, count, rule);

    of_long_cells.looks = claim_long_looks;
    if (claim == CLAIM_OPEN && leans_right(contrasts, count)) {
        for (size_t i = 0; i < count; i++)
            if (i == 0 || contrasts[i].side == SIDE_OPEN) {
                again[n] = contrasts[i];
                if (!state->in_order)
                    again[n].repeats = placing_repeats(
                        contrasts[i].size_bytes, CERTIFY_REPEATS,
                        PAGE_REPEATS_MAX - 1, 16 * MIB);
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

/*
 * Whichever part a page is shifted by, it is in two pages then, which costs as
 * much: what costs far less is something else, as where writes meet fewer slow
 * pages.
 */
static enum claim judge_shift(const struct contrast *of_page,
                              const struct contrast *shifted, bool in_order)
{
    const double least = page_spread_effect(of_page, least_share, shifted);

    return (shifted->median > page_effect_most) != in_order ||
                   shifted->median < least
               ? CLAIM_FALLS
               : CLAIM_HOLDS;
}

/*
 * Does a shift by the page gain nothing? What does not fit the page is in one
 * page more than it must be, which costs twice what a shift costs one page, at
 * most. What gains more merges blocks, or does not, as it happens to end with
 * one: that says nothing of pages.
 */
static enum claim judge_gain(const struct contrast *of_page,
                             const struct contrast *longer)
{
    if (longer->interval.high >= -gain_most)
        return CLAIM_HOLDS;
    return -longer->median > page_spread_effect(of_page, 2, longer)
               ? CLAIM_OPEN
               : CLAIM_FALLS;
}

enum claim page_judge_size(const struct contrast *of_page,
                           const struct contrast *contrast, bool in_order)
{
    return contrast->side == SIDE_BELOW
               ? judge_gain(of_page, contrast)
               : judge_shift(of_page, contrast, in_order);
}

static enum claim certify_set(struct page_probe *state, const char *phase,
                              struct contrast contrasts[], size_t count,
                              struct page_verdict *verdict)
{
    const struct claim_rule rule = {.alpha = page_alpha / 2,
                                    .looks = cell_looks,
                                    .adapt = free_within_half_effect};

    /* A certificate must not hang on which pages a few writes happened to hit:
     * not so few of the long ones, which are dear. */
    for (size_t i = 0; i < count && !state->in_order; i++) {
        uint32_t least =
            placing_repeats(contrasts[i].size_bytes, CERTIFY_REPEATS / 2,
                            CERTIFY_REPEATS, 4 * MIB);
        if (contrasts[i].repeats < least)
            contrasts[i].repeats = least;
    }
    verdict->claim =
        decide(state, phase, contrasts, count, &rule, &verdict->confidence);
    for (size_t i = 0; verdict->claim == CLAIM_HOLDS && i < count; i++)
        verdict->claim =
            page_judge_size(&contrasts[0], &contrasts[i], state->in_order);
    if (verdict->claim == CLAIM_HOLDS && contrasts[0].rounds_count > 0 &&
        page_extra_ns(state, phase, &contrasts[0]) < page_flash_least_ns)
        verdict->claim = CLAIM_FALLS;
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].kind == PAGE_PIECES &&
            contrasts[i].median > 0.5 * long_none)
            verdict->confidence =
                fmin(verdict->confidence, page_small_confidence);
    verdict->effect = exp(contrasts[0].median);
    if (contrasts[0].median < page_effect_sure)
        verdict->confidence = fmin(verdict->confidence, page_effect_confidence);
    return verdict->claim;
}

/* A page that the host splits is a piece of it twice, of which either may be
 * read for: how long that takes goes by the banks where they happen to be, and
 * so the same writes of as many pages may differ a little wherever they
 * begin. */
static bool splits_pages(const struct page_probe *state, uint64_t size_bytes,
                         uint64_t page_bytes)
{
    const uint64_t limit = state->study.setting.request_limit_bytes;

    return page_bytes <= limit && limit < size_bytes && limit % page_bytes;
}

/*
 * A write of some pages, shifted by one, costs no more. A block may end where
 * it does, and then what is shifted reaches into the next one, which is no
 * page's doing: so it begins at multiples of twice its size, and each round
 * looks at one of them, of which few, if any, are at the end of a block. An odd
 * number of pages is shifted by two, so that there are as many slow ones among
 * them as before.
 * Where so long a write is dear, a page alone tells as well that the period is
 * not foreign to it, and all but as well that it is no multiple: a page shifted
 * by a part would often have stayed in one.
 */
static struct contrast shifted_by_page(const struct page_probe *state,
                                       uint64_t multiple, uint64_t page_bytes)
{
    const uint64_t size = multiple * page_bytes;

    if (size <= 2 * page_largest_bytes) {
        struct contrast contrast =
            page_moved(state, size, (multiple % 2 ? 2 : 1) * page_bytes,
                       2 * size, SIDE_BELOW);
        if (!state->in_order)
            contrast.kind = splits_pages(state, size, page_bytes) ? PAGE_PIECES
                                                                  : PAGE_STEADY;
        return contrast;
    }
    struct contrast contrast =
        page_shifted(page_bytes, page_bytes, size, SIDE_BELOW);
    snprintf(contrast.name, sizeof(contrast.name), "w%llu-of-%llu",
             (unsigned long long)page_bytes, (unsigned long long)size);
    return contrast;
}

static enum claim certify(struct page_probe *state, uint64_t page_bytes,
                          struct page_verdict *verdict)
{
    /* Writes of so many pages begin at multiples of their own size: were that
     * the page, then those not shifted would fit it. */
    static const uint64_t multiples[MULTIPLES] = {2, 3, 5, 4, 6, 8};
    struct contrast contrasts[PAGE_CONTRASTS_MAX];
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
        contrasts[count++] = page_moved(state, page_bytes, page_bytes / q,
                                        page_bytes, SIDE_ABOVE);
    }
    /* In order, nothing is merged only where each write begins and ends with a
     * page: that so little is shown by less than all multiples. */
    for (size_t i = 0; i < 3; i++)
        if (!state->in_order ||
            multiples[i] * page_bytes <= 2 * page_largest_bytes)
            contrasts[count++] =
                shifted_by_page(state, multiples[i], page_bytes);
    enum claim claim = certify_set(state, phase, contrasts, count, verdict);
    if (claim != CLAIM_HOLDS || state->in_order ||
        4 * page_bytes > 2 * page_largest_bytes)
        return claim;
    /* What is dear to write; so only where the rest holds. The effect that
     * decides what is free comes first again. */
    count = 1;
    for (size_t i = 3; i < MULTIPLES; i++) {
        uint64_t size = multiples[i] * page_bytes;
        /* A block at once costs less than a block shifted, whatever its
         * pages. */
        if (state->whole_bytes && size % state->whole_bytes == 0)
            continue;
        if (size <= 2 * page_largest_bytes)
            contrasts[count++] =
                shifted_by_page(state, multiples[i], page_bytes);
    }
    double confidence = verdict->confidence;
    snprintf(phase, sizeof(phase), "more-%llu", (unsigned long long)page_bytes);
    claim = certify_set(state, phase, contrasts, count, verdict);
    /* Long writes may merge blocks, and then vary too much to tell. */
    if (claim == CLAIM_OPEN) {
        confidence = fmin(confidence, page_small_confidence);
        claim = verdict->claim = CLAIM_HOLDS;
    } else {
        confidence = fmin(confidence, verdict->confidence);
    }
    verdict->confidence = confidence;
    return claim;
}

enum claim page_none_smaller(struct page_probe *state, const char *name,
                             uint64_t page_bytes, uint64_t n_th, double most,
                             struct page_verdict *verdict,
                             struct page_smaller *smaller)
{
    const struct claim_rule rule = {
        .alpha = page_alpha / 2, .looks = cell_looks, .to_the_end = true};
    struct contrast contrasts[PAGE_CONTRASTS_MAX];
    uint64_t sizes[PAGE_SIZES_MAX], odd = page_bytes / state->block_bytes;
    char phase[LABEL_PHASE_MAX];
    size_t count = 0;

    while (odd % 2 == 0)
        odd /= 2;
    for (uint64_t multiple = 1;; multiple = odd) {
        size_t n = page_ladder(state, multiple, page_bytes / n_th, sizes);
        for (size_t i = 0; i < n && count < PAGE_CONTRASTS_MAX; i++)
            contrasts[count++] = page_moved(state, sizes[i], sizes[i] / 2,
                                            page_bytes, SIDE_BELOW);
        if (multiple == odd)
            break;
    }
    *smaller = (struct page_smaller){.count = 0};
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
        else
            smaller->sizes[smaller->count++] = contrasts[i].size_bytes;
    confidence = claim_confidence(contrasts, without, &rule);
    if (confidence < verdict->confidence)
        verdict->confidence = confidence;
    return claim;
}

enum claim page_settle(struct page_probe *state, uint64_t *page_bytes,
                       struct page_verdict *verdict)
{
    struct page_smaller smaller;
    enum claim claim = certify(state, *page_bytes, verdict);

    for (int descent = 0; claim == CLAIM_HOLDS && descent < DESCENTS_MAX;
         descent++) {
        claim = page_none_smaller(state, "smaller", *page_bytes, 2,
                                  page_effect_none, verdict, &smaller);
        if (claim == CLAIM_HOLDS)
            return claim;
        size_t refuted = 0;
        for (; refuted < smaller.count; refuted++) {
            struct page_verdict other;
            claim = certify(state, smaller.sizes[refuted], &other);
            if (claim == CLAIM_FALLS)
                continue;
            /* Were it the page, all of the candidate shifted by a part of it
             * that is a multiple of this would have cost nothing. */
            if (claim == CLAIM_OPEN &&
                *page_bytes % smaller.sizes[refuted] == 0) {
                verdict->confidence =
                    fmin(verdict->confidence, page_small_confidence);
                continue;
            }
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

void page_weigh_whole(struct page_probe *state, uint64_t page_bytes,
                      struct page_verdict *verdict)
{
    const struct claim_rule rule = {.alpha = page_alpha, .looks = cell_looks};
    struct contrast contrast = page_longer(state, page_bytes, SIDE_ABOVE);

    if (verdict->confidence <= page_effect_confidence)
        return;
    /* Where a drive sometimes writes the second page beside the first, it is
     * not the lowest that tell. Every sixth: of two to four parts of a page,
     * the last is never written, and of five one in five. */
    contrast.kind = PAGE_WHOLE;
    contrast.pitch_bytes = WHOLE_PITCH * page_bytes;
    contrast.repeats =
        placing_repeats(page_bytes, CERTIFY_REPEATS / 2, 16, 4 * MIB);
    contrast.low = contrast.high = page_effect_low;
    if (study_claim(&state->study, "whole", &contrast, 1, &rule) != CLAIM_HOLDS)
        verdict->confidence = page_effect_confidence;
}
