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
 * The reads of a group go to one boundary, so that each place is its own
 * control: pages differ in what they take. A read near each brings its mapping
 * before it.
 *
 * Pages begin where the extra time first shows and where it shows from then on,
 * not alike: two pages of one unit are sensed one after the other, two of
 * several at once. What is said of erase units follows by the rules for
 * recordings of flashbench (lib/infer/flashbench).
 *
 * Assumes: the drive has been written; it does not read ahead of single reads.
 * Across a boundary of erase units a read may need two look-ups, until both are
 * cached. So each place that shows a step is read twice more, and the step must
 * still be there.
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
#include "probes/times.h"
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
/* Four planes of the largest pages. */
static const uint64_t page_most_bytes = 64 * KIB;
/* Of a page: the smallest extra time above it, in errors of a level below. */
static const double step_errors = 6, page_confidence = 0.9,
                    no_page_confidence = 0.75;
/* Of a step, so much must be left where the same is read again. */
static const double left_least = 0.5;

enum side_of { BEFORE, ACROSS, BEHIND, SIDES };
/* Those that are timed, with what brings their mapping, and again. */
enum { PLACE_READS = 4 * SIDES };
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
static void send_read(const struct trial *trial, uint64_t boundary_bytes,
                      enum side_of side)
{
    const uint64_t bytes = read_bytes_of(&trial->study->setting);
    const uint64_t before[SIDES] = {bytes, bytes / 2, 0};
    const uint64_t at = boundary_bytes - before[side];

    if (strcmp(trial->phase, phase_again) == 0)
        trial_read(trial, at, bytes);
    trial_time(trial, sides[side], OPERATION_READ, at, bytes);
}

/* All reads across come first, then all before and all behind, so that none
 * finds in a buffer what another has read. */
static void send(const struct trial *trial)
{
    static const enum side_of order[SIDES] = {ACROSS, BEFORE, BEHIND};
    uint64_t places[PLACES];

    for (size_t i = 0; i < PLACES; i++)
        places[i] = boundary(&trial->study->setting, trial->contrast->n[0],
                             trial->random);
    for (int side = 0; side < SIDES; side++)
        for (size_t i = 0; i < PLACES; i++) {
            trial_bring_mapping(trial, places[i] - KIB);
            trial_bring_mapping(trial, places[i]);
            send_read(trial, places[i], order[side]);
        }
}

static const struct trial_kind align_kind = {
    .name = "align{align_bytes}", .arms = sides, .sent = PLACES, .round = send};

/* What a round says of a level: the mean of its places, over the mean of both
 * reads beside or over the longer one. */
