/* SPDX-License-Identifier: GPL-3.0-or-later */
/* throughput: blocks of requests that are sent together, and their pace. */
#include "probes/throughput/throughput.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

/* A request that takes so many times as long as most was held up by something
 * else. */
static const double far_least = 3;

/* Contrasts of one block, and of two. */
enum { SINGLE, PAIR };

/* A round of this contrast is one block. */
static struct contrast contrast_of(const struct block *block)
{
    static const char *const names[] = {"random", "order", "write"};
    struct contrast contrast = {
        .kind = SINGLE, .size_bytes = block->kind, .repeats = block->depth};

    snprintf(contrast.name, sizeof(contrast.name), "%s%u", names[block->kind],
             block->depth);
    return contrast;
}

struct contrast block_pair(uint32_t depth)
{
    struct contrast contrast = {.kind = PAIR,
                                .size_bytes = BLOCK_RANDOM,
                                .repeats = depth,
                                .expected = SIDE_OPEN,
                                .low = log(PACE_GAIN_LEAST),
                                .high = log(PACE_GAIN_NONE)};

    snprintf(contrast.name, sizeof(contrast.name), "double%u", depth);
    return contrast;
}

static struct block block_of(const struct contrast *contrast)
{
    return (struct block){.kind = (enum block_kind)contrast->size_bytes,
                          .depth = contrast->repeats};
}

static uint32_t requests_of(const struct block *block)
{
    return block->kind == BLOCK_WRITE
               ? PACE_WRITE_REQUESTS
               : (uint32_t)pace_block_requests(block->depth);
}

static uint64_t request_bytes(const struct throughput_probe *state,
                              enum block_kind kind)
{
    const uint64_t block_bytes = state->study.setting.logical_block_bytes;

    if (kind != BLOCK_RANDOM)
        return state->order_bytes;
    return block_bytes > PACE_RANDOM_BYTES ? block_bytes : PACE_RANDOM_BYTES;
}

uint64_t block_bytes(const struct throughput_probe *state,
                     const struct block *block)
{
    return requests_of(block) * request_bytes(state, block->kind);
}

/* The first place of a block in order, and how many places there are. */
static uint64_t first_place(const struct throughput_probe *state,
                            const struct block *block, uint64_t bytes,
                            uint32_t round, struct random *random)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t places = setting->region_length_bytes / bytes;

    if (block->kind == BLOCK_WRITE)
        return state->write_first_bytes + round * block_bytes(state, block);
    return setting->region_offset_bytes +
           random_below(random, places - requests_of(block)) * bytes;
}

static void emit_block(struct study *study, const char *phase,
                       const struct contrast *contrast,
                       const struct block *block, char suffix, uint32_t round,
                       struct random *random)
{
    const struct throughput_probe *state =
        (const struct throughput_probe *)study;
    const uint64_t bytes = request_bytes(state, block->kind);
    const uint64_t region_bytes = study->setting.region_offset_bytes;
    const uint64_t places = study->setting.region_length_bytes / bytes;
    const uint64_t first =
        block->kind == BLOCK_RANDOM
            ? 0
            : first_place(state, block, bytes, round, random);

    for (uint32_t i = 0; i < requests_of(block); i++) {
        const uint64_t place =
            block->kind == BLOCK_RANDOM
                ? region_bytes + random_below(random, places) * bytes
                : first + i * bytes;
        struct step step = placing_step(
            block->kind == BLOCK_WRITE ? OPERATION_WRITE : OPERATION_READ,
            place, bytes, phase, contrast, suffix, round);
        step.depth = block->depth;
        study_ask(study, &step);
    }
}

void block_emit(struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round,
                struct random *random)
{
    const struct block block = block_of(contrast);
    const struct block twice = {block.kind, 2 * block.depth};
    const bool twice_first =
        contrast->kind == PAIR && random_below(random, 2) == 1;

    if (twice_first)
        emit_block(study, phase, contrast, &twice, 'b', round, random);
    emit_block(study, phase, contrast, &block, 'a', round, random);
    if (contrast->kind == PAIR && !twice_first)
        emit_block(study, phase, contrast, &twice, 'b', round, random);
}

