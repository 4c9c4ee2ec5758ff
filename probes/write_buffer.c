/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write-buffer: how many bytes of writes does the drive absorb? (Kim et al.
 * III-F)
 *
 * Idea: a write into an empty buffer costs a fixed overhead and so much a byte;
 * one that does not fit waits for the flash. Flushes between the writes empty
 * the buffer.
 *
 * Assumes: flush writes everything out; it is tested first: after a write it
 * must take longer than after nothing. If it does not, writes go straight
 * through (no buffer), or the flush is not what it says.
 *
 *   write time
 *        |                    .  '  the excess over the line at small sizes
 *        |                  |
 *        |        . - - ' - +
 *        | . - '             size -> buffer
 *
 * The edge is certified by a step between T and T + 1 KiB, no step below it,
 * and a flush that costs no more beyond it: a host that splits requests also
 * makes steps, but not that one.
 */
#include "probes/write_buffer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "probes/paper.h"
#include "probes/placing.h"
#include "probes/probes.h"

static const double search_error = 0.004;
/* A flush after a write must take a quarter longer than one after nothing. */
static const double flush_effect = 0.2231; /* log 1.25 */
/* One request more of the host costs no more than so many small writes. */
static const double split_most = 2;
/* One request more, of a grain, never takes as long as all before it. */
static const double doubled = 2;
/* A step that only one sign tells from the host's, or whose place may depend on
 * how fast the drive empties its buffer. */
static const double one_sign_confidence = 0.95;
static const double unseen_confidence = 0.9;
/* A step may be so much and yet another's than the buffer's: a page more that is
 * begun, or a level of a cache behind it. Of ten such, two were. */
static const double step_clear = 1.25, small_step_confidence = 0.85;
/* Longer writes are too dear to tell a step below that from the line. */
static const uint64_t dear_bytes = 4 * MIB;

/* ---- what is said ------------------------------------------------------ */

static struct finding *add(struct findings *findings)
{
    return findings_add(findings, "write-buffer", "write_buffer");
}

static bool say_open(struct findings *findings, const char *reason)
{
    finding_why(add(findings), "%s", reason);
    return true;
}

/* ---- is there a buffer that a flush empties? --------------------------- */

enum flushing {
    FLUSHING_MEASURING,
    FLUSHING_BUFFERED,
    FLUSHING_LARGE_ONLY, /* small writes pass the buffer by */
    FLUSHING_NOTHING,
    FLUSHING_UNCLEAR
};

enum { FLUSH_SIZES = 4 };
static const uint64_t small_bytes[FLUSH_SIZES] = {4 * KIB, 8 * KIB, 16 * KIB,
                                                  64 * KIB};
static const uint64_t large_bytes[FLUSH_SIZES] = {256 * KIB, 512 * KIB, MIB,
                                                  4 * MIB};

/*
 * A flush was seen to have work after a write of `known`, not after one of the
 * next smaller size. It has some all the same where that is held as well: its
 * share by size, and rather more, since pages are written as wholes. Half of its
 * share tells a write that is held from one that passes the buffer by.
 */
static enum flushing look_at_smaller(struct buffer_probe *state,
                                     const struct contrast *known,
                                     uint64_t smaller_bytes)
{
    const struct claim_rule rule = {.alpha = buffer_alpha,
                                    .looks = claim_long_looks};
    const double share = (double)smaller_bytes / (double)known->size_bytes / 2;
    struct contrast contrast = buffer_compare(
        BUFFER_FLUSH_AFTER, smaller_bytes, 0,
        placing_repeats(smaller_bytes, 1, 8, 2 * MIB), SIDE_OPEN);

    contrast.low = contrast.high = log(1 + share * (exp(known->median) - 1));
    switch (study_claim(&state->study, "smaller", &contrast, 1, &rule)) {
    case CLAIM_MEASURING:
        return FLUSHING_MEASURING;
    case CLAIM_HOLDS:
        return contrast.side == SIDE_ABOVE ? FLUSHING_BUFFERED
                                           : FLUSHING_LARGE_ONLY;
    case CLAIM_FALLS:
    case CLAIM_OPEN:
        break;
    }
    return FLUSHING_UNCLEAR;
}

