/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clustered-page: is the rest of a page read before a part of it is written? */
#include "probes/clustered_page/clustered_page.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "probes/placing.h"

/* Log ratios of a part of a page to all of it: it costs more, or no more. */
static const double rest_least = 0.02, rest_none = 0.035;
/* A part may also cost more than all of a page where nothing is read, for a
 * cause that is not known: so it was with three drawn drives that update
 * sectors behind a buffer. */
static const double reads_confidence = 0.95;

/* A part of a page against all of it. */
static struct contrast part_of(uint64_t page_bytes, uint64_t part_bytes)
{
    struct contrast contrast = {.kind = PAGE_PART,
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

enum side page_reads_rest(struct page_probe *state, uint64_t page_bytes,
                          double *confidence)
{
    const struct claim_rule rule = {
        .alpha = page_alpha,
        .looks = page_bytes < MIB / 2 ? claim_long_looks : claim_looks};
    const uint64_t block = state->block_bytes;
    struct contrast contrasts[2];
    size_t count = 0;

    *confidence = 0;
    if (page_bytes < 2 * block)
        return SIDE_OPEN;
    /* All but one block: hardly less to transfer. Half of it: more to read. */
    contrasts[count++] = part_of(page_bytes, page_bytes - block);
    if (page_bytes / 2 / block * block < page_bytes - block)
        contrasts[count++] =
            part_of(page_bytes, page_bytes / 2 / block * block);
    enum claim claim =
        study_claim(&state->study, "rest", contrasts, count, &rule);
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].side == SIDE_ABOVE) {
            *confidence = claim_confidence(&contrasts[i], 1, &rule);
            return SIDE_ABOVE;
        }
    *confidence = claim_confidence(contrasts, count, &rule);
    /* A part is less to transfer and should cost less. If it surely costs more,
     * however little, the rest may be read quickly, as from an SLC cache. */
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].interval.low > 0)
            return SIDE_OPEN;
    return claim == CLAIM_HOLDS ? SIDE_BELOW : SIDE_OPEN;
}

void page_say_rest(struct findings *findings, uint64_t page_bytes,
                   enum side side, double confidence)
{
    struct finding *rest =
        findings_add(findings, "clustered-page", "read_modify_write");
    char size[24];

    format_bytes(page_bytes, size, sizeof(size));
    /* If a buffer is shorter than the page, even a whole page is written in
     * parts, and the rest is read for that as well. */
    if (side == SIDE_BELOW)
        confidence = fmin(confidence, page_small_confidence);
    if (side == SIDE_ABOVE)
        confidence = fmin(confidence, reads_confidence);
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

enum claim page_no_rest(struct page_probe *state, double *confidence)
{
    const struct claim_rule rule = {.alpha = page_alpha, .looks = claim_looks};
    struct contrast contrasts[4 * PAGE_SIZES_MAX];
    uint64_t sizes[PAGE_SIZES_MAX];
    size_t count = 0;

    for (uint64_t multiple = 1; multiple <= 3; multiple += 2) {
        /* Beside a longer write, the little that is read would not show. */
        size_t n = page_ladder(state, multiple, page_largest_bytes / 2, sizes);
        for (size_t i = 0; i < n; i++) {
            contrasts[count++] = part_of(sizes[i], sizes[i] / 2);
            if (sizes[i] <= page_largest_bytes / 4)
                contrasts[count++] =
                    part_of(sizes[i], sizes[i] - state->block_bytes);
        }
    }
    for (size_t i = 0; i < count; i++) {
        contrasts[i].expected = SIDE_BELOW;
        contrasts[i].low = rest_none;
        contrasts[i].summaries_count = PAGE_SUMMARIES;
    }
    enum claim claim =
        study_claim(&state->study, "no-rest", contrasts, count, &rule);
    *confidence = claim_confidence(contrasts, count, &rule);
    return claim;
}
