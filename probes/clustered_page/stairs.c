/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-page, where shifts show nothing. A drive that updates single
 * sectors (Kim's SSD-C) pays one more program for one sector more than a page:
 * a program-count staircase over sizes.
 */
#include "probes/clustered_page/clustered_page.h"

#include <math.h>

#include "lib/base/units.h"
#include "probes/placing.h"
#include "probes/probes.h"

enum { CANDIDATES_MAX = 4, FIRST_FREE = 16 };

static struct finding *add(struct findings *findings, const char *parameter)
{
    return findings_add(findings, "clustered-page", parameter);
}

/* Log ratios. One more program costs at least stair_least; up to stairs_none
 * may pass for no step. */
static const double stair_least = 0.03, stairs_none = 0.05;

static void steps_within_half(struct contrast contrasts[], size_t count)
{
    double threshold = 0.5 * contrasts[0].median;

    threshold = threshold < 0.5 * stair_least ? 0.5 * stair_least : threshold;
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].expected == SIDE_BELOW ||
            contrasts[i].trial == &page_shifted_kind)
            contrasts[i].low = contrasts[i].high = threshold;
}

/*
 * Half a page and one block of the next page, against a write as long within
 * one page: it costs one more program. (A whole page shifted by a half may not:
 * while a slow host sends it, the drive programs the first of the two pages.)
 */
static struct contrast reaching_beyond(const struct page_probe *state,
                                       uint64_t page_bytes)
{
    struct contrast contrast =
        page_shifted(page_bytes / 2 + state->block_bytes, page_bytes / 2,
                     page_bytes, SIDE_ABOVE);

    contrast.low = contrast.high = 0.5 * stair_least;
    contrast.repeats = 16;
    return contrast;
}

/* A write of a part of a page, against one a logical block longer. Both begin
 * with a page: elsewhere the longer one might reach into the next page. */
static struct contrast longer_part(const struct page_probe *state,
                                   uint64_t page_bytes, uint64_t part_bytes)
{
    struct contrast contrast = page_longer(state, part_bytes, SIDE_BELOW);

    contrast.n[PAGE_PITCH] = page_bytes;
    return contrast;
}

/* One block more costs a program at P and 2P, and not at P/2, P/4, 3P/4, 1.5P,
 * nor at P/q for any other prime q. That could also be a limit on the length of
 * requests, or a full buffer. But a write that reaches beyond P costs one more
 * program as well, without being longer. */
static enum claim certify_stairs(struct page_probe *state, uint64_t page_bytes,
                                 struct page_verdict *verdict)
{
    const struct claim_rule rule = {.alpha = page_alpha,
                                    .looks = claim_long_looks,
                                    .adapt = steps_within_half};
    const uint64_t quarter = page_bytes / 4;
    struct contrast contrasts[PAGE_CONTRASTS_MAX];
    uint64_t blocks = page_bytes / state->block_bytes;
    size_t count = 0;

    contrasts[count++] = page_longer(state, page_bytes, SIDE_ABOVE);
    contrasts[count++] = page_longer(state, 2 * page_bytes, SIDE_ABOVE);
    contrasts[count++] = reaching_beyond(state, page_bytes);
    contrasts[count++] = page_longer(state, 6 * quarter, SIDE_BELOW);
    contrasts[count++] = longer_part(state, page_bytes, 2 * quarter);
    if (quarter >= 2 * state->block_bytes) {
        contrasts[count++] = longer_part(state, page_bytes, quarter);
        contrasts[count++] = longer_part(state, page_bytes, 3 * quarter);
    }
    while (blocks % 2 == 0)
        blocks /= 2;
    for (uint64_t q = 3; blocks > 1 && count < FIRST_FREE; q += 2) {
        if (blocks % q)
            continue;
        while (blocks % q == 0)
            blocks /= q;
        contrasts[count++] = longer_part(state, page_bytes, page_bytes / q);
    }
    verdict->claim = study_claim(&state->study,
                                 study_text(&state->study, "stairs-%llu",
                                            (unsigned long long)page_bytes),
                                 contrasts, count, &rule);
    verdict->effect = exp(contrasts[0].median);
    verdict->confidence = claim_confidence(contrasts, count, &rule);
    if (contrasts[0].median < page_effect_sure)
        verdict->confidence = fmin(verdict->confidence, page_effect_confidence);
    return verdict->claim;
}

/* One block more, at every `nth` size of multiples up to `most`. Of long writes
 * few are compared in a round, as they cost most. Both claims below take the
 * same. */
static size_t steps_of(const struct page_probe *state, uint64_t most,
                       size_t nth, enum side expected, double threshold,
                       struct contrast contrasts[4 * PAGE_SIZES_MAX])
{
    size_t count = 0;

    for (uint64_t multiple = 1; multiple <= most; multiple += 2) {
        uint64_t sizes[PAGE_SIZES_MAX];
        size_t n = page_ladder(state, multiple, 256 * KIB, sizes);
        for (size_t i = nth - 1; i < n; i += nth) {
            contrasts[count] = page_longer(state, sizes[i], expected);
            contrasts[count].low = contrasts[count].high = threshold;
            contrasts[count].repeats = placing_repeats(sizes[i], 2, 16, MIB);
            count++;
        }
    }
    return count;
}

static const char steps[] = "search-stairs";

