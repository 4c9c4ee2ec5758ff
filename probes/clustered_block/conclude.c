/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block: combines slow writes at a distance (route a) with what
 * random writes cost beyond sequential ones (route b). The routes must agree,
 * or one of them speaks alone.
 */
#include <math.h>

#include "lib/base/units.h"
#include "probes/clustered_block/clustered_block.h"
#include "probes/lookup.h"

enum {
    CANDIDATES_MAX = 3,
    LOOKUP_OTHERS = 16 /* areas whose mapping may be at hand */
};

static const double search_error = 0.004;
/* The shortest candidate that block_conclude_ladder() tries. */
static const uint64_t shortest_climb_bytes = MIB / 4;
static const uint64_t largest_block_bytes = 64 * MIB;
/* The most confidence if the slow writes may be those of a part of a block, or
 * if no longer writes tell whether pages are programmed together. In such cases
 * both were often so. */
static const double doubtful_confidence = 0.6;

static const uint32_t quick_looks[] = {9, 12, 18, 0};

static const char no_gap_yet[] =
    "random writes cost no more than sequential ones so far, as on a "
    "page-mapped drive with spare area, so there is no second confirmation";

/* Do reads wait as well in an area that was not used for a while? Then the slow
 * writes may wait for the mapping of addresses. At random places, slow writes
 * come at a distance in what was written, which is not one of addresses. */
static enum claim claim_lookup(struct block_probe *state,
                               const struct block_spikes *spikes)
{
    const double wait_ns = (exp(spikes->period.excess) - 1) * spikes->write_ns;
    struct contrast contrast =
        lookup_of(LOOKUP_OTHERS, spikes->block_bytes, spikes->phase_bytes);

    return spikes->scattered
               ? CLAIM_FALLS
               : lookup_claim(&state->study, "lookup", &contrast, wait_ns);
}

const char block_unsettled[] =
    "slow writes come at a fixed distance in sequential writing, which does "
    "not show how much of a block each write uses up";
static const char fetches[] =
    "slow writes come at a fixed distance, but the first read in an area of "
    "that length takes longer as well: the drive fetches a part of its mapping "
    "there, so the erase unit does not show";
static const char other_distance[] =
    "slow writes come at a fixed distance, but other write lengths have "
    "distances that no block size explains, so the amount written does not "
    "cause them";

/* Adds the block of `spikes`, with `confidence` at most. If the sweep `walked`
 * shows an SLC cache in front, adds what that cache tells instead. Returns why
 * neither is known, or NULL. */
static const char *conclude_alone(struct block_probe *state,
                                  const struct block_spikes *walked,
                                  const struct block_spikes *spikes,
                                  double confidence, const char *why_alone,
                                  struct findings *findings)
{
    const struct block_distance distance = {walked, walked->write_bytes,
                                            spikes->block_bytes, confidence};

    if (claim_lookup(state, spikes) == CLAIM_HOLDS)
        return fetches;
    const struct block_cache cache = block_look_at_cache(state, &distance);
    if (cache.claim == CLAIM_HOLDS)
        block_say_cache(findings, &distance, &cache);
    else
        block_say_spikes(findings, spikes, cache.claim, confidence, why_alone);
    return NULL;
}

const char *block_conclude_pieces(struct block_probe *state,
                                  const struct block_spikes *spikes,
                                  double confidence, struct findings *findings)
{
    struct block_compared compared;

    block_compare(state, spikes, &compared);
    if (compared.claim == CLAIM_FALLS)
        return other_distance;
    if (compared.claim == CLAIM_OPEN &&
        (!compared.is_plain || compared.lengths_count < 2))
        return "too few write lengths agree on a distance between slow writes";
    if (compared.claim == CLAIM_OPEN)
        confidence = fmin(doubtful_confidence, confidence);
    if (compared.missed) {
        block_say_lost(findings);
        return NULL;
    }
    const struct block_distance distance = {
        spikes, larger_of(spikes->write_bytes, compared.model.page_bytes),
        compared.block_bytes, confidence};
    const struct block_cache cache = block_look_at_cache(state, &distance);

    if (cache.claim == CLAIM_HOLDS)
        block_say_cache(findings, &distance, &cache);
    else
        block_say_agreed(findings, &compared, cache.claim, confidence);
    return NULL;
}

/* What is said beside the distance that writes of a page showed. */
static const char *why_of(const struct block_compared *compared,
                          uint64_t page_bytes, const char *why_alone)
{
    const struct counter_model *model = &compared->model;

    if (model->part_bytes)
        return "each of those writes covers part of a page and uses up a whole "
               "one";
    if (model->page_bytes > page_bytes)
        return "other write lengths show that each write uses up a longer page "
               "than was found";
    if (model->unit_bytes > page_bytes)
        return "as many multi-page writes fill it, up to a unit that is "
               "programmed at once";
    return why_alone;
}

/*
 * For slow writes of a page that nothing confirms yet. A write may use up more
 * than a page: where the host or a buffer splits it, where pages are programmed
 * together, or where the page is longer than was found.
 */
const char *block_conclude_one_route(struct block_probe *state,
                                     const struct block_spikes *spikes,
                                     double confidence, const char *why_alone,
                                     struct findings *findings)
{
    struct block_compared compared;
    struct block_spikes whole = *spikes;

