/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read-buffer: how many bytes does the drive keep from what it read last? (Kim
 * et al. III-E)
 *
 * Idea: read a fresh random place twice. The second read is served from the
 * buffer as long as it fits: first / second is large up to the buffer's size,
 * and 1 beyond, because a longer read pushes its own beginning out.
 *
 * Assumes: the places read were written; a small read elsewhere comes first, so
 * that nothing of the place is there already.
 *
 *   first / second
 *      2.0 -------------+
 *                       |
 *      1.0              +-----------
 *               size -> buffer
 *
 * A profit that begins only at some size gives the smallest request that uses
 * the buffer (Kim's SSD-C: 512 KiB, SSD-D: 16 KiB).
 *
 * The host sends a long read in parts, each of which continues the one before: a
 * drive that reads ahead keeps more than was asked for, and the step comes too
 * early. Parts from the last to the first continue nothing.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "lib/infer/stats.h"
#include "lib/infer/study.h"
#include "probes/paper.h"
#include "probes/placing.h"
#include "probes/probes.h"

enum {
    SIZES_MAX = 32,
    REPEATS_MAX = 16,
    REPEATS_USUAL_MAX = 8, /* where the noise is not known */
    PARTS_FEW = 4,
    ATTEMPTS_MAX = 5,
    PILOT_ROUNDS = 3
};

static const double alpha = 1e-4;
/* A second read 5 % faster is a profit. So much may pass for none: more for the
 * long reads, which are dear to repeat. */
static const double profit_low = 0.05, profit_none = 0.06;
static const double profit_none_long = 0.10;
/* A profit that is searched for an edge: the certificate needs half of it. */
static const double gain_least = 0.03;
/* What the parts of a long read do is the drive's to decide, and nobody could look
 * whether something is read ahead. */
static const double parts_confidence = 0.9;
/* Questions of a search should be right in most cases, and the rounds of a
 * certificate in nearly all: threshold / spread. */
static const double answer_clear = 1.2, round_clear = 2;
static const double search_error = 0.004;
/* One request must not take longer than this, or a slow drive takes hours: but
 * where there is something to see. */
static const double longest_ns = 250e6;

struct state {
    struct study study;
    uint64_t grain_bytes, largest_bytes;
};

static uint64_t parts_in(uint64_t size_bytes, uint64_t part_bytes)
{
    return (size_bytes + part_bytes - 1) / part_bytes;
}

/* The host's requests that a read becomes. */
static uint64_t parts_of(const struct setting *setting, uint64_t size_bytes)
{
    uint64_t limit = setting->request_limit_bytes;

    return limit ? parts_in(size_bytes, limit) : 1;
}

/* A read in many parts is rarely free of one that was held up. Repeats so that
 * one mostly is, where one part in so many is not. */
static uint32_t clean_repeats(uint64_t parts)
{
    const double held_up = 0.015, unclean = 0.15;
    double clean = pow(1 - held_up, (double)parts);
    double need = ceil(log(unclean) / log1p(-clean));

    return need < REPEATS_USUAL_MAX ? (uint32_t)need : REPEATS_USUAL_MAX;
}

/* Sizes are read in one piece; downwards in parts of up to `other_bytes` where
 * that is set. */
static struct contrast twice(const struct setting *setting, uint64_t size_bytes,
                             enum side expected)
{
    uint32_t least = clean_repeats(parts_of(setting, size_bytes));
    struct contrast contrast = {
        .size_bytes = size_bytes,
        .repeats = placing_repeats(size_bytes, least, 6, 4 * MIB),
        .expected = expected,
        .low = profit_low,
        .high = size_bytes > MIB ? profit_none_long : profit_none};

    snprintf(contrast.name, sizeof(contrast.name), "r%llu",
             (unsigned long long)size_bytes);
    return contrast;
}

/* ---- measuring --------------------------------------------------------- */

/* A place for a read of that size: where a page begins, also one of three
 * chips, or the read would touch a page more than it has to. Of so many that it
 * is rarely one whose data is still kept: a buffer holds hundreds of small reads.
 */
static uint64_t place(const struct setting *setting, uint64_t size_bytes,
                      struct random *random)
{
    static const struct {
        uint64_t pitch_bytes, places_least;
    } choices[] = {
        {105 * MIB, 1000}, {15 * MIB, 1000}, {3 * MIB, 200}, {MIB, 32}};
    uint64_t first = setting->region_offset_bytes, pitch = MIB;

    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        pitch = choices[i].pitch_bytes;
        if (setting->region_length_bytes / pitch >= choices[i].places_least)
            break;
    }
    while (pitch < size_bytes)
        pitch *= 2;
    uint64_t low = (first + pitch - 1) / pitch;
    uint64_t high = (first + setting->region_length_bytes) / pitch;
    return (low + random_below(random, high > low ? high - low : 1)) * pitch;
}

