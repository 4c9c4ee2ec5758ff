/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write-buffer: where writes leave the line, and what the flush says about it.
 */
#include "probes/write_buffer.h"

#include <math.h>
#include <stdio.h>

#include "lib/infer/stats.h"
#include "probes/placing.h"

enum { ATTEMPTS_MAX = 6 };

/* So far may the line stray where it was not measured. */
static const double stray_most = 0.06;
/* The least step that the edge must show over one grain. */
static const double step_least = 0.04;
/* A write that is by so much faster than a part of it (3 %) is of whole pages. */
static const double whole_gain = 0.03;
/* A flush so much shorter after a pause (a fifth) had less to do. */
static const double late_effect = 0.2;
/* And one that takes more than this longer has to do with something else. */
static const double more_later = 0.1;

struct edge_query {
    struct buffer_probe *state;
    const struct buffer_fit *fit;
    double threshold;
    uint32_t repeats;
};

static bool ask_edge(void *context, const char *phase, uint32_t index,
                     uint64_t place_bytes, bool *holds)
{
    const struct edge_query *query = context;
    struct contrast contrast = buffer_compare(BUFFER_WRITE_TIME, place_bytes,
                                              query->state->reference_bytes,
                                              query->repeats, SIDE_OPEN);
    double ratio;

    snprintf(contrast.name, sizeof(contrast.name), "q%u-%llu", index,
             (unsigned long long)place_bytes);
    if (!study_ratios(&query->state->study, phase, &contrast, 1, &ratio))
        return false;
    *holds =
        ratio - buffer_expected_log(query->fit, place_bytes) < query->threshold;
    return true;
}

/* A step between T and T + grain; none between parts of T and T, nor at a share
 * of T. */
enum { EDGE_CONTRASTS = 8 };

static void half_of_step(struct contrast contrasts[], size_t count)
{
    double threshold = 0.5 * contrasts[0].median;

    threshold = threshold < 0.03 ? 0.03 : threshold;
    for (size_t i = 1; i < count; i++)
        contrasts[i].low = contrasts[i].high = threshold;
}

/*
 * What overflows is emptied, and fills again: a buffer makes a step at each
 * multiple of what it holds. Those of a buffer that ends among the small sizes
 * look like the slope of their line, and the first that is left may be a multiple.
 */
static size_t add_shares(const struct buffer_fit *fit, uint64_t edge_bytes,
                         uint64_t grain, uint32_t repeats,
                         struct contrast contrasts[])
{
    static const uint64_t divisors[] = {2, 3, 5};
    size_t count = 0;

    for (size_t i = 0; i < sizeof(divisors) / sizeof(divisors[0]); i++) {
        uint64_t share = edge_bytes / divisors[i] / grain * grain;
        if (share < grain || share + grain >= edge_bytes ||
            share > fit->largest_small_bytes)
            continue;
        contrasts[count++] = buffer_compare(BUFFER_WRITE_TIME, share + grain,
                                            share, repeats, SIDE_BELOW);
    }
    return count;
}

static size_t edge_contrasts(const struct buffer_probe *state,
                             const struct buffer_fit *fit, uint64_t edge_bytes,
                             uint32_t repeats,
                             struct contrast contrasts[EDGE_CONTRASTS])
{
    static const uint64_t percents[] = {97, 90, 80, 50};
    uint64_t grain = state->grain_bytes;
    size_t count = 0;

    contrasts[count++] = buffer_compare(BUFFER_WRITE_TIME, edge_bytes + grain,
                                        edge_bytes, repeats, SIDE_ABOVE);
    contrasts[0].low = contrasts[0].high = step_least;
    for (int i = 0; i < 4; i++) {
        uint64_t part = edge_bytes * percents[i] / 100 / grain * grain;
        if (part < grain || part == edge_bytes)
            continue;
        contrasts[count++] = buffer_compare(BUFFER_WRITE_TIME, edge_bytes, part,
                                            repeats, SIDE_BELOW);
    }
    count += add_shares(fit, edge_bytes, grain, repeats, contrasts + count);
    for (size_t i = 1; i < count; i++)
        contrasts[i].low = contrasts[i].high = step_least;
    for (size_t i = 0; i < count; i++)
        contrasts[i].predicted =
            buffer_expected_log(fit, contrasts[i].size_bytes) -
            buffer_expected_log(fit, contrasts[i].other_bytes);
    return count;
}

/* The certificate failed: where does the edge lie instead? `excess` becomes what
 * T costs too much, which may be far less than what the bracket's end does. */
