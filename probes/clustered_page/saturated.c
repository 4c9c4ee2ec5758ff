/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-page, where a flush does not wait for the flash: streams of random
 * writes beyond what the write buffer holds, aligned ones against shifted ones
 * (the idea of Kim et al. III-B, without its flush).
 *
 *   cost of a write of s in a stream at slot + s/2, over that at slot
 *
 *   2.1                     *           The smallest s with an effect is the
 *                           |           candidate P. It must survive: shifts by
 *   1.0  o    o    o    o   |   o       P/2 cost more, shifts by P do not in 
 *     s = 1K   2K   4K   8K  16K 32K    writes of P, 2P and 3P.
 *
 * Slots lie 48 s apart, or 16 s for s = 3 x 2^k, which is shifted by a third.
 * So neither stream straddles any page of 2^k or 3 x 2^k above s more often
 * than the other.
 *
 * Assumes: the buffer takes in a stream faster than the flash, or holds less
 * than half of it. No effect alone proves nothing, for a link or the controller
 * may be the limit. So absence is stated only where the empty buffer takes in
 * writes twice as fast, and where small writes cost their share of large ones.
 */
#include "probes/clustered_page/clustered_page.h"

#include <math.h>

#include "lib/base/units.h"
#include "probes/load.h"
#include "probes/probes.h"

enum { LEVELS = 4, LONGER_TIMES = 4, SHARE_TIMES = 16 };

/* A smaller effect (1.5 times) may be that of a chip's page, or of the bus; a
 * larger page shows more, by so much (log). */
static const double effect_whole = 0.4055, effect_more = 0.2624;
static const double part_confidence = 0.7, large_confidence = 0.8,
                    open_doubt = 0.1;
static const uint64_t large_bytes = 192 * KIB;
static const uint64_t ladder_least_bytes = 2 * KIB;
static const uint64_t stream_least_bytes = 4 * MIB;
/* Small writes cost their share of large ones, within this. */
static const double share_most = 1.5;
/* Writes of the size below a page cost such a part of their share of it, at
 * least: else the buffer took these in, and they may have an effect as well. */
static const double below_least = 0.5;
/* No flash takes so long to read, program and erase a page or two: what takes
 * longer copies a block. */
static const double merge_least_ns = 12e6;

/* At the first look all of five rounds agree. */
static const uint32_t search_looks_of_size[] = {5, 8, 12, 0};
static const double search_alpha = 0.12;

/* Ever longer streams, each of which looks at fewer sizes. */
static const char *const phase_of_level[LEVELS] = {"streams", "streams-4",
                                                   "streams-16", "streams-64"};
static const uint64_t most_of_level[LEVELS] = {512 * KIB, 64 * KIB, 32 * KIB,
                                               4 * KIB};

/* ---- one size ----------------------------------------------------------- */

static enum claim certify(struct page_probe *state, const char *phase,
                          uint64_t page_bytes, struct page_verdict *verdict)
{
    struct contrast contrasts[] = {
        page_stream_twice(state, page_bytes, page_stream_shift(page_bytes)),
        page_stream(state, page_bytes, page_bytes, SIDE_BELOW),
        page_stream(state, 2 * page_bytes, page_bytes, SIDE_BELOW),
        page_stream(state, 3 * page_bytes, page_bytes, SIDE_BELOW)};
    const size_t count = sizeof(contrasts) / sizeof(contrasts[0]);
    const struct claim_rule first = {.alpha = page_stream_alpha,
                                     .looks = page_stream_looks};
    const struct claim_rule rule = {.alpha = page_stream_alpha * (double)count,
                                    .looks = page_stream_looks};

    *verdict = (struct page_verdict){.claim = CLAIM_OPEN};
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].repeats == 0)
            return CLAIM_OPEN;
    /* Most that are not the page fall here, and the rows are kept. */
    verdict->claim = study_claim(&state->study, phase, contrasts, 1, &first);
    if (verdict->claim == CLAIM_HOLDS)
        verdict->claim =
            study_claim(&state->study, phase, contrasts, count, &rule);
    verdict->effect = contrasts[0].median;
    if (verdict->claim == CLAIM_HOLDS)
        verdict->confidence = claim_confidence(contrasts, count, &rule);
    if (verdict->effect < effect_whole)
        verdict->confidence = fmin(verdict->confidence, part_confidence);
    if (page_bytes >= large_bytes)
        verdict->confidence = fmin(verdict->confidence, large_confidence);
    return verdict->claim;
}

/* With longer streams where these leave it open, or show little: what the
 * stream before it left in the buffer may have hidden the effect. */
