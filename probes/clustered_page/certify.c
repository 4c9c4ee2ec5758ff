/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clustered-page: is a size with an effect the page? Certificates on fresh
 * data. */
#include "probes/clustered_page/clustered_page.h"

#include <math.h>

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
/* Log. If a shift by the page saves more than this, unshifted writes do not fit
 * the page either. */
static const double gain_most = 0.06;
/* The least effect of a shift by any part of a page, as a share of the first
 * one's. Effects vary that much where some pages take four times as long as
 * others. */
static const double least_share = 1.0 / 3;
/* Log. The threshold for a shift by the page is at least this in writes of
 * three pages and more. */
static const double long_none = 0.06;
/* Looks at cells of a few writes, in rounds. Long cells come after them. */
static const uint32_t cell_looks[] = {18, 22, 28, 36, 48, 64, 90, 0};

double page_spread_effect(const struct contrast *of_page, double parts,
                          const struct contrast *longer)
{
    double extra = expm1(of_page->median);
    double q = (double)longer->n[PAGE_SIZE] / (double)of_page->n[PAGE_SIZE];

    return log1p(extra > 0 ? parts * extra / q : 0);
}

/*
 * The certificate claims that `page` is the period. A shift by page / q is dear
 * for each prime q that divides it; else a part would be the period. A shift by
 * the whole page is free in longer writes; else the period would be a multiple,
 * or unrelated. This function sets what counts as free.
 */
static void free_within_half_effect(struct contrast contrasts[], size_t count)
{
    /* Half of what a shift costs one page, spread over q pages. */
    for (size_t i = 0; i < count; i++) {
        if (contrasts[i].expected != SIDE_BELOW)
            continue;
        double q = (double)contrasts[i].n[PAGE_SIZE] /
                   (double)contrasts[0].n[PAGE_SIZE];
        double threshold =
            page_spread_effect(&contrasts[0], 0.5, &contrasts[i]);
        /* If a longer page were the true one, the shift would cost at least
         * this much, however many pages a write has. */
        double least = q < 2.5                              ? 0.02
                       : contrasts[i].trial == &page_pieces ? page_effect_none
                                                            : long_none;
        contrasts[i].low = contrasts[i].high =
            fmin(fmax(threshold, least), 0.40);
    }
}

/*
 * May each open contrast still fall on its expected side? A shift that is not
 * free costs at least twice the threshold, and a dear one at least twice its
 * own threshold. Halfway between, both sides are equally likely.
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
 * Decides a claim, with long cells where short ones leave contrasts open. Pages
 * of several levels take different times, so a few writes vary more than the
 * effect does. The first contrast is measured again as well, for it sets the
 * thresholds.
 */
static enum claim decide(struct page_probe *state, const char *phase,
                         struct contrast contrasts[], size_t count,
                         const struct claim_rule *rule, double *confidence)
{
    struct contrast again[PAGE_CONTRASTS_MAX];
    size_t which[PAGE_CONTRASTS_MAX], n = 0;
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
                        contrasts[i].n[PAGE_SIZE], CERTIFY_REPEATS,
                        PAGE_REPEATS_MAX - 1, 16 * MIB);
                which[n++] = i;
            }
        claim = study_claim(&state->study,
                            study_text(&state->study, "%s-again", phase), again,
                            n, &of_long_cells);
        for (size_t i = 0; i < n; i++)
            if (contrasts[which[i]].side == SIDE_OPEN)
                contrasts[which[i]] = again[i];
    }
    *confidence = claim_confidence(contrasts, count, rule);
    return claim;
}

