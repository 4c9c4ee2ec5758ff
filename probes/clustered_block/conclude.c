/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block: what slow writes at a distance (route a) say of the block.
 */
#include <math.h>

#include "lib/base/units.h"
#include "probes/clustered_block/clustered_block.h"
#include "probes/lookup.h"

enum { LOOKUP_OTHERS = 16 /* areas; some may have their mapping cached */ };

/* The most confidence if the slow writes may be those of a part of a block, or
 * if no longer writes tell whether pages are programmed together. In such cases
 * both were often so. */
static const double doubtful_confidence = 0.6;

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
const char block_few_agree[] =
    "too few write lengths agree on a distance between slow writes";
static const char fetches[] =
    "slow writes come at a fixed distance, but the first read in an area of "
    "that length takes longer as well: the drive fetches a part of its mapping "
    "there, so the erase unit does not show";
static const char other_distance[] =
    "slow writes come at a fixed distance, but other write lengths have "
    "distances that no block size explains, so the amount written does not "
    "cause them";

/* Adds the block of `spikes`, with `confidence` at most; if the sweep `walked`
 * shows an SLC cache in front, that the block behind it is not known. Returns
 * why neither is added, or NULL. */
static const char *conclude_alone(struct block_probe *state,
                                  const struct block_spikes *walked,
                                  const struct block_spikes *spikes,
                                  double confidence, const char *why_alone,
                                  struct findings *findings)
{
    if (claim_lookup(state, spikes) == CLAIM_HOLDS)
        return fetches;
    const struct block_cache cache = block_look_at_cache(state, walked);
    if (cache.claim == CLAIM_HOLDS)
        block_say_cache(findings, walked, cache.quiet_bytes);
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
        return block_few_agree;
    if (compared.claim == CLAIM_OPEN)
        confidence = fmin(doubtful_confidence, confidence);
    if (compared.missed) {
        block_say_lost(findings);
        return NULL;
    }
    const struct block_cache cache = block_look_at_cache(state, spikes);

    if (cache.claim == CLAIM_HOLDS)
        block_say_cache(findings, spikes, cache.quiet_bytes);
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
                                     const char *why_alone,
                                     struct findings *findings)
{
    struct block_compared compared;
    struct block_spikes whole = *spikes;
    double confidence = state->page_confidence;

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
