/* SPDX-License-Identifier: GPL-3.0-or-later */
/* throughput: writes in order, with what holds them up. */
#include "probes/throughput/throughput.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"
#include "probes/rounds.h"

/* Few writes a part, so that most parts are not held up. */
enum { PART = 4, PARTS = PACE_WRITE_BLOCKS_MAX * PACE_WRITE_REQUESTS / PART };

/* What holds up single reads now and then holds up writes as well: below this
 * share of reads nothing does, and all pauses of writes are the drive's. */
static const double far_none = 0.002;
/* A part that takes so many times as long as most has a pause in it. */
static const double long_least = 2;
/* Pauses are the drive's, but for as many as others make, where they are so
 * many times as frequent; where they are as frequent, within three standard
 * errors, the drive makes none; and between the two nothing is told. */
static const double pauses_least = 3, errors_most = 3;

static const struct timing *rows_of(const struct throughput_probe *state,
                                    uint32_t round)
{
    const struct contrast writes = block_of(BLOCK_WRITE, PACE_WRITE_DEPTH);
    const struct trial trial =
        trial_round(&state->study, "write", &writes, round);

    return trial_rows(&trial, 'a', PACE_WRITE_REQUESTS);
}

/* By parts of the rounds from `first` to `end`: `far_share` of single writes
 * are held up by something else. False: drive and others cannot be told
 * apart. */
static bool middle_of(const struct throughput_probe *state, uint32_t first,
                      uint32_t end, double far_share, double *ns)
{
    const double held_up = 1 - pow(1 - far_share, PART);
    double parts_ns[PARTS], kept_ns = 0;
    size_t count = 0, kept = 0;

    for (uint32_t round = first; round < end; round++) {
        const struct timing *rows = rows_of(state, round);
        for (uint32_t i = 0; i + PART < PACE_WRITE_REQUESTS; i += PART)
            parts_ns[count++] =
                (double)(rows[i + PART].submit_ns - rows[i].submit_ns) / PART;
    }
    stats_sort(parts_ns, count);
    const double longest_ns = long_least * parts_ns[count / 2];
    while (kept < count && parts_ns[kept] <= longest_ns)
        kept_ns += parts_ns[kept++];
    kept_ns /= (double)kept;
    const double share = 1 - (double)kept / (double)count;
    const double error = sqrt((held_up + 1 / (double)count) / (double)count);
    *ns = kept_ns;
    if (share <= held_up + errors_most * error)
        return true;
    /* The drive's own pauses are alike, so the middle of all is one of them. */
    *ns += (share - held_up) * (parts_ns[(kept + count) / 2] - kept_ns);
    return share >= pauses_least * held_up;
}

/* From the first write of these rounds to the last. */
static double mean_of(const struct throughput_probe *state, uint32_t first,
                      uint32_t end)
{
    const struct timing *from = rows_of(state, first);
    const struct timing *last = rows_of(state, end - 1);
    const uint64_t ns =
        last[PACE_WRITE_REQUESTS - 1].submit_ns - from[0].submit_ns;

    return (double)ns / ((end - first) * PACE_WRITE_REQUESTS - 1);
}

static double take(const struct throughput_probe *state, uint32_t first,
                   uint32_t end, double far_share, struct write_times *times)
{
    double ns;

    if (!times->held_up)
        return mean_of(state, first, end);
    if (!middle_of(state, first, end, far_share, &ns))
        times->bursts = true;
    return ns;
}

/* Looks at twice as many writes each time; how many rounds in the end. */
static uint32_t write_on(struct throughput_probe *state)
{
    const struct contrast writes = block_of(BLOCK_WRITE, PACE_WRITE_DEPTH);

    for (uint32_t rounds = PACE_WRITE_BLOCKS_FIRST;; rounds *= 2) {
        rounds_measure(&state->study, "write", &writes, 1, rounds);
        const double ns =
            mean_of(state, 0, rounds) * rounds * PACE_WRITE_REQUESTS;
        if (2 * rounds > state->write_rounds_count ||
            2 * ns > PACE_WRITE_LONGEST_NS)
            return rounds;
    }
}

void writes_measure(struct throughput_probe *state, double far_share,
                    struct write_times *times)
{
    const uint32_t rounds = write_on(state);

    *times = (struct write_times){.held_up = far_share > far_none};
    const uint32_t half = rounds / 2, quarter = rounds / 4;
    times->third_ns = take(state, half, half + quarter, far_share, times);
    times->fourth_ns = take(state, half + quarter, rounds, far_share, times);
    times->half_ns = take(state, half, rounds, far_share, times);
    times->mean_ns = mean_of(state, half, rounds);
    times->written_bytes = rounds * PACE_WRITE_REQUESTS * state->order_bytes;
}
