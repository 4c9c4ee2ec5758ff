/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write-buffer: where writes leave the line, and what that says of the buffer.
 */
#include "probes/write_buffer/write_buffer.h"

#include <math.h>

/* One more request of the host costs at most as much as two writes of a
 * grain. */
static const double split_most = 2;
/* A step of this ratio is not the host's: one more request, of a grain, never
 * takes as long as all before it. */
static const double doubled = 2;
/* Most confidence: that a full buffer makes the step, and no page that is begun
 * or unit that is busy, is not tested. And where no flush is seen to do
 * anything. */
static const double edge_confidence = 0.95;
static const double unseen_confidence = 0.9;
/* Most confidence where the drive writes out between the host's requests of one
 * write. Of twelve such edges, three were a page farther than with a host that
 * sends requests in another way. */
static const double moving_confidence = 0.75;
/* A step below step_clear may not be the buffer's but a page that is begun, or
 * a level of a cache behind it. Of ten such steps, two were. */
static const double step_clear = 1.25, small_step_confidence = 0.85;
/* Longer writes cost too much to tell a step below step_clear from the line. */
static const uint64_t dear_bytes = 4 * MIB;

static void say_edge(struct buffer_probe *state, const struct buffer_edge *edge,
                     double confidence, const char *why_not_host,
                     struct findings *findings)
{
    struct finding *finding = buffer_add(findings);

    confidence = fmin(confidence, edge_confidence);
    if (state->flush_unseen)
        confidence = fmin(confidence, unseen_confidence);
    if (edge->step < step_clear)
        confidence = fmin(confidence, small_step_confidence);
    finding_found(finding, value_integer(edge->bytes), confidence);
    finding->high = value_integer(edge->bytes + state->grain_bytes -
                                  state->study.setting.logical_block_bytes);
    finding_why(
        finding,
        "writes of up to %s into an empty buffer follow one line, and one of "
        "%s takes %.2f times as long; %s",
        study_bytes(&state->study, edge->bytes),
        study_bytes(&state->study, edge->bytes + state->grain_bytes),
        edge->step, why_not_host);
}

/* The time that the step adds, in times of a write of reference_bytes. */
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
 * Is the step caused by one more request of the host? It is if the host begins
 * to send one there and the step takes no longer than small writes do. Then
 * `part_time` is set to it, and the line goes on beyond.
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

static void say_page_begun(struct buffer_probe *state,
                           const struct buffer_edge *edge,
                           struct findings *findings)
{
    finding_why(
        buffer_add(findings),
        "a write of %s takes %.2f times as long as one of %s, but several "
        "times as much follows the line of buffered writes: reading the rest "
        "of a partly written page takes the time, so the buffer's size does "
        "not show",
        study_bytes(&state->study, edge->bytes + state->grain_bytes),
        edge->step, study_bytes(&state->study, edge->bytes));
}

/*
 * Adds the finding for a step that is the drive's. `stops`: the flush stops
 * growing there. `waits`: the drive keeps data until a flush. `moves`: as
 * conclude_edge() returns.
 */
static void say_by_flush(struct buffer_probe *state,
                         const struct buffer_edge *edge,
                         const struct buffer_fit *fit, enum claim stops,
                         enum claim waits, bool moves,
                         struct findings *findings)
{
    if (stops == CLAIM_HOLDS) {
        say_edge(
            state, edge,
            waits != CLAIM_HOLDS && moves ? moving_confidence
                                          : edge->confidence,
            waits == CLAIM_HOLDS
                ? "the flush that follows costs no more beyond that size"
                : "the flush that follows costs no more beyond that size; "
                  "data that the drive writes out meanwhile counts as well",
            findings);
        return;
    }
    /* A drive that cleans has more to do the more is written. The drive was
     * seen to keep a little until a flush, so take it that it keeps this much
     * as well. */
    if (waits == CLAIM_OPEN && !state->everywhere)
        waits = CLAIM_HOLDS;
    /* The speed of a single request cannot differ, so what is written out
     * meanwhile moves no edge. */
    const bool splits = buffer_host_splits_at(state, edge->bytes);
    const bool whole = !moves && !splits && edge->step > doubled;
    if ((waits == CLAIM_HOLDS || whole) &&
        is_more_than_request(state, edge, fit) &&
        (!splits || edge->step > doubled))
        say_edge(state, edge, edge->confidence,
                 "that is more than another request of the host would take, "
                 "although the flush that follows keeps growing",
                 findings);
    else
        finding_why(buffer_add(findings),
                    "there is a step at %s, but the flush keeps growing beyond "
                    "it, so the host may be splitting requests there",
                    study_bytes(&state->study, edge->bytes));
}

