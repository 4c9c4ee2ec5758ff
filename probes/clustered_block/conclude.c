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
    WALK_NUMBER = 34,
    SEEN_PERIODS = 16, /* periods of a sweep that surely show a distance */
    LOOKUP_OTHERS = 16 /* areas whose mapping may be at hand */
};

static const double search_error = 0.004;
/* The shortest candidate that block_conclude_ladder() tries. */
static const uint64_t shortest_climb_bytes = MIB / 4;
static const uint64_t largest_block_bytes = 64 * MIB;
/* The most confidence if the slow writes may be those of a part of a block, or
 * if a split page may use up several pages. In such cases both were often
 * so. */
static const double doubtful_confidence = 0.6;

static const uint32_t quick_looks[] = {9, 12, 18, 0};

static const char no_gap_yet[] =
    "random writes cost no more than sequential ones yet, as on a page-mapped "
    "drive with spare area, so nothing else could confirm it";

/* Does each write of two pages use up more than two, and a whole number of them
 * a block? So it is where the drive writes them in parts, as from a buffer that
 * shorter writes bypass. */
static bool use_up_block(const struct block_spikes *spikes,
                         const struct block_spikes *doubled)
{
    const size_t length = spikes->period.length;
    const size_t each = length / doubled->period.length;

    return each > 2 && each * doubled->period.length == length;
}

/*
 * Are writes of two pages slow at the same distance in bytes? If it is the same
 * number of writes instead, the amount written is not the cause. The drive
 * saves its mapping every so many requests, or `write_bytes` is only a part of
 * a page. Where parts of a page use up one page each (`parts_agree`), a write
 * of two pages may use up more than two. True as well where no distance was
 * seen; `*missed`: it could have been.
 */
static bool doubled_agree(struct block_probe *state,
                          const struct block_spikes *spikes, bool parts_agree,
                          bool *missed)
{
    const uint64_t doubled_bytes = 2 * spikes->write_bytes;
    const struct block_course course = {.number = WALK_NUMBER,
                                        .write_bytes = doubled_bytes,
                                        .scattered = spikes->scattered,
                                        .most_bytes = block_piece_bytes,
                                        .most_writes = block_piece_writes};
    const size_t length = spikes->period.length / 2;
    struct block_spikes doubled;

    block_walk(state, &course, &doubled);
    /* Random only: a second sequential sweep may clean blocks without valid
     * pages, which shows no slow writes. */
    *missed = !doubled.found && spikes->scattered &&
              length >= PERIOD_SHORTEST &&
              length * SEEN_PERIODS * doubled_bytes <= course.most_bytes &&
              length * SEEN_PERIODS <= course.most_writes;
    return !doubled.found || doubled.block_bytes == spikes->block_bytes ||
           (parts_agree && use_up_block(spikes, &doubled));
}

/* Do reads wait as well in an area that was not used for a while? Then the slow
 * writes may wait for the mapping of addresses. At random places, slow writes
 * come at a distance in what was written, which is not one of addresses. */
static enum claim claim_lookup(struct block_probe *state,
                               const struct block_spikes *spikes)
{
    const double wait_ns = (exp(spikes->period.excess) - 1) * spikes->write_ns;
    struct contrast contrast = lookup_of(
        BLOCK_LOOKUP, LOOKUP_OTHERS, spikes->block_bytes, spikes->phase_bytes);

    return spikes->scattered
               ? CLAIM_FALLS
               : lookup_claim(&state->study, "lookup", &contrast, wait_ns);
}

/* Adds the block of `spikes`, with `confidence` at most. If the sweep `walked`
 * shows an SLC cache in front, adds what that cache tells instead. */
static void conclude_alone(struct block_probe *state,
                           const struct block_spikes *walked,
                           const struct block_spikes *spikes, double confidence,
                           const char *why_alone, struct findings *findings)
{
    const struct block_distance distance = {walked, walked->write_bytes,
                                            spikes->block_bytes, confidence};

    if (claim_lookup(state, spikes) == CLAIM_HOLDS) {
        block_say_open(findings,
                       "slow writes come at a fixed distance, but a read in an "
                       "area of that length that was not used for a while "
                       "takes longer as well: the drive fetches a part of its "
                       "mapping there, and what it erases does not show");
        return;
    }
    const struct block_cache cache = block_look_at_cache(state, &distance);
    if (cache.claim == CLAIM_HOLDS)
        block_say_cache(findings, &distance, &cache);
    else
        block_say_spikes(findings, spikes, cache.claim, confidence, why_alone);
}

/* The first sweep whose pieces use up one page each, or the first of all where
 * all pieces are whole pages. */
static const struct block_walked *walked_of(const struct block_pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; i++)
        if (pieces->walked[i].spikes.period.length * pieces->page_bytes ==
            pieces->block_bytes)
            return &pieces->walked[i];
    return &pieces->walked[0];
}

