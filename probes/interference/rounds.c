/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interference: a round of reads alone and beside writes, and its times. */
#include "probes/interference/interference.h"

#include <math.h>
#include <string.h>

/* Cells: reads alone, and a block of each depth, from 'b' on. */
static const char alone_arm = 'a';

static char arm_of(size_t index)
{
    return (char)('b' + index);
}

static struct interference_probe *state_of(const struct trial *trial)
{
    return (struct interference_probe *)trial->study;
}

/* At a place outside of the window, in the region. */
static struct step read_step(const struct trial *trial)
{
    const struct interference_probe *state = state_of(trial);
    const struct setting *setting = &state->study.setting;
    const uint64_t bytes = state->read_bytes;
    const uint64_t window = state->window_writes * state->write_bytes;
    const uint64_t places = (setting->region_length_bytes - window) / bytes;
    const uint64_t at = setting->region_offset_bytes +
                        random_below(trial->random, places) * bytes;

    return (struct step){.operation = OPERATION_READ,
                         .offset_bytes =
                             at < state->window_first_bytes ? at : at + window,
                         .length_bytes = bytes};
}

/* By how many came before it. */
static struct step write_step(const struct trial *trial, uint64_t number)
{
    const struct interference_probe *state = state_of(trial);

    return (struct step){.operation = OPERATION_WRITE,
                         .offset_bytes =
                             state->window_first_bytes +
                             number % state->window_writes * state->write_bytes,
                         .length_bytes = state->write_bytes};
}

static void send_block(const struct trial *trial, size_t index,
                       uint64_t *writes)
{
    const uint32_t depth = beside_depth(index);
    const size_t group = beside_group(depth);
    size_t read_at = 0;

    for (size_t i = 0; i < beside_requests(depth); i++) {
        if (i % group == 0)
            read_at = beside_read_at(depth, trial->random);
        struct step step = i % group != read_at ? write_step(trial, (*writes)++)
                                                : read_step(trial);
        step.depth = beside_together(depth);
        trial_ask(trial, arm_of(index), step);
    }
}

static void send(const struct trial *trial)
{
    uint64_t writes = trial->round * beside_round_writes();

    trial_flush(trial, '\0');
    trial_pause(trial, BESIDE_PAUSE_NS);
    for (int i = 0; i < BESIDE_ALONE_LEAD + BESIDE_ALONE_READS; i++)
        trial_ask(trial, alone_arm, read_step(trial));
    for (int i = 0; i < BESIDE_FILL_WRITES; i++) {
        struct step step = write_step(trial, writes++);
        step.depth = beside_depth(BESIDE_DEEPEST);
        trial_ask(trial, '\0', step);
    }
    for (size_t i = BESIDE_DEPTHS; i-- > 0;)
        send_block(trial, i, &writes);
}

/* Of one kind of request in a block; false where it is not whole. */
static bool take_block(const struct trial *trial, size_t index,
                       struct beside_times *times)
{
    const uint32_t depth = beside_depth(index);
    const size_t requests = beside_requests(depth);
    const struct timing *rows =
        trial_rows(trial, arm_of(index), (uint32_t)requests);
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

bool round_take(const struct trial *trial, struct beside_times *times)
{
    double all_ns[BESIDE_ALONE_LEAD + BESIDE_ALONE_READS];
    double *ns = all_ns + BESIDE_ALONE_LEAD;
    bool whole = trial_ns(trial, alone_arm,
                          BESIDE_ALONE_LEAD + BESIDE_ALONE_READS, all_ns);

    if (!whole)
        return false;
    times->alone_ns = beside_alone_time(ns, BESIDE_ALONE_READS);
    times->far_count = 0;
    for (int i = 0; i < BESIDE_ALONE_READS; i++)
        times->far_count += ns[i] > BESIDE_FAR_LEAST * times->alone_ns;
    for (size_t i = 0; whole && i < BESIDE_DEPTHS; i++)
        whole = take_block(trial, i, times);
    return whole;
}

static bool writes_longer(const struct trial *trial, double *ratio)
{
    struct beside_times times;

    if (!round_take(trial, &times))
        return false;
    *ratio =
        log(times.write_ns[BESIDE_DEEPEST] / times.write_ns[BESIDE_MIDDLE]);
    return true;
}

static bool reads_share(const struct trial *trial, double *ratio)
{
    struct beside_times times;

    if (!round_take(trial, &times))
        return false;
    *ratio = beside_share(&times);
    return true;
}

const struct trial_kind interference_writes =
                            TRIAL_ROUND("round", send, writes_longer),
                        interference_reads =
                            TRIAL_ROUND("round", send, reads_share);

uint32_t interference_last(const uint32_t counts[])
{
    while (counts[1])
        counts++;
    return *counts;
}
