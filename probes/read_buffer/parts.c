/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read-buffer: the host sends a long read in parts. How large is the buffer if
 * the first parts bypass it, or if the drive reads ahead between them? */
#include "probes/read_buffer/read_buffer.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"

/* Most confidence where the drive decides what its parts do, and nothing showed
 * whether it reads ahead. */
static const double parts_confidence = 0.9;

/* The least profit (log) of a part with which a read in parts is tried. */
static const double part_gain_least = 0.1;

/* The bytes before the host's request that makes a read long enough to use the
 * buffer. */
static uint64_t lead_of(const struct setting *setting, uint64_t smallest_bytes)
{
    if (smallest_bytes == 0)
        return 0;
    return (read_parts_of(setting, smallest_bytes) - 1) *
           setting->request_limit_bytes;
}

/*
 * Searches the size behind a lead that is not kept. The first of the host's
 * requests bypass the buffer, since the drive does not know yet how long the
 * read will be. So the whole read is longer than the buffer.
 */
static enum claim find_behind_lead(struct read_probe *state,
                                   const struct read_edge *whole,
                                   uint64_t lead_bytes, uint64_t *bytes,
                                   double *confidence)
{
    const uint64_t grain = state->grain_bytes;
    struct read_edge edge = *whole;

    edge.lead_bytes = lead_bytes;
    edge.low_bytes = *bytes > 2 * lead_bytes ? *bytes - 2 * lead_bytes : 0;
    edge.low_bytes = edge.low_bytes > grain ? edge.low_bytes : grain;
    edge.high_bytes = *bytes + 2 * grain;
    return read_find_edge(state, &edge, "behind-", bytes, confidence);
}

enum { NEAR_SIDE, FAR_SIDE, BOTH_SIDES };

/* On the far side, a profit must be nearly that of the near side. */
static void most_of_near(struct contrast contrasts[], size_t count)
{
    (void)count;
    contrasts[FAR_SIDE].low = contrasts[FAR_SIDE].high =
        read_parts_share * fmax(contrasts[NEAR_SIDE].median, read_gain_least);
}

/* The spread of what one pair of reads in parts saves. Cells of several pairs
 * spread less. */
static double spread_of_pair(struct read_probe *state, const char *phase,
                             const struct contrast *near)
{
    double ratios[CONTRAST_ROUNDS_MAX];

    study_ratios(&state->study, phase, near, near->rounds_count, ratios);
    return stats_spread(ratios, near->rounds_count) *
               sqrt((double)near->repeats) +
           1e-3;
}

/* On which side of the edge is edge->high_bytes, by reads downwards? SIDE_OPEN:
 * it cannot be told. Sets the edge's gain and spread to those of these
 * reads. */
static enum side side_downwards(struct read_probe *state,
                                struct read_edge *edge, const char *phase)
{
    const struct setting *setting = &state->study.setting;
    /* One side alone decides nothing, so both are decided. */
    const struct claim_rule rule = {.alpha = read_alpha / READ_ATTEMPTS_MAX,
                                    .looks = claim_longest_looks,
                                    .adapt = most_of_near,
                                    .to_the_end = true};
    struct contrast contrasts[BOTH_SIDES] = {
        read_as(setting, edge, edge->low_bytes, SIDE_ABOVE),
        read_as(setting, edge, edge->high_bytes, SIDE_BELOW)};

    for (int i = 0; i < BOTH_SIDES; i++) {
        struct contrast *contrast = &contrasts[i];
        contrast->low = contrast->high = edge->gain / 2;
        read_repeat(contrast, read_repeats_for(edge, read_round_clear));
    }
    study_claim(&state->study, phase, contrasts, BOTH_SIDES, &rule);
    if (contrasts[NEAR_SIDE].side != SIDE_ABOVE)
        return SIDE_OPEN;
    edge->spread = spread_of_pair(state, phase, &contrasts[NEAR_SIDE]);
    /* Reading ahead also makes first reads upwards faster. */
    edge->gain = contrasts[NEAR_SIDE].median;
    return contrasts[FAR_SIDE].side;
}

/* Reads of edge->high_bytes profit. Doubles them until they do not, and
 * searches the edge. Phases begin with `name`. */