static void reopen(struct buffer_bracket *bracket,
                   const struct contrast contrasts[], size_t count,
                   uint64_t edge_bytes, uint64_t grain, double *excess)
{
    if (contrasts[0].side == SIDE_BELOW)
        bracket->low_bytes = edge_bytes + grain; /* no step here: above it */
    for (size_t i = 1; i < count; i++) {
        if (contrasts[i].side != SIDE_ABOVE)
            continue;
        /* Already slow at T, not at this part of it; or beyond a share. */
        bracket->high_bytes = contrasts[i].size_bytes;
        *excess = fmin(*excess, contrasts[i].median);
        if (bracket->low_bytes >= bracket->high_bytes)
            bracket->low_bytes = contrasts[i].other_bytes;
    }
    if (bracket->low_bytes < bracket->high_bytes)
        return;
    /* The answers contradict each other: look again around the place. */
    *bracket =
        (struct buffer_bracket){edge_bytes * 3 / 4 / grain * grain,
                                edge_bytes * 13 / 10 / grain * grain + grain};
}

/* By how much (a logarithm) the edge is at most faster than a part of it. */
static double gain_of_whole(const struct contrast contrasts[], size_t count,
                            uint64_t edge_bytes)
{
    double gain = -INFINITY;

    for (size_t i = 1; i < count; i++)
        if (contrasts[i].size_bytes == edge_bytes)
            gain = fmax(gain, -contrasts[i].median - contrasts[i].predicted);
    return gain;
}

enum claim buffer_find_edge(struct buffer_probe *state,
                            const struct buffer_fit *fit,
                            const struct buffer_bracket *whole, double excess,
                            struct buffer_edge *edge)
{
    const char *further = fit->part_bytes && !fit->bypass ? "further-" : "";
    /* Long writes are dear to repeat. */
    const struct claim_rule rule = {
        .alpha = buffer_alpha / ATTEMPTS_MAX,
        .looks = whole->low_bytes < MIB ? claim_long_looks : claim_looks,
        .adapt = half_of_step};
    struct buffer_bracket bracket = *whole;
    uint32_t repeats =
        buffer_is_dear(state, whole->high_bytes) ? BUFFER_DEAR_REPEATS : 4;

    for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        struct contrast contrasts[EDGE_CONTRASTS];
        char phase[LABEL_PHASE_MAX], what[LABEL_PHASE_MAX];
        double spread = fit->spread * sqrt(8.0 / repeats);
        struct edge_query query = {.state = state,
                                   .fit = fit,
                                   .repeats = repeats,
                                   .threshold = fmax(2 * spread, stray_most)};
        if (query.threshold > 0.5 * excess)
            query.threshold = 0.5 * excess;
        const struct threshold_search search = {
            .low_bytes = bracket.low_bytes,
            .high_bytes = bracket.high_bytes,
            .step_bytes = state->grain_bytes,
            .reliability = stats_normal_cdf(query.threshold / spread) - 0.03,
            .answer = ask_edge,
            .context = &query};
        snprintf(what, sizeof(what), "%sbisect-%d", further, attempt);
        buffer_phase(state, what, phase);
        if (study_search(&state->study, phase, &search, &edge->bytes) !=
            CLAIM_HOLDS)
            return CLAIM_MEASURING;
        size_t count =
            edge_contrasts(state, fit, edge->bytes, repeats, contrasts);
        snprintf(what, sizeof(what), "%scertify-%d", further, attempt);
        buffer_phase(state, what, phase);
        enum claim claim =
            study_claim(&state->study, phase, contrasts, count, &rule);
        edge->step = exp(contrasts[0].median);
        edge->confidence = claim_confidence(contrasts, count, &rule);
        edge->gain = gain_of_whole(contrasts, count, edge->bytes);
        edge->write_ns = 0;
        buffer_cell_cost(&state->study, phase, &contrasts[0], false, 0,
                         &edge->write_ns);
        if (claim == CLAIM_MEASURING || claim == CLAIM_HOLDS)
            return claim;
        reopen(&bracket, contrasts, count, edge->bytes, state->grain_bytes,
               &excess);
        repeats = edge->bytes > MIB ? 4 : 8;
    }
    return CLAIM_OPEN;
}

static struct contrast growth_from(uint64_t from_bytes)
{
    uint64_t size_bytes = 3 * from_bytes;

    if (size_bytes > buffer_reserved_bytes)
        size_bytes = buffer_reserved_bytes;
    struct contrast contrast = buffer_compare(BUFFER_FLUSH_TIME, size_bytes,
                                              from_bytes, 4, SIDE_BELOW);
    contrast.low = contrast.high = 0.5;
    return contrast;
}

static const char growth_phase[] = "growth";

/* More rounds than a claim looks at are never there. */
static double median_growth_of_write(const struct buffer_probe *state,
                                     const struct contrast *growth)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    struct contrast writes = *growth;
    char phase[LABEL_PHASE_MAX];
    size_t count = 0;

    writes.kind = BUFFER_WRITE_TIME;
    buffer_phase(state, growth_phase, phase);
    while (count < CONTRAST_ROUNDS_MAX &&
           buffer_value(&state->study, phase, &writes, (uint32_t)count, NULL,
                        &ratios[count]))
        count++;
    return count ? stats_median(ratios, count) : INFINITY;
}

