/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read-buffer: where reads cease to profit: a search by halves, and a
 * certificate on fresh data. */
#include "probes/read_buffer.h"

#include <math.h>
#include <stdio.h>

#include "lib/infer/stats.h"

/* Questions of a search should be right in most cases: threshold / spread. */
static const double answer_clear = 1.2;

struct query {
    struct study *study;
    const struct read_edge *edge;
    uint32_t repeats;
};

static double share_of(const struct read_edge *edge)
{
    return edge->part_bytes ? read_parts_share : 0.5;
}

/* What counts as a profit, and how far from it are a whole one and none. */
static double counting_from(const struct read_edge *edge)
{
    return share_of(edge) * edge->gain;
}

static double clearance_of(const struct read_edge *edge)
{
    return fmin(share_of(edge), 1 - share_of(edge)) * edge->gain;
}

static bool ask_edge(void *context, const char *phase, uint32_t index,
                     uint64_t place_bytes, bool *holds)
{
    const struct query *query = context;
    struct contrast contrast =
        read_as(&query->study->setting, query->edge, place_bytes, SIDE_OPEN);
    double ratio;

    if (contrast.repeats < query->repeats)
        contrast.repeats = query->repeats;
    snprintf(contrast.name, sizeof(contrast.name), "q%u-%llu", index,
             (unsigned long long)place_bytes);
    if (!study_ratios(query->study, phase, &contrast, 1, &ratio))
        return false;
    *holds = (ratio > counting_from(query->edge)) == query->edge->profits_below;
    return true;
}

/* How many pairs make one answer so clear. The spread is that of few pairs
 * where the size allows no more. */
uint32_t read_repeats_for(const struct read_edge *edge, double clear)
{
    double need = pow(clear * edge->spread / clearance_of(edge), 2);

    return need < READ_REPEATS_USUAL_MAX ? (uint32_t)ceil(need)
                                         : READ_REPEATS_USUAL_MAX;
}

static enum claim bisect_edge(struct read_probe *state,
                              const struct read_edge *edge, const char *phase,
                              uint64_t *place_bytes)
{
    struct query query = {.study = &state->study,
                          .edge = edge,
                          .repeats = read_repeats_for(edge, answer_clear)};
    double spread = edge->spread / sqrt((double)query.repeats);
    const struct threshold_search search = {
        .low_bytes = edge->low_bytes,
        .high_bytes = edge->high_bytes,
        .step_bytes = state->grain_bytes,
        .reliability = stats_normal_cdf(clearance_of(edge) / spread) - 0.02,
        .answer = ask_edge,
        .context = &query};

    return study_search(&state->study, phase, &search, place_bytes);
}

enum { EDGE_CONTRASTS_MAX = 7 };

enum { BESIDE_EDGE, BEYOND_SPLIT };

/* Of a certificate of the smallest read that profits: where that is. */
enum { SMALLEST = 1 };

/* Half of the profit shortly before the edge; a fifth of it is too much where
 * the host sends one request more: that alone makes a profit shrink. */
static void part_of_nearest(struct contrast contrasts[], size_t count)
{
    double half = contrasts[0].median / 2, fifth = contrasts[0].median / 5;

    half = fmax(half, read_gain_least / 2);
    fifth = fmax(fifth, read_gain_least / 2);
    for (size_t i = 0; i < count; i++)
        contrasts[i].low = contrasts[i].high =
            contrasts[i].kind == BEYOND_SPLIT ? fifth : half;
}

/* Of a read in parts, most of it: see read_parts_share. */
static void most_of_nearest(struct contrast contrasts[], size_t count)
{
    const double least =
        read_parts_share * fmax(contrasts[0].median, read_gain_least);

    for (size_t i = 0; i < count; i++)
        contrasts[i].low = contrasts[i].high = least;
}

/* The smallest read that profits may save but its last part, of those that the
 * host makes of it, and longer ones more: half of what it saves itself. */
static void half_of_smallest(struct contrast contrasts[], size_t count)
{
    const double half = fmax(contrasts[SMALLEST].median, read_gain_least) / 2;

    for (size_t i = 0; i < count; i++)
        contrasts[i].low = contrasts[i].high = half;
}

/* Fresh data on both sides of the edge at `place`: near it and farther off. */
static size_t edge_contrasts(const struct read_probe *state,
                             const struct read_edge *edge, uint64_t place_bytes,
                             struct contrast contrasts[EDGE_CONTRASTS_MAX])
{
    const struct setting *setting = &state->study.setting;
    uint64_t grain = state->grain_bytes;
    uint64_t near = place_bytes / 8 * 7 / grain * grain;
    enum side in = edge->profits_below ? SIDE_ABOVE : SIDE_BELOW;
    enum side out = edge->profits_below ? SIDE_BELOW : SIDE_ABOVE;
    size_t count = 0;

