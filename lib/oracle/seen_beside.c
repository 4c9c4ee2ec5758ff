/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a read takes beside writes, as method/beside.h has it: asked of the
 * model. */
#include "lib/oracle/seen.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As many rounds as it takes to know a median, but no more than that. */
enum { ROUNDS_FIRST = 24, ROUNDS_MAX = 256 };

/* So near to its limits a share of waiting may be called either. */
static const double share_margin = 0.1;
/* So near to what is no slower, it may be called either. */
static const double slower_margin = 0.03;
/* The parts of the rounds may differ by this, as the probe has it. */
enum { PARTS = 3 };
static const double drift_most = 0.1;

/* A slowdown is one number where the interval of the median read, that errs
 * with 1 %, reaches no farther than this on each side. */
static const double error_most = 0.05, errors = 2.58;

enum {
    ROUND_REQUESTS_MAX = BESIDE_ALONE_LEAD + BESIDE_ALONE_READS +
                         BESIDE_FILL_WRITES + BESIDE_DEPTHS * BESIDE_BLOCK_MAX
};

/* The rounds of one drive. */
struct rounds {
    struct bench *bench;
    uint64_t write_bytes, window_writes, first_bytes, writes_count;
    struct bench_request requests[ROUND_REQUESTS_MAX]; /* of one round */
    size_t requests_count, count;
    double alone_ns[ROUNDS_MAX], shares[ROUNDS_MAX], waits[ROUNDS_MAX];
    double deepest_ns[ROUNDS_MAX * BESIDE_READS];
};

static void add_read(struct rounds *rounds, uint32_t depth)
{
    struct bench *bench = rounds->bench;
    const uint64_t places = bench->drive->capacity_bytes / BESIDE_READ_BYTES;

    rounds->requests[rounds->requests_count++] = (struct bench_request){
        .operation = FLASH_READ,
        .depth = depth,
        .offset_bytes =
            random_below(&bench->random, places) * BESIDE_READ_BYTES,
        .length_bytes = BESIDE_READ_BYTES};
}

static void add_write(struct rounds *rounds, uint32_t depth)
{
    const uint64_t place = rounds->writes_count++ % rounds->window_writes;

    rounds->requests[rounds->requests_count++] = (struct bench_request){
        .operation = FLASH_WRITE,
        .depth = depth,
        .offset_bytes = rounds->first_bytes + place * rounds->write_bytes,
        .length_bytes = rounds->write_bytes};
}

/* Of requests in [first, end), those that write or those that read. */
static size_t take(const struct rounds *rounds, size_t first, size_t end,
                   enum flash_operation operation, double ns[])
{
    size_t count = 0;

    for (size_t i = first; i < end; i++) {
        const struct bench_request *request = &rounds->requests[i];
        if (request->operation == operation)
            ns[count++] = (double)(request->complete_ns - request->submit_ns);
    }
    return count;
}

static double run_alone(struct rounds *rounds)
{
    const size_t count = BESIDE_ALONE_LEAD + BESIDE_ALONE_READS;
    double ns[BESIDE_ALONE_READS];

    bench_flush(rounds->bench);
    bench_idle(rounds->bench, BESIDE_PAUSE_NS);
    rounds->requests_count = 0;
    while (rounds->requests_count < count)
        add_read(rounds, 1);
    bench_together(rounds->bench, rounds->requests, count);
    take(rounds, BESIDE_ALONE_LEAD, count, FLASH_READ, ns);
    return beside_alone_time(ns, BESIDE_ALONE_READS);
}

static void add_block(struct rounds *rounds, uint32_t depth)
{
    const size_t group = beside_group(depth);
    size_t read_at = 0;

    for (size_t i = 0; i < beside_requests(depth); i++) {
        if (i % group == 0)
            read_at = beside_read_at(depth, &rounds->bench->random);
        if (i % group == read_at)
            add_read(rounds, beside_together(depth));
        else
            add_write(rounds, beside_together(depth));
    }
}