static enum claim gallop_downwards(struct read_probe *state,
                                   struct read_edge *edge, const char *name,
                                   struct read_shown *shown)
{
    const uint64_t most_bytes = read_size_limit(&state->study.setting);
    const uint64_t first_bytes = edge->low_bytes;
    enum side side = SIDE_ABOVE;

    for (uint32_t doubled = 1; side != SIDE_BELOW; doubled++) {
        if (side == SIDE_ABOVE)
            edge->low_bytes = edge->high_bytes;
        if (edge->high_bytes >= most_bytes)
            return CLAIM_OPEN;
        edge->high_bytes = smaller_of(first_bytes << doubled, most_bytes);
        side = side_downwards(
            state, edge, study_text(&state->study, "%s-%u", name, doubled));
    }
    return read_find_edge(state, edge, "down-", &shown->bytes,
                          &shown->confidence);
}

/*
 * Searches the buffer's end by reads downwards. If each part continues the
 * last, the drive may read ahead, which takes room in the buffer. From the last
 * part to the first, nothing is continued. Where these reads profit beyond what
 * was found so far, the buffer ends where they cease to.
 */
static enum claim find_downwards(struct read_probe *state,
                                 const struct read_edge *whole,
                                 struct read_shown *shown)
{
    struct read_edge edge = *whole;

    edge.part_bytes = state->study.setting.request_limit_bytes;
    edge.part_least_bytes = shown->smallest_bytes;
    edge.low_bytes = shown->bytes;
    edge.high_bytes = shown->bytes + state->grain_bytes;
    const enum side side = side_downwards(state, &edge, "downwards");
    if (side == SIDE_OPEN)
        shown->confidence = fmin(shown->confidence, parts_confidence);
    if (side != SIDE_ABOVE)
        return CLAIM_HOLDS;
    return gallop_downwards(state, &edge, "downwards", shown);
}

enum claim read_look_again(struct read_probe *state,
                           const struct read_edge *upper,
                           struct read_shown *shown)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t smallest_bytes = shown->smallest_bytes;
    const uint64_t lead = lead_of(setting, smallest_bytes);
    enum claim claim = CLAIM_HOLDS;

    shown->upwards_bytes = shown->bytes;
    if (read_parts_of(setting, shown->bytes + state->grain_bytes) == 1)
        return CLAIM_HOLDS;
    if (2 * smallest_bytes <=
        read_part_for(shown->bytes, setting->request_limit_bytes))
        return find_downwards(state, upper, shown);
    if (lead > 0)
        claim = find_behind_lead(state, upper, lead, &shown->bytes,
                                 &shown->confidence);
    shown->upwards_bytes = shown->bytes;
    /* Parts downwards would be too short to be kept. */
    shown->confidence = fmin(shown->confidence, parts_confidence);
    return claim;
}

/*
 * A second read may save the same for any length: the time of one page. Then
 * the profit shrinks as reads get longer, and is lost before the buffer ends.
 * Read in parts, each part saves it anew, so it does not shrink.
 */
enum claim read_look_in_parts(struct read_probe *state,
                              const struct read_edge *upper,
                              const struct contrast sizes[], size_t last,
                              struct read_shown *shown)
{
    const uint64_t limit_bytes = state->study.setting.request_limit_bytes;
    struct read_edge edge = *upper;
    size_t part = last > 2 ? last - 2 : 0; /* so that a read has four or more */

    while (part > 0 &&
           (sizes[part].median < part_gain_least ||
            (limit_bytes && sizes[part].n[READ_SIZE] > limit_bytes)))
        part--;
    if (sizes[part].side != SIDE_ABOVE ||
        sizes[part].median < part_gain_least ||
        sizes[part].n[READ_SIZE] < 4 * state->grain_bytes)
        return CLAIM_OPEN;
    edge.part_bytes = sizes[part].n[READ_SIZE];
    edge.gain = sizes[part].median;
    edge.low_bytes = sizes[last].n[READ_SIZE];
    edge.high_bytes = edge.low_bytes + state->grain_bytes;
    const enum side side = side_downwards(state, &edge, "parts");
    shown->gain = edge.gain;
    if (side == SIDE_OPEN)
        return CLAIM_OPEN;
    if (side == SIDE_BELOW)
        return read_find_edge(state, &edge, "down-", &shown->bytes,
                              &shown->confidence);
    return gallop_downwards(state, &edge, "parts", shown);
}
