/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trim: what is read where data was discarded, and what does a discard cost?
 *
 * Idea: write marks, discard them, and read them back, twice.
 *
 *   write    m m m m m m m m
 *   discard  . . . . . . . .
 *   read     0 0 0 0 0 0 0 0   zeros: the drive forgets, for sure
 *            m m m m m m m m   old: it keeps them, at least for now
 *            0 m m 0 m 0 0 m   mixed: by chance, or first one, then the other
 *            1 1 1 1 1 1 1 1   ones: as erased flash; neither zeros nor marks
 *                              are there, so a piece is compared with ones
 *
 * Each time the places are written again, so that the next probe finds a drive
 * in use. Assumes: a piece of 1 MiB is large enough that the drive does not
 * ignore it for its size alone. What is "old" may be forgotten later.
 */
#include <stdio.h>

#include "lib/base/units.h"
#include "lib/infer/study.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/times.h"

enum {
    ROUNDS = 4,
    PIECES = 16,
    READS = 4, /* of a piece */
    PASSES = 2,
    READS_ROUND = PIECES * READS,
    READS_ALL = ROUNDS * PASSES * READS_ROUND
};
static const uint64_t piece_bytes = MIB, read_bytes = 4 * KIB;
static const uint64_t window_bytes = PIECES * MIB;
/* Before the second pass: a drive that puts a discard off has done it then. */
static const uint64_t rest_ns = 200000000;
/* Each read is compared with what was written, byte for byte; of all drives
 * some may answer otherwise another day. */
static const double reads_confidence = 0.99;
/* Nothing was dropped: a longer discard, or an aligned one, still may be. */
static const double old_confidence = 0.95;

static const char phase[] = "discard", phase_ones[] = "ones";

/* ---- what is asked ------------------------------------------------------ */

static uint64_t base_of(const struct study *study, uint32_t round)
{
    const uint64_t base =
        placing_base(&study->setting, study->seed, ROUNDS * window_bytes);

    return (base + MIB - 1) / MIB * MIB + round * window_bytes;
}

static void ask_pieces(struct study *study, const char *cell, uint32_t round,
                       enum operation operation, enum step_content content)
{
    for (uint32_t i = 0; i < PIECES; i++)
        placing_ask(study,
                    (struct step){.operation = operation,
                                  .offset_bytes =
                                      base_of(study, round) + i * piece_bytes,
                                  .length_bytes = piece_bytes,
                                  .content = content,
                                  .mark = 1 + round},
                    phase, cell, round);
    placing_ask(study, (struct step){.operation = OPERATION_FLUSH}, phase, "",
                round);
}

static void ask_reads(struct study *study, uint32_t round, const char *cell)
{
    const uint64_t pitch_bytes = piece_bytes / READS;

    for (uint32_t i = 0; i < READS_ROUND; i++)
        placing_ask(study,
                    (struct step){.operation = OPERATION_READ,
                                  .offset_bytes =
                                      base_of(study, round) + i * pitch_bytes,
                                  .length_bytes = read_bytes,
                                  .content = CONTENT_MARK,
                                  .mark = 1 + round,
                                  .compare = true},
                    phase, cell, round);
}

/* A drive that knows no discard says so to the first. */
static void ask_round(struct study *study, uint32_t round)
{
    ask_pieces(study, "", round, OPERATION_WRITE, CONTENT_MARK);
    ask_pieces(study, "discard", round, OPERATION_DISCARD, CONTENT_RANDOM);
    ask_reads(study, round, "first");
    placing_ask(study,
                (struct step){.operation = OPERATION_IDLE, .idle_ns = rest_ns},
                phase, "", round);
    ask_reads(study, round, "second");
    ask_pieces(study, "again", round, OPERATION_WRITE, CONTENT_RANDOM);
}

/* One piece more, all of which is compared with ones. */
static void ask_ones(struct study *study)
{
    const uint64_t base = base_of(study, 0);
    const struct step steps[] = {{.operation = OPERATION_WRITE,
                                  .offset_bytes = base,
                                  .length_bytes = piece_bytes,
                                  .content = CONTENT_MARK,
                                  .mark = 1},
                                 {.operation = OPERATION_FLUSH},
                                 {.operation = OPERATION_DISCARD,
                                  .offset_bytes = base,
                                  .length_bytes = piece_bytes}};

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        placing_ask(study, steps[i], phase_ones, "", 0);
    for (uint32_t i = 0; i < READS_ROUND; i++)
        placing_ask(study,
                    (struct step){.operation = OPERATION_READ,
                                  .offset_bytes = base + i * read_bytes,
                                  .length_bytes = read_bytes,
                                  .content = CONTENT_ONES,
                                  .compare = true},
                    phase_ones, "read", 0);
    placing_ask(study,
                (struct step){.operation = OPERATION_WRITE,
                              .offset_bytes = base,
                              .length_bytes = piece_bytes,
                              .content = CONTENT_RANDOM},
                phase_ones, "", 0);
}

