/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stripe: rounds of pairs of reads, each beside a read alone. */
#include "probes/stripe/stripe.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

/* Suffixes of cells: reads alone, and pairs. */
static const char alone_suffix = 'a', pair_suffix = 'b';

struct contrast pairs_contrast(enum pairs_kind kind, uint64_t size_bytes,
                               uint64_t other_bytes)
{
    static const char *const names[] = {"scan", "any",   "any",    "at",
                                        "own",  "times", "beside", "far"};
    struct contrast contrast = {.kind = (int)kind,
                                .size_bytes = size_bytes,
                                .other_bytes = other_bytes,
                                .repeats = STRIPE_PAIRS};

    snprintf(contrast.name, sizeof(contrast.name), "%s%u-%u", names[kind],
             (unsigned)(size_bytes / KIB), (unsigned)(other_bytes / KIB));
    return contrast;
}

/* The level that begins there. */
static const struct stripe_level *level_of(const struct stripe_probe *state,
                                           uint64_t first_bytes)
{
    size_t at = state->levels_count - 1;

    while (at > 0 && state->levels[at].first_bytes != first_bytes)
        at--;
    return &state->levels[at];
}

static size_t count_of(const struct stripe_probe *state,
                       const struct contrast *contrast)
{
    return contrast->kind == PAIRS_SCAN
               ? level_of(state, contrast->size_bytes)->count
               : STRIPE_PAIRS;
}

static uint64_t level_distance(const struct stripe_level *level, size_t index)
{
    return level->first_bytes + index * level->step_bytes;
}

static uint64_t any_distance(const struct stripe_probe *state,
                             struct random *random)
{
    const size_t at = random_below(random, state->levels_count);
    const struct stripe_level *level = &state->levels[at];

    return level_distance(level, random_below(random, level->count));
}

/* How far the second read of a pair lies behind the first. */
static uint64_t distance_of(const struct stripe_probe *state,
                            const struct contrast *contrast, size_t index,
                            struct random *random)
{
    const uint64_t size = contrast->size_bytes, other = contrast->other_bytes;

    switch ((enum pairs_kind)contrast->kind) {
    case PAIRS_SCAN:
        return level_distance(level_of(state, size), index);
    case PAIRS_ANY:
    case PAIRS_QUICKEST:
        return any_distance(state, random);
    case PAIRS_DISTANCE:
    case PAIRS_OWN:
        return size;
    case PAIRS_MULTIPLE:
        return (1 + random_below(random, state->span_bytes / other)) * other;
    case PAIRS_FAR: /* ask_far() has places of its own */
        return other;
    case PAIRS_BETWEEN:
        return random_below(random, state->span_bytes / other) * other +
               (1 + random_below(random, other / size - 1)) * size;
    }
    return size;
}

static void ask_alone(struct stripe_probe *state, const char *phase,
                      const struct contrast *contrast, uint64_t at_bytes,
                      uint32_t round)
{
    const struct step step =
        placing_step(OPERATION_READ, at_bytes, state->read_bytes, phase,
                     contrast, alone_suffix, round);

    study_ask(&state->study, &step);
}

/* What is sent alone is waited for, so that nothing is under way when a pair
 * follows. */
static void ask_pair(struct stripe_probe *state, const char *phase,
                     const struct contrast *contrast, uint64_t distance_bytes,
                     uint32_t round, struct random *random)
{
    const uint64_t bytes = state->read_bytes;
    const uint64_t places = state->window_bytes / bytes;
    const uint64_t alone =
        state->first_bytes + random_below(random, places) * bytes;
    const uint64_t first =
        state->first_bytes +
        random_below(random, places - distance_bytes / bytes) * bytes;
    struct step step = placing_step(OPERATION_READ, first, bytes, phase,
                                    contrast, pair_suffix, round);

    if (contrast->kind != PAIRS_OWN)
        ask_alone(state, phase, contrast, alone, round);
    step.depth = 2;
    study_ask(&state->study, &step);
    step.offset_bytes = first + distance_bytes;
    study_ask(&state->study, &step);
    if (contrast->kind == PAIRS_OWN) {
        ask_alone(state, phase, contrast, first, round);
        ask_alone(state, phase, contrast, first + distance_bytes, round);
    }
}

/* A pair at any multiple of a distance, all over the region. A read near each
 * comes before, so that no pair waits for its mapping. */
static void ask_far(struct stripe_probe *state, const char *phase,
                    const struct contrast *contrast, uint32_t round,
                    struct random *random)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t bytes = state->read_bytes, period = contrast->other_bytes;
    const uint64_t places = setting->region_length_bytes / period;
    const uint64_t one = random_below(random, places);
    const uint64_t pair[] = {one, (one + 1 + random_below(random, places - 1)) %
                                      places};
    const uint64_t base = setting->region_offset_bytes;
    const uint64_t within = random_below(random, period / bytes) * bytes;
    /* In another page, which no read buffer holds for the pair. */
    const uint64_t near = (within + period / 2 / bytes * bytes) % period;

    ask_alone(state, phase, contrast,
              state->first_bytes +
                  random_below(random, state->window_bytes / bytes) * bytes,
              round);
    for (size_t i = 0; i < 2; i++) {
        const struct step step =
            placing_unmeasured(OPERATION_READ, base + pair[i] * period + near,
                               bytes, phase, round);
        study_ask(&state->study, &step);
    }
    for (size_t i = 0; i < 2; i++) {
        struct step step =
            placing_step(OPERATION_READ, base + pair[i] * period + within,
                         bytes, phase, contrast, pair_suffix, round);
        step.depth = 2;
        study_ask(&state->study, &step);
    }
}