/* Does a flush take longer after a write of any of these sizes? `first_bytes`
 * becomes the smallest of which that is known. */
static enum flushing look_at_sizes(struct buffer_probe *state, const char *name,
                                   const uint64_t sizes[FLUSH_SIZES],
                                   uint64_t *first_bytes)
{
    const struct claim_rule search = {.alpha = search_error * 7 * FLUSH_SIZES,
                                      .looks = search_looks};
    const struct claim_rule proof = {.alpha = buffer_alpha,
                                     .looks = claim_looks};
    struct contrast contrasts[FLUSH_SIZES];
    char phase[LABEL_PHASE_MAX];

    for (int i = 0; i < FLUSH_SIZES; i++) {
        contrasts[i] =
            buffer_compare(BUFFER_FLUSH_AFTER, sizes[i], 0,
                           placing_repeats(sizes[i], 1, 8, 2 * MIB), SIDE_OPEN);
        contrasts[i].low = contrasts[i].high = flush_effect;
    }
    enum claim claim =
        study_claim(&state->study, name, contrasts, FLUSH_SIZES, &search);
    if (claim == CLAIM_MEASURING)
        return FLUSHING_MEASURING;
    for (int i = 0; i < FLUSH_SIZES; i++)
        if (contrasts[i].side == SIDE_ABOVE) {
            *first_bytes = sizes[i];
            return i == 0 ? FLUSHING_BUFFERED
                          : look_at_smaller(state, &contrasts[i], sizes[i - 1]);
        }
    if (claim != CLAIM_HOLDS)
        return FLUSHING_UNCLEAR;
    for (int i = 0; i < FLUSH_SIZES; i++)
        contrasts[i].expected = SIDE_BELOW;
    snprintf(phase, sizeof(phase), "%s-nothing", name);
    claim = study_claim(&state->study, phase, contrasts, FLUSH_SIZES, &proof);
    if (claim == CLAIM_MEASURING)
        return FLUSHING_MEASURING;
    return claim == CLAIM_HOLDS ? FLUSHING_NOTHING : FLUSHING_UNCLEAR;
}

static enum flushing look_at_flush(struct buffer_probe *state,
                                   uint64_t *first_bytes)
{
    enum flushing flushing =
        look_at_sizes(state, "flush", small_bytes, first_bytes);

    if (flushing != FLUSHING_NOTHING)
        return flushing;
    flushing = look_at_sizes(state, "flush-large", large_bytes, first_bytes);
    return flushing == FLUSHING_BUFFERED ? FLUSHING_LARGE_ONLY : flushing;
}

static bool say_edge(struct buffer_probe *state, const struct buffer_edge *edge,
                     double confidence, const char *why_not_host,
                     struct findings *findings)
{
    struct finding *finding = add(findings);
    char size[24], next[24];

    if (state->flush_unseen)
        confidence = fmin(confidence, unseen_confidence);
    if (edge->step < step_clear)
        confidence = fmin(confidence, small_step_confidence);
    finding_found(finding, value_integer(edge->bytes), confidence);
    finding->high = value_integer(edge->bytes + state->grain_bytes -
                                  state->study.setting.logical_block_bytes);
    finding_why(
        finding,
        "writes of up to %s into an empty buffer follow one line, and "
        "one of %s takes %.2f times as long; %s",
        format_bytes(edge->bytes, size, sizeof(size)),
        format_bytes(edge->bytes + state->grain_bytes, next, sizeof(next)),
        edge->step, why_not_host);
    return true;
}

/* What the step adds, in times of a write of reference_bytes. */
static double step_time(const struct buffer_probe *state,
                        const struct buffer_edge *edge,
                        const struct buffer_fit *fit)
{
    return exp(buffer_expected_log(fit, edge->bytes)) * edge->step -
           exp(buffer_expected_log(fit, edge->bytes + state->grain_bytes));
}