/* ---- what follows ------------------------------------------------------- */

struct seen {
    uint32_t zeros, old, others; /* reads */
    double ns[ROUNDS * PIECES];  /* discards */
    size_t count;
    bool refused;
};

static void count_reads(const struct study *study, uint32_t round,
                        const char *cell, struct seen *seen)
{
    const struct ledger_entry *entry =
        ledger_get(&study->ledger, phase, cell, round);

    for (uint32_t i = 0; entry && i < entry->count; i++) {
        const enum returned returned = entry->timings[i].returned;
        seen->zeros += returned == RETURNED_ZEROS;
        seen->old += returned == RETURNED_SAME;
        seen->others += returned == RETURNED_OTHER;
    }
}

/* False: it was not done. */
static bool take_round(const struct study *study, uint32_t round,
                       struct seen *seen)
{
    const struct ledger_entry *discards =
        ledger_get(&study->ledger, phase, "discard", round);

    if (!discards || !ledger_get(&study->ledger, phase, "again", round))
        return false;
    seen->refused = seen->refused || discards->failed;
    for (uint32_t i = 0; i < discards->count && i < PIECES; i++)
        seen->ns[seen->count++] = (double)discards->timings[i].ns;
    count_reads(study, round, "first", seen);
    count_reads(study, round, "second", seen);
    return true;
}

static struct finding *add(struct findings *findings, const char *parameter)
{
    return findings_add(findings, "trim", parameter);
}

/* Neither zeros nor the old data. Leaves until more is known. */
static void say_others(struct study *study, struct findings *findings)
{
    const struct ledger_entry *entry =
        ledger_get(&study->ledger, phase_ones, "read", 0);
    const uint32_t count = entry ? entry->count : 0;
    uint32_t ones = 0;

    if (!entry) {
        ask_ones(study);
        study_leave(study);
    }
    for (uint32_t i = 0; i < count; i++)
        ones += entry->timings[i].returned == RETURNED_SAME;
    struct finding *finding = add(findings, "trim_reads");
    if (ones > 0 && ones == count) {
        finding_found(finding, value_text("ones"), reads_confidence);
        finding_why(finding, "all %u reads of discarded data returned ones",
                    ones);
        return;
    }
    finding_why(finding,
                "the data read is neither zeros nor the previous data");
}

static void say_reads(struct study *study, const struct seen *seen,
                      struct findings *findings)
{
    const uint32_t all = seen->zeros + seen->old + seen->others;
    const char *reads = seen->zeros == all ? "zeros"
                        : seen->old == all ? "old"
                                           : "mixed";

    if (all > 0 && seen->others == all) {
        say_others(study, findings);
        return;
    }
    struct finding *finding = add(findings, "trim_reads");
    if (all == 0) {
        finding_why(finding, "the data read was not compared");
        return;
    }
    finding_found(finding, value_text(reads),
                  seen->old == all ? old_confidence : reads_confidence);
    finding_why(finding,
                "of %u reads of discarded data, %u returned zeros, %u the "
                "previous data, and %u something else",
                all, seen->zeros, seen->old, seen->others);
}

static void think(struct study *study, struct findings *findings)
{
    struct seen seen = {.count = 0};

    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (!take_round(study, round, &seen)) {
            ask_round(study, round);
            study_leave(study);
        }
        if (seen.refused) {
            study_say_absent(&probe_trim, findings, reads_confidence,
                             "the drive does not accept discards");
            return;
        }
    }
    say_reads(study, &seen, findings);
    times_say(study, add(findings, "trim_time"), "discards of 1 MiB each",
              seen.ns, seen.count);
}

/* ---- the probe ---------------------------------------------------------- */

const struct probe probe_trim = {
    .name = "trim",
    .question = "What does a read return where data was discarded?",
    .idea = "Marks are written, discarded, and read back twice. Reads return "
            "zeros, ones, the marks, or a mixture.",
    .writes = true,
    .compares = true,
    .region_min_bytes = 128 * MIB,
    .answers = {"trim_reads", "trim_time"},
    /* Written, discarded, which counts as such, and written again. */
    .usual = {.bytes_written = 3 * ROUNDS * PIECES * MIB,
              .bytes_written_max = 3 * ROUNDS * PIECES * MIB + 3 * MIB,
              .bytes_read = READS_ALL * 4 * KIB,
              .bytes_read_max = (READS_ALL + READS_ROUND) * 4 * KIB,
              .requests = ROUNDS * (3 * (PIECES + 1) + 1) + READS_ALL,
              .requests_max = ROUNDS * (3 * (PIECES + 1) + 1) + READS_ALL +
                              READS_ROUND + 4},
    STUDY_PROBE(struct study, .think = think),
};
