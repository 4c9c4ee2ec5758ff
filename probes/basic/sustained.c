/* SPDX-License-Identifier: GPL-3.0-or-later */
/* basic: random writes that go on until a buffer is full. */
#include "probes/basic/sustained.h"

#include "lib/base/units.h"
#include "probes/placing.h"

/* Writes of a round; rounds of the first look, and of the first that may end
 * it: a quarter of these is the least that has a level. */
enum { ROUND_WRITES = 16, FIRST_ROUNDS = 2, LEVEL_ROUNDS = 8 };

/* More than most sticks and SSDs set aside for writes that wait; and less than
 * half of the spare area of any drive (a fourteenth), which it leaves clean for
 * the other probes; and a small part of what a run may write. */
static const uint64_t bytes_usual = 64 * MIB;
/* No look at twice as many that would take longer than this. */
static const double longest_ns = 20e9;
/* A level has risen when a write takes twice as long on average as one did at
 * first: cleaning and merges that come now and then add less. */
static const double risen_least = 2;
/* It stays when the last two quarters differ by no more than a fifth. */
static const double steady_most = 1.2;

static uint32_t rounds_most(const struct setting *setting,
                            uint64_t request_bytes)
{
    return (uint32_t)(smaller_of(bytes_usual, setting->write_budget_bytes) /
                      (ROUND_WRITES * request_bytes));
}

static const struct contrast writes = {.name = "sustained",
                                       .repeats = ROUND_WRITES};

static void ask(struct study *study, const char *phase,
                const struct sustained_ground *ground, uint32_t round)
{
    struct random random;

    study_random(study, phase, writes.name, round, &random);
    for (uint32_t i = 0; i < ROUND_WRITES; i++) {
        const uint64_t place = random_below(&random, ground->count);
        const struct step step =
            placing_step(OPERATION_WRITE,
                         ground->first_bytes + place * ground->request_bytes,
                         ground->request_bytes, phase, &writes, 'a', round);
        study_ask(study, &step);
    }
}

/* What a write of some rounds takes on average. */
static double level_of(const struct study *study, const char *phase,
                       uint32_t first, uint32_t end)
{
    double sum = 0;

    for (uint32_t round = first; round < end; round++) {
        const struct timing *rows =
            placing_rows(study, phase, &writes, 'a', round, ROUND_WRITES);
        for (uint32_t i = 0; rows && i < ROUND_WRITES; i++)
            sum += (double)rows[i].ns;
    }
    return sum / ((double)(end - first) * ROUND_WRITES);
}

/* True when they are all there. */
static bool have_rounds(struct study *study, const char *phase,
                        const struct sustained_ground *ground, uint32_t rounds)
{
    bool all = true;

    for (uint32_t round = 0; round < rounds; round++)
        if (!placing_rows(study, phase, &writes, 'a', round, ROUND_WRITES)) {
            ask(study, phase, ground, round);
            all = false;
        }
    return all;
}

/* Has the level risen, and does it stay? */
static bool is_full(const struct study *study, const char *phase,
                    uint32_t rounds, double single_ns)
{
    const uint32_t quarter = rounds / 4;

    if (rounds < LEVEL_ROUNDS)
        return false;
    const double before =
        level_of(study, phase, rounds - 2 * quarter, rounds - quarter);
    const double last = level_of(study, phase, rounds - quarter, rounds);
    return before >= risen_least * single_ns &&
           last >= risen_least * single_ns && last <= steady_most * before &&
           before <= steady_most * last;
}

bool sustained_measure(struct study *study, const char *phase,
                       const struct sustained_ground *ground, double single_ns,
                       struct sustained *result)
{
    const uint32_t most = rounds_most(&study->setting, ground->request_bytes);
    uint32_t rounds = FIRST_ROUNDS;

    *result = (struct sustained){.known = false};
    if (most < FIRST_ROUNDS)
        return true;
    for (;; rounds = 2 * rounds < most ? 2 * rounds : most) {
        if (!have_rounds(study, phase, ground, rounds))
            return false;
        const double all_ns =
            level_of(study, phase, 0, rounds) * ROUND_WRITES * (double)rounds;
        if (rounds == most || 2 * all_ns > longest_ns ||
            is_full(study, phase, rounds, single_ns))
            break;
    }
    result->known = true;
    result->ns = level_of(study, phase, rounds / 2, rounds);
    result->written_bytes =
        (uint64_t)rounds * ROUND_WRITES * ground->request_bytes;
    result->risen = result->ns >= risen_least * single_ns;
    return true;
}
