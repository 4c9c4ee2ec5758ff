/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read-buffer: at which size do reads cease to profit? Bisection, and a
 * certificate on fresh data. */
#include "probes/read_buffer/read_buffer.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"

/* Threshold / spread of an answer in a search: most are right. */
static const double answer_clear = 1.2;

/* A search for an edge: `whole` is the bracket it began with, `edge` the
 * bracket now. */
struct search {
    struct read_probe *state;
    const struct read_edge *whole;
    struct read_edge edge;
};

static double share_of(const struct read_edge *edge)
{
    return edge->part_bytes ? read_parts_share : 0.5;
}

/* The threshold of a profit; and how far it is from a whole profit and from
 * none. */
static double counting_from(const struct read_edge *edge)
{
    return share_of(edge) * edge->gain;
}

static double clearance_of(const struct read_edge *edge)
{
    return fmin(share_of(edge), 1 - share_of(edge)) * edge->gain;
}

uint32_t read_repeats_for(const struct read_edge *edge, double clear)
{
    double need = pow(clear * edge->spread / clearance_of(edge), 2);

    return need < READ_REPEATS_USUAL_MAX ? (uint32_t)ceil(need)
                                         : READ_REPEATS_USUAL_MAX;
}

static bool holds(void *context, const char *phase, uint32_t index,
                  uint64_t place_bytes)
{
    const struct search *search = context;
    struct study *study = &search->state->study;
    struct contrast contrast =
        read_as(&study->setting, &search->edge, place_bytes, SIDE_OPEN);
    double ratio;

    read_repeat(&contrast, read_repeats_for(&search->edge, answer_clear));
    edge_name(&contrast, index, place_bytes);
    study_ratios(study, phase, &contrast, 1, &ratio);
    return (ratio > counting_from(&search->edge)) == search->edge.profits_below;
}

static double reliability(const void *context)
{
    const struct read_edge *edge = &((const struct search *)context)->edge;
    double spread =
        edge->spread / sqrt((double)read_repeats_for(edge, answer_clear));

    return stats_normal_cdf(clearance_of(edge) / spread) - 0.02;
}

/* In a certificate of the smallest read that profits: the contrast of that
 * read. */
enum { SMALLEST = 1 };

static void count_from(struct contrast contrasts[], size_t count, double profit)
{
    for (size_t i = 0; i < count; i++)
        contrasts[i].low = contrasts[i].high = profit;
}

/* The threshold is half of the profit shortly before the edge. It is a fifth
 * where the host sends one more request beyond the edge, since that alone makes
 * a profit shrink. */
static void part_of_nearest(struct contrast contrasts[], size_t count)
{
    const double profit = contrasts[0].median;

    for (size_t i = 0; i < count; i++)
        count_from(&contrasts[i], 1,
                   fmax(contrasts[i].trial == &read_beyond_split ? profit / 5
                                                                 : profit / 2,
                        read_gain_least / 2));
}

/* For reads in parts: most of the profit, by read_parts_share. */
static void most_of_nearest(struct contrast contrasts[], size_t count)
{
    count_from(contrasts, count,
               read_parts_share * fmax(contrasts[0].median, read_gain_least));
}

/* For the smallest read that profits: half of its own profit. It may save only
 * the last of its host's requests, while longer reads save more. */
static void half_of_smallest(struct contrast contrasts[], size_t count)
{
    count_from(contrasts, count,
               fmax(contrasts[SMALLEST].median, read_gain_least) / 2);
}

/* Fresh data on both sides of the edge at `place`: near it and farther off. */
static size_t beside(const void *context, uint64_t place_bytes,
                     struct contrast contrasts[EDGE_CONTRASTS_MAX])
{
    const struct search *search = context;
    const struct read_edge *edge = &search->edge;
    const struct setting *setting = &search->state->study.setting;
    uint64_t grain = search->state->grain_bytes;
    uint64_t near = place_bytes / 8 * 7 / grain * grain;
    enum side in = edge->profits_below ? SIDE_ABOVE : SIDE_BELOW;
    enum side out = edge->profits_below ? SIDE_BELOW : SIDE_ABOVE;
    size_t count = 0;