/* Somewhere else, so that nothing of the place is in the buffer or ahead of it;
 * but near enough to lie in the same segment group (Sun & Zhang 4.1): the way back
 * from another one would make the first read slow, and look like a buffer. */
static uint64_t elsewhere(const struct setting *setting, uint64_t offset_bytes)
{
    const uint64_t away = 32 * MIB + MIB / 2; /* and no place of another read */
    uint64_t first = setting->region_offset_bytes;
    uint64_t end = first + setting->region_length_bytes;

    if (offset_bytes >= first + away)
        return offset_bytes - away;
    return offset_bytes + away + 4 * KIB <= end ? offset_bytes + away : first;
}

/* The parts in which a place is read downwards. There must be three: the first of
 * two would continue the last of the read before. */
static uint64_t part_for(uint64_t length_bytes, uint64_t most_bytes)
{
    if (length_bytes <= most_bytes)
        return most_bytes / 4;
    return length_bytes <= 2 * most_bytes ? most_bytes / 2 : most_bytes;
}

static uint64_t part_of(const struct contrast *contrast)
{
    uint64_t length = contrast->size_bytes + contrast->shift_bytes;

    return contrast->other_bytes ? part_for(length, contrast->other_bytes)
                                 : length;
}

static uint32_t parts_count(const struct contrast *contrast)
{
    return (uint32_t)parts_in(contrast->size_bytes + contrast->shift_bytes,
                              part_of(contrast));
}

/* One read of a place; all its requests are of the same cell. Parts end at
 * multiples of a part, which pages divide: one that two parts share would be read
 * twice, and kept for longer. Only where the last part would be too short for the
 * buffer (`pitch_bytes`) it begins half a part earlier. */
static void ask_read(struct study *study, const char *phase,
                     const struct contrast *contrast, uint32_t round,
                     uint64_t offset_bytes)
{
    const uint64_t part = part_of(contrast);
    uint64_t end = contrast->size_bytes + contrast->shift_bytes;

    while (end > 0) {
        uint64_t begin = (end - 1) / part * part;
        if (begin > 0 && end - begin < contrast->pitch_bytes)
            begin -= part / 2;
        struct step read =
            placing_step(OPERATION_READ, offset_bytes + begin, end - begin,
                         phase, contrast, 'a', round);
        study_ask(study, &read);
        end = begin;
    }
}

static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    for (uint32_t i = 0; i < contrast->repeats; i++) {
        uint64_t lead = contrast->shift_bytes;
        uint64_t length = contrast->size_bytes + lead;
        uint64_t offset = place(&study->setting, length, random);
        if (offset >= study->setting.region_offset_bytes + lead)
            offset -= lead;
        struct step away = placing_unmeasured(
            OPERATION_READ, elsewhere(&study->setting, offset), 4 * KIB, phase,
            round);
        study_ask(study, &away);
        ask_read(study, phase, contrast, round, offset);
        ask_read(study, phase, contrast, round, offset);
    }
}

static double sum_ns(const struct timing rows[], uint64_t count)
{
    double sum = 0;

    for (uint64_t i = 0; i < count; i++)
        sum += (double)rows[i].ns;
    return sum;
}

