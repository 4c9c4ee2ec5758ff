/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inter-request-distance: pairs of reads, nearby and distant, and their times.
 */
#include "probes/inter_request_distance/inter_request_distance.h"

#include <math.h>
#include <stdio.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

enum { NEAR_SLOTS = 3 };

struct contrast distance_between(const struct distance_probe *state,
                                 const struct distance_effect *effect,
                                 uint64_t from_bytes, uint64_t span_bytes,
                                 uint64_t to_bytes)
{
    struct contrast contrast = {.kind = DISTANCE_BETWEEN,
                                .repeats = effect->repeats,
                                .size_bytes = from_bytes,
                                .shift_bytes = span_bytes,
                                .other_bytes = to_bytes};

    snprintf(contrast.name, sizeof(contrast.name), "from%llu-to%llu",
             (unsigned long long)(from_bytes / state->slot_bytes),
             (unsigned long long)(to_bytes / state->slot_bytes));
    return contrast;
}

/* ---- measuring --------------------------------------------------------- */

uint64_t distance_within(const struct distance_probe *state,
                         uint64_t span_bytes, struct random *random)
{
    uint64_t slots = span_bytes / state->slot_bytes;
    return slots ? random_below(random, slots) * state->slot_bytes : 0;
}

static void choose_places(const struct distance_probe *state,
                          const struct contrast *contrast,
                          struct random *random, uint64_t *from, uint64_t *to)
{
    uint64_t blur = state->length_bytes / 8;
    uint64_t start;

    if (contrast->kind == DISTANCE_BETWEEN) {
        *from = contrast->size_bytes +
                distance_within(state, contrast->shift_bytes, random);
        *to = contrast->other_bytes;
        return;
    }
    start = distance_within(state, state->length_bytes, random);
    *from = state->first_bytes + start;
    start +=
        contrast->shift_bytes + distance_within(state, blur, random) - blur / 2;
    start %= state->length_bytes;
    *to = state->first_bytes + start / state->slot_bytes * state->slot_bytes;
}

/* Asks for two reads; the second one is measured. */
static void ask_pair(struct study *study, const char *phase,
                     const struct contrast *contrast, char suffix,
                     uint32_t round, uint64_t first, uint64_t second)
{
    struct step step = placing_unmeasured(OPERATION_READ, first,
                                          distance_read_bytes, phase, round);

    study_ask(study, &step);
    step = placing_step(OPERATION_READ, second, distance_read_bytes, phase,
                        contrast, suffix, round);
    study_ask(study, &step);
}

/* A random page of a slot, so that a cached one is seldom read again. */
static uint64_t in_slot(const struct distance_probe *state, size_t slot,
                        struct random *random)
{
    uint64_t pages = state->slot_bytes / distance_read_bytes;
    return slot * state->slot_bytes +
           random_below(random, pages) * distance_read_bytes;
}

/* Next slot with room for the nearby read, which lies a few slots back, where
 * read-ahead does not reach. After all slots a new random order begins. */
static uint32_t next_with_room(size_t slots[DISTANCE_SLOTS], uint32_t at,
                               struct random *random)
{
    for (;; at++) {
        if (at >= DISTANCE_SLOTS) {
            random_order(random, slots, DISTANCE_SLOTS);
            at = 0;
        }
        if (slots[at] >= NEAR_SLOTS)
            return at;
    }
}

/* Reads of two slots in turn, behind one of each. */
static void ask_in_turn(const struct distance_probe *state, struct study *study,
                        const char *phase, const struct contrast *contrast,
                        char suffix, uint32_t round, const uint64_t slots[2],
                        struct random *random)
{
    struct step step = placing_unmeasured(OPERATION_READ, 0,
                                          distance_read_bytes, phase, round);

    for (uint32_t i = 0; i < 2 + contrast->repeats; i++) {
        if (i == 2)
            step = placing_step(OPERATION_READ, 0, distance_read_bytes, phase,
                                contrast, suffix, round);
        step.offset_bytes = slots[i % 2] + in_slot(state, 0, random);
        study_ask(study, &step);
    }
}

static void emit_in_turn(struct study *study, const char *phase,
                         const struct contrast *contrast, uint32_t round,
                         struct random *random)
{
    const struct distance_probe *state = (const struct distance_probe *)study;
    const bool far_first = random_below(random, 2) == 1;
    uint64_t from, to;

    choose_places(state, contrast, random, &from, &to);
    for (int i = 0; i < 2; i++) {
        const bool far = (i == 0) == far_first;
        const uint64_t slots[] = {from, far ? to : from};
        ask_in_turn(state, study, phase, contrast, far ? 'b' : 'a', round,
                    slots, random);
    }
}

static void emit_pairs(struct study *study, const char *phase,
                       const struct contrast *contrast, uint32_t round,
                       struct random *random)
{
    const struct distance_probe *state = (const struct distance_probe *)study;
    size_t near[DISTANCE_SLOTS], far[DISTANCE_SLOTS];
    uint64_t from, to;

    choose_places(state, contrast, random, &from, &to);
    random_order(random, near, DISTANCE_SLOTS);
    random_order(random, far, DISTANCE_SLOTS);
    for (uint32_t i = 0, at = 0; i < contrast->repeats; i++, at++) {
        if (i > 0 && i % DISTANCE_SLOTS == 0)
            random_order(random, far, DISTANCE_SLOTS);
        at = next_with_room(near, at, random);
        size_t back = 1 + random_below(random, NEAR_SLOTS);
        uint64_t here = from + in_slot(state, near[at], random);
        uint64_t next = from + in_slot(state, near[at] - back, random);
        uint64_t there = to + in_slot(state, far[i % DISTANCE_SLOTS], random);
        bool far_first = random_below(random, 2) == 1;
        if (far_first)
            ask_pair(study, phase, contrast, 'b', round, here, there);
        ask_pair(study, phase, contrast, 'a', round, here, next);
        if (!far_first)
            ask_pair(study, phase, contrast, 'b', round, here, there);
    }
}

void distance_emit(struct study *study, const char *phase,
                   const struct contrast *contrast, uint32_t round,
                   struct random *random)
{
    if (contrast->kind == DISTANCE_IN_TURN)
        emit_in_turn(study, phase, contrast, round, random);
    else
        emit_pairs(study, phase, contrast, round, random);
}

bool distance_costs(const struct study *study, const char *phase,
                    const struct contrast *contrast, uint32_t round,
                    char suffix, double ns[DISTANCE_REPEATS_MAX])
{
    return placing_ns(study, phase, contrast, suffix, round, contrast->repeats,
                      ns);
}

bool distance_value(const struct study *study, const char *phase,
                    const struct contrast *contrast, uint32_t round,
                    struct random *random, double *ratio)
{
    double near[DISTANCE_REPEATS_MAX], far[DISTANCE_REPEATS_MAX];

    (void)random;
    if (!distance_costs(study, phase, contrast, round, 'a', near) ||
        !distance_costs(study, phase, contrast, round, 'b', far))
        return false;
    /* The median, not the mean of the lower half: some pairs of random places
     * do not switch groups, and some pages are still in the drive's cache. */
    *ratio = log(stats_median(far, contrast->repeats) /
                 stats_median(near, contrast->repeats));
    return true;
}
