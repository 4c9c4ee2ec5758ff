/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block: what slow writes at a distance, and random writes that cost
 * more than sequential ones, say together: the two routes must agree, or one of
 * them speaks alone.
 */
#include <math.h>

#include "lib/base/units.h"
#include "probes/clustered_block.h"

enum {
    CANDIDATES_MAX = 3,
    WALK_NUMBER = 34,
    SEEN_PERIODS = 16 /* in so many writes a distance shows */
};

static const double search_error = 0.004;
/* Before, writes of this size are compared (block_any_gap). */
static const uint64_t shortest_climb_bytes = MIB / 4;
static const uint64_t largest_block_bytes = 64 * MIB;
/* Random writes that cost more may be of a part of a block, and pages that are
 * split may use up more than one: both were often so. */
static const double doubtful_confidence = 0.6;

static const uint32_t quick_looks[] = {9, 12, 18, 0};

static const char no_gap_yet[] =
    "random writes cost no more than sequential ones yet, as on a page-mapped "
    "drive with spare area, so nothing else could confirm it";

/* Of two pages, does each write use up so many, all of a block? More than two it
 * does where they are written in parts, as by a buffer that shorter ones pass by. */
static bool use_up_block(const struct block_spikes *spikes,
                         const struct block_spikes *doubled)
{
    const size_t length = spikes->period.length;
    const size_t each = length / doubled->period.length;

    return each > 2 && each * doubled->period.length == length;
}

/*
 * In writes of two pages, do slow ones come at the same distance? After as many
 * writes as before, it is not how much was written that makes one slow: the drive
 * keeps its books every so many requests, or the page is not the whole one. Where
 * parts of a page use up one each as well (`parts_agree`), those of two may use up
 * more. `*missed`: they come at none, where they could be seen. False: they are
 * measured first.
 */
static bool doubled_walk(struct block_probe *state,
                         const struct block_spikes *spikes, bool parts_agree,
                         bool *agrees, bool *missed)
{
    const struct block_course course = {.number = WALK_NUMBER,
                                        .scattered = spikes->scattered,
                                        .most_bytes = block_piece_bytes,
                                        .most_writes = block_piece_writes};
    const uint64_t page = state->page_bytes;
    const size_t length = spikes->period.length / 2;
    struct block_spikes doubled;

    state->page_bytes = 2 * page;
    enum claim claim = block_walk(state, &course, &doubled);
    state->page_bytes = page;
    *agrees = !doubled.found || doubled.block_bytes == spikes->block_bytes ||
              (parts_agree && use_up_block(spikes, &doubled));
    /* In order, what is cleaned may be stale the second time. */
    *missed = !doubled.found && spikes->scattered &&
              length >= PERIOD_SHORTEST &&
              length * SEEN_PERIODS * 2 * page <= course.most_bytes &&
              length * SEEN_PERIODS <= course.most_writes;
    return claim != CLAIM_MEASURING;
}

/*
 * Where the host splits a page, or a buffer that is shorter, the drive may write
 * each part by itself, so that each uses up a page: what is written with its
 * flush and is no longer than a part does, and as many of these fill a block as
 * it has pages.
 */
bool block_conclude_one_route(struct block_probe *state,
                              const struct block_spikes *spikes,
                              const char *why_alone, struct findings *findings)
{
    const uint64_t limit = state->study.setting.request_limit_bytes;
    const uint64_t page = state->page_bytes;
    struct block_pieces pieces = {.scattered = spikes->scattered};
    struct block_spikes whole = *spikes;
    bool agrees = true, missed = false;
    enum claim claim =
        block_compare_parts(state, page, spikes->period.length, &pieces);

    state->page_bytes = page;
    if (claim == CLAIM_MEASURING)
        return false;
    if (claim == CLAIM_HOLDS && pieces.block_bytes != spikes->block_bytes) {
        whole.block_bytes = pieces.block_bytes;
        missed = pieces.missed;
        why_alone = "that is so many writes of a part of a page, each of which "
                    "uses up one";
    } else if (limit == 0 || 2 * page <= limit) {
        if (!doubled_walk(state, spikes, claim == CLAIM_HOLDS, &agrees,
                          &missed))
            return false;
    } else if (claim != CLAIM_HOLDS && page > limit) {
        return block_say_spikes(
            state, findings, spikes, spikes,
            fmin(doubtful_confidence, state->page_confidence),
            "but the host splits a page, and whether the drive "
            "writes each part by itself does not show");
    }
    if (!agrees)
        return block_say_open(
            findings, "slow writes come at a fixed distance, but at another "
                      "one in writes of two pages, so it is not what was "
                      "written that makes them slow");
    if (missed)
        return block_say_lost(findings);
    return block_say_spikes(state, findings, spikes, &whole,
                            state->page_confidence, why_alone);
}