    /* The profit shrinks as reads get longer: what it is shortly before the
     * edge decides what counts as one. */
    if (edge->profits_below)
        contrasts[count++] =
            read_as(setting, edge, near < grain ? grain : near, in);
    contrasts[count++] = read_as(setting, edge, place_bytes, in);
    contrasts[count++] = read_as(setting, edge, place_bytes + grain, out);
    if (place_bytes >= edge->low_bytes + grain)
        contrasts[count++] = read_as(setting, edge, place_bytes - grain, in);
    contrasts[count++] = read_as(setting, edge, place_bytes + 2 * grain, out);
    if (edge->profits_below) {
        uint64_t far = place_bytes + place_bytes / 20 * 7;
        uint64_t farther = place_bytes + place_bytes / 10 * 9;
        contrasts[count++] = read_as(setting, edge, far - far % grain, out);
        contrasts[count++] =
            read_as(setting, edge, farther - farther % grain, out);
    }
    const uint64_t lead = edge->lead_bytes;
    bool split = !edge->part_bytes &&
                 read_parts_of(setting, lead + place_bytes) <
                     read_parts_of(setting, lead + place_bytes + grain);
    for (size_t i = 0; i < count; i++) {
        contrasts[i].low = contrasts[i].high = counting_from(edge);
        if (split && edge->profits_below && contrasts[i].expected == out)
            contrasts[i].kind = BEYOND_SPLIT;
        if (contrasts[i].repeats < 2)
            contrasts[i].repeats = 2;
        if (contrasts[i].repeats < read_repeats_for(edge, read_round_clear))
            contrasts[i].repeats = read_repeats_for(edge, read_round_clear);
    }
    return count;
}

/* What passed for no profit when the bracket was chosen is one: then the edge is
 * not in it. */
static bool is_farther(const struct read_edge *whole,
                       const struct contrast contrasts[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (whole->profits_below && contrasts[i].side == SIDE_ABOVE &&
            contrasts[i].size_bytes >= whole->high_bytes)
            return true;
    return false;
}

/* Narrows the bracket to the side that the failed certificate spoke for. */
static void reopen(const struct read_probe *state, struct read_edge *edge,
                   const struct read_edge *whole,
                   const struct contrast contrasts[], size_t count,
                   uint64_t place_bytes)
{
    uint64_t grain = state->grain_bytes;

    for (size_t i = 0; i < count; i++) {
        const struct contrast *contrast = &contrasts[i];
        if (contrast->side == SIDE_OPEN || contrast->side == contrast->expected)
            continue;
        bool holds = (contrast->side == SIDE_ABOVE) == edge->profits_below;
        if (holds && contrast->size_bytes > edge->low_bytes)
            edge->low_bytes = contrast->size_bytes;
        if (!holds && contrast->size_bytes < edge->high_bytes)
            edge->high_bytes = contrast->size_bytes;
    }
    if (edge->low_bytes < edge->high_bytes)
        return;
    /* The answers contradict each other: look again around the place. */
    edge->low_bytes = place_bytes / 3 * 2 / grain * grain;
    edge->high_bytes = place_bytes / 2 * 3 / grain * grain + grain;
    if (edge->low_bytes < whole->low_bytes)
        edge->low_bytes = whole->low_bytes;
    if (edge->high_bytes > whole->high_bytes)
        edge->high_bytes = whole->high_bytes;
}

/* The last size on the near side of the edge, certified. */
enum claim read_find_edge(struct read_probe *state,
                          const struct read_edge *whole, const char *name,
                          uint64_t *place_bytes, double *confidence)
{
    struct claim_rule rule = {.alpha = read_alpha / READ_ATTEMPTS_MAX,
                              .looks = claim_longest_looks,
                              .adapt = half_of_smallest};
    struct read_edge edge = *whole;
    char phase[LABEL_PHASE_MAX];

    if (whole->profits_below)
        rule.adapt = whole->part_bytes ? most_of_nearest : part_of_nearest;
    for (int attempt = 1; attempt <= READ_ATTEMPTS_MAX; attempt++) {
        struct contrast contrasts[EDGE_CONTRASTS_MAX];
        snprintf(phase, sizeof(phase), "%s-bisect-%d", name, attempt);
        if (bisect_edge(state, &edge, phase, place_bytes) == CLAIM_MEASURING)
            return CLAIM_MEASURING;
        size_t count = edge_contrasts(state, &edge, *place_bytes, contrasts);
        snprintf(phase, sizeof(phase), "%s-certify-%d", name, attempt);
        enum claim claim =
            study_claim(&state->study, phase, contrasts, count, &rule);
        *confidence = claim_confidence(contrasts, count, &rule);
        if (claim != CLAIM_FALLS || is_farther(whole, contrasts, count))
            return claim;
        if (edge.profits_below && contrasts[0].side == SIDE_ABOVE &&
            contrasts[0].median < edge.gain)
            edge.gain = contrasts[0].median;
        reopen(state, &edge, whole, contrasts, count, *place_bytes);
    }
    return CLAIM_OPEN;
}

struct read_edge read_edge_between(struct read_probe *state,
                                   struct contrast *below,
                                   struct contrast *above, bool profits_below)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    struct contrast *profit = profits_below ? below : above;
    struct read_edge edge = {.low_bytes = below->size_bytes,
                             .high_bytes = above->size_bytes,
                             .profits_below = profits_below,
                             .gain = profit->median};

    study_ratios(&state->study, "survey", profit, profit->rounds_count, ratios);
    edge.spread = stats_spread(ratios, profit->rounds_count) + 1e-3;
    return edge;
}
