/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block: in which unit does the drive erase? (Kim et al. III-C)
 *
 * Idea, by two routes that must agree. (a) Written page by page in order, every
 * new block brings an erase or a merge: slow writes at one distance. (b) Random
 * aligned writes of a size that is no multiple of the block leave parts behind
 * that must be copied: they cost more than the same writes in order. (c) Asked
 * first, for it needs the least: where whole blocks are mapped, what lies before
 * a small write in its block is moved with it, and where that begins again a
 * block begins.
 *
 * Assumes: the drive has been written, flush works. A page-mapped drive cleans
 * only when its spare area is used up: it is then filled that far, and only
 * route (a) speaks, at lower confidence, in writes that may go anywhere. Where
 * the page is not known, one block must explain at which distances writes of
 * several lengths are slow. Where log-list has found the block that a log
 * belongs to, that is the block, and nothing is written.
 *
 *   cost                      cost of random over sequential writes of s
 *    |    x         x           |  o  o
 *    |                          |        o  o
 *    | ...|.........|....       |_____________ o__o__
 *        page by page ->              s ->     block
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "probes/clustered_block.h"
#include "probes/paper.h"
#include "probes/placing.h"
#include "probes/probes.h"

enum {
    CANDIDATES_MAX = 3,
    /* Numbers of walks; those in pieces are between. */
    WALK_AS_FOUND = 1,
    WALK_LATER = 2,
    WALK_DOUBLED = 34,
    WALK_SCATTERED = 35
};

static const double search_error = 0.004;
/* Before, writes of this size are compared (block_any_gap). */
static const uint64_t shortest_climb_bytes = MIB / 4;
static const uint64_t largest_block_bytes = 64 * MIB;
/* What one route alone says is stated with less confidence: slow writes may be
 * those of a cache in front (so it was with all 5 that were wrong of 64 drives made
 * at random), unless they came after a pause as well; and where there are more
 * logs than random writes before those that are measured, nothing of half a block
 * is merged yet. */
static const double one_route_confidence = 0.9, lasting_confidence = 0.95;
/* Random writes that cost more may be of a part of a block, and pages that are
 * split may use up more than one: both were often so. */
static const double doubtful_confidence = 0.6;
/* Where one block explains the distances of several lengths it was right for 15
 * of 15 drives made at random. */
static const double pieces_confidence = 0.8;
/* Of writes that use up the spare area, where the page is not known. */
static const uint64_t shortest_fill_bytes = 32 * KIB;

static const uint32_t quick_looks[] = {9, 12, 18, 0};

/* ---- what is said ------------------------------------------------------ */

static struct finding *add(struct findings *findings)
{
    return findings_add(findings, "clustered-block", "clustered_block");
}

static struct finding *add_found(struct findings *findings, uint64_t bytes,
                                 double confidence)
{
    struct finding *finding = add(findings);

    finding_found(finding, value_integer(bytes), confidence);
    return finding;
}

static bool say_gap(struct findings *findings, uint64_t block_bytes,
                    const struct block_spikes *spikes,
                    const struct block_verdict *verdict)
{
    char size[24];
    bool both = spikes->found && spikes->block_bytes == block_bytes;
    double confidence =
        fmin(verdict->confidence,
             both ? 1 - spikes->period.error : one_route_confidence);
    struct finding *finding = add_found(findings, block_bytes, confidence);

    format_bytes(block_bytes, size, sizeof(size));
    if (both)
        finding_why(finding,
                    "written in order, every %s brings one slow write (%zu of "
                    "%zu fresh ones); random writes of a part of it cost %.2f "
                    "times as much as sequential ones, whole ones no more",
                    size, spikes->period.hits, spikes->period.trials,
                    verdict->effect);
    else
        finding_why(finding,
                    "random writes of %s, aligned, cost no more than "
                    "sequential ones, and those of a part of it %.2f times as "
                    "much",
                    size, verdict->effect);
    return true;
}

/* Of slow writes alone, by what was said of a cache. */
static double sureness(enum claim cache)
{
    return cache == CLAIM_FALLS ? lasting_confidence : one_route_confidence;
}

/* States the block, with `confidence` at the most, unless `walked`, the slow
 * writes behind it, are those of a cache in front. False: it is measured first. */
