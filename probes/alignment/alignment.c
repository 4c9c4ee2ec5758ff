/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * alignment: which units show in what it costs to read across their boundaries?
 * (flashbench -a, Bergmann 2011)
 *
 * Idea: short reads that end at a boundary of some alignment, lie across it, or
 * begin at it. Across a boundary of pages a read needs two of them, and across
 * one of erase units two places that are looked up apart:
 *
 *   extra  |                _______   across boundaries of erase units
 *   time   |       ________|
 *   across |______|                   across boundaries of pages
 *          +------------------------  alignment: 1 KiB, 2 KiB, 4 KiB ...
 *
 * The three reads of a group go to three boundaries, so that none finds in a
 * buffer what another has read. What follows is concluded by the rules for
 * recordings of flashbench (lib/infer/flashbench).
 *
 * Assumes: the drive has been written; it does not read ahead of single reads.
 * Across a boundary of what one page of the mapping covers a read also needs
 * two places that are looked up apart, until both are at hand: so what is found
 * is read again, twice at each place, and the step must still be there.
 * Of all probes that look for blocks it is the only one that does not write.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/flashbench/flashbench.h"
#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/rounds.h"
#include "probes/trial.h"

/* Rounds are flashbench's repeats, each of which must show a step. */
enum { LEVELS_MAX = 24, ROUNDS = 6, PLACES = 12 };

/* Larger units are no erase units; and of fewer places than this the same few
 * would be read again and again. */
static const uint64_t align_most_bytes = 256 * MIB, places_least = 64;

/* Erase units are no smaller (lib/infer/flashbench/rules.h). Less than this
 * share of a read makes no difference. */
static const uint64_t unit_least_bytes = 128 * KIB;
static const double effect_least = 0.05;
/* As the rules for flashbench have it. */
static const double absent_confidence = 0.95;
/* Of a step, so much must be left where the same is read again. */
static const double left_least = 0.5;

enum side_of { BEFORE, ACROSS, BEHIND, SIDES };
static const char phase_first[] = "align", phase_again[] = "again";
static const char sides[] = "abc";

struct state {
    struct study study;
    struct contrast levels[LEVELS_MAX];
    size_t levels_count;
};

/* Boundaries of this alignment and of no larger one: its odd multiples. */
static uint64_t boundary(const struct setting *setting, uint64_t align_bytes,
                         struct random *random)
{
    const uint64_t first = setting->region_offset_bytes / align_bytes + 1;
    const uint64_t last =
        (setting->region_offset_bytes + setting->region_length_bytes) /
            align_bytes -
        1;
    const uint64_t odd = (first + random_below(random, last - first)) | 1;

    return (odd <= last ? odd : odd - 2) * align_bytes;
}

static uint64_t read_bytes_of(const struct setting *setting)
{
    return 2 * larger_of(setting->logical_block_bytes, 512);
}

/* A read that ends at a boundary, crosses it, or begins at it; in the second
 * phase the same has just been read. */
static void send(const struct trial *trial, char arm)
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t bytes = read_bytes_of(setting);
    const uint64_t before[SIDES] = {bytes, bytes / 2, 0};
    const uint64_t at =
        boundary(setting, trial->contrast->n[0], trial->random) -
        before[strchr(sides, arm) - sides];

    if (strcmp(trial->phase, phase_again) == 0)
        trial_read(trial, at, bytes);
    trial_time(trial, arm, OPERATION_READ, at, bytes);
}

static const struct trial_kind align_kind = {
    .name = "align{align_bytes}", .arms = sides, .sent = PLACES, .send = send};

static double median_of(const struct study *study, const char *phase,
                        const struct contrast *level, enum side_of side,
                        uint32_t round)
{
    double ns[PLACES];

    placing_ns(study, phase, level, sides[side], round, PLACES, ns);
    return stats_median(ns, PLACES);
}

