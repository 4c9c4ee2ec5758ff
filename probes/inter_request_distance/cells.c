/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inter-request-distance: pairs of reads, nearby and distant, and their times.
 */
#include "probes/inter_request_distance/inter_request_distance.h"

#include "lib/infer/statistics/stats.h"

enum { NEAR_SLOTS = 3 };

/* What a contrast between two places has, in slots. */
enum { FROM, TO, SPAN };

static const struct distance_probe *state_of(const struct trial *trial)
{
    return (const struct distance_probe *)trial->study;
}

uint64_t distance_within(const struct distance_probe *state,
                         uint64_t span_bytes, struct random *random)
{
    uint64_t slots = span_bytes / state->slot_bytes;
    return slots ? random_below(random, slots) * state->slot_bytes : 0;
}

static void choose_places(const struct trial *trial, uint64_t *from,
                          uint64_t *to)
{
    const struct distance_probe *state = state_of(trial);
    const uint64_t length = state->length_bytes, slot = state->slot_bytes;
    const uint64_t *n = trial->contrast->n;

    if (trial->contrast->trial != &distance_part &&
        trial->contrast->trial != &distance_in_turn) {
        *from = n[FROM] * slot +
                distance_within(state, n[SPAN] * slot, trial->random);
        *to = n[TO] * slot;
        return;
    }
    const uint64_t blur = length / 8;
    uint64_t start = distance_within(state, length, trial->random);
    *from = state->first_bytes + start;
    start +=
        length / n[0] + distance_within(state, blur, trial->random) - blur / 2;
    *to = state->first_bytes + start % length / slot * slot;
}

/* A random page of a slot, so that a cached one is seldom read again. */
static uint64_t in_slot(const struct trial *trial, size_t slot)
{
    const uint64_t slot_bytes = state_of(trial)->slot_bytes;

    return slot * slot_bytes +
           random_below(trial->random, slot_bytes / distance_read_bytes) *
               distance_read_bytes;
}

static void read_at(const struct trial *trial, char arm, uint64_t at_bytes)
{
    trial_time(trial, arm, OPERATION_READ, at_bytes, distance_read_bytes);
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
static void send_in_turn(const struct trial *trial)
{
    const bool far_first = random_below(trial->random, 2) == 1;
    uint64_t from, to;

    choose_places(trial, &from, &to);
    for (int i = 0; i < 2; i++) {
        const bool far = (i == 0) == far_first;
        for (uint32_t k = 0; k < 2 + trial->contrast->repeats; k++)
            read_at(trial,
                    k < 2 ? '\0'
                    : far ? 'b'
                          : 'a',
                    (k % 2 && far ? to : from) + in_slot(trial, 0));
    }
}

/* Two reads each, of which the second one is measured. */
static void send_pairs(const struct trial *trial)
{
    size_t near[DISTANCE_SLOTS], far[DISTANCE_SLOTS];
    uint64_t from, to;

    choose_places(trial, &from, &to);
    random_order(trial->random, near, DISTANCE_SLOTS);
    random_order(trial->random, far, DISTANCE_SLOTS);
    for (uint32_t i = 0, at = 0; i < trial->contrast->repeats; i++, at++) {
        if (i > 0 && i % DISTANCE_SLOTS == 0)
            random_order(trial->random, far, DISTANCE_SLOTS);
        at = next_with_room(near, at, trial->random);
        size_t back = 1 + random_below(trial->random, NEAR_SLOTS);
        uint64_t here = from + in_slot(trial, near[at]);
        const uint64_t seconds[] = {
            from + in_slot(trial, near[at] - back),
            to + in_slot(trial, far[i % DISTANCE_SLOTS])};
        const size_t first = random_below(trial->random, 2);
        for (size_t k = 0; k < 2; k++) {
            read_at(trial, '\0', here);
            read_at(trial, "ab"[first ^ k], seconds[first ^ k]);
        }
    }
}

/* The median, not the mean of the lower half: some pairs of random places do
 * not switch groups, and some pages are still in the drive's cache. */
const struct trial_kind distance_part = {.name = "part{part}",
                                         .arms = "ab",
                                         .round = send_pairs,
                                         .sum = stats_median},
                        distance_in_turn = {.name = "part{part}",
                                            .arms = "ab",
                                            .round = send_in_turn,
                                            .sum = stats_median};

struct contrast distance_between(const struct distance_probe *state,
                                 uint64_t from_bytes, uint64_t span_bytes,
                                 uint64_t to_bytes)
{
    static const struct trial_kind kind = {.name = "from{slot}-to{slot}",
                                           .arms = "ab",
                                           .round = send_pairs,
                                           .sum = stats_median};
    const uint64_t slot = state->slot_bytes;
    struct contrast contrast =
        trial_of(&kind, from_bytes / slot, to_bytes / slot, span_bytes / slot);

    contrast.repeats = state->effect.repeats;
    return contrast;
}