void pairs_emit(struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round,
                struct random *random)
{
    struct stripe_probe *state = (struct stripe_probe *)study;
    const size_t count = count_of(state, contrast);
    size_t order[STRIPE_SCAN_MAX];

    random_order(random, order, count);
    for (size_t i = 0; i < count; i++)
        if (contrast->kind == PAIRS_FAR)
            ask_far(state, phase, contrast, round, random);
        else
            ask_pair(state, phase, contrast,
                     distance_of(state, contrast, order[i], random), round,
                     random);
}

double pairs_middle(double values[], size_t count)
{
    const size_t first = 3 * count / 16, end = count - first;
    double sum = 0;

    stats_sort(values, count);
    for (size_t i = first; i < end; i++)
        sum += values[i];
    return sum / (double)(end - first);
}

static double pair_ns(const struct timing rows[2])
{
    const uint64_t end_ns = larger_of(rows[0].complete_ns, rows[1].complete_ns);

    return (double)(end_ns - rows[0].submit_ns);
}

static const struct timing *alone_rows(const struct study *study,
                                       const char *phase,
                                       const struct contrast *contrast,
                                       uint32_t round, size_t *count)
{
    *count = count_of((const struct stripe_probe *)study, contrast);
    return placing_rows(study, phase, contrast, alone_suffix, round,
                        (uint32_t)*count);
}

double pairs_alone_ns(const struct study *study, const char *phase,
                      const struct contrast *contrast, uint32_t round)
{
    double ns[STRIPE_SCAN_MAX];
    size_t count;
    const struct timing *alone =
        alone_rows(study, phase, contrast, round, &count);

    if (!alone)
        return 0;
    for (size_t i = 0; i < count; i++)
        ns[i] = (double)alone[i].ns;
    return fmax(pairs_middle(ns, count), 1);
}

/* A round with many reads alone, or before all others, is its own measure. */
static double unit_ns(const struct study *study, const char *phase,
                      const struct contrast *contrast, uint32_t round)
{
    const struct stripe_probe *state = (const struct stripe_probe *)study;

    return contrast->kind == PAIRS_SCAN || contrast->kind == PAIRS_ANY ||
                   contrast->kind == PAIRS_QUICKEST
               ? pairs_alone_ns(study, phase, contrast, round)
               : state->alone_ns;
}

size_t pairs_take_alone(const struct study *study, const char *phase,
                        const struct contrast *contrast, uint32_t round,
                        double ratios[STRIPE_SCAN_MAX])
{
    size_t count;
    const struct timing *alone =
        alone_rows(study, phase, contrast, round, &count);

    if (!alone)
        return 0;
    const double unit = unit_ns(study, phase, contrast, round);
    for (size_t i = 0; i < count; i++)
        ratios[i] = (double)alone[i].ns / unit;
    return count;
}

size_t pairs_take(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  double ratios[STRIPE_SCAN_MAX])
{
    size_t order[STRIPE_SCAN_MAX], count;
    const struct timing *alone =
        alone_rows(study, phase, contrast, round, &count);
    const struct timing *pairs = placing_rows(
        study, phase, contrast, pair_suffix, round, 2 * (uint32_t)count);
    struct random random;

    if (!alone || !pairs)
        return 0;
    const double unit = unit_ns(study, phase, contrast, round);
    study_random(study, phase, contrast->name, round, &random);
    random_order(&random, order, count);
    for (size_t i = 0; i < count; i++)
        ratios[order[i]] = pair_ns(&pairs[2 * i]) / unit;
    return count;
}

size_t pairs_take_own(const struct study *study, const char *phase,
                      const struct contrast *contrast, uint32_t round,
                      double ratios[STRIPE_PAIRS])
{
    const struct timing *alone = placing_rows(
        study, phase, contrast, alone_suffix, round, 2 * STRIPE_PAIRS);
    const struct timing *pairs = placing_rows(
        study, phase, contrast, pair_suffix, round, 2 * STRIPE_PAIRS);

    if (!alone || !pairs)
        return 0;
    for (size_t i = 0; i < STRIPE_PAIRS; i++) {
        const double both_ns = (double)(alone[2 * i].ns + alone[2 * i + 1].ns);
        ratios[i] = 2 * pair_ns(&pairs[2 * i]) / fmax(both_ns, 1);
    }
    return STRIPE_PAIRS;
}

/* Their quicker quarter. */
static double quickest_of(double values[], size_t count)
{
    const size_t quarter = count / 4;
    double sum = 0;

    stats_sort(values, count);
    for (size_t i = 0; i < quarter; i++)
        sum += values[i];
    return sum / (double)quarter;
}

bool pairs_value(const struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random, double *ratio)
{
    const struct stripe_probe *state = (const struct stripe_probe *)study;
    double ratios[STRIPE_SCAN_MAX];
    const size_t count =
        contrast->kind == PAIRS_OWN
            ? pairs_take_own(study, phase, contrast, round, ratios)
            : pairs_take(study, phase, contrast, round, ratios);
    size_t slow = 0;

    (void)random;
    *ratio = 0;
    if (count == 0)
        return false;
    if (contrast->kind == PAIRS_ANY) {
        *ratio = log(pairs_middle(ratios, count));
    } else if (contrast->kind == PAIRS_QUICKEST) {
        *ratio = log(quickest_of(ratios, count));
    } else {
        for (size_t i = 0; i < count; i++)
            slow += ratios[i] > state->slow_least;
        *ratio = (double)slow / (double)count;
    }
    return true;
}
