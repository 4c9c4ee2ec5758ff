/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-page: in which unit does the drive write? (Kim et al. III-B)
 *
 * Idea: before a write that covers only a part of a clustered page, the drive
 * reads the rest. A write of one page, shifted by a part of it, covers two
 * pages in part. Shifted by a whole page, it covers none in part.
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
 * A drive that updates single sectors (Kim's SSD-C) shows no such effect.
 * There, one sector more than a page costs one more program: a program-count
 * staircase over sizes.
 */
#include <math.h>

#include "lib/base/units.h"
#include "probes/clustered_page/clustered_page.h"
#include "probes/papers/papers.h"
#include "probes/placing.h"
#include "probes/probes.h"

enum {
    CANDIDATES_MAX = 4,
    /* Pages of a block, at least. Flash has 16, but a drive may join some. */
    BLOCK_PAGES_LEAST = 8
};

static const double effect_found = 0.05;
/* A shift that costs less than this (log) may only program a second page, which
 * proves no read. The second value is for 128 KiB and more. */
static const double effect_read = 0.15, effect_read_large = 0.25;
static const uint32_t open_rounds_least = 64;
/* 64 KiB may cost 1.5 times as much as 4 KiB if both merge a block: a slow host
 * may take that long to send the rest. */
static const double merge_hides = 0.4055; /* log 1.5 */
/* No erase block is smaller. The pages of a block have an effect of
 * effect_small (log) at least, which is less than that of the block. */
static const uint64_t block_least_bytes = 64 * KIB;
static const double effect_small = 0.04;

static void say_found(struct study *study, struct findings *findings,
                      uint64_t page_bytes, const struct page_verdict *verdict)
{
    struct finding *page =
        findings_add(findings, "clustered-page", "clustered_page");
    const char *size = study_bytes(study, page_bytes);

    finding_found(page, value_integer(page_bytes), verdict->confidence);
    finding_why(page,
                "a write of %s costs %.2f times as much when it is shifted by "
                "a part of %s, longer writes cost the same when shifted by all "
                "of it, and no smaller size shows the effect",
                size, verdict->effect, size);
}

static void conclude_shifts(struct page_probe *state, uint64_t page_bytes,
                            const struct page_verdict *verdict,
                            struct findings *findings);

/*
 * The candidate is a block if one of the sizes in `smaller` is its page. The
 * certificate of that page fell before, but only because writes of a whole
 * aligned block cost least. Such writes are left out now (whole_bytes).
 */
static void conclude_pages_of(struct page_probe *state, uint64_t block_bytes,
                              const struct page_smaller *smaller,
                              struct findings *findings)
{
    state->whole_bytes = block_bytes;
    for (size_t i = 0; i < smaller->count; i++) {
        uint64_t page_bytes = smaller->sizes[i];
        struct page_verdict page;
        if (block_bytes % page_bytes ||
            page_settle(state, &page_bytes, &page) != CLAIM_HOLDS)
            continue;
        /* It may also be a chip's page inside a larger page whose rest is not
         * read. */
        page.confidence = fmin(page.confidence, page_small_confidence);
        page_weigh_whole(state, page_bytes, &page);
        conclude_shifts(state, page_bytes, &page, findings);
        return;
    }
    study_say_open(&probe_clustered_page, findings,
                   "writes are cheapest where they fill whole aligned blocks, "
                   "which does not show whether blocks have pages");
}

/*
 * For a page that was certified by shifts: is the rest of it read? If not, it
 * may be the block of a drive that updates sectors. That has the same effects,
 * since a write of a whole block leaves nothing to merge, and its pages may
 * have little effect.
 */
static void conclude_shifts(struct page_probe *state, uint64_t page_bytes,
                            const struct page_verdict *verdict,
                            struct findings *findings)
{
    struct page_verdict page = *verdict;
    struct page_smaller smaller;
    enum claim alone = CLAIM_HOLDS;
    double confidence;
    const enum side side = page_reads_rest(state, page_bytes, &confidence);

    if (side != SIDE_ABOVE && page_bytes >= block_least_bytes) {
        alone = page_none_smaller(state, "pages", page_bytes, BLOCK_PAGES_LEAST,
                                  effect_small, &page, &smaller);
        page.confidence = fmin(page.confidence, page_small_confidence);
        if (alone != CLAIM_HOLDS)
            alone = page_has_parts(state, page_bytes, &smaller, &page);
    }
    if (alone != CLAIM_HOLDS) {
        conclude_pages_of(state, page_bytes, &smaller, findings);
        return;
    }
    say_found(&state->study, findings, page_bytes, &page);
    /* Known no better than the page itself. */
    page_say_rest(&state->study, findings, page_bytes, side,
                  fmin(confidence, page.confidence));
}

/* Sizes with an effect, the largest effect first, since it most likely holds.
 * Sizes that may have an effect come last. */
struct candidates {
    struct contrast found[2 * PAGE_SIZES_MAX];
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
 * The first search takes few looks, since an effect of 1.5 times shows at once.
 * Sizes much larger than the page have small effects, hard to tell from none,
 * and would cost most of what the probe writes. They are searched to the end
 * only if no size with an effect is the page.
 */
static const uint32_t first_looks[] = {8, 12, 0};
static const uint32_t *const search_stages[] = {first_looks, search_looks};

static const char search_phase[] = "search";

/* Searches one ladder of sizes for those with an effect. */
static void search(struct page_probe *state, uint64_t multiple,
                   const uint32_t looks[], struct candidates *candidates)
{
    struct contrast contrasts[PAGE_SIZES_MAX];
    uint64_t sizes[PAGE_SIZES_MAX];
    size_t count = page_ladder(
        state, multiple, page_largest_bytes / (state->in_order ? 2 : 1), sizes);
    size_t looks_count = 0;

    while (looks[looks_count])
        looks_count++;
    const struct claim_rule rule = {.alpha = page_search_error *
                                             (double)(looks_count * count),
                                    .looks = looks};

    for (size_t i = 0; i < count; i++) {
        contrasts[i] =
            page_moved(state, sizes[i], sizes[i] / 2, sizes[i], SIDE_OPEN);
        contrasts[i].high = effect_found;
    }
    if (count == 0)
        return;
    study_claim(&state->study, search_phase, contrasts, count, &rule);
    /* Many rounds without a decision may hide an effect; few say nothing. */
    for (size_t i = 0; i < count; i++)
        if ((contrasts[i].side == SIDE_ABOVE &&
             (!state->in_order || contrasts[i].median > page_effect_most)) ||
            (contrasts[i].side == SIDE_OPEN &&
             contrasts[i].rounds_count >= open_rounds_least &&
             contrasts[i].median > page_effect_low))
            add_candidate(candidates, &contrasts[i]);
}

static void say_in_order(struct study *study, uint64_t page_bytes,
                         const struct page_verdict *verdict,
                         struct findings *findings)
{
    struct finding *page =
        findings_add(findings, "clustered-page", "clustered_page");
    const char *size = study_bytes(study, page_bytes);

    finding_found(page, value_integer(page_bytes), verdict->confidence);
    finding_why(
        page,
        "sequential writes of %s cost %.1f times as much when they are shifted "
        "by a part of %s, which makes the drive merge a block for each, and "
        "longer ones cost the same when shifted by all of it",
        size, verdict->effect, size);
    finding_why(findings_add(findings, "clustered-page", "read_modify_write"),
                "non-sequential writes make the drive merge a block, so it "
                "does not show whether the drive reads the rest of a page");
}

/* True: a page was found, and its findings were added. */
static bool try_stage(struct page_probe *state, const uint64_t multiples[2],
                      const uint32_t looks[], struct findings *findings)
{
    struct candidates candidates = {.count = 0};

    search(state, multiples[0], looks, &candidates);
    search(state, multiples[1], looks, &candidates);
    for (size_t i = 0; i < candidates.count && i < CANDIDATES_MAX; i++) {
        struct page_verdict verdict;
        uint64_t page_bytes = candidates.found[i].n[PAGE_SIZE];
        if (page_settle(state, &page_bytes, &verdict) != CLAIM_HOLDS)
            continue;
        if (state->in_order) {
            say_in_order(&state->study, page_bytes, &verdict, findings);
        } else {
            page_weigh_whole(state, page_bytes, &verdict);
            conclude_shifts(state, page_bytes, &verdict, findings);
        }
        return true;
    }
    return false;
}

static bool try_candidates(struct page_probe *state,
                           const uint64_t multiples[2],
                           struct findings *findings)
{
    for (size_t i = 0; i < sizeof(search_stages) / sizeof(*search_stages); i++)
        if (try_stage(state, multiples, search_stages[i], findings))
            return true;
    return false;
}

/* HOLDS: no size in either ladder has an effect that matters. The search
 * measured most of what this takes. */
static enum claim no_effect(struct page_probe *state,
                            struct page_verdict *verdict)
{
    const struct claim_rule rule = {.alpha = page_alpha,
                                    .looks = claim_long_looks};
    struct contrast contrasts[2 * PAGE_SIZES_MAX];
    uint64_t sizes[PAGE_SIZES_MAX];
    size_t count = 0;

    for (uint64_t multiple = 1; multiple <= 3; multiple += 2) {
        size_t n = page_ladder(state, multiple, page_largest_bytes, sizes);
        for (size_t i = 0; i < n; i++) {
            contrasts[count] =
                page_shifted(sizes[i], sizes[i] / 2, sizes[i], SIDE_BELOW);
            contrasts[count].low = contrasts[count].high =
                sizes[i] < 128 * KIB ? effect_read : effect_read_large;
            count++;
        }
    }
    enum claim claim =
        study_claim(&state->study, search_phase, contrasts, count, &rule);
    verdict->confidence = claim_confidence(contrasts, count, &rule);
    verdict->of_host = true;
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].side == SIDE_ABOVE &&
            page_extra_ns(state, search_phase, &contrasts[i]) >=
                page_flash_least_ns)
            verdict->of_host = false;
    return claim;
}

