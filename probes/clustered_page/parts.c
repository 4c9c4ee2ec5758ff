/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clustered-page: is it a page that has parts, or a block that has pages? */
#include "probes/clustered_page/clustered_page.h"

#include <math.h>

/*
 * Pages and blocks look alike. Both cost least to write whole and aligned, and
 * in both a smaller size has an effect: a page may consist of several chips'
 * pages, and one more of these is read where a write reaches into it. Two
 * things differ.
 *
 * Reaching into the next page programs that as well. So it costs much more than
 * reaching into the next part. But of two pages, it is the same whether they
 * lie in one block or in two.
 *
 * A part of a page costs the same wherever the last write went. But pages of a
 * block that are written in order need no merge.
 */
static void parts_cost_less(struct contrast contrasts[], size_t count)
{
    double threshold = page_spread_effect(&contrasts[0], 0.5, &contrasts[0]);

    threshold = fmin(fmax(threshold, page_effect_low), page_effect_none);
    for (size_t i = 1; i < count; i++)
        contrasts[i].low = contrasts[i].high = threshold;
}

enum claim page_has_parts(struct page_probe *state, uint64_t page_bytes,
                          const struct page_smaller *smaller,
                          struct page_verdict *verdict)
{
    const struct claim_rule rule = {
        .alpha = page_alpha, .looks = claim_looks, .adapt = parts_cost_less};
    struct contrast contrasts[PAGE_CONTRASTS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < smaller->count; i++) {
        const uint64_t part_bytes = smaller->sizes[i];
        if (page_bytes % part_bytes || count + 3 > PAGE_CONTRASTS_MAX)
            return CLAIM_OPEN;
        if (count == 0) {
            contrasts[count] =
                page_shifted(part_bytes, page_bytes - part_bytes / 2,
                             page_bytes, SIDE_ABOVE);
            /* A part takes less time than a page, so the effect is larger
             * beside it. */
            contrasts[count].low = contrasts[count].high =
                fmax(0.5 * log(verdict->effect), page_effect_low);
            count++;
        }
        contrasts[count++] =
            page_shifted(part_bytes, part_bytes / 2, page_bytes, SIDE_BELOW);
        contrasts[count++] = page_anywhere(part_bytes);
    }
    if (count == 0)
        return CLAIM_OPEN;
    enum claim claim =
        study_claim(&state->study, "parts", contrasts, count, &rule);
    /* So large an effect is a merge, so it is a block. */
    if (claim == CLAIM_HOLDS && contrasts[0].median > page_effect_most)
        return CLAIM_OPEN;
    if (claim == CLAIM_HOLDS)
        verdict->confidence =
            fmin(verdict->confidence,
                 fmin(page_small_confidence,
                      claim_confidence(contrasts, count, &rule)));
    return claim;
}