/*
 * Is the effect of a shift as large as a page explains? A page shifted by any
 * part lies in two pages, so all such shifts cost about the same. A much
 * smaller effect has another cause, as where writes meet fewer slow pages. An
 * effect above page_effect_most is a merge, which only sequential writes should
 * show.
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
 * Does a shift by the page save nothing? An unshifted write that does not fit
 * the page lies in one page too many. That costs at most twice what a shift
 * costs one page. OPEN: it saves more, as where a merge is spared by chance,
 * and says nothing of pages.
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

    /* Enough writes that the certificate does not depend on which pages they
     * hit. Fewer of the long ones, which cost much. */
    for (size_t i = 0; i < count && !state->in_order; i++) {
        uint32_t least =
            placing_repeats(contrasts[i].n[PAGE_SIZE], CERTIFY_REPEATS / 2,
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
        if (contrasts[i].trial == &page_pieces &&
            contrasts[i].median > 0.5 * long_none)
            verdict->confidence =
                fmin(verdict->confidence, page_small_confidence);
    verdict->effect = exp(contrasts[0].median);
    if (contrasts[0].median < page_effect_sure)
        verdict->confidence = fmin(verdict->confidence, page_effect_confidence);
    return verdict->claim;
}

/* Does the host split such a write inside a page? Then two pieces of that page
 * are written, and each may need a read. Its time depends on the banks, so
 * equal writes may differ a little from place to place. */
static bool splits_pages(const struct page_probe *state, uint64_t size_bytes,
                         uint64_t page_bytes)
{
    const uint64_t limit = state->study.setting.request_limit_bytes;

    return page_bytes <= limit && limit < size_bytes && limit % page_bytes;
}

/*
 * Writes of several pages must cost no more when they are shifted by one page.
 * If a block ended with the unshifted write, the shifted one would reach into
 * the next block, which costs more. So writes begin at multiples of twice their
 * size, and each round uses one place: few places, if any, lie at the end of a
 * block. An odd number of pages is shifted by two, so that the write has as
 * many slow pages as before.
 *
 * Where so long a write costs too much, a single page is shifted by a page. If
 * that costs no more, the period divides the page or is a multiple of it. A
 * multiple is unlikely, for then a page shifted by a part would often have
 * stayed in one page.
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
            contrast.trial = splits_pages(state, size, page_bytes)
                                 ? &page_pieces
                                 : &page_steady;
        return contrast;
    }
    return page_shifted_as(&page_beside, page_bytes, page_bytes, size,
                           SIDE_BELOW);
}

/* "certify-16384" */
static const char *phase_of(struct page_probe *state, const char *name,
                            uint64_t page_bytes)
{
    return study_text(&state->study, "%s-%llu", name,
                      (unsigned long long)page_bytes);
}

static enum claim certify(struct page_probe *state, uint64_t page_bytes,
                          struct page_verdict *verdict)
{
    /* Writes of so many pages, at multiples of their size. If one of these
     * sizes were the page, unshifted writes would fit it and shifted ones would
     * not. */
    static const uint64_t multiples[MULTIPLES] = {2, 3, 5, 4, 6, 8};
    struct contrast contrasts[PAGE_CONTRASTS_MAX];
    size_t count = 0;
    uint64_t blocks = page_bytes / state->block_bytes;

    for (uint64_t q = 2; blocks > 1 && count < FIRST_FREE; q++) {
        if (blocks % q)
            continue;
        while (blocks % q == 0)
            blocks /= q;
        contrasts[count++] = page_moved(state, page_bytes, page_bytes / q,
                                        page_bytes, SIDE_ABOVE);
    }
    /* In sequential writes nothing is merged only if each begins and ends with
     * a page. Fewer multiples show that. */
    for (size_t i = 0; i < 3; i++)
        if (!state->in_order ||
            multiples[i] * page_bytes <= 2 * page_largest_bytes)
            contrasts[count++] =
                shifted_by_page(state, multiples[i], page_bytes);
    enum claim claim =
        certify_set(state, phase_of(state, "certify", page_bytes), contrasts,
                    count, verdict);
    if (claim != CLAIM_HOLDS || state->in_order ||
        4 * page_bytes > 2 * page_largest_bytes)
        return claim;
    /* Longer multiples cost much to write, so they are tried only if the others
     * hold. contrasts[0] stays, for it sets the thresholds. */
    count = 1;
    for (size_t i = 3; i < MULTIPLES; i++) {
        uint64_t size = multiples[i] * page_bytes;
        /* A whole block costs less than a shifted one, whatever its pages. */
        if (state->whole_bytes && size % state->whole_bytes == 0)
            continue;
        if (size <= 2 * page_largest_bytes)
            contrasts[count++] =
                shifted_by_page(state, multiples[i], page_bytes);
    }
    double confidence = verdict->confidence;
    claim = certify_set(state, phase_of(state, "more", page_bytes), contrasts,
                        count, verdict);
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
    /* A smaller page would have a larger effect, so half of this one would
     * show. */
    const double threshold =
        fmin(fmax(0.5 * log(verdict->effect), effect_least), most);
    for (size_t i = 0; i < count; i++)
        contrasts[i].low = contrasts[i].high = threshold;
    double confidence;
    enum claim claim = decide(state, phase_of(state, name, page_bytes),
                              contrasts, count, &rule, &confidence);
    size_t without = 0;
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].side == SIDE_BELOW)
            contrasts[without++] = contrasts[i];
        else
            smaller->sizes[smaller->count++] = contrasts[i].n[PAGE_SIZE];
    verdict->confidence =
        fmin(verdict->confidence, claim_confidence(contrasts, without, &rule));
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
            /* If this size were the page, the candidate shifted by a multiple
             * of it would have cost nothing more. But it was dear. */
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
    /* A drive may write the second page beside the first at times, so the
     * lowest do not tell. Writes begin at every sixth size: if the true page
     * has two to four of them, its last one is never written; if five, one time
     * in five. */
    struct contrast contrast = trial_expect(
        page_pair(
            &page_whole, page_bytes, page_bytes + state->block_bytes,
            WHOLE_PITCH * page_bytes,
            placing_repeats(page_bytes, CERTIFY_REPEATS / 2, 16, 4 * MIB)),
        SIDE_ABOVE, page_effect_low, page_effect_low, NULL);

    if (verdict->confidence <= page_effect_confidence)
        return;
    if (study_claim(&state->study, "whole", &contrast, 1, &rule) != CLAIM_HOLDS)
        verdict->confidence = page_effect_confidence;
}