static bool say_spikes(struct block_probe *state, struct findings *findings,
                       const struct block_spikes *walked,
                       const struct block_spikes *spikes, double confidence,
                       const char *why_alone)
{
    enum claim cache = block_say_cache(state, walked, findings);
    char size[24];

    if (cache == CLAIM_MEASURING || cache == CLAIM_HOLDS)
        return cache == CLAIM_HOLDS;
    struct finding *finding = add_found(findings, spikes->block_bytes,
                                        fmin(confidence, sureness(cache)));
    finding_why(finding,
                "written %s, every %s brings one slow write, %.2f times its "
                "neighbours (%zu of %zu fresh ones); %s",
                spikes->scattered ? "anywhere" : "in order",
                format_bytes(spikes->block_bytes, size, sizeof(size)),
                exp(spikes->period.excess), spikes->period.hits,
                spikes->period.trials, why_alone);
    return true;
}

/* Likewise of writes of several lengths. */
static bool say_agreed(struct block_probe *state, struct findings *findings,
                       const struct block_pieces *pieces, double confidence)
{
    const struct block_walked *first = &pieces->walked[0];
    const struct period *period = &first->spikes.period;
    const uint64_t page = state->page_bytes;
    char size[24], piece[24];

    state->page_bytes = first->piece_bytes;
    enum claim cache = block_say_cache(state, &first->spikes, findings);
    state->page_bytes = page;
    if (cache == CLAIM_MEASURING || cache == CLAIM_HOLDS)
        return cache == CLAIM_HOLDS;
    struct finding *finding = add_found(findings, pieces->block_bytes,
                                        fmin(confidence, sureness(cache)));

    finding_why(finding,
                "in writes of %s anywhere one of %zu is slow, %.2f times its "
                "neighbours (%zu of %zu fresh ones); of the blocks that would "
                "explain this only %s explains as well how often writes of %zu "
                "other lengths are",
                format_bytes(first->piece_bytes, piece, sizeof(piece)),
                period->length, exp(period->excess), period->hits,
                period->trials,
                format_bytes(pieces->block_bytes, size, sizeof(size)),
                pieces->count - 1);
    return true;
}

static bool say_open(struct findings *findings, const char *reason)
{
    finding_why(add(findings), "%s", reason);
    return true;
}

/* ---- both routes ------------------------------------------------------- */

static const char no_gap_yet[] =
    "random writes cost no more than sequential ones yet, as on a page-mapped "
    "drive with spare area, so nothing else could confirm it";

/* Blocks that share a log are merged as one, and what is merged is erased. The
 * ends of that block were seen to the page. */
static bool say_log_block(const struct block_probe *state,
                          struct findings *findings)
{
    char size[24];
    struct finding *finding = add_found(findings, state->log_block_bytes,
                                        state->log_block_confidence);

    finding_why(finding,
                "the drive collects updates in logs and merges each with its "
                "block: what is merged and erased as one is %s (log_block)",
                format_bytes(state->log_block_bytes, size, sizeof(size)));
    return true;
}

/* What lies before a write in its block was moved with it, and so no drive does
 * that maps anything smaller. */
static bool say_borders(struct findings *findings,
                        const struct block_borders *borders)
{
    char size[24];
    struct finding *finding =
        add_found(findings, borders->block_bytes, borders->confidence);

    finding_why(
        finding,
        "a small write just before a multiple of %s costs %.2f times as "
        "much as one just behind it, and so at no part of it: what lies "
        "before a write in its block is moved with it",
        format_bytes(borders->block_bytes, size, sizeof(size)),
        borders->effect);
    return true;
}

/*
 * In writes of two pages, do slow ones come at the same distance? After as many
 * writes as before, it is not how much was written that makes one slow: the drive
 * keeps its books every so many requests, or the page is not the whole one. False:
 * they are measured first.
 */
static bool doubled_walk(struct block_probe *state,
                         const struct block_spikes *spikes, bool *agrees)
{
    const struct block_course course = {.number = WALK_DOUBLED,
                                        .scattered = spikes->scattered,
                                        .most_bytes = block_piece_bytes,
                                        .most_writes = block_piece_writes};
    const uint64_t page = state->page_bytes;
    struct block_spikes doubled;

    state->page_bytes = 2 * page;
    enum claim claim = block_walk(state, &course, &doubled);
    state->page_bytes = page;
    *agrees = !doubled.found || doubled.block_bytes == spikes->block_bytes;
    return claim != CLAIM_MEASURING;
}