static bool is_more_than_request(const struct buffer_probe *state,
                                 const struct buffer_edge *edge,
                                 const struct buffer_fit *fit)
{
    return step_time(state, edge, fit) >
           split_most * exp(buffer_expected_log(fit, state->grain_bytes));
}

/*
 * Where the host begins to send one request more, a step may be that request's
 * and no more: it then takes no longer than a small write would. What it takes
 * is `part_time`, and the line goes on beyond it.
 */
static bool is_of_host(const struct buffer_probe *state,
                       const struct buffer_edge *edge, struct buffer_fit *fit)
{
    if (fit->part_bytes || fit->bypass ||
        !buffer_host_splits_at(state, edge->bytes) ||
        is_more_than_request(state, edge, fit))
        return false;
    fit->part_bytes = state->study.setting.request_limit_bytes;
    fit->part_time = step_time(state, edge, fit);
    return true;
}

/*
 * `*moves`: what the drive takes in depends on where the write goes, or on how
 * fast it comes.
 */
static bool conclude_edge(struct buffer_probe *state,
                          const struct buffer_edge *edge,
                          const struct buffer_fit *fit,
                          struct findings *findings, bool *moves)
{
    const uint64_t limit = state->study.setting.request_limit_bytes;
    char size[24];

    /* A buffer that is filled anew each time makes steps at its multiples. */
    if (fit->bypass && (double)edge->bytes < 2 * fit->sizes[0])
        return say_open(findings,
                        "small writes bypass the buffer (a flush has nothing "
                        "to do after them), and the smallest that does not may "
                        "already be more than it holds");
    enum claim stops = buffer_flush_stops_growing(state, edge->bytes);
    enum claim waits = stops == CLAIM_MEASURING
                           ? CLAIM_MEASURING
                           : buffer_waits_for_flush(state, edge->bytes);
    /* Of what just fits, much was written out meanwhile: so it is looked at where
     * the buffer is full in the end. */
    if (waits == CLAIM_FALLS && stops != CLAIM_HOLDS)
        stops = buffer_flush_stops_growing(state, 2 * edge->bytes);
    if (waits == CLAIM_MEASURING || stops == CLAIM_MEASURING)
        return false;
    /* Between requests it does so for sure. */
    *moves = (waits != CLAIM_HOLDS || state->flush_unseen) &&
             buffer_parts(edge->bytes + state->grain_bytes, limit) > 1;
    if (*moves && state->everywhere) {
        enum claim stands = buffer_stands_slowly(state, edge);
        if (stands == CLAIM_MEASURING)
            return false;
        if (stands != CLAIM_HOLDS) {
            finding_why(add(findings),
                        "writes of up to %s fit, but more does where they come "
                        "more slowly: the drive writes out what it holds "
                        "while it is filled, so how much it holds stays hidden",
                        format_bytes(edge->bytes, size, sizeof(size)));
            return true;
        }
    }
    if (stops == CLAIM_HOLDS && waits == CLAIM_HOLDS)
        return say_edge(state, edge, edge->confidence,
                        "the flush that follows costs no more beyond that size",
                        findings);
    if (stops == CLAIM_HOLDS)
        return say_edge(state, edge,
                        fmin(edge->confidence, one_sign_confidence),
                        "the flush that follows costs no more beyond that "
                        "size; what the drive writes out meanwhile counts as "
                        "well",
                        findings);
    /* A drive that cleans has more to do the more is written. A little was seen
     * to wait, though of this much it cannot be told. */
    if (waits == CLAIM_OPEN && !state->everywhere)
        waits = CLAIM_HOLDS;
    if (waits == CLAIM_HOLDS && is_more_than_request(state, edge, fit) &&
        (!buffer_host_splits_at(state, edge->bytes) || edge->step > doubled))
        return say_edge(state, edge,
                        fmin(edge->confidence, one_sign_confidence),
                        "that is more than another request of the host would "
                        "take, though the flush that follows goes on growing",
                        findings);
    finding_why(
        add(findings),
        "there is a step at %s, but the flush goes on growing beyond it, "
        "so it may be the host that splits requests there",
        format_bytes(edge->bytes, size, sizeof(size)));
    return true;
}