/* Without a pause between the blocks. */
static void run_beside(struct rounds *rounds, struct beside_times *times)
{
    size_t begins[BESIDE_DEPTHS];

    rounds->requests_count = 0;
    while (rounds->requests_count < BESIDE_FILL_WRITES)
        add_write(rounds, beside_depth(BESIDE_DEEPEST));
    for (size_t i = BESIDE_DEPTHS; i-- > 0;) {
        begins[i] = rounds->requests_count;
        add_block(rounds, beside_depth(i));
    }
    bench_together(rounds->bench, rounds->requests, rounds->requests_count);
    for (size_t i = 0; i < BESIDE_DEPTHS; i++) {
        const uint32_t depth = beside_depth(i);
        const size_t first = begins[i] + beside_first(depth);
        const size_t end = begins[i] + beside_requests(depth);
        double ns[BESIDE_BLOCK_MAX];
        size_t count = take(rounds, first, end, FLASH_READ, ns);
        if (i == BESIDE_DEEPEST)
            memcpy(times->deepest_ns, ns, sizeof(times->deepest_ns));
        times->read_ns[i] = beside_time(ns, count);
        count = take(rounds, first, end, FLASH_WRITE, ns);
        times->write_ns[i] = beside_time(ns, count);
    }
}

static void run_round(struct rounds *rounds)
{
    struct beside_times times = {.alone_ns = run_alone(rounds)};
    const size_t at = rounds->count++;

    run_beside(rounds, &times);
    rounds->alone_ns[at] = times.alone_ns;
    memcpy(&rounds->deepest_ns[at * BESIDE_READS], times.deepest_ns,
           sizeof(times.deepest_ns));
    rounds->shares[at] = beside_share(&times);
    rounds->waits[at] =
        times.write_ns[BESIDE_DEEPEST] / times.write_ns[BESIDE_MIDDLE];
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_of(double values[], size_t count)
{
    qsort(values, count, sizeof(*values), compare);
    return values[count / 2];
}

static bool is_known(const struct rounds *rounds)
{
    double sorted[ROUNDS_MAX * BESIDE_READS];
    const size_t count = rounds->count * BESIDE_READS;

    memcpy(sorted, rounds->deepest_ns, count * sizeof(*sorted));
    const double median = median_of(sorted, count);
    const size_t reach = (size_t)(errors / 2 * sqrt((double)count));

    return sorted[count / 2 + reach] <= (1 + error_most) * median &&
           sorted[count / 2 - reach] >= (1 - error_most) * median;
}

/* Are the thirds of the rounds alike? Before they are sorted. */
static bool is_steady(const struct rounds *rounds)
{
    double part[ROUNDS_MAX * BESIDE_READS / PARTS], least = INFINITY, most = 0;
    const size_t count = rounds->count * BESIDE_READS / PARTS;

    for (size_t i = 0; i < PARTS; i++) {
        memcpy(part, &rounds->deepest_ns[i * count], count * sizeof(*part));
        const double median = median_of(part, count);
        least = fmin(least, median);
        most = fmax(most, median);
    }
    return most <= (1 + drift_most) * least;
}

static void judge(struct rounds *rounds, struct beside_seen *seen)
{
    const bool steady = is_steady(rounds);
    const double waits = median_of(rounds->waits, rounds->count);
    const bool wait = waits > (1 + share_margin) * BESIDE_WAITS_LEAST &&
                      waits < (1 - share_margin) * BESIDE_WAITS_MOST;

    seen->slowdown =
        median_of(rounds->deepest_ns, rounds->count * BESIDE_READS) /
        median_of(rounds->alone_ns, rounds->count);
    seen->slowdown_seen =
        steady && is_known(rounds) &&
        fabs(seen->slowdown - BESIDE_SLOWER_LEAST) > slower_margin;
    seen->share = median_of(rounds->shares, rounds->count);
    seen->before = wait && seen->share < BESIDE_SHARE_BEFORE - share_margin;
    seen->behind = wait && seen->share > BESIDE_SHARE_BEHIND + share_margin &&
                   seen->share < BESIDE_SHARE_MOST - share_margin;
}

int oracle_beside(const struct drive *drive, struct beside_seen *seen,
                  struct fault *why)
{
    struct bench bench;
    struct rounds *rounds = calloc(1, sizeof(*rounds));
    int error = rounds ? bench_open(&bench, drive, why) : -ENOMEM;

    if (!error) {
        rounds->bench = &bench;
        rounds->write_bytes =
            beside_write_bytes(drive->request_limit_bytes, 512);
        rounds->window_writes =
            beside_window_writes(drive->capacity_bytes, rounds->write_bytes);
        rounds->first_bytes = drive->capacity_bytes / 4 / MIB * MIB;
        while (rounds->count < ROUNDS_FIRST ||
               (rounds->count < ROUNDS_MAX && !is_known(rounds)))
            run_round(rounds);
        judge(rounds, seen);
        error = bench.error;
        bench_close(&bench);
    }
    free(rounds);
    return error;
}
