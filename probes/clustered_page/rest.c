/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clustered-page: is the rest of a page read before a part of it is written? */
#include "probes/clustered_page/clustered_page.h"

#include <math.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"
#include "probes/rounds.h"

/* Log ratios of a part of a page to all of it: it costs more, or no more. */
static const double rest_least = 0.02, rest_none = 0.035;
/* A part may also cost more than all of a page where nothing is read, for a
 * cause that is not known: so it was with 3 of 25 drawn drives, which update
 * sectors behind a buffer. */
static const double reads_confidence = 0.85;

/* Flushes that are measured with nothing to do, each behind another. */
enum { EMPTY_FLUSHES = 16 };
/* Two times are alike within this. */
static const double alike_most = 1.15;

/* A part of a page against all of it. */
static struct contrast part_of(const struct page_probe *state,
                               uint64_t page_bytes, uint64_t part_bytes)
{
    return trial_expect(
        state->stream_bytes
            ? page_stream_part(state, page_bytes, part_bytes)
            : page_pair(&page_part, page_bytes, part_bytes, page_bytes,
                        placing_repeats(page_bytes, 8, 16, 4 * MIB)),
        SIDE_OPEN, state->stream_bytes ? page_stream_dear : rest_least,
        rest_none, NULL);
}

static void send_empty(const struct trial *trial)
{
    for (int i = 0; i <= EMPTY_FLUSHES; i++)
        trial_flush(trial, i ? 'a' : '\0');
}

/* The median time of a flush that has nothing to write. */
static double empty_flush_ns(struct page_probe *state)
{
    static const struct trial_kind kind = {.name = "empty",
                                           .arms = "a",
                                           .sent = 1,
                                           .timed = EMPTY_FLUSHES,
                                           .round = send_empty};
    const struct contrast empty = trial_of(&kind, 0);
    double ns[EMPTY_FLUSHES];

    rounds_measure(&state->study, "rest-flush", &empty, 1, 1);
    placing_ns(&state->study, "rest-flush", &empty, 'a', 0, EMPTY_FLUSHES, ns);
    return stats_median(ns, EMPTY_FLUSHES);
}

/* The median time of the flushes of a cell. */
static double flushes_ns(const struct page_probe *state,
                         const struct contrast *contrast, char arm)
{
    double ns[CONTRAST_ROUNDS_MAX];
    size_t count = 0;

    for (uint32_t round = 0; round < contrast->rounds_count; round++) {
        const struct trial trial =
            trial_round(&state->study, "rest", contrast, round);
        /* The cell has a request more or less by lot; the first is in all. */
        for (uint32_t repeats = contrast->repeats - 1;
             repeats <= contrast->repeats + 1; repeats++) {
            const struct timing *rows = trial_rows(&trial, arm, 2 * repeats);
            if (rows)
                ns[count++] = (double)rows[1].ns;
        }
    }
    return count ? stats_median(ns, count) : 0;
}

/*
 * May the part cost more only because the drive waits with it? A buffer that
 * sends off whole pages at once programs them while the flush is on its way,
 * and a part not before the flush. Then the flush behind a whole page takes as
 * long as one that has nothing to do, and the part costs up to that much more,
 * all of it in its flush.
 */
static bool may_only_wait(struct page_probe *state,
                          const struct contrast *contrast)
{
    const double empty_ns = empty_flush_ns(state);
    const double whole_ns = flushes_ns(state, contrast, 'a');
    const double part_ns = flushes_ns(state, contrast, 'b');
    const double extra_ns = page_extra_ns(state, "rest", contrast);

    return whole_ns < alike_most * empty_ns &&
           extra_ns < alike_most * empty_ns &&
           2 * (part_ns - whole_ns) > extra_ns;
}