    confidence = fmin(confidence, state->page_confidence);
    block_compare(state, spikes, &compared);
    if (compared.claim == CLAIM_FALLS)
        return other_distance;
    if (compared.missed) {
        block_say_lost(findings);
        return NULL;
    }
    whole.block_bytes = compared.block_bytes;
    /* With logs that blocks share, a merge comes once for each block of data,
     * however many pages of a log that takes. */
    if (compared.model.part_bytes && !spikes->scattered)
        return "slow writes come after a fixed number of writes that cover "
               "part of a page: a block holds either as much data, or as many "
               "pages";
    if (compared.claim == CLAIM_OPEN && !compared.is_plain)
        return "slow writes come after a fixed number of writes, but how much "
               "of a block each uses up is not known: other write lengths show "
               "too few distances";
    /* At random more may show. */
    if (compared.claim == CLAIM_OPEN && !spikes->scattered && !state->settles)
        return block_unsettled;
    if (compared.claim == CLAIM_OPEN) {
        confidence = fmin(doubtful_confidence, confidence);
        why_alone = "whether longer writes use up as much as their length does "
                    "not show";
    }
    const char *why_not = conclude_alone(
        state, spikes, &whole, confidence,
        why_of(&compared, state->page_bytes, why_alone), findings);
    if (!why_not && compared.model.unit_bytes > state->page_bytes)
        block_say_unit(findings, compared.model.unit_bytes);
    return why_not;
}

/* Random writes of the whole block still cost more than sequential ones. */
static const char still_more[] =
    "but random writes of that size still cost more than sequential ones, as "
    "for part of a block, or on a page-mapped drive with little spare area";

/* Does route (b) confirm the block of the slow writes? HOLDS: it does. OPEN:
 * no, and `*why_alone` says why. FALLS: random writes of a part cost no more,
 * and `*guess` becomes that part. */
static enum claim try_guess(struct block_probe *state,
                            struct block_guess *guess, const char **why_alone,
                            struct block_verdict *verdict)
{
    /* An eighth of the block tells for few bytes whether there is a gap at all.
     * If there is none, it has no end to look for. */
    const enum side side = block_any_gap(state, guess);

    *why_alone = no_gap_yet;
    if (side == SIDE_BELOW)
        return CLAIM_OPEN;
    const enum claim claim = block_certify(state, guess, verdict);
    if (claim == CLAIM_OPEN)
        *why_alone = "the noise is too large for a comparison of random and "
                     "sequential writes as a second confirmation";
    if (claim != CLAIM_FALLS)
        return claim;
    if (verdict->culprit->expected == SIDE_BELOW)
        *why_alone = still_more;
    if (verdict->culprit->expected == SIDE_BELOW || side != SIDE_ABOVE)
        return CLAIM_OPEN;
    guess->block_bytes = verdict->culprit->size_bytes;
    return CLAIM_FALLS;
}

const char *block_conclude_spikes(struct block_probe *state,
                                  const struct block_spikes *spikes,
                                  struct findings *findings)
{
    struct block_guess guess = {state->page_bytes, spikes->block_bytes,
                                spikes->phase_bytes};
    const char *why_alone =
        "the region is too small for a comparison with random writes";
    struct block_verdict verdict;
    enum claim claim = CLAIM_FALLS;

    if (!block_has_ground(state, &guess))
        claim = CLAIM_OPEN;
    for (int i = 0; claim == CLAIM_FALLS && i < CANDIDATES_MAX; i++)
        claim = try_guess(state, &guess, &why_alone, &verdict);
    if (claim == CLAIM_FALLS)
        return "slow writes come at a fixed distance, but random writes begin "
               "to cost more at a size that is no part of it";
    if (claim == CLAIM_OPEN)
        return block_conclude_one_route(
            state, spikes, why_alone == still_more ? doubtful_confidence : 1,
            why_alone, findings);
    block_say_gap(findings, guess.block_bytes, spikes, &verdict);
    return NULL;
}

/* The next longer size to try: an odd number of pages, times a power of two. */
static uint64_t next_size(uint64_t page_bytes, uint64_t size_bytes)
{
    static const uint64_t odds[] = {1, 3, 5, 7, 9, 15};
    uint64_t next = UINT64_MAX;

    for (size_t i = 0; i < sizeof(odds) / sizeof(odds[0]); i++) {
        uint64_t size = odds[i] * page_bytes;
        while (size <= size_bytes)
            size *= 2;
        next = size < next ? size : next;
    }
    return next;
}

/*
 * For no slow writes at a distance, while random writes cost more. Tries longer
 * and longer sizes. The first that costs no more is the block, if certified; if
 * the certificate finds that it costs more, the block is longer.
 */
void block_conclude_ladder(struct block_probe *state, uint64_t page_bytes,
                           struct findings *findings)
{
    const struct claim_rule rule = {.alpha = search_error * 3,
                                    .looks = quick_looks};
    const struct block_spikes none = {.found = false};
    /* A block is longer than a page: without parts of it nothing would be
     * compared. */
    struct block_guess guess = {
        page_bytes,
        next_size(page_bytes, larger_of(shortest_climb_bytes - 1, page_bytes)),
        0};
    struct block_verdict verdict;

    for (; guess.block_bytes <= largest_block_bytes &&
           block_has_ground(state, &guess);
         guess.block_bytes = next_size(page_bytes, guess.block_bytes)) {
        struct contrast contrast =
            block_gap(guess.block_bytes, &guess, SIDE_OPEN);
        contrast.high = 2 * block_gap_least;
        study_claim(&state->study, "ladder", &contrast, 1, &rule);
        if (contrast.side != SIDE_BELOW ||
            block_certify(state, &guess, &verdict) != CLAIM_HOLDS)
            continue;
        block_say_gap(findings, guess.block_bytes, &none, &verdict);
        return;
    }
    block_say_open(findings,
                   "random writes cost more than sequential ones, and no size "
                   "was found from which they stop doing so");
}