/*
 * Do merges hide what a shift costs? If a write to another place merges a block
 * whatever its length, 4 KiB take about as long as 64 KiB. So they do also if
 * both are part of a page. FALLS: merges do not hide it.
 */
static enum claim merges_hide(struct page_probe *state)
{
    const struct claim_rule rule = {.alpha = page_search_error * 7,
                                    .looks = search_looks};
    struct contrast contrast =
        trial_expect(page_pair(&page_larger, 4 * KIB, 64 * KIB, 64 * KIB, 8),
                     SIDE_BELOW, merge_hides, merge_hides, NULL);

    return study_claim(&state->study, "merges", &contrast, 1, &rule);
}

/* Tries every way to find a page by shifts. */
static bool try_all(struct page_probe *state, struct findings *findings)
{
    static const uint64_t multiples[2][2] = {{1, 3}, {5, 7}};

    state->in_order = false;
    state->whole_bytes = 0;
    state->in_order = merges_hide(state) != CLAIM_FALLS;
    if (state->in_order &&
        try_stage(state, multiples[0], first_looks, findings))
        return true;
    state->in_order = false;
    return try_candidates(state, multiples[0], findings) ||
           try_candidates(state, multiples[1], findings);
}

static void think(struct study *study, struct findings *findings)
{
    struct page_probe *state = (struct page_probe *)study;
    struct page_verdict verdict;

    if (study->setting.flush_untrue) {
        page_conclude_streams(state, findings);
        return;
    }
    if (try_all(state, findings))
        return;
    switch (no_effect(state, &verdict)) {
    case CLAIM_HOLDS:
        page_conclude_without_rmw(state, verdict.confidence, findings);
        break;
    case CLAIM_FALLS:
        study_say_open(
            &probe_clustered_page, findings,
            verdict.of_host
                ? "some shifted writes cost more, but by less than any flash "
                  "operation takes: the host causes it, or the device is memory"
                : "some shifted writes cost more, but no page size explains "
                  "which ones");
        break;
    case CLAIM_OPEN:
        study_say_open(&probe_clustered_page, findings,
                       "the noise is too large to decide whether shifted "
                       "writes cost more; try a quieter host or another port");
        break;
    }
}

/* ---- the probe --------------------------------------------------------- */

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct page_probe *state = memory;

    (void)known;
    state->block_bytes = setting->logical_block_bytes;
    state->base_bytes =
        placing_base(setting, state->study.seed, PAGE_ROOM_BYTES);
}

const struct probe probe_clustered_page = {
    .name = "clustered-page",
    .question = "In which unit does the drive write?",
    .idea = "A write of part of a clustered page makes the drive read the rest "
            "first, so a write of one page costs more when it is shifted by a "
            "part of it.",
    .writes = true,
    .budget_share = 15,
    .region_min_bytes = 64 * MIB,
    .by_operation = true,
    .answers = {"clustered_page", "read_modify_write"},
    .by_flush = {"clustered_page", "read_modify_write"},
    .without_flush = true,
    .literal = &paper_clustered_page,
    /* One ladder and one certificate; at most all, to the end. */
    .usual = {.requests = 26000,
              .requests_max = 2000000,
              .bytes_written = 300 * MIB,
              .bytes_written_max = 24000 * MIB},
    .begin = begin,
    TRIAL_PROBE(struct page_probe, think),
};