static bool say_no_step(struct findings *findings,
                        const struct buffer_bracket *bracket)
{
    char low[24], high[24];

    finding_why(add(findings),
                "writes leave their line between %s and %s, but no single "
                "step stands up to fresh data: the buffer drains while it "
                "fills, or the noise is too large",
                format_bytes(bracket->low_bytes, low, sizeof(low)),
                format_bytes(bracket->high_bytes, high, sizeof(high)));
    return true;
}

static bool conclude_bypassed(struct buffer_probe *state, uint64_t first_bytes,
                              struct findings *findings);

static const char held_unsure[] =
    "small writes bypass the buffer (a flush has nothing to do after them) "
    "while larger ones are buffered, and the times of those follow no line, so "
    "no empty buffer can be filled in steps";

/*
 * Follows the line to where writes leave it, twice if it is the host's doing.
 * `*elsewhere`: nothing was found, or what depends on where writes go.
 */
static bool follow_here(struct buffer_probe *state, struct buffer_fit *fit,
                        struct findings *findings, bool *elsewhere)
{
    struct buffer_bracket bracket = {0, 0};
    double excess = 0;
    char most[24];

    for (;;) {
        struct buffer_edge edge = {0};
        switch (buffer_gallop(state, fit, &bracket.low_bytes,
                              &bracket.high_bytes, &excess)) {
        case BUFFER_MEASURING:
            return false;
        case BUFFER_SLOW:
            *elsewhere = !state->everywhere && excess < log(step_clear) &&
                         bracket.high_bytes > dear_bytes;
            if (*elsewhere)
                return say_no_step(findings, &bracket);
            break;
        case BUFFER_FAST:
            *elsewhere = true;
            finding_why(
                add(findings),
                "writes follow one line up to the largest size tried, %s; "
                "a buffer may be larger, or it may be the host's memory",
                format_bytes(bracket.high_bytes, most, sizeof(most)));
            return true;
        case BUFFER_BELOW:
            if (fit->bypass)
                return say_open(findings, held_unsure);
            return conclude_bypassed(state, bracket.high_bytes, findings);
        case BUFFER_UNSURE:
            return say_open(findings, "the noise is too large to see where "
                                      "writes leave their line");
        }
        switch (buffer_find_edge(state, fit, &bracket, excess, &edge)) {
        case CLAIM_MEASURING:
            return false;
        case CLAIM_FALLS:
        case CLAIM_OPEN:
            *elsewhere = true;
            return say_no_step(findings, &bracket);
        case CLAIM_HOLDS:
            if (!is_of_host(state, &edge, fit))
                return conclude_edge(state, &edge, fit, findings, elsewhere);
        }
        fit->count = fit->small_count;
        buffer_refit(fit);
    }
}

/*
 * Near to each other, writes may overflow for next to nothing; where they go
 * anywhere, what they wait for stands out.
 */
static bool follow_line(struct buffer_probe *state,
                        const struct buffer_fit *fit, struct findings *findings)
{
    const size_t said_count = findings->count;
    struct buffer_fit own = *fit;
    bool elsewhere = false;

    if (!follow_here(state, &own, findings, &elsewhere))
        return false;
    if (!elsewhere || state->everywhere)
        return true;
    findings->count = said_count;
    state->everywhere = state->second = true;
    own = *fit;
    return follow_here(state, &own, findings, &elsewhere);
}

static const char no_line[] = "the times of writes of neighbouring sizes "
                              "follow no line, so the end of one cannot be "
                              "seen";

struct held_query {
    struct buffer_probe *state;
    double threshold;
};

static struct contrast flush_after(uint64_t size_bytes)
{
    return buffer_compare(BUFFER_FLUSH_AFTER, size_bytes, 0,
                          placing_repeats(size_bytes, 1, 8, 2 * MIB),
                          SIDE_OPEN);
}