static enum claim settle(struct page_probe *state, size_t level,
                         uint64_t page_bytes, struct page_verdict *verdict)
{
    const uint64_t stream_bytes = state->stream_bytes;
    const char *phase =
        study_text(&state->study, "%s-%llu", phase_of_level[level],
                   (unsigned long long)page_bytes);
    struct page_verdict longer;

    if (certify(state, phase, page_bytes, verdict) == CLAIM_FALLS ||
        (verdict->claim == CLAIM_HOLDS && verdict->effect >= effect_whole))
        return verdict->claim;
    state->stream_bytes *= LONGER_TIMES;
    if (certify(state, study_text(&state->study, "%s-more", phase), page_bytes,
                &longer) != CLAIM_OPEN)
        *verdict = longer;
    state->stream_bytes = stream_bytes;
    return verdict->claim;
}

/* ---- all sizes ---------------------------------------------------------- */

/* What the search has seen up to one size. */
struct ladder {
    struct stream_buffer buffer;
    uint64_t page_bytes; /* the best so far; 0: none */
    struct page_verdict page;
    uint64_t free_bytes;      /* no size up to this one has an effect */
    uint64_t open_bytes;      /* the smallest that may have; 0: none */
    uint64_t small_bytes;     /* the smallest, */
    double small_ns, last_ns; /* what a write of it takes, and of */
    uint64_t last_bytes;      /* the largest */
    uint64_t below_bytes;     /* the one before it; 0: none */
    double below_ns;
};

static uint64_t next_size(uint64_t size_bytes)
{
    return size_bytes & (size_bytes - 1) ? size_bytes / 3 * 4
                                         : size_bytes / 2 * 3;
}

/* Do the smallest writes wait for the flash? */
static bool waits_for_flash(const struct ladder *ladder)
{
    return ladder->buffer.is_full &&
           ladder->buffer.first_ns < stream_burst_most * ladder->small_ns;
}

/* Where each write of less than a page costs a page, small ones cost more. */
static bool costs_its_share(const struct ladder *ladder)
{
    const double small = ladder->small_ns / (double)ladder->small_bytes;
    const double last = ladder->last_ns / (double)ladder->last_bytes;

    return ladder->free_bytes >= SHARE_TIMES * ladder->small_bytes &&
           small < share_most * last;
}

/* Did writes of the size below the last one wait for the flash? */
static bool below_waits(const struct ladder *ladder)
{
    return !ladder->below_bytes ||
           ladder->below_ns * (double)ladder->last_bytes >
               below_least * ladder->last_ns * (double)ladder->below_bytes;
}

static void say_none(struct page_probe *state, const struct ladder *ladder,
                     struct findings *findings)
{
    static const char undecided[] =
        "whether random writes of %s beyond the write buffer take longer when "
        "they are shifted by a part of it could not be decided";
    static const char of_size[] =
        "no shift makes random writes of up to %s slower beyond the write "
        "buffer, but small ones cost more than their share of large ones: the "
        "write unit may be larger";
    static const char of_link[] =
        "no shift makes random writes of up to %s slower beyond the write "
        "buffer, but an empty buffer takes them in hardly faster: the link or "
        "the controller may hide the cost";
    const bool waits = waits_for_flash(ladder);

    if (!waits || !costs_its_share(ladder)) {
        const bool open = ladder->open_bytes > 0;
        study_say_open(
            &probe_clustered_page, findings,
            study_text(&state->study,
                       open    ? undecided
                       : waits ? of_size
                               : of_link,
                       study_bytes(&state->study, open ? ladder->open_bytes
                                                       : ladder->free_bytes)));
        return;
    }
    study_say_absent(
        &probe_clustered_page, findings, page_small_confidence,
        "beyond the write buffer, where writes take %.1f times as long as into "
        "the empty one, shifts make no random write of up to %s slower, and "
        "small ones cost their share of large ones",
        ladder->small_ns / ladder->buffer.first_ns,
        study_bytes(&state->study, ladder->free_bytes));
    findings_up_to(findings, "clustered_page", ladder->free_bytes);
}

/* A size with an effect. True: it is the page, or smaller ones were not seen,
 * and no larger one need be looked at. */
static bool take(struct page_probe *state, size_t level, uint64_t size_bytes,
                 struct ladder *ladder)
{
    struct page_verdict verdict;

    if (settle(state, level, size_bytes, &verdict) == CLAIM_FALLS)
        return false;
    const bool unseen = verdict.claim == CLAIM_HOLDS && !below_waits(ladder);
    if (unseen || verdict.claim == CLAIM_OPEN) {
        if (!ladder->open_bytes)
            ladder->open_bytes = size_bytes;
        return unseen;
    }
    if (ladder->page_bytes &&
        (size_bytes % ladder->page_bytes ||
         verdict.effect < ladder->page.effect + effect_more))
        return true; /* the smaller one explains it */
    ladder->page_bytes = size_bytes;
    ladder->page = verdict;
    return verdict.effect >= effect_whole;
}