bool block_conclude_spikes(struct block_probe *state,
                           const struct block_spikes *spikes,
                           struct findings *findings)
{
    uint64_t block = spikes->block_bytes, phase = spikes->phase_bytes;
    struct block_verdict verdict;
    enum side side;

    if (!block_has_ground(state, block, phase))
        return block_conclude_one_route(
            state, spikes, "the region is too small to compare random writes",
            findings);
    for (int i = 0; i < CANDIDATES_MAX; i++) {
        /* A short part of the block tells for a few writes of it whether there
         * is any gap: where there is none, no need to look for its end. */
        if (block_any_gap(state, block, phase, &side) == CLAIM_MEASURING)
            return false;
        if (side == SIDE_BELOW)
            return block_conclude_one_route(state, spikes, no_gap_yet,
                                            findings);
        switch (block_certify(state, block, phase, &verdict)) {
        case CLAIM_MEASURING:
            return false;
        case CLAIM_HOLDS:
            return block_say_gap(findings, block, spikes, &verdict);
        case CLAIM_OPEN:
            return block_conclude_one_route(
                state, spikes,
                "the noise is too large to compare random "
                "writes with sequential ones as well",
                findings);
        case CLAIM_FALLS:
            break;
        }
        if (verdict.culprit->expected == SIDE_BELOW)
            return block_say_spikes(
                state, findings, spikes, spikes, doubtful_confidence,
                "but random writes of that size still cost more "
                "than sequential ones, as of a part of the block, "
                "or on a page-mapped drive with little spare "
                "area");
        if (side != SIDE_ABOVE)
            return block_conclude_one_route(state, spikes, no_gap_yet,
                                            findings);
        block = verdict.culprit->size_bytes;
    }
    return block_say_open(findings,
                          "slow writes come at a fixed distance, but where "
                          "random writes begin to cost more fits no part "
                          "of it");
}

/* The next longer size to try: an odd number of pages, times a power of two. */
static uint64_t next_size(const struct block_probe *state, uint64_t size_bytes)
{
    static const uint64_t odds[] = {1, 3, 5, 7, 9, 15};
    uint64_t next = UINT64_MAX;

    for (size_t i = 0; i < sizeof(odds) / sizeof(odds[0]); i++) {
        uint64_t size = odds[i] * state->page_bytes;
        while (size <= size_bytes)
            size *= 2;
        next = size < next ? size : next;
    }
    return next;
}

/*
 * No spikes, but random writes cost more: up to which size? The first that costs
 * no more is the block if that stands up. If the certificate finds it still to
 * cost more, the block is longer.
 */
bool block_conclude_ladder(struct block_probe *state, struct findings *findings)
{
    const struct claim_rule rule = {.alpha = search_error * 3,
                                    .looks = quick_looks};
    const struct block_spikes none = {.found = false};
    uint64_t size = next_size(state, shortest_climb_bytes - 1);
    struct block_verdict verdict;

    for (; size <= largest_block_bytes && block_has_ground(state, size, 0);
         size = next_size(state, size)) {
        struct contrast contrast = block_gap(size, size, 0, SIDE_OPEN);
        contrast.high = 2 * block_gap_least;
        if (study_claim(&state->study, "ladder", &contrast, 1, &rule) ==
            CLAIM_MEASURING)
            return false;
        if (contrast.side != SIDE_BELOW)
            continue;
        switch (block_certify(state, size, 0, &verdict)) {
        case CLAIM_MEASURING:
            return false;
        case CLAIM_HOLDS:
            return block_say_gap(findings, size, &none, &verdict);
        case CLAIM_FALLS:
        case CLAIM_OPEN:
            break;
        }
    }
    return block_say_open(findings,
                          "random writes cost more than sequential ones, "
                          "but no size was found from which on they do "
                          "not");
}