/*
 * Where the host splits a page, or a buffer that is shorter, the drive may write
 * each part by itself, so that each uses up a page: what is written with its
 * flush and is no longer than a part does, and as many of these fill a block as
 * it has pages.
 */
static bool conclude_one_route(struct block_probe *state,
                               const struct block_spikes *spikes,
                               const char *why_alone, struct findings *findings)
{
    const uint64_t limit = state->study.setting.request_limit_bytes;
    const uint64_t page = state->page_bytes;
    struct block_pieces pieces = {.scattered = spikes->scattered};
    struct block_spikes whole = *spikes;
    bool agrees = true;
    enum claim claim =
        block_compare_parts(state, page, spikes->period.length, &pieces);

    state->page_bytes = page;
    if (claim == CLAIM_MEASURING)
        return false;
    if (claim == CLAIM_HOLDS && pieces.block_bytes != spikes->block_bytes) {
        whole.block_bytes = pieces.block_bytes;
        why_alone = "that is so many writes of a part of a page, each of which "
                    "uses up one";
    } else if (limit == 0 || 2 * page <= limit) {
        if (!doubled_walk(state, spikes, &agrees))
            return false;
    } else if (claim != CLAIM_HOLDS && page > limit) {
        return say_spikes(state, findings, spikes, spikes,
                          fmin(doubtful_confidence, state->page_confidence),
                          "but the host splits a page, and whether the drive "
                          "writes each part by itself does not show");
    }
    if (!agrees)
        return say_open(findings,
                        "slow writes come at a fixed distance, but at another "
                        "one in writes of two pages, so it is not what was "
                        "written that makes them slow");
    return say_spikes(state, findings, spikes, &whole, state->page_confidence,
                      why_alone);
}

/* Spikes were certified: what does the gap between random and sequential say?
 */
static bool conclude_spikes(struct block_probe *state,
                            const struct block_spikes *spikes,
                            struct findings *findings)
{
    uint64_t block = spikes->block_bytes, phase = spikes->phase_bytes;
    struct block_verdict verdict;
    enum side side;

    if (!block_has_ground(state, block, phase))
        return conclude_one_route(
            state, spikes, "the region is too small to compare random writes",
            findings);
    for (int i = 0; i < CANDIDATES_MAX; i++) {
        /* A short part of the block tells for a few writes of it whether there
         * is any gap: where there is none, no need to look for its end. */
        if (block_any_gap(state, block, phase, &side) == CLAIM_MEASURING)
            return false;
        if (side == SIDE_BELOW)
            return conclude_one_route(state, spikes, no_gap_yet, findings);
        switch (block_certify(state, block, phase, &verdict)) {
        case CLAIM_MEASURING:
            return false;
        case CLAIM_HOLDS:
            return say_gap(findings, block, spikes, &verdict);
        case CLAIM_OPEN:
            return conclude_one_route(
                state, spikes,
                "the noise is too large to compare random "
                "writes with sequential ones as well",
                findings);
        case CLAIM_FALLS:
            break;
        }
        if (verdict.culprit->expected == SIDE_BELOW)
            return say_spikes(
                state, findings, spikes, spikes, doubtful_confidence,
                "but random writes of that size still cost more "
                "than sequential ones, as of a part of the block, "
                "or on a page-mapped drive with little spare "
                "area");
        if (side != SIDE_ABOVE)
            return conclude_one_route(state, spikes, no_gap_yet, findings);
        block = verdict.culprit->size_bytes;
    }
    return say_open(findings, "slow writes come at a fixed distance, but where "
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
static bool conclude_ladder(struct block_probe *state,
                            struct findings *findings)
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
            return say_gap(findings, size, &none, &verdict);
        case CLAIM_FALLS:
        case CLAIM_OPEN:
            break;
        }
    }
    return say_open(findings, "random writes cost more than sequential ones, "
                              "but no size was found from which on they do "
                              "not");
}

/* ---- where the page is known ------------------------------------------- */

/* A stand-in for the block where none is known: 8 MiB or more, in pages. */
static uint64_t unknown_block(const struct block_probe *state)
{
    uint64_t eighth = MIB / state->page_bytes * state->page_bytes;

    return 8 * (eighth ? eighth : state->page_bytes);
}

