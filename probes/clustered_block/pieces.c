/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block, route (a) where the page is not known or may be split:
 * sweeps in pieces of several lengths.
 *
 * A page-mapped drive writes anew each page that a piece touches, even in part.
 * So long as pieces are whole pages, halves of them are slow half as often.
 * Once a half is slow as often as the whole, both are parts of a page. As many
 * of these pieces as a block has pages come between slow ones. Pieces across
 * two pages then tell how long a page is (across.c).
 *
 * The costs of writes that are not slow do not matter here, nor does a host or
 * a buffer that splits longer pieces.
 */
#include "probes/clustered_block/clustered_block.h"

#include "probes/placing.h"

enum {
    AGREED_LEAST = 3,
    FIRST_NUMBER = 3, /* number of the first sweep in pieces */
    FAILED_HALVES_MAX = 2
};

/* Lengths of the first piece, until one shows a distance; the others follow
 * from it. Such a piece is whole pages, or a part that straddles no page
 * boundary. */
static const uint64_t first_lengths_bytes[] = {
    32 * KIB,  48 * KIB, 128 * KIB, 8 * KIB,   512 * KIB,
    192 * KIB, 16 * KIB, 64 * KIB,  256 * KIB, MIB};
static const uint64_t longest_piece_bytes = MIB;
/* The longest where clustered-page found no page. There may be none, so the
 * search should cost little. A page longer than was looked for shows in short
 * pieces as well. */
static const uint64_t longest_of_unseen_bytes = 32 * KIB;

/* ---- walks -------------------------------------------------------------- */

/* Sweeps in pieces of this length, unless it was done. False: no distance. */
static bool add_walk(struct block_probe *state, struct block_pieces *pieces,
                     uint64_t piece_bytes, int number, size_t writes_most)
{
    const struct block_course course = {.number = number,
                                        .write_bytes = piece_bytes,
                                        .scattered = pieces->scattered,
                                        .most_bytes = block_pieces_bytes,
                                        .most_writes = writes_most};
    struct block_walked *walked = &pieces->walked[pieces->count];

    for (size_t i = 0; i < pieces->count; i++)
        if (pieces->walked[i].piece_bytes == piece_bytes)
            return true;
    walked->piece_bytes = piece_bytes;
    if (!block_walk(state, &course, &walked->spikes))
        return false;
    pieces->count++;
    return true;
}

static size_t last_length(const struct block_pieces *pieces)
{
    return pieces->walked[pieces->count - 1].spikes.period.length;
}

/* The number of the sweep, one for each length. A length is a power of two, or
 * three times one. */
static int number_of(uint64_t piece_bytes)
{
    int number = FIRST_NUMBER + (piece_bytes % 3 == 0);

    for (; piece_bytes > 512; piece_bytes /= 2)
        number += 2;
    return number;
}

static bool is_too_long(const struct block_probe *state, uint64_t piece_bytes)
{
    const uint64_t limit = state->study.setting.request_limit_bytes;

    return limit > 0 && piece_bytes > limit;
}

/* ---- parts of a page ----------------------------------------------------- */

static bool walk_first(struct block_probe *state, struct block_pieces *pieces)
{
    const size_t count =
        sizeof(first_lengths_bytes) / sizeof(*first_lengths_bytes);

    pieces->count = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t length = first_lengths_bytes[i];
        if (!is_too_long(state, length) &&
            (!state->page_is_absent || length <= longest_of_unseen_bytes) &&
            add_walk(state, pieces, length, number_of(length),
                     block_piece_writes))
            return true;
    }
    return false;
}

/*
 * Halves the first length until a half is slow as often as the whole. Returns
 * that whole: it is a page or a part of one. 0: no half is, so all are whole
 * pages.
 */
static uint64_t walk_halves(struct block_probe *state,
                            struct block_pieces *pieces)
{
    const uint64_t least = state->study.setting.logical_block_bytes;
    uint64_t piece = pieces->walked[0].piece_bytes / 2;