void block_conclude_agreed(struct block_probe *state,
                           const struct block_pieces *pieces, double confidence,
                           struct findings *findings)
{
    const struct block_walked *first = walked_of(pieces);
    const struct block_distance distance = {
        &first->spikes,
        pieces->page_bytes ? pieces->page_bytes : first->piece_bytes,
        pieces->block_bytes, confidence};
    const struct block_cache cache = block_look_at_cache(state, &distance);

    if (cache.claim == CLAIM_HOLDS)
        block_say_cache(findings, &distance, &cache);
    else
        block_say_agreed(findings, pieces, first, cache.claim, confidence);
}

/*
 * Where the host splits a page, or a buffer shorter than a page does, the drive
 * may write each part by itself. Then each part uses up a page, and a write of
 * a whole page several. A flushed write no longer than a part uses up exactly
 * one page, so as many of them fill a block as it has pages.
 */
void block_conclude_one_route(struct block_probe *state,
                              const struct block_spikes *spikes,
                              const char *why_alone, struct findings *findings)
{
    const uint64_t limit = state->study.setting.request_limit_bytes;
    const uint64_t page = state->page_bytes;
    struct block_pieces pieces = {.scattered = spikes->scattered};
    struct block_spikes whole = *spikes;
    double confidence = state->page_confidence;
    bool agrees = true, missed = false;
    const bool parts_agree =
        block_compare_parts(state, page, spikes->period.length, &pieces) ==
        CLAIM_HOLDS;

    if (parts_agree && pieces.block_bytes != spikes->block_bytes) {
        whole.block_bytes = pieces.block_bytes;
        missed = pieces.missed;
        why_alone = "that is so many writes of a part of a page, each of which "
                    "uses up one";
    } else if (limit == 0 || limit == page || 2 * page <= limit) {
        /* Of a write of two pages the host sends all, or whole pages. */
        agrees = doubled_agree(state, spikes, parts_agree, &missed);
    } else if (!parts_agree && page < limit) {
        confidence = fmin(doubtful_confidence, confidence);
        why_alone = "but a write of two pages, which would show whether as "
                    "much is written as is used up, the host would send in "
                    "parts of a page";
    } else if (!parts_agree) {
        confidence = fmin(doubtful_confidence, confidence);
        why_alone = "but the host splits a page, and whether the drive "
                    "writes each part by itself does not show";
    }
    if (!agrees)
        block_say_open(findings,
                       "slow writes come at a fixed distance, but at another "
                       "one in writes of two pages, so it is not what was "
                       "written that makes them slow");
    else if (missed)
        block_say_lost(findings);
    else
        conclude_alone(state, spikes, &whole, confidence, why_alone, findings);
}

/* Random writes of the whole block still cost more than sequential ones. */
static const char still_more[] =
    "but random writes of that size still cost more than sequential ones, as "
    "of a part of the block, or on a page-mapped drive with little spare area";

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
        *why_alone = "the noise is too large to compare random writes with "
                     "sequential ones as well";
    if (claim != CLAIM_FALLS)
        return claim;
    if (verdict->culprit->expected == SIDE_BELOW)
        *why_alone = still_more;
    if (verdict->culprit->expected == SIDE_BELOW || side != SIDE_ABOVE)
        return CLAIM_OPEN;
    guess->block_bytes = verdict->culprit->size_bytes;
    return CLAIM_FALLS;
}

void block_conclude_spikes(struct block_probe *state,
                           const struct block_spikes *spikes,
                           struct findings *findings)
{
    struct block_guess guess = {state->page_bytes, spikes->block_bytes,
                                spikes->phase_bytes};
    const char *why_alone = "the region is too small to compare random writes";
    struct block_verdict verdict;
    enum claim claim = CLAIM_FALLS;

    if (!block_has_ground(state, &guess))
        claim = CLAIM_OPEN;
    for (int i = 0; claim == CLAIM_FALLS && i < CANDIDATES_MAX; i++)
        claim = try_guess(state, &guess, &why_alone, &verdict);
    if (claim == CLAIM_HOLDS)
        block_say_gap(findings, guess.block_bytes, spikes, &verdict);
    else if (claim == CLAIM_FALLS)
        block_say_open(findings,
                       "slow writes come at a fixed distance, but where "
                       "random writes begin to cost more fits no part "
                       "of it");
    else if (why_alone == still_more)
        conclude_alone(state, spikes, spikes, doubtful_confidence, why_alone,
                       findings);
    else
        block_conclude_one_route(state, spikes, why_alone, findings);
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
    struct block_guess guess = {
        page_bytes, next_size(page_bytes, shortest_climb_bytes - 1), 0};
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
    block_say_open(findings, "random writes cost more than sequential ones, "
                             "but no size was found from which on they do "
                             "not");
}