/* Looks at ever larger sizes. What is known of those below stands where no more
 * can be written. */
static void climb(struct page_probe *state, size_t level, struct ladder *ladder,
                  struct findings *findings)
{
    const char *phase = phase_of_level[level];
    const uint64_t block = state->block_bytes;
    const struct claim_rule rule = {.alpha = search_alpha,
                                    .looks = search_looks_of_size};
    const size_t said = findings->count;

    for (uint64_t size = larger_of(2 * block, ladder_least_bytes);
         size <= most_of_level[level]; size = next_size(size)) {
        struct contrast contrast =
            page_stream(state, size, page_stream_shift(size), SIDE_OPEN);
        if (page_stream_shift(size) % block)
            continue;
        if (contrast.repeats == 0)
            break;
        study_claim(&state->study, phase, &contrast, 1, &rule);
        ladder->below_bytes = ladder->last_bytes;
        ladder->below_ns = ladder->last_ns;
        ladder->last_bytes = size;
        ladder->last_ns = page_stream_ns(state, phase, &contrast);
        if (!ladder->small_bytes) {
            ladder->small_bytes = size;
            ladder->small_ns = ladder->last_ns;
        }
        findings->count = said;
        if ((contrast.side == SIDE_ABOVE ||
             (contrast.side == SIDE_OPEN &&
              contrast.median > page_stream_free)) &&
            take(state, level, size, ladder))
            return;
        if (contrast.side == SIDE_OPEN && contrast.median <= page_stream_free &&
            !ladder->open_bytes)
            ladder->open_bytes = size;
        if (contrast.side == SIDE_BELOW && !ladder->open_bytes)
            ladder->free_bytes = size;
        if (!ladder->page_bytes && waits_for_flash(ladder) &&
            costs_its_share(ladder))
            say_none(state, ladder, findings);
    }
    findings->count = said;
}

/* ---- what is said ------------------------------------------------------- */

static void say_page(struct page_probe *state, const struct ladder *ladder,
                     struct findings *findings)
{
    const uint64_t page = ladder->page_bytes;
    const char *size = study_bytes(&state->study, page);
    double confidence = ladder->page.confidence, of_rest = 0;

    if (ladder->open_bytes && page % ladder->open_bytes == 0)
        confidence -= open_doubt;
    struct finding *finding =
        findings_add(findings, "clustered-page", "clustered_page");
    finding_found(finding, value_integer(page), confidence);
    finding_why(finding,
                "beyond the write buffer, random writes of %s take %.2f times "
                "as long when they are shifted by a part of it; shifted by all "
                "of it they take no longer, nor do smaller ones",
                size, exp(ladder->page.effect));
    /* Where the controller takes as long as the flash, a part may cost more for
     * the sake of the buffer. That it costs no more proves nothing, for all of
     * a page may pay for what parts before it left to be cleaned. */
    const bool reads = ladder->buffer.is_full &&
                       page_reads_rest(state, page, &of_rest) == SIDE_ABOVE;
    page_say_rest(&state->study, findings, page, reads ? SIDE_ABOVE : SIDE_OPEN,
                  fmin(confidence, of_rest));
}

/* Did the buffer, or a cache of flash behind it, take in some of the streams?
 * Longer ones tell more, within the user's patience. */
static bool needs_longer(const struct page_probe *state,
                         const struct ladder *ladder)
{
    const double longer_ns = LONGER_TIMES * (double)state->stream_bytes /
                             (double)ladder->small_bytes * ladder->small_ns;

    return !ladder->page_bytes && ladder->buffer.is_full &&
           !(waits_for_flash(ladder) && costs_its_share(ladder)) &&
           longer_ns < load_longest_ns(&state->study.setting);
}

void page_conclude_streams(struct page_probe *state, struct findings *findings)
{
    const struct stream_buffer buffer = page_fill_buffer(state);
    struct ladder ladder = {.buffer = buffer}, longer = ladder;

    if (buffer.later_ns > merge_least_ns) {
        study_say_open(
            &probe_clustered_page, findings,
            study_text(&state->study,
                       "beyond the write buffer a small random write takes %s, "
                       "so each merges a block, and shifts show no write unit",
                       study_ns(&state->study, buffer.later_ns)));
        return;
    }
    state->stream_bytes = larger_of(
        stream_least_bytes, (uint64_t)(stream_buffers * buffer.held_bytes));
    climb(state, 0, &ladder, findings);
    longer = ladder;
    for (size_t level = 1; level < LEVELS && needs_longer(state, &longer);
         level++) {
        state->stream_bytes *= LONGER_TIMES;
        longer = (struct ladder){.buffer = buffer};
        climb(state, level, &longer, findings);
    }
    if (longer.page_bytes)
        say_page(state, &longer, findings);
    else
        say_none(state, &ladder, findings);
}
