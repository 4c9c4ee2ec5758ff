/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write-buffer: what a flush has to do after writes shows how much of them the
 * buffer holds.
 */
#include "probes/write_buffer/write_buffer.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

static const double search_error = 0.004;
/* A flush after a write must take a quarter longer than one after nothing. */
static const double flush_effect = 0.2231; /* log 1.25 */

/* A write that goes the same way as a shorter one takes no less; by half less
 * is beyond chance and the kinds of pages. */
static const double quicker_share = 0.5;

static struct contrast flush_after(uint64_t size_bytes)
{
    return buffer_compare(BUFFER_FLUSH_AFTER, size_bytes, 0,
                          placing_repeats(size_bytes, 1, 8, 2 * MIB),
                          SIDE_OPEN);
}

enum { FLUSH_SIZES = 4 };
static const uint64_t small_bytes[FLUSH_SIZES] = {4 * KIB, 8 * KIB, 16 * KIB,
                                                  64 * KIB};
static const uint64_t large_bytes[FLUSH_SIZES] = {256 * KIB, 512 * KIB, MIB,
                                                  4 * MIB};

/*
 * Does a write of `smaller_bytes` stay in the buffer or bypass it? A flush has
 * work after a write of `known`; after the smaller one, none was seen. If the
 * smaller one is held, the flush has at least its share by size to do, since
 * whole pages are written. The threshold is half of that share.
 */
static enum buffer_flushing look_at_smaller(struct buffer_probe *state,
                                            const struct contrast *known,
                                            uint64_t smaller_bytes)
{
    const struct claim_rule rule = {.alpha = buffer_alpha,
                                    .looks = claim_long_looks};
    const double share =
        (double)smaller_bytes / (double)known->n[BUFFER_SIZE] / 2;
    struct contrast contrast = flush_after(smaller_bytes);

    contrast.low = contrast.high = log(1 + share * (exp(known->median) - 1));
    if (study_claim(&state->study, "smaller", &contrast, 1, &rule) !=
        CLAIM_HOLDS)
        return FLUSHING_UNCLEAR;
    return contrast.side == SIDE_ABOVE ? FLUSHING_BUFFERED
                                       : FLUSHING_LARGE_ONLY;
}

/* Does a flush take longer after a write of any of these sizes? `*first_bytes`:
 * the smallest such size. */
static enum buffer_flushing look_at_sizes(struct buffer_probe *state,
                                          const char *name,
                                          const uint64_t sizes[FLUSH_SIZES],
                                          uint64_t *first_bytes)
{
    const struct claim_rule search = {.alpha = search_error * 7 * FLUSH_SIZES,
                                      .looks = search_looks};
    const struct claim_rule proof = {.alpha = buffer_alpha,
                                     .looks = claim_looks};
    struct contrast contrasts[FLUSH_SIZES];

    for (int i = 0; i < FLUSH_SIZES; i++) {
        contrasts[i] = flush_after(sizes[i]);
        contrasts[i].low = contrasts[i].high = flush_effect;
    }
    enum claim claim =
        study_claim(&state->study, name, contrasts, FLUSH_SIZES, &search);
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
    claim = study_claim(&state->study,
                        study_text(&state->study, "%s-nothing", name),
                        contrasts, FLUSH_SIZES, &proof);
    return claim == CLAIM_HOLDS ? FLUSHING_NOTHING : FLUSHING_UNCLEAR;
}

enum buffer_flushing buffer_look_at_flush(struct buffer_probe *state,
                                          uint64_t *first_bytes)
{
    enum buffer_flushing flushing =
        look_at_sizes(state, "flush", small_bytes, first_bytes);

    if (flushing != FLUSHING_NOTHING)
        return flushing;
    flushing = look_at_sizes(state, "flush-large", large_bytes, first_bytes);
    return flushing == FLUSHING_BUFFERED ? FLUSHING_LARGE_ONLY : flushing;
}

/* The median time of writes of a size, their flushes aside; 0: there are none.
 */
static double write_ns(const struct buffer_probe *state, const char *phase,
                       uint64_t size_bytes)
{
    enum { ROUNDS = 4 };
    struct contrast after = flush_after(size_bytes);
    double ns[ROUNDS * BUFFER_REPEATS_MAX];
    size_t count = 0;

    after.n[BUFFER_KIND] = BUFFER_WRITE_TIME;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const struct trial trial =
            trial_round(&state->study, phase, &after, round);
        count += buffer_costs(&trial, 'b', &ns[count]);
    }
    return count ? stats_median(ns, count) : 0;
}

bool buffer_longer_is_quicker(const struct buffer_probe *state)
{
    const double small_ns = write_ns(state, "flush", small_bytes[0]);

    for (int i = 0; i < FLUSH_SIZES; i++) {
        const double large_ns = write_ns(state, "flush-large", large_bytes[i]);
        if (large_ns > 0 && large_ns < quicker_share * small_ns)
            return true;
    }
    return false;
}

struct held_query {
    struct buffer_probe *state;
    double threshold;
};

/* Does a write of this size bypass the buffer? */
static bool is_bypassed(void *context, const char *phase, uint32_t index,
                        uint64_t place_bytes)
{
    const struct held_query *query = context;
    struct contrast contrast = flush_after(place_bytes);
    double ratio;

    edge_name(&contrast, index, place_bytes);
    study_ratios(&query->state->study, phase, &contrast, 1, &ratio);
    return ratio < query->threshold;
}

uint64_t buffer_search_first_held(struct buffer_probe *state,
                                  uint64_t first_bytes)
{
    enum { ROUNDS = 12 };
    static const char phase[] = "first-held";
    struct contrast held = flush_after(first_bytes);
    const uint64_t grain = state->grain_bytes;
    double ratios[ROUNDS];

    study_ratios(&state->study, phase, &held, ROUNDS, ratios);
    struct held_query query = {
        .state = state,
        /* Half the share of a write a quarter as long, as in
         * look_at_smaller(). */
        .threshold = log(1 + (exp(stats_median(ratios, ROUNDS)) - 1) / 8)};
    const struct edge_bisection search = {
        .bracket = {first_bytes / 4 / grain * grain, first_bytes},
        .grain_bytes = grain,
        .reliability = 0.9,
        .holds = is_bypassed,
        .context = &query};
    return edge_bisect(phase, &search) + grain;
}

void buffer_look_at_waiting(struct buffer_probe *state, uint64_t first_bytes)
{
    const struct contrast after = flush_after(first_bytes);

    state->everywhere = true;
    if (state->flush_unseen || state->unwaiting)
        return;
    state->everywhere = false;
    const double flush_ns = buffer_first_ns(state, "flush", &after, 'b');
    state->everywhere = buffer_as_long_later(state, "waits", first_bytes, 4,
                                             flush_ns) != CLAIM_HOLDS;
}

enum claim buffer_is_held_far(struct buffer_probe *state, uint64_t size_bytes)
{
    struct contrast contrast =
        buffer_compare(BUFFER_FLUSH_FAR, size_bytes, 0, 4, SIDE_ABOVE);

    return buffer_claim(state, "smaller-far", &contrast, flush_effect,
                        buffer_alpha, NULL);
}