/* Does a write of this size pass the buffer by? */
static bool ask_bypassed(void *context, const char *phase, uint32_t index,
                         uint64_t place_bytes, bool *holds)
{
    const struct held_query *query = context;
    struct contrast contrast = flush_after(place_bytes);
    double ratio;

    snprintf(contrast.name, sizeof(contrast.name), "q%u-%llu", index,
             (unsigned long long)place_bytes);
    if (!study_ratios(&query->state->study, phase, &contrast, 1, &ratio))
        return false;
    *holds = ratio < query->threshold;
    return true;
}

/* The smallest write that is held: `*first_bytes` is, and a quarter of it is
 * not. False: measuring. */
static bool search_first_held(struct buffer_probe *state, uint64_t *first_bytes)
{
    enum { ROUNDS = 12 };
    static const char phase[] = "first-held";
    struct contrast held = flush_after(*first_bytes);
    const uint64_t grain = state->grain_bytes;
    double ratios[ROUNDS];
    uint64_t last_bytes;

    if (!study_ratios(&state->study, phase, &held, ROUNDS, ratios))
        return false;
    struct held_query query = {
        .state = state,
        /* As in look_at_smaller(), for one that is a quarter as long. */
        .threshold = log(1 + (exp(stats_median(ratios, ROUNDS)) - 1) / 8)};
    const struct threshold_search search = {.low_bytes = *first_bytes / 4 /
                                                         grain * grain,
                                            .high_bytes = *first_bytes,
                                            .step_bytes = grain,
                                            .reliability = 0.9,
                                            .answer = ask_bypassed,
                                            .context = &query};
    if (study_search(&state->study, phase, &search, &last_bytes) != CLAIM_HOLDS)
        return false;
    *first_bytes = last_bytes + grain;
    return true;
}

/*
 * Writes below `first_bytes` pass the buffer by: the line begins there. A write
 * that the host splits has a last part that may be small, and pass it by too: so
 * longer ones go in even parts. Their line costs what it costs to begin one.
 */
static bool follow_held(struct buffer_probe *state, uint64_t first_bytes,
                        uint64_t step_bytes, struct findings *findings,
                        bool *straight)
{
    struct buffer_fit fit = {.bypass = true};
    uint64_t sizes[BUFFER_SMALL_SIZES];

    for (uint64_t i = 0; i < BUFFER_SMALL_SIZES; i++)
        sizes[i] = first_bytes + i * step_bytes;
    state->reference_bytes = first_bytes;
    if (!buffer_fit_small(state, sizes, &fit))
        return false;
    *straight = buffer_is_straight(&fit);
    if (!*straight)
        return true;
    fit.part_bytes = state->part_bytes;
    fit.part_time = fmax(fit.line.intercept, 0);
    return follow_line(state, &fit, findings);
}

static bool conclude_bypassed(struct buffer_probe *state, uint64_t first_bytes,
                              struct findings *findings)
{
    const uint64_t grain = state->grain_bytes;
    bool straight = false;

    if (!state->flush_unseen && !search_first_held(state, &first_bytes))
        return false;
    state->part_bytes = state->study.setting.request_limit_bytes;
    /* Closely, where the buffer ends among these. */
    for (uint64_t share = 8; share <= 64 && !straight; share *= 2) {
        uint64_t step = (first_bytes / share + grain - 1) / grain * grain;
        if (!follow_held(state, first_bytes, step, findings, &straight))
            return false;
    }
    if (straight)
        return true;
    return say_open(findings, held_unsure);
}

/*
 * Is what is held written out before a flush asks for it? Not where the flush
 * has as much to do after a pause. `first_bytes`: after a write of so much a
 * flush takes longer. False: measuring.
 */