/*
 * A drive that maps pages and has used up its spare area: slow writes come at one
 * distance, wherever they go. Where the host or a buffer splits a page, it uses up
 * several, so that the distance need not be a number of writes: then parts of a
 * page tell. HOLDS: it was said.
 */
static enum claim say_scattered(struct block_probe *state, bool cleans,
                                struct findings *findings)
{
    const struct block_course course = {.number = WALK_SCATTERED,
                                        .scattered = true,
                                        .most_bytes = cleans ? 512 * MIB : GIB,
                                        .most_writes = cleans ? 4096 : 16384};
    const uint64_t page = state->page_bytes;
    struct block_pieces pieces = {.scattered = true};
    struct block_spikes spikes;
    enum claim claim = block_walk(state, &course, &spikes);

    if (claim == CLAIM_HOLDS)
        return conclude_one_route(
                   state, &spikes,
                   "so it is on a drive that maps pages and has to clean for a "
                   "new block",
                   findings)
                   ? CLAIM_HOLDS
                   : CLAIM_MEASURING;
    if (claim == CLAIM_MEASURING || cleans)
        return claim;
    claim = block_compare_parts(state, page, 0, &pieces);
    state->page_bytes = page;
    if (claim == CLAIM_HOLDS &&
        !say_agreed(state, findings, &pieces, state->page_confidence))
        return CLAIM_MEASURING;
    return claim;
}

static bool think_with_page(struct block_probe *state,
                            struct findings *findings)
{
    const struct block_course as_found = {
        .number = WALK_AS_FOUND, .most_bytes = 512 * MIB, .most_writes = 16384};
    struct block_course later = {
        .number = WALK_LATER, .most_bytes = 512 * MIB, .most_writes = 16384};
    struct block_spikes spikes;
    enum side side;
    enum claim claim = block_walk(state, &as_found, &spikes);

    if (claim == CLAIM_HOLDS)
        return conclude_spikes(state, &spikes, findings);
    if (claim == CLAIM_MEASURING ||
        block_any_gap(state, unknown_block(state), 0, &side) == CLAIM_MEASURING)
        return false;
    /* What random writes cost more, a drive that maps pages pays for cleaning:
     * then no more need be filled. */
    if (side != SIDE_ABOVE) {
        later.most_bytes = GIB;
        later.most_writes = 65536;
        if (!block_filled(state))
            return false;
    }
    claim = say_scattered(state, side == SIDE_ABOVE, findings);
    if (claim == CLAIM_HOLDS || claim == CLAIM_MEASURING)
        return claim == CLAIM_HOLDS;
    claim = block_walk(state, &later, &spikes);
    if (claim == CLAIM_HOLDS)
        return conclude_spikes(state, &spikes, findings);
    if (claim == CLAIM_MEASURING)
        return false;
    if (side == SIDE_ABOVE)
        return conclude_ladder(state, findings);
    return say_open(findings,
                    "no slow write comes at a fixed distance, also after many "
                    "writes, and random writes cost no more than sequential "
                    "ones: the drive did not have to clean, or does so unseen");
}

/* ---- where the page is not known --------------------------------------- */

static bool think_without_page(struct block_probe *state,
                               struct findings *findings)
{
    struct block_pieces pieces = {.scattered = true};
    enum side side;

    state->page_bytes = 4 * KIB;
    if (block_any_gap(state, unknown_block(state), 0, &side) == CLAIM_MEASURING)
        return false;
    if (side == SIDE_ABOVE)
        return conclude_ladder(state, findings);
    state->page_bytes = shortest_fill_bytes;
    if (!block_filled(state))
        return false;
    switch (block_compare_pieces(state, &pieces)) {
    case CLAIM_MEASURING:
        return false;
    case CLAIM_HOLDS:
        return say_agreed(state, findings, &pieces, pieces_confidence);
    case CLAIM_FALLS:
    case CLAIM_OPEN:
        break;
    }
    return say_open(findings,
                    "without clustered_page it is not known what to write in "
                    "order, and too few lengths of writes agree on a distance "
                    "of slow ones; if you know it, pass "
                    "--assume=clustered_page=VALUE");
}

