/* SPDX-License-Identifier: GPL-3.0-or-later */
/* throughput: blocks of requests that are sent together, and their pace. */
#include "probes/throughput/throughput.h"

#include <math.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

/* A request that takes so many times as long as most was held up by something
 * else. */
static const double far_least = 3;

/* Arm b, of pairs, has twice the depth. */
static uint32_t depth_of(const struct contrast *block, char arm)
{
    return (uint32_t)block->n[BLOCK_DEPTH] * (arm == 'b' ? 2 : 1);
}

static uint32_t requests_of(const struct contrast *block, char arm)
{
    return block->n[BLOCK_KIND] == BLOCK_WRITE
               ? PACE_WRITE_REQUESTS
               : (uint32_t)pace_block_requests(depth_of(block, arm));
}

static uint64_t request_bytes(const struct throughput_probe *state,
                              const struct contrast *block)
{
    return block->n[BLOCK_KIND] != BLOCK_RANDOM
               ? state->order_bytes
               : larger_of(state->study.setting.logical_block_bytes,
                           PACE_RANDOM_BYTES);
}

/* Where a block in order begins. */
static uint64_t first_place(const struct trial *trial, uint64_t bytes)
{
    const struct throughput_probe *state =
        (const struct throughput_probe *)trial->study;
    const struct setting *setting = &trial->study->setting;
    const uint64_t places = setting->region_length_bytes / bytes;

    if (trial->contrast->n[BLOCK_KIND] == BLOCK_WRITE)
        return state->write_first_bytes +
               trial->round * PACE_WRITE_REQUESTS * bytes;
    return setting->region_offset_bytes +
           random_below(trial->random,
                        places - requests_of(trial->contrast, 'a')) *
               bytes;
}

static void send(const struct trial *trial, char arm)
{
    const struct contrast *block = trial->contrast;
    const bool anywhere = block->n[BLOCK_KIND] == BLOCK_RANDOM;
    const uint64_t bytes =
        request_bytes((const struct throughput_probe *)trial->study, block);
    const uint64_t first = anywhere ? 0 : first_place(trial, bytes);

    for (uint32_t i = 0; i < requests_of(block, arm); i++)
        trial_ask(trial, arm,
                  (struct step){.operation = block->n[BLOCK_KIND] == BLOCK_WRITE
                                                 ? OPERATION_WRITE
                                                 : OPERATION_READ,
                                .offset_bytes =
                                    anywhere ? trial_anywhere(trial, bytes)
                                             : first + i * bytes,
                                .length_bytes = bytes,
                                .depth = depth_of(block, arm)});
}

/* Adds the parts of a round to those of others; false where it is not whole. */
static bool add_parts(const struct trial *trial, char arm,
                      double parts_ns[PACE_PARTS_MAX], size_t *count)
{
    enum { REQUESTS_MAX = PACE_ALONE_REQUESTS + 4 * SAMPLE_DEPTH_MAX + 1 };
    struct pace_request requests[REQUESTS_MAX];
    const uint32_t requests_count = requests_of(trial->contrast, arm);
    const struct timing *rows = trial_rows(trial, arm, requests_count);

    for (uint32_t i = 0; rows && i < requests_count; i++)
        requests[i] =
            (struct pace_request){rows[i].submit_ns, rows[i].complete_ns};
    if (rows)
        *count = pace_parts(requests, requests_count,
                            depth_of(trial->contrast, arm), parts_ns, *count);
    return rows != NULL;
}

/* What a request of one block takes; 0 where it is not whole. The median, for
 * of so few parts a third may be held up. */
static double round_ns(const struct trial *trial, char arm)
{
    double parts_ns[PACE_PARTS_MAX];
    size_t count = 0;

    add_parts(trial, arm, parts_ns, &count);
    return count ? stats_median(parts_ns, count) : 0;
}

static bool is_whole(const struct trial *trial, double *ratio)
{
    *ratio = 0;
    return round_ns(trial, 'a') > 0;
}

static bool gain_of(const struct trial *trial, double *ratio)
{
    const double once_ns = round_ns(trial, 'a'),
                 twice_ns = round_ns(trial, 'b');

    *ratio = log(once_ns / twice_ns);
    return once_ns > 0 && twice_ns > 0;
}

struct contrast block_of(enum block_kind kind, uint32_t depth)
{
#define KIND(name_)                                                            \
    {                                                                          \
        .name = (name_), .arms = "a", .sent = 1, .send = send,                 \
        .ratio = is_whole                                                      \
    }
    static const struct trial_kind kinds[] = {
        [BLOCK_RANDOM] = KIND("random{depth}"),
        [BLOCK_ORDER] = KIND("order{depth}"),
        [BLOCK_WRITE] = KIND("write{depth}")};

    return trial_of(&kinds[kind], depth, kind);
}

struct contrast block_pair(uint32_t depth)
{
    static const struct trial_kind kind = {.name = "double{depth}",
                                           .arms = "ab",
                                           .sent = 1,
                                           .send = send,
                                           .ratio = gain_of};

    return trial_expect(trial_of(&kind, depth, BLOCK_RANDOM), SIDE_OPEN,
                        log(PACE_GAIN_LEAST), log(PACE_GAIN_NONE), NULL);
}

/* How much single requests vary that were sent alone. */
static void take_spread(const struct trial *trial, double *spread,
                        double *far_share)
{
    const uint32_t count = requests_of(trial->contrast, 'a');
    double ns[STATS_MAX];

    trial_ns(trial, 'a', count, ns);
    const double median_ns = stats_median(ns, count);
    *spread = stats_spread(ns, count) / median_ns;
    for (uint32_t i = 0; i < count; i++)
        *far_share += ns[i] > far_least * median_ns ? 1.0 / count : 0;
}

bool block_take(const struct throughput_probe *state, const char *phase,
                const struct contrast *block, uint32_t rounds,
                struct block_times *times)
{
    double parts_ns[PACE_PARTS_MAX], spreads[CONTRAST_ROUNDS_MAX] = {0};
    size_t count = 0;

    *times = (struct block_times){.rounds_count = 0};
    for (uint32_t round = 0; round < rounds; round++) {
        const struct trial trial =
            trial_round(&state->study, phase, block, round);
        if (!add_parts(&trial, 'a', parts_ns, &count))
            return false;
        if (depth_of(block, 'a') == 1)
            take_spread(&trial, &spreads[times->rounds_count],
                        &times->far_share);
        times->rounds_ns[times->rounds_count++] = round_ns(&trial, 'a');
    }
    times->ns = pace_of(parts_ns, count);
    times->quick_ns = count ? parts_ns[count / 4] : 0;
    for (size_t i = 0; i < count; i++)
        times->mean_ns += parts_ns[i] / (double)count;
    times->spread = stats_median(spreads, times->rounds_count);
    times->far_share /= times->rounds_count;
    return times->ns > 0;
}
