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
    LENGTHS = 14,
    AGREED_LENGTHS = 4,
    AGREED_LEAST = 3, /* where there are no more; and of parts of a page */
    FIRST_NUMBER = 3  /* of the walks; those with the page come before */
};

/* Far apart first; the last are walked where the host's limit, or what shows
 * nothing, leaves too few. */
static const uint64_t lengths_bytes[LENGTHS] = {
    32 * KIB,  128 * KIB, 512 * KIB, 64 * KIB,  256 * KIB, MIB,      48 * KIB,
    192 * KIB, 768 * KIB, 96 * KIB,  384 * KIB, 16 * KIB,  24 * KIB, 8 * KIB};
/* Pages are multiples of the first; those longer than the second of the third;
 * and none is longer than the last. */
static const uint64_t sector_bytes = 512, short_page_bytes = 64 * KIB,
                      long_page_grain_bytes = 4 * KIB,
                      page_most_bytes = 4 * MIB;
static const uint64_t shortest_piece_bytes = 4 * KIB;
/* A longer piece waits for more than its transfer: it takes not much less time a
 * byte, and is off the line through shorter ones by a share of that. */
static const double waits_least = 0.9, line_most = 0.05;
/* Of what a flush takes after a write beside after nothing: a page to program is
 * more than some of it. */
static const double flush_error = 0.01, flush_least = 0.05, flush_none = 0.12;

/* ---- what explains the distances --------------------------------------- */

/*
 * What one piece uses up of a block, on average: a drive that maps pages writes
 * each page anew that a piece touches, be it in part. Pieces in order begin at
 * all multiples of the common divisor within a page, as often at each.
 */
static uint64_t used_up_bytes(uint64_t piece_bytes, uint64_t page_bytes)
{
    return piece_bytes + page_bytes - common_divisor(piece_bytes, page_bytes);
}

/* The block that all distances follow from, were this the page; 0: none. */
static uint64_t block_of(const struct block_pieces *pieces, uint64_t page_bytes)
{
    uint64_t block = 0;

    for (size_t i = 0; i < pieces->count; i++) {
        const struct block_walked *walked = &pieces->walked[i];
        uint64_t bytes = walked->spikes.period.length *
                         used_up_bytes(walked->piece_bytes, page_bytes);
        if (bytes % page_bytes || (block && bytes != block))
            return 0;
        block = bytes;
    }
    return block;
}

static uint64_t longest_bytes(const struct block_pieces *pieces)
{
    uint64_t longest = 0;

    for (size_t i = 0; i < pieces->count; i++)
        if (pieces->walked[i].piece_bytes > longest)
            longest = pieces->walked[i].piece_bytes;
    return longest;
}

/*
 * The one block that explains all distances, whichever the page is; of several
 * pages that do, which then divide all pieces, the longest. OPEN: several blocks
 * would, or no piece is as long as the page; FALLS: none.
 */
static enum claim explain(struct block_pieces *pieces)
{
    uint64_t grain = sector_bytes;

    pieces->block_bytes = 0;
    for (uint64_t page = grain; page <= page_most_bytes; page += grain) {
        if (page == short_page_bytes)
            grain = long_page_grain_bytes;
        uint64_t block = block_of(pieces, page);
        if (block == 0)
            continue;
        if (pieces->block_bytes && block != pieces->block_bytes)
            return CLAIM_OPEN;
        pieces->block_bytes = block;
        pieces->page_bytes = page;
    }
    if (pieces->block_bytes == 0)
        return CLAIM_FALLS;
    return pieces->page_bytes <= longest_bytes(pieces) ? CLAIM_HOLDS
                                                       : CLAIM_OPEN;
}

static const struct block_walked *find_walk(const struct block_pieces *pieces,
                                            uint64_t piece_bytes)
{
    for (size_t i = 0; i < pieces->count; i++)
        if (pieces->walked[i].piece_bytes == piece_bytes)
            return &pieces->walked[i];
    return NULL;
}