static bool costs(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  double *first_ns, double *second_ns)
{
    double first[REPEATS_MAX], second[REPEATS_MAX];
    uint32_t repeats = contrast->repeats;
    const uint32_t parts = parts_count(contrast);
    const struct timing *rows =
        placing_rows(study, phase, contrast, 'a', round, 2 * parts * repeats);

    if (!rows)
        return false;
    for (uint32_t i = 0; i < repeats; i++, rows += 2 * parts) {
        first[i] = sum_ns(rows, parts);
        second[i] = sum_ns(rows + parts, parts);
    }
    if (parts_of(&study->setting,
                 contrast->size_bytes + contrast->shift_bytes) > PARTS_FEW) {
        stats_sort(first, repeats);
        stats_sort(second, repeats);
        *first_ns = first[0];
        *second_ns = second[0];
        return true;
    }
    *first_ns = stats_lower_half_mean(first, repeats);
    *second_ns = stats_lower_half_mean(second, repeats);
    return true;
}

static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    double first, second;

    (void)random;
    if (!costs(study, phase, contrast, round, &first, &second))
        return false;
    *ratio = log(first / second);
    return true;
}

/* ---- reasoning --------------------------------------------------------- */

static struct finding *add(struct findings *findings)
{
    return findings_add(findings, "read-buffer", "read_buffer");
}

/* No size above this is looked at. */
static uint64_t size_limit(const struct setting *setting)
{
    uint64_t sixteenth = setting->region_length_bytes / 16;

    return sixteenth < 16 * MIB ? sixteenth : 16 * MIB;
}

/* The largest size to look at first: one that is short enough. */
static bool pilot(struct state *state, uint64_t *largest_bytes)
{
    struct contrast contrast = twice(&state->study.setting, MIB, SIDE_OPEN);
    double ratios[PILOT_ROUNDS], first, second;

    if (!study_ratios(&state->study, "pilot", &contrast, PILOT_ROUNDS,
                      ratios) ||
        !costs(&state->study, "pilot", &contrast, 0, &first, &second))
        return false;
    *largest_bytes = 16 * MIB;
    while (*largest_bytes > MIB &&
           (*largest_bytes > size_limit(&state->study.setting) ||
            (double)*largest_bytes / (double)MIB * first > longest_ns))
        *largest_bytes /= 2;
    return true;
}

/* What the quick look over all sizes saw. */
struct survey {
    struct contrast sizes[SIZES_MAX];
    size_t count;
    size_t first, last; /* the run of sizes that profit */
    size_t after;       /* the first beyond it that does not; count: none */
    double least_gain;  /* of the sizes from `last` up to there */
    bool any, open;     /* some profit; some undecided */
    bool broken;        /* a size inside the run does not */
};

static void find_run(struct survey *survey)
{
    survey->any = survey->open = survey->broken = false;
    for (size_t i = 0; i < survey->count; i++) {
        enum side side = survey->sizes[i].side;
        if (side == SIDE_ABOVE) {
            survey->first = survey->any ? survey->first : i;
            survey->last = i;
            survey->any = true;
        }
        survey->open = survey->open || side == SIDE_OPEN;
    }
    for (size_t i = survey->first; survey->any && i < survey->last; i++)
        survey->broken = survey->broken || survey->sizes[i].side == SIDE_BELOW;
    if (!survey->any)
        return;
    survey->least_gain = survey->sizes[survey->last].median;
    survey->after = survey->last + 1;
    while (survey->after < survey->count &&
           survey->sizes[survey->after].side != SIDE_BELOW) {
        double median = survey->sizes[survey->after++].median;
        /* Undecided, so it may lie beyond the edge: then it says nothing. */
        if (median > gain_least && median < survey->least_gain)
            survey->least_gain = median;
    }
}

/* A small profit: what passed for none at first sight may be a part of it. */
static bool look_closer(struct state *state, struct survey *survey)
{
    const struct claim_rule rule = {.alpha = search_error * 7 *
                                             (double)survey->count,
                                    .looks = search_looks};
    double gain = survey->least_gain;

    if (gain >= 2 * profit_none_long)
        return true;
    for (size_t i = 0; i < survey->count; i++)
        survey->sizes[i].low = survey->sizes[i].high = gain / 2;
    if (study_claim(&state->study, "survey", survey->sizes, survey->count,
                    &rule) == CLAIM_MEASURING)
        return false;
    find_run(survey);
    return true;
}

