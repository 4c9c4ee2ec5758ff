/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read-buffer: the host sends a long read in parts. What shows of a buffer that
 * the first of them pass by, or of a drive that reads ahead between them? */
#include "probes/read_buffer/read_buffer.h"

#include <math.h>
#include <stdio.h>

#include "lib/infer/statistics/stats.h"

/* What the parts of a long read do is the drive's to decide, and nobody could
 * look whether something is read ahead. */
static const double parts_confidence = 0.9;

/* The least profit of a part by which a read in parts is looked at. */
static const double part_gain_least = 0.1;

/* What of a read comes before the host's request with which it is as long as
 * the smallest that uses the buffer. */
static uint64_t lead_of(const struct setting *setting, uint64_t smallest_bytes)
{
    if (smallest_bytes == 0)
        return 0;
    return (read_parts_of(setting, smallest_bytes) - 1) *
           setting->request_limit_bytes;
}

/*
 * The host sends a long read in parts, and the first ones passed the buffer by
 * before the drive could know how long it would be: the whole read is longer
 * than the buffer. So the size is searched behind so much that is not kept.
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

/* On the far side a profit must be nearly that on the near side. */
static void most_of_near(struct contrast contrasts[], size_t count)
{
    (void)count;
    contrasts[FAR_SIDE].low = contrasts[FAR_SIDE].high =
        read_parts_share * fmax(contrasts[NEAR_SIDE].median, read_gain_least);
}

/* How much what a pair of reads in parts saves varies: less in more of them. */
static double spread_of_pair(struct read_probe *state, const char *phase,
                             const struct contrast *near)
{
    double ratios[CONTRAST_ROUNDS_MAX];

    study_ratios(&state->study, phase, near, near->rounds_count, ratios);
    return stats_spread(ratios, near->rounds_count) *
               sqrt((double)near->repeats) +
           1e-3;
}

/* On which side of the edge is its high end, by reads downwards? SIDE_OPEN:
 * they do not say. What these save becomes the edge's. */
static enum side side_downwards(struct read_probe *state,
                                struct read_edge *edge, const char *phase)
{
    const struct setting *setting = &state->study.setting;
    /* That one side profits decides nothing of the other yet. */
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
        if (contrast->repeats < read_repeats_for(edge, read_round_clear))
            contrast->repeats = read_repeats_for(edge, read_round_clear);
    }
    study_claim(&state->study, phase, contrasts, BOTH_SIDES, &rule);
    if (contrasts[NEAR_SIDE].side != SIDE_ABOVE)
        return SIDE_OPEN;
    edge->spread = spread_of_pair(state, phase, &contrasts[NEAR_SIDE]);
    /* What is read ahead makes first reads upwards faster, too. */
    edge->gain = contrasts[NEAR_SIDE].median;
    return contrasts[FAR_SIDE].side;
}

/* Reads of up to `edge->high_bytes` profit: doubles them until they do not, and
 * finds where that begins. `name`: of the phases. */
static enum claim gallop_downwards(struct read_probe *state,
                                   struct read_edge *edge, const char *name,
                                   struct read_shown *shown)
{
    const uint64_t most_bytes = read_size_limit(&state->study.setting);
    const uint64_t first_bytes = edge->low_bytes;
    enum side side = SIDE_ABOVE;

    for (uint32_t doubled = 1; side != SIDE_BELOW; doubled++) {
        char phase[LABEL_PHASE_MAX];
        if (side == SIDE_ABOVE)
            edge->low_bytes = edge->high_bytes;
        if (edge->high_bytes >= most_bytes)
            return CLAIM_OPEN;
        edge->high_bytes = first_bytes << doubled;
        if (edge->high_bytes > most_bytes)
            edge->high_bytes = most_bytes;
        snprintf(phase, sizeof(phase), "%s-%u", name, doubled);
        side = side_downwards(state, edge, phase);
    }
    return read_find_edge(state, edge, "down-", &shown->bytes,
                          &shown->confidence);
}

/*
 * A read in several parts of the host's, each continuing the last, may bring
 * what is ahead of it as well, and that takes room in the buffer. From the last
 * part to the first nothing is continued: where such reads profit beyond what
 * is shown, the buffer ends where they do.
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

/* Reads that the host sends in parts show less than all of the buffer: where
 * the drive reads ahead, and where the first parts pass it by. */
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
    /* Downwards, parts would be too short to be kept. */
    shown->confidence = fmin(shown->confidence, parts_confidence);
    return claim;
}

/*
 * What a second read saves may be the same for a long read as for a short one:
 * the time of one page. Then the profit shrinks as reads get longer, and is
 * lost before the buffer ends. Read in parts, each saves it anew, so that it
 * does not shrink.
 */
enum claim read_look_in_parts(struct read_probe *state,
                              const struct read_edge *upper,
                              const struct contrast sizes[], size_t last,
                              struct read_shown *shown)
{
    const uint64_t limit_bytes = state->study.setting.request_limit_bytes;
    struct read_edge edge = *upper;
    size_t part = last > 2 ? last - 2 : 0; /* four or more in each read */

    while (part > 0 && (sizes[part].median < part_gain_least ||
                        (limit_bytes && sizes[part].size_bytes > limit_bytes)))
        part--;
    if (sizes[part].side != SIDE_ABOVE ||
        sizes[part].median < part_gain_least ||
        sizes[part].size_bytes < 4 * state->grain_bytes)
        return CLAIM_OPEN;
    edge.part_bytes = sizes[part].size_bytes;
    edge.gain = sizes[part].median;
    edge.low_bytes = sizes[last].size_bytes;
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