    for (int failed = 0; piece >= least && failed < FAILED_HALVES_MAX;
         piece /= 2) {
        const struct block_walked *whole = &pieces->walked[pieces->count - 1];
        const size_t length = last_length(pieces);
        if (!add_walk(state, pieces, piece, number_of(piece),
                      block_enough_writes(2 * length)))
            failed++;
        else if (whole->piece_bytes == 2 * piece &&
                 last_length(pieces) == length)
            return whole->piece_bytes;
    }
    return 0;
}

/* Doubles the length as long as pieces stay slow as often: they are parts of a
 * page as well. Returns the longest such part. */
static uint64_t walk_doubles(struct block_probe *state,
                             struct block_pieces *pieces, uint64_t part_bytes)
{
    const size_t length = last_length(pieces);

    for (uint64_t piece = 2 * part_bytes;
         piece <= longest_piece_bytes && !is_too_long(state, piece);
         piece *= 2) {
        if (!add_walk(state, pieces, piece, number_of(piece),
                      block_enough_writes(length)))
            break;
        for (size_t i = 0; i < pieces->count; i++)
            if (pieces->walked[i].piece_bytes == piece &&
                pieces->walked[i].spikes.period.length != length)
                return part_bytes;
        part_bytes = piece;
    }
    return part_bytes;
}

/* Pieces of whole pages. HOLDS: three lengths or more imply one block. */
static enum claim agree_whole(struct block_pieces *pieces)
{
    pieces->page_bytes = 0;
    pieces->block_bytes = pieces->walked[0].spikes.block_bytes;
    for (size_t i = 1; i < pieces->count; i++)
        if (pieces->walked[i].spikes.block_bytes != pieces->block_bytes)
            return CLAIM_FALLS;
    return pieces->count < AGREED_LEAST ? CLAIM_OPEN : CLAIM_HOLDS;
}

/* ---- all together -------------------------------------------------------- */

enum claim block_compare_pieces(struct block_probe *state,
                                struct block_pieces *pieces)
{
    if (!walk_first(state, pieces))
        return CLAIM_OPEN;
    const uint64_t part = walk_halves(state, pieces);
    if (part == 0)
        return agree_whole(pieces);
    const struct block_spikes spikes = pieces->walked[pieces->count - 1].spikes;
    const struct block_piece piece = {part, &spikes};
    return block_find_page(state, pieces, &piece,
                           walk_doubles(state, pieces, part));
}

/* ---- where the page is known -------------------------------------------- */

/* The bytes of all pages that a piece touches, on average. In a page,
 * sequential pieces begin at all multiples of the greatest common divisor,
 * equally often. */
static uint64_t used_up_bytes(uint64_t piece_bytes, uint64_t page_bytes)
{
    return piece_bytes + page_bytes - common_divisor(piece_bytes, page_bytes);
}

/* The block that all lengths imply; 0: they imply none or several. */
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

enum claim block_compare_parts(struct block_probe *state, uint64_t page_bytes,
                               size_t pages_count, struct block_pieces *pieces)
{
    static const uint64_t parts[] = {32, 24, 16, 12, 8, 6, 4, 3, 2};
    bool agreed = false;

    pieces->count = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !agreed; i++) {
        const uint64_t piece = page_bytes / parts[i];
        if (piece * parts[i] != page_bytes ||
            piece % state->study.setting.logical_block_bytes ||
            is_too_long(state, piece))
            continue;
        const bool is_slow = add_walk(
            state, pieces, piece, FIRST_NUMBER + (int)i, block_piece_writes);
        /* Shorter pieces than the first slow ones do not count as missed: the
         * drive may gather them before it writes. */
        pieces->missed = pieces->missed || (!is_slow && pieces->count > 0);
        agreed = pieces->count == AGREED_LEAST ||
                 (pieces->count == 1 &&
                  pieces->walked[0].spikes.period.length == pages_count);
    }
    pieces->page_bytes = page_bytes;
    pieces->block_bytes = block_of(pieces, page_bytes);
    return agreed && pieces->block_bytes > 0 &&
                   pieces->block_bytes >= pages_count * page_bytes
               ? CLAIM_HOLDS
               : CLAIM_OPEN;
}
