/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block, route (a) where the page is not known: walks in pieces of
 * several lengths.
 */
#include "probes/clustered_block.h"

#include <math.h>
#include <stdio.h>

#include "probes/placing.h"

enum {
    PIECES = 5, /* lengths, each twice the one before */
    AGREED_LENGTHS = 3,
    FIRST_NUMBER = 3 /* of the walks; those with the page come before */
};

static const uint64_t shortest_piece_bytes = 4 * KIB;
/* Twice as long a piece waits for more than its transfer: it takes not much less
 * than twice the time, and is off the line through shorter ones by a share of
 * that. */
static const double waits_least = 1.8, line_most = 0.05;
/* Of what a flush takes after a write beside after nothing. */
static const double flush_error = 0.01, flush_least = 0.05;

/*
 * Written in pieces, a drive that maps pages uses up a page for each part of
 * one. So as long as the piece divides the page, as many pieces fill a block,
 * whatever their length; from the page on, as many bytes. The block is what some
 * lengths agree on, where the next shorter ones agree on how many of them fill
 * it, and no other says that pieces neither divide the page nor are multiples of
 * it.
 */
static bool agree(const struct block_spikes *spikes,
                  const struct block_spikes *before)
{
    return spikes->found && before->found &&
           spikes->block_bytes == before->block_bytes;
}

static bool as_many(const struct block_spikes *spikes,
                    const struct block_spikes *before)
{
    return spikes->found && before->found &&
           spikes->period.length == before->period.length;
}

static bool contradict(const struct block_spikes *spikes,
                       const struct block_spikes *before)
{
    return spikes->found && before->found && !agree(spikes, before) &&
           !as_many(spikes, before);
}

/*
 * Three lengths that agree. Two are too few: pieces of half a page leave blocks
 * half valid, and as the next length meets these, slow writes come twice as
 * often. Pieces that the host splits are no longer than their parts.
 */
static enum claim agree_upwards(struct block_probe *state,
                                struct block_pieces *pieces)
{
    const uint64_t limit = state->study.setting.request_limit_bytes;
    struct block_spikes spikes[PIECES];
    int lengths = 1;

    for (int k = 0; k < PIECES; k++) {
        state->page_bytes = pieces->first_bytes << k;
        if (limit > 0 && state->page_bytes > limit)
            break;
        if (block_walk(state, pieces->first_number + k, block_piece_bytes,
                       block_piece_writes, &spikes[k]) == CLAIM_MEASURING)
            return CLAIM_MEASURING;
        if (k == 0)
            continue;
        if (contradict(&spikes[k], &spikes[k - 1]))
            return CLAIM_FALLS;
        lengths = agree(&spikes[k], &spikes[k - 1]) ? lengths + 1 : 1;
        if (lengths < AGREED_LENGTHS)
            continue;
        pieces->half = k > 2 ? spikes[k - 3] : (struct block_spikes){0};
        pieces->page = spikes[k - 2];
        pieces->twice = spikes[k - 1];
        pieces->page_bytes = state->page_bytes >> (AGREED_LENGTHS - 1);
        pieces->longest_bytes = state->page_bytes;
        return CLAIM_HOLDS;
    }
    return CLAIM_OPEN;
}

/* Down to the shortest piece that still agrees: of the next, as many fill a
 * block. */
static enum claim agree_downwards(struct block_probe *state,
                                  struct block_pieces *pieces)
{
    for (int number = pieces->first_number + PIECES;
         pieces->page_bytes > shortest_piece_bytes; number++) {
        if (!pieces->half.found) {
            state->page_bytes = pieces->page_bytes / 2;
            enum claim claim = block_walk(state, number, block_piece_bytes,
                                          block_piece_writes, &pieces->half);
            if (claim != CLAIM_HOLDS)
                return claim;
        }
        if (as_many(&pieces->half, &pieces->page))
            return CLAIM_HOLDS;
        if (!agree(&pieces->half, &pieces->page))
            return CLAIM_FALLS;
        pieces->twice = pieces->page;
        pieces->page = pieces->half;
        pieces->page_bytes /= 2;
        pieces->half.found = false;
    }
    return CLAIM_HOLDS;
}

void block_emit_flush(struct study *study, const char *phase,
                      const struct contrast *contrast, uint32_t round,
                      struct random *random)
{
    const struct block_probe *state = (const struct block_probe *)study;
    const uint64_t size = contrast->size_bytes;
    const uint64_t at = state->base_bytes +
                        size * random_below(random, state->room_bytes / size);
    struct step write =
        placing_unmeasured(OPERATION_WRITE, at, size, phase, round);
    struct step flush =
        placing_step(OPERATION_FLUSH, 0, 0, phase, contrast, 'b', round);

    study_ask(study, &write);
    study_ask(study, &flush);
    flush = placing_step(OPERATION_FLUSH, 0, 0, phase, contrast, 'a', round);
    study_ask(study, &flush);
}

/* Does a flush take longer after a write of a page? ABOVE: it does. */
static enum claim buffered_side(struct block_probe *state, enum side *side)
{
    const struct claim_rule rule = {.alpha = flush_error,
                                    .looks = search_looks};
    struct contrast contrast = {.kind = BLOCK_FLUSH,
                                .size_bytes = state->page_bytes,
                                .expected = SIDE_OPEN,
                                .low = flush_least,
                                .high = flush_least};

    snprintf(contrast.name, sizeof(contrast.name), "f%llu",
             (unsigned long long)state->page_bytes);
    enum claim claim = study_claim(&state->study, "flush", &contrast, 1, &rule);
    *side = contrast.side;
    return claim;
}

/* Does twice as long a piece wait for more than its transfer? */
static bool waits_beyond(const struct block_pieces *pieces)
{
    double page_ns = pieces->page.write_ns, twice_ns = pieces->twice.write_ns;
    double line_ns = page_ns + 2 * (page_ns - pieces->half.write_ns);

    return pieces->half.found && twice_ns > waits_least * page_ns &&
           fabs(twice_ns - line_ns) > line_most * twice_ns;
}

/*
 * A buffer shorter than a page has it written in parts, each of which uses up
 * one: then what fits the buffer passes for the page. What is longer waits for
 * the first part to be programmed. Where there is no buffer all that is written
 * waits, and where there is a long one nothing does but for the transfer.
 */
static enum claim compare_lengths(struct block_probe *state,
                                  struct block_pieces *pieces)
{
    enum claim claim = agree_upwards(state, pieces);
    enum side buffered;

    if (claim == CLAIM_HOLDS)
        claim = agree_downwards(state, pieces);
    if (claim != CLAIM_HOLDS || !waits_beyond(pieces))
        return claim;
    state->page_bytes = pieces->page_bytes;
    if (buffered_side(state, &buffered) == CLAIM_MEASURING)
        return CLAIM_MEASURING;
    return buffered == SIDE_BELOW ? CLAIM_HOLDS : CLAIM_OPEN;
}

enum claim block_compare_pieces(struct block_probe *state,
                                struct block_pieces *pieces)
{
    static const uint64_t first_bytes[] = {32 * KIB, 48 * KIB};

    state->page_bytes = first_bytes[0];
    if (!block_filled(state))
        return CLAIM_MEASURING;
    for (int i = 0; i < 2; i++) {
        *pieces = (struct block_pieces){.first_bytes = first_bytes[i],
                                        .first_number =
                                            FIRST_NUMBER + 2 * i * PIECES};
        enum claim claim = compare_lengths(state, pieces);
        if (claim == CLAIM_MEASURING || claim == CLAIM_HOLDS)
            return claim;
    }
    return CLAIM_OPEN;
}