/* The sizes beyond which one block more costs something, ascending. */
static size_t search_stairs(struct page_probe *state,
                            uint64_t found[PAGE_SIZES_MAX])
{
    struct contrast contrasts[4 * PAGE_SIZES_MAX];
    const size_t count =
        steps_of(state, 3, 1, SIDE_OPEN, stair_least, contrasts);
    size_t found_count = 0;

    const struct claim_rule rule = {
        .alpha = page_search_error * 7 * (double)count, .looks = search_looks};
    study_claim(&state->study, steps, contrasts, count, &rule);
    for (uint64_t size = 0, next; found_count < CANDIDATES_MAX; size = next) {
        next = UINT64_MAX;
        for (size_t i = 0; i < count; i++)
            if (contrasts[i].side == SIDE_ABOVE &&
                contrasts[i].n[PAGE_SIZE] > size &&
                contrasts[i].n[PAGE_SIZE] < next)
                next = contrasts[i].n[PAGE_SIZE];
        if (next == UINT64_MAX)
            break;
        found[found_count++] = next;
    }
    return found_count;
}

/* Twice as much costs at most twice as much. If it costs more, the drive took
 * in the smaller writes and the flush did not force them out. Then other writes
 * pay for them, and no comparison of single writes shows a page. */
static enum claim no_debt(struct page_probe *state, double *confidence)
{
    const struct claim_rule rule = {.alpha = page_alpha, .looks = claim_looks};
    struct contrast contrasts[PAGE_SIZES_MAX];
    size_t count = 0;

    for (uint64_t size = 64 * KIB; size < page_largest_bytes; size *= 2) {
        contrasts[count] =
            trial_expect(page_pair(&page_doubled, size, 2 * size, 2 * size,
                                   placing_repeats(size, 2, 16, MIB)),
                         SIDE_BELOW, page_effect_none, page_effect_none, NULL);
        contrasts[count++].predicted = log(2);
    }
    enum claim claim =
        study_claim(&state->study, "no-debt", contrasts, count, &rule);
    *confidence = claim_confidence(contrasts, count, &rule);
    return claim;
}

/* HOLDS: one block more costs nothing that matters. The sizes include 3, 5 and
 * 7 x 2^k, of which powers of two tell nothing; and of these every second, for
 * a page has its step at twice its size as well. */
static enum claim no_stairs(struct page_probe *state, double *confidence)
{
    const struct claim_rule rule = {.alpha = page_alpha, .looks = claim_looks};
    struct contrast contrasts[4 * PAGE_SIZES_MAX];
    const size_t count =
        steps_of(state, 7, 2, SIDE_BELOW, stairs_none, contrasts);
    enum claim claim =
        study_claim(&state->study, steps, contrasts, count, &rule);
    *confidence = claim_confidence(contrasts, count, &rule);
    return claim;
}

static void conclude_stairs(struct page_probe *state, uint64_t page_bytes,
                            const struct page_verdict *verdict,
                            struct findings *findings)
{
    double confidence;
    const enum side side = page_reads_rest(state, page_bytes, &confidence);
    struct finding *page = add(findings, "clustered_page");

    /* Where several banks work at once, one more page costs nothing until all
     * are busy. So the step may be that of several pages. */
    finding_found(page, value_integer(page_bytes),
                  fmin(verdict->confidence, page_small_confidence));
    finding_why(page,
                "one sector more than %s costs %.2f times as much, as it does "
                "at twice that size, but not between",
                study_bytes(&state->study, page_bytes), verdict->effect);
    page_say_rest(&state->study, findings, page_bytes, side, confidence);
}

/* The page stays unknown for this reason. Whether its rest is read may be known
 * all the same. */
static void conclude_pageless(struct page_probe *state, const char *reason,
                              struct findings *findings)
{
    double confidence;
    enum claim none = page_no_rest(state, &confidence);

    finding_why(add(findings, "clustered_page"), "%s", reason);
    struct finding *rest = add(findings, "read_modify_write");
    finding_why(rest, "%s", reason);
    if (none != CLAIM_HOLDS)
        return;
    finding_found(rest, value_boolean(false),
                  fmin(confidence, page_small_confidence));
    finding_why(rest,
                "no write of up to 1 MiB costs more when it is shifted by a "
                "part, and none of up to 512 KiB when it is shortened, so the "
                "drive does not read what is not written");
}

/* Neither shifts nor stairs show anything: nor need they, where parts of a page
 * are gathered in a buffer that a flush does not empty. */
static void say_nothing_shows(const struct probe *probe, double confidence,
                              struct findings *findings)
{
    study_say_absent(probe, findings, fmin(confidence, page_small_confidence),
                     "neither a shift by half the size nor one more sector "
                     "makes writes of up to 1 MiB significantly slower");
    findings_up_to(findings, "clustered_page", page_largest_bytes);
}

void page_conclude_without_rmw(struct page_probe *state, double confidence,
                               struct findings *findings)
{
    uint64_t found[PAGE_SIZES_MAX];
    const size_t count = search_stairs(state, found);
    double certainty;

    for (size_t i = 0; i < count; i++) {
        struct page_verdict verdict;
        if (certify_stairs(state, found[i], &verdict) != CLAIM_HOLDS)
            continue;
        conclude_stairs(state, found[i], &verdict, findings);
        return;
    }
    /* Single writes do not show costs that the drive puts off, as where its
     * flush does nothing. Then nothing is known of a read either. */
    if (no_debt(state, &certainty) != CLAIM_HOLDS) {
        study_say_open(state->study.probe, findings,
                       "small writes cost less than their share of large ones, "
                       "flush included, so the drive may postpone their cost");
        return;
    }
    confidence = fmin(certainty, confidence);
    if (no_stairs(state, &certainty) != CLAIM_HOLDS)
        conclude_pageless(state,
                          "shifted writes cost nothing extra, and the steps in "
                          "the cost of longer writes fit no page size",
                          findings);
    else
        say_nothing_shows(state->study.probe, fmin(certainty, confidence),
                          findings);
}
