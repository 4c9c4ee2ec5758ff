/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stripe: rounds of pairs of reads, and of the same reads alone. */
#include "probes/stripe/stripe.h"

#include <math.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/times.h"

/* Cells: reads of any place alone, pairs, and the reads of the pairs alone. */
static const char alone_arm = 'a', pair_arm = 'b', own_arm = 'c';

static const struct stripe_probe *state_of(const struct trial *trial)
{
    return (const struct stripe_probe *)trial->study;
}

static enum pairs_kind kind_of(const struct trial *trial)
{
    return (enum pairs_kind)trial->contrast->n[2];
}

/* Its pairs are any pairs, beside what both reads take alone. */
static bool is_each(const struct trial *trial)
{
    return kind_of(trial) >= PAIRS_EACH;
}

static bool has_alone(const struct trial *trial)
{
    return kind_of(trial) <= PAIRS_ANY;
}

static bool has_own(const struct trial *trial)
{
    return kind_of(trial) != PAIRS_ANY;
}

/* The level that begins there. */
static const struct stripe_level *level_of(const struct trial *trial)
{
    const struct stripe_probe *state = state_of(trial);
    size_t at = state->levels_count - 1;

    while (at > 0 && state->levels[at].first_bytes != trial->contrast->n[0])
        at--;
    return &state->levels[at];
}

static size_t count_of(const struct trial *trial)
{
    return kind_of(trial) == PAIRS_SCAN ? level_of(trial)->count : STRIPE_PAIRS;
}

static uint64_t level_distance(const struct stripe_level *level, size_t index)
{
    return level->first_bytes + index * level->step_bytes;
}

/* How far the second read of a pair lies behind the first. */
static uint64_t distance_of(const struct trial *trial, size_t index)
{
    const struct stripe_probe *state = state_of(trial);
    const uint64_t size = trial->contrast->n[0], other = trial->contrast->n[1];
    struct random *random = trial->random;
    const struct stripe_level *level;

    switch (kind_of(trial)) {
    case PAIRS_SCAN:
        return level_distance(level_of(trial), index);
    case PAIRS_ANY:
    case PAIRS_EACH:
    case PAIRS_EACH_QUICKEST:
        level = &state->levels[random_below(random, state->levels_count)];
        return level_distance(level, random_below(random, level->count));
    case PAIRS_DISTANCE:
    case PAIRS_SUM:
        return size;
    case PAIRS_MULTIPLE:
        return (1 + random_below(random, state->span_bytes / other)) * other;
    case PAIRS_FAR: /* has places of its own */
        return other;
    case PAIRS_BETWEEN:
        return random_below(random, state->span_bytes / other) * other +
               (1 + random_below(random, other / size - 1)) * size;
    }
    return size;
}

/* A place in the window, from which there are so many bytes. */
static uint64_t place(const struct trial *trial, uint64_t room_bytes)
{
    const struct stripe_probe *state = state_of(trial);
    const uint64_t bytes = state->read_bytes;

    return state->first_bytes +
           random_below(trial->random,
                        state->window_bytes / bytes - room_bytes / bytes) *
               bytes;
}

static void send_alone(const struct trial *trial, char arm, uint64_t at_bytes)
{
    trial_time(trial, arm, OPERATION_READ, at_bytes,
               state_of(trial)->read_bytes);
}

static void send_together(const struct trial *trial, const uint64_t places[2])
{
    for (size_t i = 0; i < 2; i++)
        trial_ask(trial, pair_arm,
                  (struct step){.operation = OPERATION_READ,
                                .offset_bytes = places[i],
                                .length_bytes = state_of(trial)->read_bytes,
                                .depth = 2});
}

/* Chooses a pair in the window. */
static void choose(const struct trial *trial, uint64_t distance_bytes,
                   uint64_t places[2])
{
    places[0] = place(trial, distance_bytes);
    places[1] = places[0] + distance_bytes;
}

/* A pair at any multiple of a distance, all over the region. */
static void choose_far(const struct trial *trial, uint64_t places[2])
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t bytes = state_of(trial)->read_bytes;
    const uint64_t period = trial->contrast->n[1];
    const uint64_t count = setting->region_length_bytes / period;
    const uint64_t one = random_below(trial->random, count);
    const uint64_t other =
        (one + 1 + random_below(trial->random, count - 1)) % count;
    const uint64_t base = setting->region_offset_bytes +
                          random_below(trial->random, period / bytes) * bytes;

    places[0] = base + one * period;
    places[1] = base + other * period;
}

/* Before what is timed, where it might wait for its mapping. */
static void bring_mapping(const struct trial *trial, uint64_t at_bytes)
{
    if (is_each(trial) || kind_of(trial) == PAIRS_FAR ||
        (kind_of(trial) != PAIRS_ANY && state_of(trial)->waits_for_mapping))
        trial_bring_mapping(trial, at_bytes);
}

/* Reads alone are waited for, so that nothing is under way when a pair follows.
 * The reads of a pair come alone half a round before it or behind it: nearer to
 * it they might be answered from a register. */