/* Adds the parts of a round to those of others; false where it is not whole. */
static bool add_parts(const struct study *study, const char *phase,
                      const struct contrast *contrast,
                      const struct block *block, char suffix, uint32_t round,
                      double parts_ns[PACE_PARTS_MAX], size_t *count)
{
    enum { REQUESTS_MAX = PACE_ALONE_REQUESTS + 4 * SAMPLE_DEPTH_MAX + 1 };
    struct pace_request requests[REQUESTS_MAX];
    const uint32_t requests_count = requests_of(block);
    const struct timing *rows =
        placing_rows(study, phase, contrast, suffix, round, requests_count);

    for (uint32_t i = 0; rows && i < requests_count; i++)
        requests[i] =
            (struct pace_request){rows[i].submit_ns, rows[i].complete_ns};
    if (rows)
        *count = pace_parts(requests, requests_count, block->depth, parts_ns,
                            *count);
    return rows != NULL;
}

/* What a request of one block takes; 0 where it is not whole. The median, for
 * of so few parts a third may be held up. */
static double round_ns(const struct study *study, const char *phase,
                       const struct contrast *contrast,
                       const struct block *block, char suffix, uint32_t round)
{
    double parts_ns[PACE_PARTS_MAX];
    size_t count = 0;

    add_parts(study, phase, contrast, block, suffix, round, parts_ns, &count);
    return count ? stats_median(parts_ns, count) : 0;
}

bool block_value(const struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random, double *ratio)
{
    const struct block block = block_of(contrast);
    const struct block twice = {block.kind, 2 * block.depth};

    (void)random;
    const double once_ns = round_ns(study, phase, contrast, &block, 'a', round);
    *ratio = 0;
    if (contrast->kind == SINGLE || once_ns <= 0)
        return once_ns > 0;
    const double twice_ns =
        round_ns(study, phase, contrast, &twice, 'b', round);
    *ratio = log(once_ns / twice_ns);
    return twice_ns > 0;
}

/* How much single requests vary that were sent alone. */
static void take_spread(const struct timing *rows, uint32_t count,
                        double *spread, double *far_share)
{
    double ns[STATS_MAX];

    for (uint32_t i = 0; i < count; i++)
        ns[i] = (double)rows[i].ns;
    const double median_ns = stats_median(ns, count);
    *spread = stats_spread(ns, count) / median_ns;
    for (uint32_t i = 0; i < count; i++)
        *far_share += ns[i] > far_least * median_ns ? 1.0 / count : 0;
}

void block_measure(struct throughput_probe *state, const char *phase,
                   const struct block blocks[], size_t count, uint32_t end)
{
    enum { BLOCKS_MAX = PACE_DEPTHS + PACE_ORDER_DEPTHS };
    size_t order[BLOCKS_MAX];
    struct random random;
    bool all = true;

    for (uint32_t round = 0; round < end; round++) {
        study_random(&state->study, phase, "order", round, &random);
        random_order(&random, order, count);
        for (size_t i = 0; i < count; i++) {
            const struct block *block = &blocks[order[i]];
            const struct contrast contrast = contrast_of(block);
            if (block_rows(state, phase, block, round))
                continue;
            study_random(&state->study, phase, contrast.name, round, &random);
            block_emit(&state->study, phase, &contrast, round, &random);
            all = false;
        }
    }
    if (!all)
        study_leave(&state->study);
}

const struct timing *block_rows(const struct throughput_probe *state,
                                const char *phase, const struct block *block,
                                uint32_t round)
{
    const struct contrast contrast = contrast_of(block);

    return placing_rows(&state->study, phase, &contrast, 'a', round,
                        requests_of(block));
}

bool block_take(const struct throughput_probe *state, const char *phase,
                const struct block *block, uint32_t rounds,
                struct block_times *times)
{
    const struct contrast contrast = contrast_of(block);
    const uint32_t requests = requests_of(block);
    double parts_ns[PACE_PARTS_MAX], spreads[CONTRAST_ROUNDS_MAX] = {0};
    size_t count = 0;

    *times = (struct block_times){.rounds_count = 0};
    for (uint32_t round = 0; round < rounds; round++) {
        const struct timing *rows =
            placing_rows(&state->study, phase, &contrast, 'a', round, requests);
        if (!add_parts(&state->study, phase, &contrast, block, 'a', round,
                       parts_ns, &count))
            return false;
        if (block->depth == 1)
            take_spread(rows, requests, &spreads[times->rounds_count],
                        &times->far_share);
        times->rounds_ns[times->rounds_count++] =
            round_ns(&state->study, phase, &contrast, block, 'a', round);
    }
    times->ns = pace_of(parts_ns, count);
    times->quick_ns = count ? parts_ns[count / 4] : 0;
    times->spread = stats_median(spreads, times->rounds_count);
    times->far_share /= times->rounds_count;
    return times->ns > 0;
}
