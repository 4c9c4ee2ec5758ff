/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stripe: rounds of pairs of reads, each beside a read alone. */
#include "probes/stripe/stripe.h"

#include <math.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

/* Cells: reads alone, and pairs. */
static const char alone_arm = 'a', pair_arm = 'b';

static const struct stripe_probe *state_of(const struct trial *trial)
{
    return (const struct stripe_probe *)trial->study;
}

static enum pairs_kind kind_of(const struct trial *trial)
{
    return (enum pairs_kind)trial->contrast->n[2];
}

/* Beside reads alone of the very places: pages of a block have several read
 * times. */
static bool is_own(const struct trial *trial)
{
    return kind_of(trial) >= PAIRS_OWN;
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
    case PAIRS_OWN_ANY:
    case PAIRS_OWN_QUICKEST:
        level = &state->levels[random_below(random, state->levels_count)];
        return level_distance(level, random_below(random, level->count));
    case PAIRS_DISTANCE:
    case PAIRS_OWN:
        return size;
    case PAIRS_MULTIPLE:
        return (1 + random_below(random, state->span_bytes / other)) * other;
    case PAIRS_FAR: /* send_far() has places of its own */
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

static void send_alone(const struct trial *trial, uint64_t at_bytes)
{
    trial_time(trial, alone_arm, OPERATION_READ, at_bytes,
               state_of(trial)->read_bytes);
}

static void send_together(const struct trial *trial, uint64_t first_bytes,
                          uint64_t second_bytes)
{
    const uint64_t places[] = {first_bytes, second_bytes};

    for (size_t i = 0; i < 2; i++)
        trial_ask(trial, pair_arm,
                  (struct step){.operation = OPERATION_READ,
                                .offset_bytes = places[i],
                                .length_bytes = state_of(trial)->read_bytes,
                                .depth = 2});
}

/* What is sent alone is waited for, so that nothing is under way when a pair
 * follows. */
static void send_pair(const struct trial *trial, uint64_t distance_bytes)
{
    const bool own = is_own(trial);
    const uint64_t alone = place(trial, 0);
    const uint64_t first = place(trial, distance_bytes);

    if (own) {
        trial_bring_mapping(trial, first);
        trial_bring_mapping(trial, first + distance_bytes);
    } else {
        send_alone(trial, alone);
    }
    send_together(trial, first, first + distance_bytes);
    if (own) {
        send_alone(trial, first);
        send_alone(trial, first + distance_bytes);
    }
}

/* A pair at any multiple of a distance, all over the region. A read near each
 * comes before, so that no pair waits for its mapping. */
static void send_far(const struct trial *trial)
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t bytes = state_of(trial)->read_bytes;
    const uint64_t period = trial->contrast->n[1];
    const uint64_t places = setting->region_length_bytes / period;
    const uint64_t one = random_below(trial->random, places);
    const uint64_t other =
        (one + 1 + random_below(trial->random, places - 1)) % places;
    const uint64_t base = setting->region_offset_bytes;
    const uint64_t within = random_below(trial->random, period / bytes) * bytes;
    /* In another page, which no read buffer holds for the pair. */
    const uint64_t near = (within + period / 2 / bytes * bytes) % period;

    send_alone(trial, place(trial, 0));
    trial_read(trial, base + one * period + near, bytes);
    trial_read(trial, base + other * period + near, bytes);
    send_together(trial, base + one * period + within,
                  base + other * period + within);
}

static void send(const struct trial *trial)
{
    const size_t count = count_of(trial);
    size_t order[STRIPE_SCAN_MAX];

    random_order(trial->random, order, count);
    for (size_t i = 0; i < count; i++)
        if (kind_of(trial) == PAIRS_FAR)
            send_far(trial);
        else
            send_pair(trial, distance_of(trial, order[i]));
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

double pairs_alone_ns(const struct trial *trial)
{
    const size_t count = count_of(trial);
    double ns[STRIPE_SCAN_MAX];

    return trial_ns(trial, alone_arm, (uint32_t)count, ns)
               ? fmax(pairs_middle(ns, count), 1)
               : 0;
}

/* A round with many reads alone, or before all others, is its own measure. */
static double unit_ns(const struct trial *trial)
{
    return kind_of(trial) <= PAIRS_ANY ? pairs_alone_ns(trial)
                                       : state_of(trial)->alone_ns;
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

size_t pairs_take(const struct trial *trial, double ratios[STRIPE_SCAN_MAX])
{
    const size_t count = count_of(trial);
    const bool own = is_own(trial);
    const struct timing *alone =
        trial_rows(trial, alone_arm, (uint32_t)(own ? 2 * count : count));
    const struct timing *pairs =
        trial_rows(trial, pair_arm, 2 * (uint32_t)count);
    size_t order[STRIPE_SCAN_MAX];
    struct random random;

    if (!alone || !pairs)
        return 0;
    const double unit = own ? 1 : unit_ns(trial);
    study_random(trial->study, trial->phase, trial->contrast->name,
                 trial->round, &random);
    random_order(&random, order, count);
    for (size_t i = 0; i < count; i++)
        if (own)
            ratios[i] =
                2 * pair_ns(&pairs[2 * i]) /
                fmax((double)(alone[2 * i].ns + alone[2 * i + 1].ns), 1);
        else
            ratios[order[i]] = pair_ns(&pairs[2 * i]) / unit;
    return count;
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
    *ratio = log(pairs_middle(ratios, count));
    if (kind_of(trial) != PAIRS_OWN_QUICKEST)
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
        [PAIRS_OWN] = KIND("own", collided),
        [PAIRS_OWN_ANY] = KIND("each", longer),
        [PAIRS_OWN_QUICKEST] = KIND("each", longer)};
#undef KIND

    return trial_of(&kinds[kind], size_bytes, other_bytes, kind);
}
