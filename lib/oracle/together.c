/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What requests take of which many are under way: asked of the model. */
#include "lib/oracle/seen.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/budget.h"

enum {
    BLOCKS = 12,
    LOOP_REQUESTS_MAX = PACE_WRITE_BLOCKS_MAX * PACE_WRITE_REQUESTS
};

/* So near to the limit of what pays, a depth may be called either. */
static const double pays_least = PACE_GAIN_NONE - 0.03,
                    pays_sure = PACE_GAIN_LEAST + 0.03;

/* A rate stays where its quarters, in which drives that empty a buffer at once
 * do so a few times, and two places differ by no more than this. */
static const double level_most = 0.15, places_most = 0.1;

/* Requests of one kind. */
struct loop {
    struct bench *bench;
    enum flash_operation operation;
    uint64_t bytes, first_bytes; /* of a request; in order from there */
    bool at_random;
    size_t count;
    struct bench_request requests[LOOP_REQUESTS_MAX];
};

/* Keeps `depth` requests under way until all have ended. */
static void run(struct loop *loop, uint32_t depth)
{
    struct bench *bench = loop->bench;
    const uint64_t places = bench->drive->capacity_bytes / loop->bytes;

    for (size_t i = 0; i < loop->count; i++)
        loop->requests[i] = (struct bench_request){
            .operation = loop->operation,
            .depth = depth,
            .offset_bytes =
                loop->at_random
                    ? random_below(&bench->random, places) * loop->bytes
                    : loop->first_bytes + i * loop->bytes,
            .length_bytes = loop->bytes};
    bench_together(bench, loop->requests, loop->count);
}

static size_t parts_of(const struct loop *loop, uint32_t depth,
                       double parts_ns[PACE_PARTS_MAX], size_t parts)
{
    struct pace_request requests[LOOP_REQUESTS_MAX];

    for (size_t i = 0; i < loop->count; i++)
        requests[i] = (struct pace_request){loop->requests[i].submit_ns,
                                            loop->requests[i].complete_ns};
    return pace_parts(requests, loop->count, depth, parts_ns, parts);
}

/* The pace of some blocks of reads. */
static double pace_reads(struct loop *loop, uint32_t depth)
{
    const uint64_t places = loop->bench->drive->capacity_bytes / loop->bytes;
    double parts_ns[PACE_PARTS_MAX];
    size_t parts = 0;

    loop->operation = FLASH_READ;
    loop->count = pace_block_requests(depth);
    for (int i = 0; i < BLOCKS; i++) {
        if (!loop->at_random)
            loop->first_bytes =
                random_below(&loop->bench->random, places - loop->count) *
                loop->bytes;
        run(loop, depth);
        parts = parts_of(loop, depth, parts_ns, parts);
    }
    return pace_of(parts_ns, parts);
}

/* From the sending of the request at `first` to that of the one at `end`, or
 * of the last one. */
static double sent_ns(const uint64_t sent[], size_t first, size_t end,
                      size_t count)
{
    const size_t last = end < count ? end : count - 1;

    return (double)(sent[last] - sent[first]) / (double)(last - first);
}

/* Writes in order as pace.h has it: they stop only where it is decided whether
 * twice as many follow. 0: too few, or the rate changes. */
static double pace_writes(struct loop *loop, uint64_t from_bytes,
                          struct together *together)
{
    struct bench *bench = loop->bench;
    const uint32_t most = pace_write_blocks(
        bench->drive->capacity_bytes,
        budget_usual_bytes(bench->drive->capacity_bytes), loop->bytes);
    const uint64_t begin_ns = bench->now_ns;
    uint64_t sent[LOOP_REQUESTS_MAX];
    size_t count = 0;

    loop->operation = FLASH_WRITE;
    loop->at_random = false;
    loop->first_bytes = from_bytes;
    for (uint32_t end = PACE_WRITE_BLOCKS_FIRST; end <= most; end *= 2) {
        loop->count = end * PACE_WRITE_REQUESTS - count;
        run(loop, PACE_WRITE_DEPTH);
        loop->first_bytes += loop->count * loop->bytes;
        for (size_t i = 0; i < loop->count; i++)
            sent[count++] = loop->requests[i].submit_ns;
        if (2 * (double)(bench->now_ns - begin_ns) > PACE_WRITE_LONGEST_NS)
            break;
    }
    if (count == 0)
        return 0;
    const size_t half = count / 2, most_of = count / 4 * 3;
    const double third_ns = sent_ns(sent, half, most_of, count);
    const double fourth_ns = sent_ns(sent, most_of, count, count);
    together->write_least_ns =
        fmin(together->write_least_ns, fmin(third_ns, fourth_ns));
    together->write_most_ns =
        fmax(together->write_most_ns, fmax(third_ns, fourth_ns));
    return fabs(log(third_ns / fourth_ns)) > level_most
               ? 0
               : sent_ns(sent, half, count, count);
}

/* Where two places have two rates, there is no one to be told: logs are merged
 * in another order there, say. */
static void pace_of_writes(struct loop *loop, struct together *together)
{
    /* Aligned for blocks of 3, 5 and 7 MiB, too; and not. */
    const uint64_t aligned = 105 * MIB;
    const uint64_t count = loop->bench->drive->capacity_bytes / aligned;

    together->write_least_ns = INFINITY;
    const double here_ns = pace_writes(loop, count / 4 * aligned, together);
    const double there_ns =
        pace_writes(loop, count * 5 / 8 * aligned + MIB, together);
    if (here_ns > 0 && there_ns > 0 &&
        fabs(log(here_ns / there_ns)) <= places_most)
        together->write_ns = (here_ns + there_ns) / 2;
}

int oracle_together(const struct drive *drive, struct together *together,
                    struct fault *why)
{
    struct bench bench;
    struct loop *loop = calloc(1, sizeof(*loop));
    int error = loop ? bench_open(&bench, drive, why) : -ENOMEM;

    *together = (struct together){.write_ns = 0};
    if (!error) {
        loop->bench = &bench;
        loop->at_random = true;
        loop->bytes = PACE_RANDOM_BYTES;
        for (size_t i = 0; i < PACE_DEPTHS; i++)
            together->random_ns[i] = pace_reads(loop, pace_depth(i));
        loop->at_random = false;
        loop->bytes = pace_order_bytes(drive->request_limit_bytes, 512);
        for (size_t i = 0; i < PACE_ORDER_DEPTHS; i++)
            together->order_ns[i] = pace_reads(loop, pace_order_depth(i));
        pace_of_writes(loop, together);
        error = bench.error;
        bench_close(&bench);
    }
    free(loop);
    return error;
}

struct depths oracle_read_parallelism(const struct together *together)
{
    struct depths depths = {0, 0};

    for (size_t i = 0; i + 1 < PACE_DEPTHS && !depths.most; i++) {
        const double gain = together->random_ns[i] / together->random_ns[i + 1];
        if (gain < pays_sure && !depths.least)
            depths.least = pace_depth(i);
        if (gain <= pays_least)
            depths.most = pace_depth(i);
    }
    /* What rises again beyond it is not told. */
    for (size_t i = 0; i + 1 < PACE_DEPTHS; i++)
        if (pace_depth(i) >= depths.most &&
            together->random_ns[i] >= pays_sure * together->random_ns[i + 1])
            depths.most = 0;
    return depths;
}