static bool look_over_to(struct state *state, const uint64_t *largest_bytes,
                         struct survey *survey)
{
    survey->count = 0;
    for (uint64_t size = state->grain_bytes; size <= *largest_bytes; size *= 2)
        survey->sizes[survey->count++] =
            twice(&state->study.setting, size, SIDE_OPEN);
    const struct claim_rule rule = {.alpha = search_error * 7 *
                                             (double)survey->count,
                                    .looks = search_looks};
    if (study_claim(&state->study, "survey", survey->sizes, survey->count,
                    &rule) == CLAIM_MEASURING)
        return false;
    find_run(survey);
    return !survey->any || look_closer(state, survey);
}

/* Where the largest size still profits, larger ones are worth their time. */
static bool look_over(struct state *state, uint64_t *largest_bytes,
                      struct survey *survey)
{
    for (;; *largest_bytes *= 2) {
        if (!look_over_to(state, largest_bytes, survey))
            return false;
        if (!survey->any || survey->last + 1 < survey->count ||
            2 * *largest_bytes > size_limit(&state->study.setting))
            return true;
    }
}

/*
 * As many pairs of reads in a cell as keep the noise of one below what may pass
 * for no profit: a long read is rarely free of parts that were held up, and
 * rounds that hold none but such say nothing however many they are.
 */
static uint32_t repeats_in_noise(struct state *state,
                                 const struct contrast *looked)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    uint32_t repeats = looked->repeats;

    study_ratios(&state->study, "survey", looked, looked->rounds_count, ratios);
    double spread = stats_spread(ratios, looked->rounds_count);
    for (; 2 * repeats <= REPEATS_MAX && spread > profit_none_long;
         repeats *= 2)
        spread /= sqrt(2);
    return repeats;
}

static bool conclude_none(struct state *state, const struct survey *survey,
                          struct findings *findings)
{
    const struct claim_rule rule = {.alpha = 10 * alpha,
                                    .looks = claim_longest_looks};
    struct contrast contrasts[SIZES_MAX];
    char most[24];

    for (size_t i = 0; i < survey->count; i++) {
        contrasts[i] = twice(&state->study.setting, survey->sizes[i].size_bytes,
                             SIDE_BELOW);
        contrasts[i].repeats = repeats_in_noise(state, &survey->sizes[i]);
    }
    enum claim claim = study_claim(&state->study, "no-profit", contrasts,
                                   survey->count, &rule);
    if (claim == CLAIM_MEASURING)
        return false;
    struct finding *finding = add(findings);
    format_bytes(contrasts[survey->count - 1].size_bytes, most, sizeof(most));
    if (claim == CLAIM_HOLDS) {
        double confidence = claim_confidence(contrasts, survey->count, &rule);
        finding_absent(finding, confidence);
        finding_why(finding,
                    "a second read of the same place is not faster than the "
                    "first, for every size up to %s",
                    most);
    } else {
        finding_why(finding,
                    "second reads of the same place are sometimes faster and "
                    "sometimes not, too irregularly for a size");
    }
    return true;
}

/* One search for the edge of the run of sizes that profit. */
struct edge {
    uint64_t low_bytes, high_bytes; /* on the two sides of the edge */
    uint64_t lead_bytes;            /* read in front of each size */
    uint64_t part_bytes;            /* read downwards in these; 0: in one go */
    uint64_t part_least_bytes;      /* no part is shorter */
    bool profits_below;             /* the upper edge: the buffer's size */
    double gain;                    /* log ratio where it profits */
    double spread;
};

struct edge_query {
    struct study *study;
    const struct edge *edge;
    uint32_t repeats;
};

/* As the edge's sizes are read: with what leads them, or in their parts. */
static struct contrast read_as(const struct setting *setting,
                               const struct edge *edge, uint64_t size_bytes,
                               enum side expected)
{
    struct contrast contrast = twice(setting, size_bytes, expected);