/* A reason to doubt an edge, before more is measured. NULL: there is none
 * yet. */
static const char *doubt_of(const struct buffer_probe *state,
                            const struct buffer_edge *edge,
                            const struct buffer_fit *fit)
{
    /* The cost of the host's next request was estimated, but roughly. */
    if (buffer_host_splits_at(state, edge->bytes) &&
        !is_more_than_request(state, edge, fit))
        return "writes leave their line where the host sends one more request, "
               "by no more than that request takes";
    /* A buffer that fills again and again makes a step at each multiple of its
     * size. */
    if (fit->bypass && (double)edge->bytes < 2 * fit->sizes[0])
        return "small writes bypass the buffer (a flush has nothing to do "
               "after them), and the smallest that does not may already exceed "
               "it";
    return NULL;
}

/* Adds what an edge says. True: what the drive takes in depends on the place of
 * a write, or on its speed. */
static bool conclude_edge(struct buffer_probe *state,
                          const struct buffer_edge *edge,
                          const struct buffer_fit *fit,
                          struct findings *findings)
{
    const uint64_t limit = state->study.setting.request_limit_bytes;
    const char *doubt = doubt_of(state, edge, fit);

    if (doubt) {
        buffer_say_open(findings, doubt);
        return false;
    }
    enum claim stops = buffer_flush_stops_growing(state, edge->bytes);
    enum claim waits = buffer_waits_for_flush(state, edge->bytes);
    /* Much of a write at the edge was already written out when its flush came.
     * A write twice as long fills the buffer, so its flush is compared
     * instead. */
    if (waits == CLAIM_FALLS && stops != CLAIM_HOLDS)
        stops = buffer_flush_stops_growing(state, 2 * edge->bytes);
    if (buffer_is_page_begun(state, edge)) {
        say_page_begun(state, edge, findings);
        return false;
    }
    const bool in_parts =
        buffer_parts(edge->bytes + state->grain_bytes, limit) > 1;
    /* Between requests it writes out for sure. */
    const bool moves =
        (waits != CLAIM_HOLDS || state->flush_unseen) && in_parts;
    /* A flush that is not the shorter for a pause does not prove that nothing
     * is written out: the drive may have begun something else. */
    if (in_parts && (!moves || state->everywhere) &&
        buffer_stands_slowly(state, edge) != CLAIM_HOLDS)
        finding_why(buffer_add(findings),
                    "writes of up to %s fit, but more do when they come more "
                    "slowly: the drive writes data out while the buffer fills, "
                    "which hides its size",
                    study_bytes(&state->study, edge->bytes));
    else
        say_by_flush(state, edge, fit, stops, waits, moves, findings);
    return moves;
}

static void say_no_step(struct buffer_probe *state, struct findings *findings,
                        const struct edge_bracket *bracket)
{
    finding_why(buffer_add(findings),
                "writes leave their line between %s and %s, but fresh data "
                "confirms no single step: the buffer drains while it fills, or "
                "the noise is too large",
                study_bytes(&state->study, bracket->low_bytes),
                study_bytes(&state->study, bracket->high_bytes));
}

static const char held_unsure[] =
    "small writes bypass the buffer (a flush has nothing to do after them), "
    "and the times of larger, buffered writes follow no line, so an empty "
    "buffer cannot be filled in steps";

/*
 * Follows the line to where writes leave it, and once more if the host causes
 * the step. True: nothing was found, or an edge that depends on where writes
 * go.
 */