static bool look_at_waiting(struct buffer_probe *state, uint64_t first_bytes)
{
    const struct contrast after =
        buffer_compare(BUFFER_FLUSH_AFTER, first_bytes, 0,
                       placing_repeats(first_bytes, 1, 8, 2 * MIB), SIDE_OPEN);
    double flush_ns = 0;

    state->everywhere = true;
    if (state->flush_unseen || state->unwaiting)
        return true;
    state->everywhere = false;
    buffer_cell_cost(&state->study, "flush", &after, true, 0, &flush_ns);
    enum claim waits =
        buffer_as_long_later(state, "waits", first_bytes, 4, flush_ns);
    state->everywhere = waits != CLAIM_HOLDS;
    return waits != CLAIM_MEASURING;
}

/* `first_bytes`: the smallest write that is known to be buffered. */
static bool conclude_buffered(struct buffer_probe *state, uint64_t first_bytes,
                              struct findings *findings)
{
    static const uint64_t fine[] = {4 * KIB,  6 * KIB,  8 * KIB,
                                    10 * KIB, 12 * KIB, 16 * KIB};
    static const uint64_t coarse[] = {4 * KIB,  8 * KIB,  12 * KIB,
                                      16 * KIB, 20 * KIB, 24 * KIB};
    /* Of a buffer that ends among these: below the reference. */
    static const uint64_t finest[] = {KIB,     2 * KIB, 3 * KIB,
                                      4 * KIB, 6 * KIB, 8 * KIB};
    bool is_coarse = state->grain_bytes > 2 * KIB;
    struct buffer_fit fit = {.count = 0};

    if (!look_at_waiting(state, first_bytes))
        return false;
    if (!buffer_fit_small(state, is_coarse ? coarse : fine, &fit))
        return false;
    if (buffer_is_straight(&fit))
        return follow_line(state, &fit, findings);
    if (state->grain_bytes <= KIB) {
        if (!buffer_fit_small(state, finest, &fit))
            return false;
        if (buffer_is_straight(&fit))
            return follow_line(state, &fit, findings);
    }
    if (first_bytes > small_bytes[0])
        return conclude_bypassed(state, first_bytes, findings);
    return say_open(findings, no_line);
}

/*
 * A flush that is not seen to do anything while writes are fast: it is ignored,
 * or the drive writes out so soon that the flush hides it. The second also fills
 * and overflows, so the line is followed all the same.
 */
static bool conclude_unseen(struct buffer_probe *state, const char *reason,
                            struct findings *findings)
{
    struct finding *finding;

    state->flush_unseen = true;
    if (!conclude_buffered(state, small_bytes[0], findings))
        return false;
    finding = &findings->items[findings->count - 1];
    if (finding->verdict != VERDICT_FOUND)
        finding_why(finding, "%s", reason);
    return true;
}

/* A flush that does nothing: written through, or not what it says? */
static bool conclude_unbuffered(struct buffer_probe *state, bool nothing,
                                struct findings *findings)
{
    static const char unclear[] =
        "it cannot be told whether a flush takes longer after a write than "
        "after nothing, so it is not known when the buffer is empty";
    const struct claim_rule rule = {.alpha = buffer_alpha,
                                    .looks = claim_looks};
    struct contrast contrast =
        buffer_compare(BUFFER_WRITE_READ, 4 * KIB, 4 * KIB, 8, SIDE_OPEN);

    contrast.low = log(1.5);
    contrast.high = log(1.1);
    enum claim claim =
        study_claim(&state->study, "through", &contrast, 1, &rule);
    if (claim == CLAIM_MEASURING)
        return false;
    if (claim == CLAIM_HOLDS && contrast.side == SIDE_BELOW)
        return conclude_unseen(
            state,
            nothing ? "a flush takes no longer after a write than after "
                      "nothing, yet writes are fast: the flush is ignored, or "
                      "the buffer needs none, so its size stays hidden"
                    : unclear,
            findings);
    if (!nothing)
        return say_open(findings, unclear);
    if (claim != CLAIM_HOLDS)
        return say_open(
            findings, "a flush takes no longer after a write than after "
                      "nothing, and writes are not clearly slower than reads, "
                      "so it cannot be told whether anything is buffered");
    /* A drive may also take longer over the command of a write than of a read,
     * but not several times. */
    const double clear = log(4), unclear_confidence = 0.95;
    const double confidence = claim_confidence(&contrast, 1, &rule);
    struct finding *finding = add(findings);
    finding_absent(finding, contrast.median > clear
                                ? confidence
                                : fmin(confidence, unclear_confidence));
    finding_why(
        finding,
        "a write of 4 KiB takes %.1f times as long as a read and leaves "
        "nothing for a flush to do: it goes straight to the flash, past "
        "any buffer",
        exp(contrast.median));
    return true;
}