    contrast.shift_bytes = edge->lead_bytes;
    contrast.other_bytes = edge->part_bytes;
    contrast.pitch_bytes = edge->part_least_bytes;
    return contrast;
}

static bool ask_edge(void *context, const char *phase, uint32_t index,
                     uint64_t place_bytes, bool *holds)
{
    const struct edge_query *query = context;
    struct contrast contrast =
        read_as(&query->study->setting, query->edge, place_bytes, SIDE_OPEN);
    double ratio;

    if (contrast.repeats < query->repeats)
        contrast.repeats = query->repeats;
    snprintf(contrast.name, sizeof(contrast.name), "q%u-%llu", index,
             (unsigned long long)place_bytes);
    if (!study_ratios(query->study, phase, &contrast, 1, &ratio))
        return false;
    *holds = (ratio > query->edge->gain / 2) == query->edge->profits_below;
    return true;
}

/* How many pairs make one answer so clear. The spread is that of few pairs
 * where the size allows no more. */
static uint32_t repeats_for(const struct edge *edge, double clear)
{
    double need = pow(clear * edge->spread / (edge->gain / 2), 2);

    return need < REPEATS_USUAL_MAX ? (uint32_t)ceil(need) : REPEATS_USUAL_MAX;
}

static enum claim bisect_edge(struct state *state, const struct edge *edge,
                              const char *phase, uint64_t *place_bytes)
{
    struct edge_query query = {.study = &state->study,
                               .edge = edge,
                               .repeats = repeats_for(edge, answer_clear)};
    double spread = edge->spread / sqrt((double)query.repeats);
    const struct threshold_search search = {
        .low_bytes = edge->low_bytes,
        .high_bytes = edge->high_bytes,
        .step_bytes = state->grain_bytes,
        .reliability = stats_normal_cdf(edge->gain / 2 / spread) - 0.02,
        .answer = ask_edge,
        .context = &query};

    return study_search(&state->study, phase, &search, place_bytes);
}

enum { EDGE_CONTRASTS_MAX = 7 };

enum { BESIDE_EDGE, BEYOND_SPLIT };

/* Half of the profit shortly before the edge; a fifth of it is too much where
 * the host sends one request more: that alone makes a profit shrink. */
static void part_of_nearest(struct contrast contrasts[], size_t count)
{
    double half = contrasts[0].median / 2, fifth = contrasts[0].median / 5;

    half = fmax(half, gain_least / 2);
    fifth = fmax(fifth, gain_least / 2);
    for (size_t i = 0; i < count; i++)
        contrasts[i].low = contrasts[i].high =
            contrasts[i].kind == BEYOND_SPLIT ? fifth : half;
}

/* Fresh data on both sides of the edge at `place`: near it and farther off. */
static size_t edge_contrasts(const struct state *state, const struct edge *edge,
                             uint64_t place_bytes,
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
    bool split = parts_of(setting, lead + place_bytes) <
                 parts_of(setting, lead + place_bytes + grain);
    for (size_t i = 0; i < count; i++) {
        contrasts[i].low = contrasts[i].high = edge->gain / 2;
        if (split && edge->profits_below && contrasts[i].expected == out)
            contrasts[i].kind = BEYOND_SPLIT;
        if (contrasts[i].repeats < 2)
            contrasts[i].repeats = 2;
        if (contrasts[i].repeats < repeats_for(edge, round_clear))
            contrasts[i].repeats = repeats_for(edge, round_clear);
    }
    return count;
}