/* ---- measuring --------------------------------------------------------- */

static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    switch ((enum block_kind)contrast->kind) {
    case BLOCK_GAP:
        block_emit_gap(study, phase, contrast, round, random);
        break;
    case BLOCK_PLACES:
    case BLOCK_BORDER:
        block_emit_border(study, phase, contrast, round, random);
        break;
    case BLOCK_FLUSH:
        block_emit_flush(study, phase, contrast, round, random);
        break;
    }
}

/* What the rows of a cell took in all; a flush of nothing may take no time. */
static bool cell_ns(const struct study *study, const char *phase,
                    const struct contrast *contrast, char suffix,
                    uint32_t round, double *ns)
{
    const uint32_t count = contrast->kind == BLOCK_FLUSH ? 1 : 2;
    const struct timing *rows =
        placing_rows(study, phase, contrast, suffix, round, count);

    *ns = 1;
    for (uint32_t i = 0; rows && i < count; i++)
        *ns += (double)rows[i].ns;
    return rows;
}

static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    double a, b;

    (void)random;
    if (contrast->kind == BLOCK_GAP)
        return block_value_gap(study, phase, contrast, round, ratio);
    if (!cell_ns(study, phase, contrast, 'a', round, &a) ||
        !cell_ns(study, phase, contrast, 'b', round, &b))
        return false;
    *ratio = log(b / a);
    return true;
}

/* ---- the probe --------------------------------------------------------- */

static bool think(struct study *study, struct findings *findings)
{
    struct block_probe *state = (struct block_probe *)study;
    struct block_borders borders;

    if (study->setting.method == METHOD_PAPER)
        return paper_clustered_block(
            study, state->page_bytes ? state->page_bytes : 4 * KIB, findings);
    if (state->log_block_bytes)
        return say_log_block(state, findings);
    switch (block_find_borders(state, &borders)) {
    case CLAIM_MEASURING:
        return false;
    case CLAIM_HOLDS:
        return say_borders(findings, &borders);
    case CLAIM_FALLS:
    case CLAIM_OPEN:
        break;
    }
    if (state->page_is_absent)
        return say_open(findings,
                        "there is no clustered_page, so it is not known what "
                        "to write in order; if you know it, pass "
                        "--assume=clustered_page=VALUE");
    if (state->page_bytes)
        return think_with_page(state, findings);
    bool done = think_without_page(state, findings);
    state->page_bytes = 0; /* it only stood for each walk */
    return done;
}

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    if (setting->method == METHOD_PAPER) {
        paper_clustered_block_plan(setting, plan);
        return;
    }
    plan->requests = 20000;
    plan->requests_max = 600000;
    /* Where logs were found, nothing; else a walk, and after a fill another. */
    plan->bytes_written = 256 * MIB;
    plan->bytes_written_max = 25 * GIB + block_fill_bytes(setting);
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = emit, .value = value};
    uint64_t page = findings_integer(known, "clustered_page");
    const struct finding *log_block = findings_get(known, "log_block");
    const struct finding *known_page = findings_get(known, "clustered_page");
    struct block_probe *state =
        study_create(sizeof(*state), &probe_clustered_block, &ops, setting);

    if (!state)
        return -ENOMEM;
    state->page_bytes = page;
    state->page_confidence = known_page ? known_page->confidence : 0;
    state->page_is_absent = known_page && known_page->verdict == VERDICT_ABSENT;
    state->log_block_bytes = findings_integer(known, "log_block");
    state->log_block_confidence =
        state->log_block_bytes ? log_block->confidence : 0;
    state->room_bytes = setting->region_length_bytes / 2;
    if (state->room_bytes > 4 * GIB)
        state->room_bytes = 4 * GIB;
    state->base_bytes =
        placing_base(setting, state->study.seed, state->room_bytes);
    *result = state;
    return 0;
}

const struct probe probe_clustered_block = {
    .name = "clustered-block",
    .question = "In which unit does the drive erase?",
    .idea = "Written in order, every new block brings a slow write; random "
            "writes cost more than sequential ones until they are as long as "
            "the block.",
    .writes = true,
    .region_min_bytes = 256 * MIB,
    .answers = {"clustered_block"},
    .plan = plan,
    .start = start,
    STUDY_PROBE_FUNCTIONS,
};