/* A walk in pieces of this length, if there was none; OPEN: no distance. */
static enum claim add_walk(struct block_probe *state,
                           struct block_pieces *pieces, uint64_t piece_bytes,
                           int number)
{
    const struct block_course course = {.number = number,
                                        .scattered = pieces->scattered,
                                        .most_bytes = block_piece_bytes,
                                        .most_writes = block_piece_writes};
    struct block_walked *walked = &pieces->walked[pieces->count];

    if (find_walk(pieces, piece_bytes))
        return CLAIM_HOLDS;
    walked->piece_bytes = state->page_bytes = piece_bytes;
    enum claim claim = block_walk(state, &course, &walked->spikes);
    pieces->count += claim == CLAIM_HOLDS;
    return claim;
}

/* The longest pieces that use up as much as the first; 0: no others do. What is
 * shorter then says nothing new: it is a part of a page as well. */
static uint64_t longest_part_bytes(const struct block_pieces *pieces)
{
    uint64_t longest = 0;

    for (size_t i = 1; i < pieces->count; i++)
        if (pieces->walked[i].spikes.period.length ==
                pieces->walked[0].spikes.period.length &&
            pieces->walked[i].piece_bytes > longest)
            longest = pieces->walked[i].piece_bytes;
    return longest;
}

/*
 * Walks in pieces of one length after another, until some lengths show a
 * distance and one block explains them. Fewer are too few: pieces of half a page
 * leave blocks half valid, and as the next length meets these, slow writes come
 * twice as often.
 */
static enum claim walk_lengths(struct block_probe *state,
                               struct block_pieces *pieces)
{
    const uint64_t limit = state->study.setting.request_limit_bytes;
    enum claim claim = CLAIM_OPEN;

    pieces->count = 0;
    for (size_t i = 0; i < LENGTHS; i++) {
        /* What the host splits is no longer than its parts. */
        if ((limit > 0 && lengths_bytes[i] > limit) ||
            lengths_bytes[i] < longest_part_bytes(pieces))
            continue;
        if (lengths_bytes[i] < lengths_bytes[0] &&
            pieces->count >= AGREED_LEAST && claim != CLAIM_OPEN)
            break;
        enum claim distance =
            add_walk(state, pieces, lengths_bytes[i], FIRST_NUMBER + (int)i);
        if (distance == CLAIM_MEASURING)
            return CLAIM_MEASURING;
        if (distance != CLAIM_HOLDS)
            continue;
        claim = explain(pieces);
        if (claim == CLAIM_FALLS ||
            (claim == CLAIM_HOLDS && pieces->count == AGREED_LENGTHS))
            return claim;
    }
    return pieces->count < AGREED_LEAST ? CLAIM_OPEN : claim;
}

/* ---- parts of pages that pass for pages --------------------------------- */

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
                                .high = flush_none};

    snprintf(contrast.name, sizeof(contrast.name), "f%llu",
             (unsigned long long)state->page_bytes);
    enum claim claim = study_claim(&state->study, "flush", &contrast, 1, &rule);
    *side = contrast.side;
    return claim;
}

/*
 * In pieces of half of what seems the page, of all of it and of half as much
 * again. So far all pieces may be multiples of it, and then it may be any that
 * divides them: so down to pieces that are shorter.
 */
static enum claim walk_around(struct block_probe *state,
                              struct block_pieces *pieces)
{
    const uint64_t limit = state->study.setting.request_limit_bytes;
    enum claim claim = CLAIM_HOLDS;
    uint64_t page;
    int number = FIRST_NUMBER + LENGTHS;