/* Narrows the bracket to the side that the failed certificate spoke for. */
static void reopen(const struct state *state, struct edge *edge,
                   const struct edge *whole, const struct contrast contrasts[],
                   size_t count, uint64_t place_bytes)
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
static enum claim find_edge(struct state *state, const struct edge *whole,
                            const char *name, uint64_t *place_bytes,
                            double *confidence)
{
    const struct claim_rule rule = {
        .alpha = alpha / ATTEMPTS_MAX,
        .looks = claim_longest_looks,
        .adapt = whole->profits_below ? part_of_nearest : NULL};
    struct edge edge = *whole;
    char phase[LABEL_PHASE_MAX];

    for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        struct contrast contrasts[EDGE_CONTRASTS_MAX];
        snprintf(phase, sizeof(phase), "%s-bisect-%d", name, attempt);
        if (bisect_edge(state, &edge, phase, place_bytes) == CLAIM_MEASURING)
            return CLAIM_MEASURING;
        size_t count = edge_contrasts(state, &edge, *place_bytes, contrasts);
        snprintf(phase, sizeof(phase), "%s-certify-%d", name, attempt);
        enum claim claim =
            study_claim(&state->study, phase, contrasts, count, &rule);
        *confidence = claim_confidence(contrasts, count, &rule);
        if (claim != CLAIM_FALLS)
            return claim;
        if (edge.profits_below && contrasts[0].side == SIDE_ABOVE &&
            contrasts[0].median < edge.gain)
            edge.gain = contrasts[0].median;
        reopen(state, &edge, whole, contrasts, count, *place_bytes);
    }
    return CLAIM_OPEN;
}

static struct edge edge_between(struct state *state, struct contrast *below,
                                struct contrast *above, bool profits_below)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    struct contrast *profit = profits_below ? below : above;
    struct edge edge = {.low_bytes = below->size_bytes,
                        .high_bytes = above->size_bytes,
                        .profits_below = profits_below,
                        .gain = profit->median};

    study_ratios(&state->study, "survey", profit, profit->rounds_count, ratios);
    edge.spread = stats_spread(ratios, profit->rounds_count) + 1e-3;
    return edge;
}

/* What of the buffer shows. */
struct shown {
    uint64_t bytes;
    uint64_t upwards_bytes;  /* the same, of reads in order */
    uint64_t smallest_bytes; /* that use it; 0: all do */
    double gain, confidence;
};

static void say_size(struct state *state, const struct shown *shown,
                     struct findings *findings)
{
    struct finding *finding = add(findings);
    const uint64_t ahead_bytes = shown->bytes - shown->upwards_bytes;
    char size[24], next[24], ahead[96] = "", kept[24];

    finding_found(finding, value_integer(shown->bytes), shown->confidence);
    finding->high = value_integer(shown->bytes + state->grain_bytes -
                                  state->study.setting.logical_block_bytes);
    if (shown->smallest_bytes)
        finding_extra(finding, "smallest_request",
                      value_integer(shown->smallest_bytes));
    if (shown->bytes > shown->upwards_bytes)
        snprintf(ahead, sizeof(ahead),
                 "; of reads in order it keeps %s less, because it reads ahead",
                 format_bytes(ahead_bytes, kept, sizeof(kept)));
    finding_why(
        finding,
        "a second read of the same place is up to %.2f times as fast as "
        "the first up to %s, and no faster from %s on%s",
        exp(shown->gain), format_bytes(shown->bytes, size, sizeof(size)),
        format_bytes(shown->bytes + state->grain_bytes, next, sizeof(next)),
        ahead);
}

/* What of a read comes before the host's request with which it is as long as the
 * smallest that uses the buffer. */
static uint64_t lead_of(const struct setting *setting, uint64_t smallest_bytes)
{
    if (smallest_bytes == 0)
        return 0;
    return (parts_of(setting, smallest_bytes) - 1) *
           setting->request_limit_bytes;
}

/*
 * The host sends a long read in parts, and the first ones passed the buffer by
 * before the drive could know how long it would be: the whole read is longer
 * than the buffer. So the size is searched behind so much that is not kept.
 */
static enum claim find_behind_lead(struct state *state,
                                   const struct edge *whole,
                                   uint64_t lead_bytes, uint64_t *bytes,
                                   double *confidence)
{
    const uint64_t grain = state->grain_bytes;
    struct edge edge = *whole;

    edge.lead_bytes = lead_bytes;
    edge.low_bytes = *bytes > 2 * lead_bytes ? *bytes - 2 * lead_bytes : 0;
    edge.low_bytes = edge.low_bytes > grain ? edge.low_bytes : grain;
    edge.high_bytes = *bytes + 2 * grain;
    return find_edge(state, &edge, "behind", bytes, confidence);
}

enum { NEAR_SIDE, FAR_SIDE, BOTH_SIDES };