bool buffer_is_page_begun(const struct buffer_probe *state,
                          const struct buffer_edge *edge)
{
    const struct contrast growth = growth_from(edge->bytes);
    /* A line that such reads have bent says no more of what as much costs. */
    const double most = (double)growth.size_bytes / (double)edge->bytes;

    return edge->gain > whole_gain &&
           exp(median_growth_of_write(state, &growth)) <
               most + (edge->step - 1) / 2;
}

static const uint64_t pause_least_ns = UINT64_C(2000000);
static const uint64_t pause_most_ns = UINT64_C(500000000);

/* A pause of so long, within reason. */
static uint64_t pause_of(double ns)
{
    return (uint64_t)fmax((double)pause_least_ns,
                          fmin(ns, (double)pause_most_ns));
}

enum claim buffer_flush_stops_growing(struct buffer_probe *state,
                                      uint64_t from_bytes)
{
    const struct claim_rule rule = {.alpha = buffer_alpha / 4,
                                    .looks = claim_looks};
    struct contrast contrast = growth_from(from_bytes);
    char phase[LABEL_PHASE_MAX];

    buffer_phase(state, growth_phase, phase);
    return study_claim(&state->study, phase, &contrast, 1, &rule);
}

enum claim buffer_as_long_later(struct buffer_probe *state, const char *phase,
                                uint64_t size_bytes, uint32_t repeats,
                                double flush_ns)
{
    const struct claim_rule rule = {.alpha = buffer_alpha / 4,
                                    .looks = claim_looks};
    struct contrast contrast = buffer_compare(BUFFER_FLUSH_LATE, size_bytes,
                                              size_bytes, repeats, SIDE_ABOVE);

    state->pause_ns = pause_of(2 * flush_ns);
    contrast.low = contrast.high = -late_effect;
    const enum claim claim =
        study_claim(&state->study, phase, &contrast, 1, &rule);
    /* What the drive began in the pause hides what it wrote out. */
    return claim == CLAIM_HOLDS && contrast.median > more_later ? CLAIM_OPEN
                                                                : claim;
}

enum claim buffer_waits_for_flush(struct buffer_probe *state,
                                  uint64_t edge_bytes)
{
    struct contrast growth = growth_from(edge_bytes);
    double flush_ns = 0;
    char phase[LABEL_PHASE_MAX];

    buffer_phase(state, growth_phase, phase);
    buffer_cell_cost(&state->study, phase, &growth, false, 0, &flush_ns);
    buffer_phase(state, "late", phase);
    return buffer_as_long_later(state, phase, edge_bytes, 4, flush_ns);
}

/* Is it still too long where its parts come one by one, with such pauses? */
static enum claim stays_too_long(struct buffer_probe *state,
                                 const struct buffer_edge *edge,
                                 const char *what, uint64_t pause_ns)
{
    const struct claim_rule rule = {.alpha = buffer_alpha / 4,
                                    .looks = claim_looks};
    struct contrast contrast =
        buffer_compare(BUFFER_WRITE_SLOWLY, edge->bytes + state->grain_bytes,
                       edge->bytes, BUFFER_DEAR_REPEATS, SIDE_ABOVE);
    char phase[LABEL_PHASE_MAX];

    contrast.low = contrast.high = fmax(log(edge->step) / 2, step_least);
    state->pause_ns = pause_ns;
    buffer_phase(state, what, phase);
    return study_claim(&state->study, phase, &contrast, 1, &rule);
}

enum claim buffer_stands_slowly(struct buffer_probe *state,
                                const struct buffer_edge *edge)
{
    uint64_t parts = buffer_parts(edge->bytes + state->grain_bytes,
                                  state->study.setting.request_limit_bytes);

    if (parts < 2)
        return CLAIM_HOLDS;
    /* If the host sends them all at once, there is no speed to choose. */
    enum claim claim = state->part_bytes
                           ? CLAIM_HOLDS
                           : stays_too_long(state, edge, "one-by-one", 0);
    if (claim == CLAIM_FALLS)
        return CLAIM_HOLDS;
    if (claim != CLAIM_HOLDS)
        return claim;
    return stays_too_long(state, edge, "slowly",
                          (uint64_t)(edge->write_ns / (double)(parts - 1)));
}

bool buffer_host_splits_at(const struct buffer_probe *state,
                           uint64_t edge_bytes)
{
    uint64_t limit = state->study.setting.request_limit_bytes;
    uint64_t next = edge_bytes + state->grain_bytes;

    return buffer_parts(edge_bytes, limit) != buffer_parts(next, limit);
}