/*
 * Small writes leave nothing to do for a flush: they pass the buffer by, or what
 * is held of them is soon written out. That takes longer where they go anywhere,
 * so that then the flush is seen to do it.
 */
static bool conclude_large_only(struct buffer_probe *state,
                                uint64_t first_bytes, struct findings *findings)
{
    const struct claim_rule rule = {.alpha = buffer_alpha,
                                    .looks = claim_looks};
    const uint64_t small =
        first_bytes / 4 < small_bytes[0] ? small_bytes[0] : first_bytes / 4;
    struct contrast contrast =
        buffer_compare(BUFFER_FLUSH_FAR, small, 0, 4, SIDE_ABOVE);

    contrast.low = contrast.high = flush_effect;
    switch (study_claim(&state->study, "smaller-far", &contrast, 1, &rule)) {
    case CLAIM_MEASURING:
        return false;
    case CLAIM_HOLDS:
        state->unwaiting = true;
        return conclude_buffered(state, small, findings);
    case CLAIM_FALLS:
    case CLAIM_OPEN:
        break;
    }
    return conclude_bypassed(state, first_bytes, findings);
}

static bool think(struct study *study, struct findings *findings)
{
    struct buffer_probe *state = (struct buffer_probe *)study;
    uint64_t first_bytes = 0;

    if (study->setting.method == METHOD_PAPER)
        return paper_write_buffer(study, findings);
    state->flush_unseen = state->unwaiting = false;
    state->everywhere = state->second = false;
    state->part_bytes = 0;
    state->reference_bytes = 8 * KIB;
    enum flushing flushing = look_at_flush(state, &first_bytes);
    switch (flushing) {
    case FLUSHING_MEASURING:
        return false;
    case FLUSHING_BUFFERED:
        return conclude_buffered(state, first_bytes, findings);
    case FLUSHING_NOTHING:
    case FLUSHING_UNCLEAR:
        return conclude_unbuffered(state, flushing == FLUSHING_NOTHING,
                                   findings);
    case FLUSHING_LARGE_ONLY:
        return conclude_large_only(state, first_bytes, findings);
    }
    return false;
}

/* ---- the probe --------------------------------------------------------- */

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    if (setting->method == METHOD_PAPER) {
        paper_write_buffer_plan(setting, plan);
        return;
    }
    plan->requests = 5500;
    plan->requests_max = 400000;
    plan->bytes_written = 330 * MIB;
    plan->bytes_written_max = 32000 * MIB;
    plan->bytes_read = 2 * MIB;
    plan->bytes_read_max = 2 * MIB;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = buffer_emit, .value = buffer_value};
    struct buffer_probe *state =
        study_create(sizeof(*state), &probe_write_buffer, &ops, setting);

    if (!state)
        return -ENOMEM;
    state->page_bytes = findings_integer(known, "clustered_page");
    if (state->page_bytes < 4 * KIB)
        state->page_bytes = 64 * KIB;
    state->grain_bytes = placing_grain(setting);
    state->base_bytes =
        placing_base(setting, state->study.seed, buffer_reserved_bytes);
    *result = state;
    return 0;
}

const struct probe probe_write_buffer = {
    .name = "write-buffer",
    .question = "How many bytes of writes does the drive absorb?",
    .idea = "A write into an empty buffer follows a line of overhead and rate; "
            "one that does not fit waits for the flash and leaves the line.",
    .writes = true,
    .region_min_bytes = 64 * MIB,
    .answers = {"write_buffer"},
    .plan = plan,
    .start = start,
    STUDY_PROBE_FUNCTIONS,
};