static bool follow_here(struct buffer_probe *state, struct buffer_fit *fit,
                        struct findings *findings)
{
    struct edge_bracket bracket = {0, 0};
    double excess = 0;

    for (;;) {
        struct buffer_edge edge = {0};
        switch (buffer_gallop(state, fit, &bracket.low_bytes,
                              &bracket.high_bytes, &excess)) {
        case BUFFER_SLOW:
            if (state->everywhere || excess >= log(step_clear) ||
                bracket.high_bytes <= dear_bytes)
                break;
            say_no_step(state, findings, &bracket);
            return true;
        case BUFFER_FAST:
            state->no_end = true;
            finding_why(
                buffer_add(findings),
                "writes follow one line up to the largest size tried, %s; the "
                "buffer may be larger, or it is the host's memory",
                study_bytes(&state->study, bracket.high_bytes));
            return true;
        case BUFFER_BELOW:
            if (fit->bypass)
                buffer_say_open(findings, held_unsure);
            else
                buffer_conclude_bypassed(state, bracket.high_bytes, findings);
            return false;
        case BUFFER_UNSURE:
            state->no_end = true;
            buffer_say_open(
                findings,
                "the noise is too large to see where writes leave their line");
            return false;
        }
        if (buffer_find_edge(state, fit, &bracket, excess, &edge) !=
            CLAIM_HOLDS) {
            say_no_step(state, findings, &bracket);
            return true;
        }
        if (!is_of_host(state, &edge, fit))
            return conclude_edge(state, &edge, fit, findings);
        fit->count = fit->small_count;
        buffer_refit(fit);
    }
}

/*
 * Writes to near places may overflow at little cost. At random places, what
 * they wait for takes long enough to be seen.
 */
void buffer_follow_line(struct buffer_probe *state,
                        const struct buffer_fit *fit, struct findings *findings)
{
    const size_t said_count = findings->count;
    struct buffer_fit own = *fit;

    const bool perhaps_far = follow_here(state, &own, findings);
    const size_t open_count = findings->count;
    if (state->no_end && buffer_look_deep(state, findings)) {
        findings->items[said_count] = findings->items[open_count];
        findings->count = said_count + 1;
        return;
    }
    if (!perhaps_far || state->everywhere)
        return;
    findings->count = said_count;
    state->everywhere = state->second = true;
    own = *fit;
    follow_here(state, &own, findings);
}

/*
 * Fits the line from `first_bytes` on, for smaller writes bypass the buffer.
 * The last part of a write that the host splits may be so small that it does as
 * well. So longer writes go in even parts, and each part costs what it costs to
 * begin a write. False: there is no line.
 */
static bool follow_held(struct buffer_probe *state, uint64_t first_bytes,
                        uint64_t step_bytes, struct findings *findings)
{
    struct buffer_fit fit = {.bypass = true};
    uint64_t sizes[BUFFER_SMALL_SIZES];

    for (uint64_t i = 0; i < BUFFER_SMALL_SIZES; i++)
        sizes[i] = first_bytes + i * step_bytes;
    state->reference_bytes = first_bytes;
    if (!buffer_fit_small(state, sizes, &fit))
        return false;
    fit.part_bytes = state->part_bytes;
    fit.part_time = fmax(fit.line.intercept, 0);
    buffer_follow_line(state, &fit, findings);
    return true;
}

void buffer_conclude_bypassed(struct buffer_probe *state, uint64_t first_bytes,
                              struct findings *findings)
{
    const uint64_t grain = state->grain_bytes;

    if (!state->flush_unseen)
        first_bytes = buffer_search_first_held(state, first_bytes);
    state->part_bytes = state->study.setting.request_limit_bytes;
    /* The steps get smaller, for the buffer may end among these sizes. */
    for (uint64_t share = 8; share <= 64; share *= 2) {
        uint64_t step = (first_bytes / share + grain - 1) / grain * grain;
        if (follow_held(state, first_bytes, step, findings))
            return;
    }
    buffer_say_open(findings, held_unsure);
}