/* On the far side a profit must be nearly that on the near side: a page that two
 * parts share is kept for longer than others, and makes up to half of it. */
static void most_of_near(struct contrast contrasts[], size_t count)
{
    (void)count;
    contrasts[FAR_SIDE].low = contrasts[FAR_SIDE].high =
        0.8 * fmax(contrasts[NEAR_SIDE].median, gain_least);
}

/* On which side of the edge is its high end, by reads downwards? SIDE_OPEN: they
 * do not say. */
static enum claim side_downwards(struct state *state, const struct edge *edge,
                                 const char *phase, enum side *side,
                                 double *gain)
{
    const struct claim_rule rule = {.alpha = alpha / ATTEMPTS_MAX,
                                    .looks = claim_longest_looks,
                                    .adapt = most_of_near};
    const struct setting *setting = &state->study.setting;
    struct contrast contrasts[BOTH_SIDES] = {
        read_as(setting, edge, edge->low_bytes, SIDE_ABOVE),
        read_as(setting, edge, edge->high_bytes, SIDE_BELOW)};

    for (int i = 0; i < BOTH_SIDES; i++) {
        struct contrast *contrast = &contrasts[i];
        contrast->low = contrast->high = edge->gain / 2;
        if (contrast->repeats < repeats_for(edge, round_clear))
            contrast->repeats = repeats_for(edge, round_clear);
    }
    enum claim claim =
        study_claim(&state->study, phase, contrasts, BOTH_SIDES, &rule);
    *gain = contrasts[NEAR_SIDE].median;
    *side = contrasts[NEAR_SIDE].side == SIDE_ABOVE ? contrasts[FAR_SIDE].side
                                                    : SIDE_OPEN;
    return claim;
}

/*
 * A read in several parts of the host's, each continuing the last, may bring what
 * is ahead of it as well, and that takes room in the buffer. From the last part
 * to the first nothing is continued: where such reads profit beyond what is shown,
 * the buffer ends where they do.
 */
static enum claim find_downwards(struct state *state, const struct edge *whole,
                                 struct shown *shown)
{
    struct edge edge = *whole;
    char phase[LABEL_PHASE_MAX] = "downwards";
    enum side side;
    double gain;

    edge.part_bytes = state->study.setting.request_limit_bytes;
    edge.part_least_bytes = shown->smallest_bytes;
    edge.low_bytes = shown->bytes;
    edge.high_bytes = shown->bytes + 2 * state->grain_bytes;
    if (side_downwards(state, &edge, phase, &side, &gain) == CLAIM_MEASURING)
        return CLAIM_MEASURING;
    if (side == SIDE_OPEN)
        shown->confidence = fmin(shown->confidence, parts_confidence);
    if (side != SIDE_ABOVE)
        return CLAIM_HOLDS;
    /* What is read ahead makes first reads upwards faster, too. */
    edge.gain = gain;
    for (uint32_t doubled = 1; side != SIDE_BELOW; doubled++) {
        if (side == SIDE_ABOVE)
            edge.low_bytes = edge.high_bytes;
        edge.high_bytes = shown->bytes << doubled;
        if (edge.high_bytes > size_limit(&state->study.setting))
            return CLAIM_OPEN;
        snprintf(phase, sizeof(phase), "downwards-%u", doubled);
        if (side_downwards(state, &edge, phase, &side, &gain) ==
            CLAIM_MEASURING)
            return CLAIM_MEASURING;
    }
    return find_edge(state, &edge, "down", &shown->bytes, &shown->confidence);
}

/* Reads that the host sends in parts show less than all of the buffer: where the
 * drive reads ahead, and where the first parts pass it by. */
static enum claim look_again(struct state *state, const struct edge *upper,
                             struct shown *shown)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t smallest_bytes = shown->smallest_bytes;
    const uint64_t lead = lead_of(setting, smallest_bytes);
    enum claim claim = CLAIM_HOLDS;

    shown->upwards_bytes = shown->bytes;
    if (parts_of(setting, shown->bytes + state->grain_bytes) == 1)
        return CLAIM_HOLDS;
    if (2 * smallest_bytes <=
        part_for(shown->bytes, setting->request_limit_bytes))
        return find_downwards(state, upper, shown);
    if (lead > 0)
        claim = find_behind_lead(state, upper, lead, &shown->bytes,
                                 &shown->confidence);
    shown->upwards_bytes = shown->bytes;
    /* Downwards, parts would be too short to be kept. */
    shown->confidence = fmin(shown->confidence, parts_confidence);
    return claim;
}