static struct flashbench_align row_of(const struct study *study,
                                      const char *phase,
                                      const struct contrast *level,
                                      uint32_t round, bool over_longer)
{
    double ns[SIDES][PLACES], beside_ns[PLACES], extra_ns[PLACES];

    for (int side = 0; side < SIDES; side++)
        placing_ns(study, phase, level, sides[side], round, PLACES, ns[side]);
    for (size_t i = 0; i < PLACES; i++) {
        const double longer_ns = fmax(ns[BEFORE][i], ns[BEHIND][i]);
        beside_ns[i] = (ns[BEFORE][i] + ns[BEHIND][i]) / 2;
        extra_ns[i] = ns[ACROSS][i] - (over_longer ? longer_ns : beside_ns[i]);
    }
    return (struct flashbench_align){.align_bytes = level->n[0],
                                     .repeat = round,
                                     .read_ns = times_middle(beside_ns, PLACES),
                                     .extra_ns =
                                         times_middle(extra_ns, PLACES)};
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
                        bool over_longer, struct flashbench_align rows[])
{
    size_t count = 0;

    for (size_t i = 0; i < levels_count; i++)
        for (uint32_t round = 0; round < ROUNDS; round++)
            rows[count++] =
                row_of(study, phase, &levels[i], round, over_longer);
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
    (void)take_rows(&state->study, phase_again, two, 2, true, again);
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

/* ---- pages --------------------------------------------------------------- */

/* Between the largest extra time of the levels below `at` and the smallest from
 * there on. */
static double gap_of(const struct flashbench_align rows[], size_t levels,
                     size_t at)
{
    double low_ns = -INFINITY, high_ns = INFINITY;

    for (size_t i = 0; i < levels; i++)
        if (i < at)
            low_ns = fmax(low_ns, extra_of(rows, i));
        else
            high_ns = fmin(high_ns, extra_of(rows, i));
    return high_ns - low_ns;
}

/* The median extra time of these levels in one round. */
static double round_of(const struct flashbench_align rows[], size_t first,
                       size_t end, size_t round)
{
    double ns[LEVELS_MAX];

    for (size_t i = first; i < end; i++)
        ns[i - first] = rows[i * ROUNDS + round].extra_ns;
    return stats_median(ns, end - first);
}

/* Below the page nothing is extra, and all rounds are chance: is this more? And
 * does each round show half of it? */
static bool is_step(const struct flashbench_align rows[], size_t levels,
                    size_t page)
{
    double chance_ns[LEVELS_MAX * ROUNDS], step_ns = INFINITY;

    for (size_t i = 0; i < page * ROUNDS; i++)
        chance_ns[i] = rows[i].extra_ns;
    const double error_ns =
        stats_spread(chance_ns, page * ROUNDS) / sqrt(ROUNDS);
    const double floor_ns = stats_median(chance_ns, page * ROUNDS);
    for (size_t i = page; i < levels; i++)
        step_ns = fmin(step_ns, extra_of(rows, i) - floor_ns);
    for (size_t round = 0; round < ROUNDS; round++)
        if (round_of(rows, page, levels, round) -
                round_of(rows, 0, page, round) <
            step_ns / 2)
            return false;
    return step_ns >= effect_least * rows[page * ROUNDS].read_ns &&
           step_ns >= step_errors * error_ns;
}

/* Does a read across boundaries of this level wait for one sense and then for
 * the other? Where it waits for the longer of them only, there may be smaller
 * pages of one kind on several units. */
static bool is_serial(const struct state *state,
                      const struct flashbench_align rows[], size_t page)
{
    double longest_ns = -INFINITY, ns[ROUNDS], level_ns = 0;

    for (size_t i = 0; i <= page; i++) {
        longest_ns = i ? fmax(longest_ns, level_ns) : longest_ns;
        for (uint32_t round = 0; round < ROUNDS; round++)
            ns[round] = row_of(&state->study, phase_first, &state->levels[i],
                               round, true)
                            .extra_ns;
        level_ns = stats_median(ns, ROUNDS);
    }
    return level_ns - longest_ns >= effect_least * rows[page * ROUNDS].read_ns;
}

/* A read across a boundary of pages senses two, which may lie on one unit or on
 * two and be of two kinds: so all that is larger costs more, though not
 * alike. */
static void say_page(const struct state *state,
                     const struct flashbench_align rows[],
                     struct finding *finding)
{
    const size_t levels = state->levels_count;
    size_t page = 1;

    for (size_t at = 1; at < levels; at++)
        if (rows[at * ROUNDS].align_bytes <= page_most_bytes &&
            gap_of(rows, levels, at) > gap_of(rows, levels, page))
            page = at;
    if (are_alike(rows, levels * ROUNDS, 0) &&
        extra_of(rows, 0) < effect_least * rows[0].read_ns) {
        finding_absent(finding, no_page_confidence);
        finding_why(finding, "reads across boundaries cost the same at every "
                             "alignment, so pages do not show in reads: they "
                             "may lie on several units in turn");
    } else if (gap_of(rows, levels, page) > 0 && is_step(rows, levels, page) &&
               is_serial(state, rows, page)) {
        double low_ns = INFINITY, high_ns = 0;
        for (size_t i = page; i < levels; i++) {
            low_ns = fmin(low_ns, extra_of(rows, i));
            high_ns = fmax(high_ns, extra_of(rows, i));
        }
        finding_found(finding, value_integer(rows[page * ROUNDS].align_bytes),
                      page_confidence);
        finding_why(finding,
                    "reads across boundaries of this and more take %s to %s "
                    "longer than both reads beside them, and across smaller "
                    "ones as long",
                    TEXT_NS((uint64_t)low_ns), TEXT_NS((uint64_t)high_ns));
    } else {
        finding_why(finding, "there is no alignment from which on all reads "
                             "across boundaries take longer than those beside "
                             "them, while below it none do: the drive may read "
                             "neighbouring pages at once");
    }
}

/* ---- what is said -------------------------------------------------------- */

/* What the rules for flashbench say of erase units, as this probe's own: of
 * what a read across takes beyond the longer one beside it, for pages of two
 * kinds meet at some boundaries only. */
static void say_boundary(struct state *state, struct finding *finding)
{
    struct flashbench_align rows[LEVELS_MAX * ROUNDS] = {{.run = 0}};
    const size_t count = take_rows(&state->study, phase_first, state->levels,
                                   state->levels_count, true, rows);
    const struct flashbench table = {.aligns = rows, .aligns_count = count};
    struct findings said;

    flashbench_infer(&table, 0, &said);
    *finding = *findings_get(&said, "read_boundary");
    snprintf(finding->probe, sizeof(finding->probe), "alignment");
    check_again(state, rows, finding);
    if (finding->verdict != VERDICT_INCONCLUSIVE ||
        !are_alike(rows, count, unit_least_bytes))
        return;
    finding_absent(finding, absent_confidence);
    finding_why(finding,
                "reads across boundaries cost the same at every alignment from "
                "128 KiB on, so erase units do not show in reads");
}

static void think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    struct flashbench_align rows[LEVELS_MAX * ROUNDS] = {{.run = 0}};

    rounds_measure(study, phase_first, state->levels, state->levels_count,
                   ROUNDS);
    (void)take_rows(study, phase_first, state->levels, state->levels_count,
                    false, rows);
    say_boundary(state, findings_add(findings, "alignment", "read_boundary"));
    say_page(state, rows, findings_add(findings, "alignment", "read_page"));
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
    .usual = {.requests = LEVELS_MAX * ROUNDS * PLACES * PLACE_READS,
              .requests_max = (LEVELS_MAX + 4) * ROUNDS * PLACES * PLACE_READS},
    .begin = begin,
    TRIAL_PROBE(struct state, think),
};