static void send(const struct trial *trial)
{
    const size_t count = count_of(trial);
    size_t order[STRIPE_SCAN_MAX];
    uint64_t places[STRIPE_SCAN_MAX][2];

    random_order(trial->random, order, count);
    for (size_t i = 0; i < count; i++)
        if (kind_of(trial) == PAIRS_FAR)
            choose_far(trial, places[i]);
        else
            choose(trial, distance_of(trial, order[i]), places[i]);
    for (size_t i = 0; i < count; i++) {
        const uint64_t *const own = places[(i + count / 2) % count];
        for (size_t k = 0; k < 2; k++)
            bring_mapping(trial, own[k]);
        for (size_t k = 0; k < 2 && has_own(trial); k++)
            send_alone(trial, own_arm, own[k]);
        if (has_alone(trial)) {
            const uint64_t alone = place(trial, 0);
            bring_mapping(trial, alone);
            send_alone(trial, alone_arm, alone);
        }
        for (size_t k = 0; k < 2; k++)
            bring_mapping(trial, places[i][k]);
        send_together(trial, places[i]);
    }
}

static double pair_ns(const struct timing rows[2])
{
    const uint64_t end_ns = larger_of(rows[0].complete_ns, rows[1].complete_ns);

    return (double)(end_ns - rows[0].submit_ns);
}

static double middle_ns(const struct trial *trial, char arm, size_t count)
{
    double ns[2 * STRIPE_SCAN_MAX];

    return trial_ns(trial, arm, (uint32_t)count, ns)
               ? fmax(times_middle(ns, count), 1)
               : 0;
}

double pairs_alone_ns(const struct trial *trial)
{
    return middle_ns(trial, alone_arm, count_of(trial));
}

double pairs_own_ns(const struct trial *trial)
{
    return middle_ns(trial, own_arm, 2 * count_of(trial));
}

/* A round with reads alone of any place is its own measure. */
static double unit_ns(const struct trial *trial)
{
    return has_alone(trial) ? pairs_alone_ns(trial) : state_of(trial)->alone_ns;
}

size_t pairs_take_alone(const struct trial *trial,
                        double ratios[STRIPE_SCAN_MAX])
{
    const size_t count = count_of(trial);

    if (!trial_ns(trial, alone_arm, (uint32_t)count, ratios))
        return 0;
    const double unit = unit_ns(trial);
    for (size_t i = 0; i < count; i++)
        ratios[i] /= unit;
    return count;
}

/* A pair over what its reads take alone: over their mean, which what all share
 * leaves the same whatever the pages; else 1 if the shorter adds nothing to the
 * longer, 2 if it adds all that it takes. */
static double over_own(const struct trial *trial, double pair,
                       const struct timing own[2])
{
    const double one = fmax((double)own[0].ns, 1);
    const double other = fmax((double)own[1].ns, 1);

    return kind_of(trial) >= PAIRS_SUM
               ? 2 * pair / (one + other)
               : 1 + (pair - fmax(one, other)) / fmin(one, other);
}

size_t pairs_take(const struct trial *trial, double ratios[STRIPE_SCAN_MAX])
{
    const size_t count = count_of(trial);
    const bool own =
        is_each(trial) || (has_own(trial) && state_of(trial)->own_counts);
    const struct timing *alone =
        own ? trial_rows(trial, own_arm, 2 * (uint32_t)count) : NULL;
    const struct timing *pairs =
        trial_rows(trial, pair_arm, 2 * (uint32_t)count);
    size_t order[STRIPE_SCAN_MAX];
    struct random random;

    if ((own && !alone) || !pairs)
        return 0;
    const double unit = own ? 1 : unit_ns(trial);
    study_random(trial->study, trial->phase, trial->contrast->name,
                 trial->round, &random);
    random_order(&random, order, count);
    for (size_t i = 0; i < count; i++) {
        const size_t other = (i + count - count / 2) % count;
        const double pair = pair_ns(&pairs[2 * i]);
        ratios[order[i]] =
            own ? over_own(trial, pair, &alone[2 * other]) : pair / unit;
    }
    return unit > 0 ? count : 0;
}

static bool collided(const struct trial *trial, double *ratio)
{
    double ratios[STRIPE_SCAN_MAX];
    const size_t count = pairs_take(trial, ratios);
    size_t slow = 0;

    for (size_t i = 0; i < count; i++)
        slow += ratios[i] > state_of(trial)->slow_least;
    *ratio = count ? (double)slow / (double)count : 0;
    return count > 0;
}

/* Of pairs and reads alone: of all, or of their quicker quarter. */
static bool longer(const struct trial *trial, double *ratio)
{
    double ratios[STRIPE_SCAN_MAX], sum = 0;
    const size_t count = pairs_take(trial, ratios), quarter = count / 4;

    *ratio = 0;
    if (count == 0)
        return false;
    *ratio = log(times_middle(ratios, count));
    if (kind_of(trial) != PAIRS_EACH_QUICKEST)
        return true;
    for (size_t i = 0; i < quarter; i++)
        sum += ratios[i];
    *ratio = log(sum / (double)quarter);
    return true;
}

struct contrast pairs_contrast(enum pairs_kind kind, uint64_t size_bytes,
                               uint64_t other_bytes)
{
#define KIND(name, ratio)                                                      \
    TRIAL_ROUND(name "{size_kib}-{other_kib}", send, ratio)
    static const struct trial_kind kinds[] = {
        [PAIRS_SCAN] = KIND("scan", collided),
        [PAIRS_ANY] = KIND("any", longer),
        [PAIRS_DISTANCE] = KIND("at", collided),
        [PAIRS_MULTIPLE] = KIND("times", collided),
        [PAIRS_BETWEEN] = KIND("beside", collided),
        [PAIRS_FAR] = KIND("far", collided),
        [PAIRS_SUM] = KIND("at", longer),
        [PAIRS_EACH] = KIND("each", longer),
        [PAIRS_EACH_QUICKEST] = KIND("each", longer)};
#undef KIND

    return trial_of(&kinds[kind], size_bytes, other_bytes, kind);
}