enum side page_reads_rest(struct page_probe *state, uint64_t page_bytes,
                          double *confidence)
{
    const bool flushes = !state->stream_bytes;
    const struct claim_rule rule = {
        .alpha = flushes ? page_alpha : 2 * page_stream_alpha,
        .looks = !flushes               ? page_stream_looks
                 : page_bytes < MIB / 2 ? claim_long_looks
                                        : claim_looks};
    const uint64_t block = state->block_bytes;
    struct contrast contrasts[2];
    size_t count = 0;

    *confidence = 0;
    if (page_bytes < 2 * block)
        return SIDE_OPEN;
    /* All but one block: hardly less to transfer. Half of it: more to read. */
    contrasts[count++] = part_of(state, page_bytes, page_bytes - block);
    if (page_bytes / 2 / block * block < page_bytes - block)
        contrasts[count++] =
            part_of(state, page_bytes, page_bytes / 2 / block * block);
    enum claim claim =
        study_claim(&state->study, "rest", contrasts, count, &rule);
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].side == SIDE_ABOVE) {
            *confidence = claim_confidence(&contrasts[i], 1, &rule);
            return flushes && may_only_wait(state, &contrasts[i]) ? SIDE_OPEN
                                                                  : SIDE_ABOVE;
        }
    *confidence = claim_confidence(contrasts, count, &rule);
    /* A part is less to transfer and should cost less. If it surely costs more,
     * however little, the rest may be read quickly, as from an SLC cache. */
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].interval.low > 0)
            return SIDE_OPEN;
    return claim == CLAIM_HOLDS ? SIDE_BELOW : SIDE_OPEN;
}

void page_say_rest(struct study *study, struct findings *findings,
                   uint64_t page_bytes, enum side side, double confidence)
{
    struct finding *rest =
        findings_add(findings, "clustered-page", "read_modify_write");
    const char *size = study_bytes(study, page_bytes);

    /* If a buffer is shorter than the page, even a whole page is written in
     * parts, and the rest is read for that as well. */
    if (side == SIDE_BELOW)
        confidence = fmin(confidence, page_small_confidence);
    if (side == SIDE_ABOVE)
        confidence = fmin(confidence, reads_confidence);
    if (side != SIDE_OPEN)
        finding_found(rest, value_boolean(side == SIDE_ABOVE), confidence);
    if (side == SIDE_ABOVE)
        finding_why(
            rest,
            "a write of part of a %s page costs more than a write of all of "
            "it, although it is shorter: the drive reads the rest first",
            size);
    else if (side == SIDE_BELOW)
        finding_why(rest,
                    "a write of half of a %s page, or of nearly all of it, "
                    "costs no more than a write of the whole page",
                    size);
    else
        finding_why(rest,
                    "whether a write of part of a %s page costs more than a "
                    "write of the whole page could not be decided",
                    size);
}

enum claim page_no_rest(struct page_probe *state, double *confidence)
{
    const struct claim_rule rule = {.alpha = page_alpha, .looks = claim_looks};
    struct contrast contrasts[4 * PAGE_SIZES_MAX];
    uint64_t sizes[PAGE_SIZES_MAX];
    size_t count = 0;

    for (uint64_t multiple = 1; multiple <= 3; multiple += 2) {
        /* Beside a longer write, the little that is read would not show. */
        size_t n = page_ladder(state, multiple, page_largest_bytes / 2, sizes);
        for (size_t i = 0; i < n; i++) {
            contrasts[count++] = part_of(state, sizes[i], sizes[i] / 2);
            if (sizes[i] <= page_largest_bytes / 4)
                contrasts[count++] =
                    part_of(state, sizes[i], sizes[i] - state->block_bytes);
        }
    }
    for (size_t i = 0; i < count; i++) {
        contrasts[i].expected = SIDE_BELOW;
        contrasts[i].low = rest_none;
        contrasts[i].summaries_count = PAGE_SUMMARIES;
    }
    enum claim claim =
        study_claim(&state->study, "no-rest", contrasts, count, &rule);
    *confidence = claim_confidence(contrasts, count, &rule);
    return claim;
}
