/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interference: a round of reads alone and beside writes, and its times. */
#include "probes/interference/interference.h"

#include <math.h>
#include <string.h>

#include "probes/placing.h"

/* Suffixes of cells: reads alone, and a block of each depth. */
static const char alone_suffix = 'a';

static char suffix_of(size_t index)
{
    return (char)('b' + index);
}

/* A place outside of the window, in the region. */
static uint64_t read_place(const struct interference_probe *state,
                           struct random *random)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t bytes = state->read_bytes;
    const uint64_t first = setting->region_offset_bytes;
    const uint64_t window = state->window_writes * state->write_bytes;
    const uint64_t places = (setting->region_length_bytes - window) / bytes;
    const uint64_t at = first + random_below(random, places) * bytes;

    return at < state->window_first_bytes ? at : at + window;
}

static void ask_alone(struct interference_probe *state, const char *phase,
                      const struct contrast *contrast, uint32_t round,
                      struct random *random)
{
    struct step step = placing_unmeasured(OPERATION_FLUSH, 0, 0, phase, round);

    study_ask(&state->study, &step);
    step = placing_unmeasured(OPERATION_IDLE, 0, 0, phase, round);
    step.idle_ns = BESIDE_PAUSE_NS;
    study_ask(&state->study, &step);
    for (int i = 0; i < BESIDE_ALONE_LEAD + BESIDE_ALONE_READS; i++) {
        step = placing_step(OPERATION_READ, read_place(state, random),
                            state->read_bytes, phase, contrast, alone_suffix,
                            round);
        study_ask(&state->study, &step);
    }
}

/* The place of a write, by how many came before it. */
static uint64_t write_place(const struct interference_probe *state,
                            uint64_t number)
{
    return state->window_first_bytes +
           number % state->window_writes * state->write_bytes;
}

static void ask_filling(struct interference_probe *state, const char *phase,
                        uint32_t round, uint64_t *writes)
{
    for (int i = 0; i < BESIDE_FILL_WRITES; i++) {
        struct step step =
            placing_unmeasured(OPERATION_WRITE, write_place(state, (*writes)++),
                               state->write_bytes, phase, round);
        step.depth = beside_depth(BESIDE_DEEPEST);
        study_ask(&state->study, &step);
    }
}

static void ask_block(struct interference_probe *state, const char *phase,
                      const struct contrast *contrast, size_t index,
                      uint32_t round, uint64_t *writes, struct random *random)
{
    const uint32_t depth = beside_depth(index);
    const size_t group = beside_group(depth);
    size_t read_at = 0;

    for (size_t i = 0; i < beside_requests(depth); i++) {
        if (i % group == 0)
            read_at = beside_read_at(depth, random);
        const bool is_write = i % group != read_at;
        struct step step =
            placing_step(is_write ? OPERATION_WRITE : OPERATION_READ,
                         is_write ? write_place(state, (*writes)++)
                                  : read_place(state, random),
                         is_write ? state->write_bytes : state->read_bytes,
                         phase, contrast, suffix_of(index), round);
        step.depth = beside_together(depth);
        study_ask(&state->study, &step);
    }
}

void round_emit(struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round,
                struct random *random)
{
    struct interference_probe *state = (struct interference_probe *)study;
    uint64_t writes = round * beside_round_writes();

    ask_alone(state, phase, contrast, round, random);
    ask_filling(state, phase, round, &writes);
    for (size_t i = BESIDE_DEPTHS; i-- > 0;)
        ask_block(state, phase, contrast, i, round, &writes, random);
}

/* Of one kind of request in a block; false where it is not whole. */
static bool take_block(const struct study *study, const char *phase,
                       const struct contrast *contrast, size_t index,
                       uint32_t round, struct beside_times *times)
{
    const uint32_t depth = beside_depth(index);
    const size_t requests = beside_requests(depth);
    const struct timing *rows = placing_rows(
        study, phase, contrast, suffix_of(index), round, (uint32_t)requests);
    double reads_ns[BESIDE_BLOCK_MAX], writes_ns[BESIDE_BLOCK_MAX];
    size_t reads = 0, writes = 0;

    if (!rows)
        return false;
    for (size_t i = beside_first(depth); i < requests; i++)
        if (rows[i].operation == OPERATION_WRITE)
            writes_ns[writes++] = (double)rows[i].ns;
        else
            reads_ns[reads++] = (double)rows[i].ns;
    if (index == BESIDE_DEEPEST)
        memcpy(times->deepest_ns, reads_ns, sizeof(times->deepest_ns));
    times->read_ns[index] = beside_time(reads_ns, reads);
    times->write_ns[index] = beside_time(writes_ns, writes);
    return true;
}

static bool take_alone(const struct study *study, const char *phase,
                       const struct contrast *contrast, uint32_t round,
                       struct beside_times *times)
{
    double all_ns[BESIDE_ALONE_LEAD + BESIDE_ALONE_READS];
    double *ns = all_ns + BESIDE_ALONE_LEAD;

    if (!placing_ns(study, phase, contrast, alone_suffix, round,
                    BESIDE_ALONE_LEAD + BESIDE_ALONE_READS, all_ns))
        return false;
    times->alone_ns = beside_alone_time(ns, BESIDE_ALONE_READS);
    times->far_count = 0;
    for (int i = 0; i < BESIDE_ALONE_READS; i++)
        times->far_count += ns[i] > BESIDE_FAR_LEAST * times->alone_ns;
    return true;
}

bool round_take(const struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round,
                struct beside_times *times)
{
    bool whole = take_alone(study, phase, contrast, round, times);

    for (size_t i = 0; whole && i < BESIDE_DEPTHS; i++)
        whole = take_block(study, phase, contrast, i, round, times);
    return whole;
}

bool round_value(const struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random, double *ratio)
{
    struct beside_times times;

    (void)random;
    if (!round_take(study, phase, contrast, round, &times))
        return false;
    *ratio = contrast->kind == WRITES_WAIT
                 ? log(times.write_ns[BESIDE_DEEPEST] /
                       times.write_ns[BESIDE_MIDDLE])
                 : beside_share(&times);
    return true;
}