static bool conclude_run(struct state *state, struct survey *survey,
                         struct findings *findings)
{
    struct contrast *sizes = survey->sizes;
    const size_t after = survey->after;
    struct shown shown = {.confidence = 1};
    double smallest_confidence = 1;

    if (survey->broken || after == survey->count) {
        char most[24];
        finding_why(
            add(findings),
            survey->broken
                ? "some sizes profit from a second read and some between them "
                  "do not, so no one buffer size explains them%s"
                : "a second read is faster up to the largest size tried, %s; "
                  "what keeps the data may be larger, or the host's cache",
            survey->broken ? ""
                           : format_bytes(sizes[survey->count - 1].size_bytes,
                                          most, sizeof(most)));
        return true;
    }
    struct edge upper =
        edge_between(state, &sizes[survey->last], &sizes[after], true);
    if (survey->least_gain < upper.gain)
        upper.gain = survey->least_gain;
    shown.gain = upper.gain;
    enum claim claim =
        find_edge(state, &upper, "size", &shown.bytes, &shown.confidence);
    size_t before = survey->first;
    while (before > 0 && sizes[before - 1].side != SIDE_BELOW)
        before--;
    if (claim == CLAIM_HOLDS && survey->first > 0 && before == 0)
        claim = CLAIM_OPEN; /* does the smallest size profit or not? */
    if (claim == CLAIM_HOLDS && survey->first > 0) {
        struct edge lower = edge_between(state, &sizes[before - 1],
                                         &sizes[survey->first], false);
        claim = find_edge(state, &lower, "least", &shown.smallest_bytes,
                          &smallest_confidence);
        shown.smallest_bytes += state->grain_bytes;
    }
    if (claim == CLAIM_HOLDS)
        claim = look_again(state, &upper, &shown);
    if (claim == CLAIM_MEASURING)
        return false;
    shown.confidence = fmin(shown.confidence, smallest_confidence);
    if (claim == CLAIM_HOLDS)
        say_size(state, &shown, findings);
    else
        finding_why(add(findings),
                    "second reads are faster up to somewhere around %llu KiB, "
                    "but the exact size did not stand up to fresh data",
                    (unsigned long long)(shown.bytes / KIB));
    return true;
}

static bool think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    struct survey survey;
    uint64_t largest_bytes;

    if (study->setting.method == METHOD_PAPER)
        return paper_read_buffer(study, findings);
    if (!pilot(state, &largest_bytes) ||
        !look_over(state, &largest_bytes, &survey))
        return false;
    if (survey.any)
        return conclude_run(state, &survey, findings);
    return conclude_none(state, &survey, findings);
}

/* ---- the probe --------------------------------------------------------- */

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    if (setting->method == METHOD_PAPER) {
        paper_read_buffer_plan(plan);
        return;
    }
    plan->requests = 5400;
    plan->requests_max = 200000;
    plan->bytes_read = 1600 * MIB;
    plan->bytes_read_max = 64000 * MIB;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = emit, .value = value};
    struct state *state =
        study_create(sizeof(*state), &probe_read_buffer, &ops, setting);

    (void)known;
    if (!state)
        return -ENOMEM;
    state->grain_bytes = placing_grain(setting);
    *result = state;
    return 0;
}

const struct probe probe_read_buffer = {
    .name = "read-buffer",
    .question = "How many bytes does the drive keep from what it read last?",
    .idea = "A second read of the same place is faster than the first as long "
            "as it fits into the read buffer.",
    .writes = false,
    .region_min_bytes = 64 * MIB,
    .answers = {"read_buffer"},
    .plan = plan,
    .start = start,
    STUDY_PROBE_FUNCTIONS,
};
