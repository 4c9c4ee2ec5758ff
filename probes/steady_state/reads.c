/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steady-state: reads before and behind the writes. */
#include "probes/steady_state/steady_state.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/resample.h"
#include "probes/placing.h"

static const uint64_t read_bytes = 4 * KIB;
/* Reads are drawn again in so many parts; one in so many draws adds more. */
enum { PARTS = 64 };
static const double middle_share = 0.8;
/* Heat slows down all reads. Those that are quick for the drive are of the same
 * kind of page before and behind the writes, and wait for no cleaning. */
static const double quick_share = 0.1;
static const char phase_reads[] = "before", phase_after[] = "after";
static const char cell_reads[] = "r";

static void set_label(struct step *step, const char *phase, const char *cell,
                      uint32_t round)
{
    snprintf(step->label.phase, sizeof(step->label.phase), "%s", phase);
    snprintf(step->label.cell, sizeof(step->label.cell), "%s", cell);
    step->label.round = round;
}

/* Behind a flush, so that no write is under way. */
static void ask_reads(struct steady_probe *state, const char *phase,
                      uint32_t count)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t bytes = larger_of(read_bytes, setting->logical_block_bytes);
    struct step step = placing_unmeasured(OPERATION_FLUSH, 0, 0, phase, 0);
    struct random random;

    study_ask(&state->study, &step);
    study_random(&state->study, phase, cell_reads, 0, &random);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t places = setting->region_length_bytes / bytes;
        step =
            (struct step){.operation = OPERATION_READ,
                          .offset_bytes = setting->region_offset_bytes +
                                          random_below(&random, places) * bytes,
                          .length_bytes = bytes};
        set_label(&step, phase, cell_reads, 0);
        study_ask(&state->study, &step);
    }
}

/* The time that this share of the reads does not pass. */
static double time_of(const struct timing *rows, uint32_t count, double share)
{
    double ns[STATS_MAX];
    const uint32_t taken = count < STATS_MAX ? count : STATS_MAX;

    for (uint32_t i = 0; i < taken; i++)
        ns[i] = (double)rows[i].ns;
    stats_sort(ns, taken);
    return ns[(size_t)(share * taken)];
}

struct steady_rest steady_rest(struct steady_probe *state)
{
    if (!ledger_get(&state->study.ledger, phase_reads, cell_reads, 0)) {
        ask_reads(state, phase_reads, STEADY_READS);
        study_leave(&state->study);
    }
    const struct timing *rows =
        study_rows(&state->study, phase_reads, cell_reads, 0, STEADY_READS);
    struct steady_rest rest = {.longest_ns = rows ? 0 : INFINITY};
    double part_ns[PARTS] = {0};

    for (uint32_t i = 0; rows && i < STEADY_READS; i++) {
        rest.longest_ns = fmax(rest.longest_ns, (double)rows[i].ns);
        part_ns[i * PARTS / STEADY_READS] +=
            (double)rows[i].ns * PARTS / STEADY_READS;
    }
    if (rows)
        rest.added_times =
            resample_mean(part_ns, PARTS, middle_share, state->study.seed)
                .high /
            time_of(rows, STEADY_READS, 0.5);
    return rest;
}

double steady_read_growth(struct steady_probe *state)
{
    if (!ledger_get(&state->study.ledger, phase_after, cell_reads, 0)) {
        ask_reads(state, phase_after, STEADY_READS_AFTER);
        study_leave(&state->study);
    }
    const struct timing *before =
        study_rows(&state->study, phase_reads, cell_reads, 0, STEADY_READS);
    const struct timing *after = study_rows(&state->study, phase_after,
                                            cell_reads, 0, STEADY_READS_AFTER);
    return before && after ? time_of(after, STEADY_READS_AFTER, quick_share) /
                                 time_of(before, STEADY_READS, quick_share)
                           : 0;
}