    /* The profit shrinks as reads get longer. So its value shortly before the
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
            contrasts[i].trial = &read_beyond_split;
        read_repeat(&contrasts[i], 2);
        read_repeat(&contrasts[i], read_repeats_for(edge, read_round_clear));
    }
    return count;
}

/* Does a size profit that passed for none when the bracket was chosen? Then the
 * edge is not in the bracket. */
static bool is_farther(const struct read_edge *whole,
                       const struct contrast contrasts[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (whole->profits_below && contrasts[i].side == SIDE_ABOVE &&
            contrasts[i].n[READ_SIZE] >= whole->high_bytes)
            return true;
    return false;
}

/* Narrows the bracket by the contrasts that fell on the wrong side. */
static void narrow(const struct search *search, const struct edge *found,
                   struct edge_bracket *bracket)
{
    const struct read_edge *whole = search->whole;
    const uint64_t grain = search->state->grain_bytes, place = found->bytes;

    for (size_t i = 0; i < found->count; i++) {
        const struct contrast *contrast = &found->contrasts[i];
        if (contrast->side == SIDE_OPEN || contrast->side == contrast->expected)
            continue;
        bool inside = (contrast->side == SIDE_ABOVE) == whole->profits_below;
        const uint64_t size = contrast->n[READ_SIZE];
        if (inside)
            bracket->low_bytes = larger_of(bracket->low_bytes, size);
        else
            bracket->high_bytes = smaller_of(bracket->high_bytes, size);
    }
    if (bracket->low_bytes < bracket->high_bytes)
        return;
    /* The answers contradict each other: look again around the place. */
    bracket->low_bytes =
        larger_of(place / 3 * 2 / grain * grain, whole->low_bytes);
    bracket->high_bytes =
        smaller_of(place / 2 * 3 / grain * grain + grain, whole->high_bytes);
}

static bool reopen(void *context, enum claim claim, const struct edge *found,
                   struct edge_bracket *bracket)
{
    struct search *search = context;
    const struct contrast *near = &found->contrasts[0];

    if (claim != CLAIM_FALLS ||
        is_farther(search->whole, found->contrasts, found->count))
        return false;
    if (search->edge.profits_below && near->side == SIDE_ABOVE &&
        near->median < search->edge.gain)
        search->edge.gain = near->median;
    narrow(search, found, bracket);
    search->edge.low_bytes = bracket->low_bytes;
    search->edge.high_bytes = bracket->high_bytes;
    return true;
}

enum claim read_find_edge(struct read_probe *state,
                          const struct read_edge *whole, const char *name,
                          uint64_t *place_bytes, double *confidence)
{
    const struct claim_rule rule = {.alpha = read_alpha / READ_ATTEMPTS_MAX,
                                    .looks = claim_longest_looks,
                                    .adapt =
                                        !whole->profits_below ? half_of_smallest
                                        : whole->part_bytes   ? most_of_nearest
                                                            : part_of_nearest};
    struct search context = {state, whole, *whole};
    const struct edge_search search = {
        .name = name,
        .attempts_max = READ_ATTEMPTS_MAX,
        .bracket = {whole->low_bytes, whole->high_bytes},
        .grain_bytes = state->grain_bytes,
        .rule = &rule,
        .reliability = reliability,
        .holds = holds,
        .beside = beside,
        .reopen = reopen,
        .context = &context};
    struct edge edge;
    const enum claim claim = edge_find(&state->study, &search, &edge);

    *place_bytes = edge.bytes;
    *confidence = edge.confidence;
    return claim;
}

struct read_edge read_edge_between(struct read_probe *state,
                                   struct contrast *below,
                                   struct contrast *above, bool profits_below)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    struct contrast *profit = profits_below ? below : above;
    struct read_edge edge = {.low_bytes = below->n[READ_SIZE],
                             .high_bytes = above->n[READ_SIZE],
                             .profits_below = profits_below,
                             .gain = profit->median};

    study_ratios(&state->study, "survey", profit, profit->rounds_count, ratios);
    edge.spread = stats_spread(ratios, profit->rounds_count) + 1e-3;
    return edge;
}