/* The extra time of a level, of all its rounds. */
static double extra_of(const struct flashbench_align rows[], size_t level)
{
    double ns[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        ns[i] = rows[level * ROUNDS + (size_t)i].extra_ns;
    return stats_median(ns, ROUNDS);
}

/* Do all alignments from this one on cost the same, within what matters? */
static bool are_alike(const struct flashbench_align rows[], size_t count,
                      uint64_t from_bytes)
{
    double low_ns = INFINITY, high_ns = -INFINITY;

    for (size_t i = 0; i < count / ROUNDS; i++) {
        if (rows[i * ROUNDS].align_bytes < from_bytes)
            continue;
        low_ns = fmin(low_ns, extra_of(rows, i));
        high_ns = fmax(high_ns, extra_of(rows, i));
    }
    return high_ns - low_ns < effect_least * rows[0].read_ns;
}

/* No answer becomes absence where there is nothing that could be one. */
static void deny(struct finding *finding, const char *reason)
{
    if (finding->verdict != VERDICT_INCONCLUSIVE)
        return;
    finding_absent(finding, absent_confidence);
    finding_why(finding, "%s", reason);
}

/* The number of a level, by its alignment. */
static size_t level_of(const struct state *state, uint64_t align_bytes)
{
    size_t level = 0;

    while (level + 1 < state->levels_count &&
           state->levels[level].n[0] != align_bytes)
        level++;
    return level;
}

static size_t take_rows(const struct study *study, const char *phase,
                        const struct contrast levels[], size_t levels_count,
                        struct flashbench_align rows[])
{
    size_t count = 0;

    for (size_t i = 0; i < levels_count; i++)
        for (uint32_t round = 0; round < ROUNDS; round++) {
            const double beside =
                (median_of(study, phase, &levels[i], BEFORE, round) +
                 median_of(study, phase, &levels[i], BEHIND, round)) /
                2;
            rows[count++] = (struct flashbench_align){
                .align_bytes = levels[i].n[0],
                .repeat = round,
                .read_ns = beside,
                .extra_ns = median_of(study, phase, &levels[i], ACROSS, round) -
                            beside};
        }
    return count;
}

/* Is the step there as well where both sides were just read? */
static void check_again(struct state *state,
                        const struct flashbench_align rows[],
                        struct finding *unit)
{
    struct flashbench_align again[2 * ROUNDS];

    if (unit->verdict != VERDICT_FOUND)
        return;
    const size_t level = level_of(state, (uint64_t)unit->value.integer);
    if (level == 0)
        return;
    const struct contrast *two = &state->levels[level - 1];
    const double first_ns = extra_of(rows, level) - extra_of(rows, level - 1);
    rounds_measure(&state->study, phase_again, two, 2, ROUNDS);
    (void)take_rows(&state->study, phase_again, two, 2, again);
    const double second_ns = extra_of(again, 1) - extra_of(again, 0);
    if (second_ns >= left_least * first_ns)
        return;
    finding_withdraw(unit);
    finding_why(
        unit,
        "the step of %s falls to %s when the same places are read again: one "
        "page of the mapping may end there, rather than an erase unit",
        TEXT_NS((uint64_t)first_ns), TEXT_NS((uint64_t)fmax(second_ns, 0)));
}

/* What the rules for flashbench say, as this probe's own. */
static void conclude_rows(struct state *state, struct flashbench_align rows[],
                          size_t count, struct findings *findings)
{
    const struct flashbench table = {.aligns = rows, .aligns_count = count};
    struct findings said;

    flashbench_infer(&table, 0, &said);
    for (size_t i = 0; i < said.count; i++) {
        const struct finding *from = &said.items[i];
        struct finding *to =
            findings_add(findings, "alignment", from->parameter);
        *to = *from;
        snprintf(to->probe, sizeof(to->probe), "alignment");
        if (strcmp(to->parameter, "read_boundary") == 0)
            check_again(state, rows, to);
        if (strcmp(to->parameter, "read_boundary") == 0 &&
            are_alike(rows, count, unit_least_bytes))
            deny(to, "reads across boundaries cost the same at every alignment "
                     "from 128 KiB on, so erase units do not show in reads");
        if (strcmp(to->parameter, "read_page") == 0 &&
            are_alike(rows, count, 0))
            deny(to, "reads across boundaries cost the same at every "
                     "alignment, so pages do not show in reads");
    }
}

static void think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    struct flashbench_align rows[LEVELS_MAX * ROUNDS];

    rounds_measure(study, phase_first, state->levels, state->levels_count,
                   ROUNDS);
    const size_t count =
        take_rows(study, phase_first, state->levels, state->levels_count, rows);
    conclude_rows(state, rows, count, findings);
}

static bool is_level(const struct setting *setting, uint64_t align_bytes)
{
    return align_bytes <= align_most_bytes &&
           places_least * align_bytes <= setting->region_length_bytes;
}

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct state *state = memory;

    (void)known;
    for (uint64_t align = read_bytes_of(setting);
         is_level(setting, align) && state->levels_count < LEVELS_MAX;
         align *= 2) {
        state->levels[state->levels_count++] = trial_of(&align_kind, align);
    }
}

const struct probe probe_alignment = {
    .name = "alignment",
    .question =
        "Which units show in the cost of reads across their boundaries?",
    .idea = "Short reads end at a boundary, cross it, or begin at it, for each "
            "power of two (as flashbench -a does). Nothing is written.",
    .region_min_bytes = 16 * MIB,
    .by_operation = true,
    .answers = {"read_boundary", "read_page"},
    .usual = {.requests = LEVELS_MAX * ROUNDS * PLACES * SIDES,
              .requests_max = (LEVELS_MAX + 4) * ROUNDS * PLACES * SIDES},
    .begin = begin,
    TRIAL_PROBE(struct state, think),
};