    do {
        page = pieces->page_bytes;
        if (page <= shortest_piece_bytes)
            return CLAIM_HOLDS;
        claim = add_walk(state, pieces, page / 2, number++);
        if (claim == CLAIM_HOLDS)
            claim = explain(pieces);
    } while (claim == CLAIM_HOLDS && pieces->page_bytes < page);
    for (uint64_t halves = 2; halves <= 3 && claim == CLAIM_HOLDS; halves++) {
        if (limit > 0 && page / 2 * halves > limit)
            break;
        claim = add_walk(state, pieces, page / 2 * halves, number++);
        if (claim == CLAIM_HOLDS)
            claim = explain(pieces);
    }
    return claim;
}

/* The shortest pieces that are longer; NULL: none. */
static const struct block_walked *find_longer(const struct block_pieces *pieces,
                                              uint64_t piece_bytes)
{
    const struct block_walked *longer = NULL;

    for (size_t i = 0; i < pieces->count; i++) {
        const struct block_walked *walked = &pieces->walked[i];
        if (walked->piece_bytes > piece_bytes &&
            (!longer || walked->piece_bytes < longer->piece_bytes))
            longer = walked;
    }
    return longer;
}

/* Does a piece longer than what seems the page wait for more than its transfer?
 */
static bool waits_beyond(const struct block_pieces *pieces)
{
    const struct block_walked *half = find_walk(pieces, pieces->page_bytes / 2);
    const struct block_walked *page = find_walk(pieces, pieces->page_bytes);
    const struct block_walked *longer = find_longer(pieces, pieces->page_bytes);

    if (!half || !page || !longer)
        return false;
    double times = (double)longer->piece_bytes / (double)pieces->page_bytes;
    double page_ns = page->spikes.write_ns, longer_ns = longer->spikes.write_ns;
    double line_ns =
        page_ns + 2 * (times - 1) * (page_ns - half->spikes.write_ns);
    return longer_ns > waits_least * times * page_ns &&
           fabs(longer_ns - line_ns) > line_most * longer_ns;
}

/*
 * A buffer shorter than a page has it written in parts, each of which uses up
 * one: then what fits the buffer passes for the page. What is longer waits for
 * the first part to be programmed. Where there is no buffer all that is written
 * waits, and where there is a long one nothing does but for the transfer.
 */
enum claim block_compare_pieces(struct block_probe *state,
                                struct block_pieces *pieces)
{
    enum side buffered;
    enum claim claim = walk_lengths(state, pieces);

    if (claim == CLAIM_HOLDS)
        claim = walk_around(state, pieces);
    if (claim != CLAIM_HOLDS || !waits_beyond(pieces))
        return claim;
    state->page_bytes = pieces->page_bytes;
    if (buffered_side(state, &buffered) == CLAIM_MEASURING)
        return CLAIM_MEASURING;
    return buffered == SIDE_BELOW ? CLAIM_HOLDS : CLAIM_OPEN;
}

/* ---- where the page is known -------------------------------------------- */

enum claim block_compare_parts(struct block_probe *state, uint64_t page_bytes,
                               size_t pages_count, struct block_pieces *pieces)
{
    static const uint64_t parts[] = {32, 24, 16, 12, 8, 6, 4, 3, 2};
    const uint64_t limit = state->study.setting.request_limit_bytes;
    bool agreed = false;

    pieces->count = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !agreed; i++) {
        const uint64_t piece = page_bytes / parts[i];
        if (piece * parts[i] != page_bytes ||
            piece % state->study.setting.logical_block_bytes ||
            (limit > 0 && piece > limit))
            continue;
        if (add_walk(state, pieces, piece, FIRST_NUMBER + (int)i) ==
            CLAIM_MEASURING)
            return CLAIM_MEASURING;
        agreed = pieces->count == AGREED_LEAST ||
                 (pieces->count == 1 &&
                  pieces->walked[0].spikes.period.length == pages_count);
    }
    pieces->page_bytes = page_bytes;
    pieces->block_bytes = block_of(pieces, page_bytes);
    return agreed && pieces->block_bytes >= pages_count * page_bytes
               ? CLAIM_HOLDS
               : CLAIM_OPEN;
}
