/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Procedures 4 to 7 of Kim et al.: buffer sizes, read from two curves over the
 * sizes of requests. */
#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/papers/sweep.h"

/* The parameters that the paper gives with its procedures. */
enum {
    BUFFER_MOST_KIB = 1024,
    READ_MOST_KIB = 4096, /* SSD-C: still fast at 1024 */
    WRITE_ITERATIONS = 30,
    PLACES = 63,
    GARBAGE_PLACES = 1024
};

static const uint64_t garbage_bytes = 16 * MIB;
static const uint64_t far_bytes = GIB;

/* Least relative gain that a reader of the figure sees, and one that may be
 * overlooked. */
static const double gain_least = 0.10, gain_faint = 0.03;
/* Log ratio of a small write to a small read from which the write was not
 * buffered: 3 times. */
static const double bypass_least = 1.0986; /* log 3 */

/* ---- one curve against another ----------------------------------------- */

/* Range of sizes, as indexes first to last, in which one curve lies clearly
 * below the other. */
struct run {
    bool any;
    uint32_t first, last;
    double agreement; /* share of all sizes that fit this range */
};

/* Running median of the gains, as a reader's eye smooths a curve. It keeps
 * edges in place. */
static double smooth(const double gains[], uint32_t count, uint32_t i)
{
    enum { REACH = 3 };
    uint32_t reach = i < REACH ? i : REACH;

    reach = count - 1 - i < reach ? count - 1 - i : reach;
    return stats_median(&gains[i - reach], 2 * (size_t)reach + 1);
}

static struct run read_run(const double gains[], uint32_t count)
{
    double sample[STATS_MAX], typical;
    struct run run = {.any = false};
    size_t n = 0;
    int sum = 0, lowest = 0, best = 0;
    uint32_t begin = 0, fast = 0, inside = 0;

    for (uint32_t i = 0; i < count && n < STATS_MAX; i++)
        if (smooth(gains, count, i) > gain_least)
            sample[n++] = gains[i];
    typical = n ? stats_median(sample, n) : 0;
    /* The range with the largest excess of fast sizes over slow ones. */
    for (uint32_t i = 0; i < count; i++) {
        bool is_fast = n && smooth(gains, count, i) > typical / 2;
        fast += is_fast;
        sum += is_fast ? 1 : -1;
        if (sum - lowest > best) {
            best = sum - lowest;
            run = (struct run){.any = true, .first = begin, .last = i};
        }
        if (sum < lowest) {
            lowest = sum;
            begin = i + 1;
        }
    }
    for (uint32_t i = run.first; run.any && i <= run.last; i++)
        inside += smooth(gains, count, i) > typical / 2;
    uint32_t length = run.any ? run.last - run.first + 1 : 0;
    run.agreement = 1 - (double)(length - inside + fast - inside) / count;
    /* At least 4 sizes and 2 % of all, so no few outliers. */
    run.any = run.any && length >= 4 && length * 50 >= count;
    return run;
}

/* Is a quarter of the sizes a little faster? */
static bool gains_faintly(const double gains[], uint32_t count)
{
    bool faint = false;

    for (uint32_t i = 0; i < 4; i++)
        faint |= stats_median(&gains[i * count / 4], count / 4) > gain_faint;
    return faint;
}

/* ---- procedures 4 and 5 ------------------------------------------------ */

static void emit_read(struct study *study, const struct paper_sweep *sweep,
                      uint64_t size_bytes, const char *cell)
{
    bool twice = strcmp(sweep->phase, "procedure-4") == 0;
    struct random random;

    study_random(study, sweep->phase, cell, 0, &random);
    uint64_t garbage = paper_at(
        study,
        far_bytes + random_below(&random, GARBAGE_PLACES) * garbage_bytes,
        garbage_bytes);
    uint64_t place = paper_at(
        study, random_below(&random, PLACES) * garbage_bytes, size_bytes);
    struct step step = paper_step(OPERATION_READ, garbage, garbage_bytes);

    paper_ask(study, step, sweep->phase, "");
    step = paper_step(OPERATION_READ, place, size_bytes);
    if (twice)
        paper_ask(study, step, sweep->phase, "");
    paper_ask(study, step, sweep->phase, cell);
}

/* Relative gain of a second read for each size, from study_alloc(). */
static const double *read_gains(struct study *study, uint32_t count)
{
    struct paper_sweep sweep = {.phase = "procedure-4",
                                .first_kib = 1,
                                .step_kib = 1,
                                .count = count,
                                .iterations = 1,
                                .rows_each = 1,
                                .emit = emit_read};
    double *buffered = paper_sweep_costs(study, &sweep);

    sweep.phase = "procedure-5";
    const double *first = paper_sweep_costs(study, &sweep);
    for (uint32_t i = 0; i < count; i++)
        buffered[i] = log(first[i] / buffered[i]);
    return buffered;
}

static void think_read_buffer(struct study *study, struct findings *findings)
{
    uint32_t count = BUFFER_MOST_KIB;

    if (study->setting.logical_block_bytes > KIB) {
        study_say_open(study->probe, findings,
                       "the procedure reads in steps of 1 KiB, but the logical "
                       "blocks of this drive are larger");
        return;
    }
    const double *gains = read_gains(study, count);
    struct run run = read_run(gains, count);
    if (run.any && run.last + 1 >= count - 8) {
        count = READ_MOST_KIB;
        gains = read_gains(study, count);
        run = read_run(gains, count);
    }
    if (run.any && run.last + 1 < count && run.agreement > 0.9) {
        uint64_t bytes = (run.last + 1) * KIB;
        struct finding *finding =
            paper_say_size(study, findings, "read_buffer", bytes);
        if (run.first > 2)
            finding_extra(finding, "smallest_request",
                          value_integer((run.first + 1) * KIB));
        finding->confidence = paper_confidence * run.agreement;
        finding_why(finding,
                    "second reads are much faster than first ones up to %s, "
                    "and equal beyond",
                    study_bytes(study, bytes));
    } else if (!run.any && gains_faintly(gains, count)) {
        study_say_open(study->probe, findings,
                       "second reads are a little faster than first ones, too "
                       "little to be seen in the figure");
    } else if (!run.any && run.agreement > 0.9) {
        struct finding *finding = paper_add(study, findings, "read_buffer");
        finding_absent(finding, paper_confidence * run.agreement);
        finding_why(finding, "second reads are as slow as first ones");
    } else {
        study_say_open(
            study->probe, findings,
            "the two curves do not separate and meet at clear sizes");
    }
}

const struct probe paper_read_buffer = {
    .name = "read-buffer",
    .question = "Up to which size is a second read faster than a first?",
    .answers = {"read_buffer"},
    .usual = {.requests = 5 * BUFFER_MOST_KIB,
              .requests_max = 5 * READ_MOST_KIB,
              .bytes_read = 2 * BUFFER_MOST_KIB * 17 * MIB,
              .bytes_read_max = 2 * READ_MOST_KIB * 20 * MIB},
    STUDY_PROBE(struct study, .think = think_read_buffer),
};

/* ---- procedures 6 and 7 ------------------------------------------------ */

static void emit_write(struct study *study, const struct paper_sweep *sweep,
                       uint64_t size_bytes, const char *cell)
{
    bool full = strcmp(sweep->phase, "procedure-7") == 0;

    for (uint32_t i = 0; i < sweep->iterations; i++) {
        paper_ask_flush(study, sweep->phase, "");
        if (full) {
            struct step step = paper_step(
                OPERATION_WRITE, paper_at(study, garbage_bytes, garbage_bytes),
                garbage_bytes);
            step.content = CONTENT_ONES;
            paper_ask(study, step, sweep->phase, "");
        }
        paper_ask(study,
                  paper_step(OPERATION_WRITE, paper_at(study, 0, size_bytes),
                             size_bytes),
                  sweep->phase, cell);
    }
}

static void emit_small_read(struct study *study,
                            const struct paper_sweep *sweep,
                            uint64_t size_bytes, const char *cell)
{
    struct random random;

    study_random(study, sweep->phase, cell, 0, &random);
    for (uint32_t i = 0; i < sweep->iterations; i++)
        paper_ask(
            study,
            paper_step(OPERATION_READ,
                       paper_at(study,
                                random_below(&random, PLACES) * garbage_bytes,
                                size_bytes),
                       size_bytes),
            sweep->phase, cell);
}

static struct run read_write_run(const double buffered[], const double full[],
                                 enum paper_half half, double *typical_ns)
{
    double gains[BUFFER_MOST_KIB];

    for (uint32_t i = 0; i < BUFFER_MOST_KIB; i++) {
        size_t first = (size_t)i * WRITE_ITERATIONS;
        double a = paper_median(&buffered[first], WRITE_ITERATIONS, half);
        double b = paper_median(&full[first], WRITE_ITERATIONS, half);
        gains[i] = log(b / a);
        if (i == 0)
            *typical_ns = a;
    }
    return read_run(gains, BUFFER_MOST_KIB);
}

static void conclude_write(struct study *study, const double buffered[],
                           const double full[], const double reads[],
                           struct findings *findings)
{
    double small_ns, unused;
    struct run run = read_write_run(buffered, full, PAPER_WHOLE, &small_ns);
    struct run even = read_write_run(buffered, full, PAPER_EVEN, &unused);
    struct run odd = read_write_run(buffered, full, PAPER_ODD, &unused);
    double read_ns = paper_median(reads, WRITE_ITERATIONS, PAPER_WHOLE);

    if (log(small_ns / read_ns) > bypass_least) {
        study_say_open(study->probe, findings,
                       "a small write takes several times as long as a small "
                       "read, so it seems to bypass the buffer");
    } else if (!run.any || run.last + 1 >= BUFFER_MOST_KIB) {
        study_say_open(study->probe, findings,
                       "writes into an empty and into a full buffer do not "
                       "separate at a clear size");
    } else if (even.last != run.last || odd.last != run.last) {
        study_say_open(study->probe, findings, paper_halves_disagree);
    } else {
        uint64_t bytes = (run.last + 1) * KIB;
        struct finding *finding =
            paper_say_size(study, findings, "write_buffer", bytes);
        finding->confidence = paper_confidence * run.agreement;
        finding_why(finding,
                    "writes of up to %s into an empty buffer are much faster "
                    "than into a full one",
                    study_bytes(study, bytes));
    }
}

static void think_write_buffer(struct study *study, struct findings *findings)
{
    struct paper_sweep sweep = {.phase = "procedure-6",
                                .first_kib = 1,
                                .step_kib = 1,
                                .count = BUFFER_MOST_KIB,
                                .iterations = WRITE_ITERATIONS,
                                .rows_each = 1,
                                .emit = emit_write};

    if (study->setting.logical_block_bytes > KIB) {
        study_say_open(study->probe, findings,
                       "the procedure writes in steps of 1 KiB, but the "
                       "logical blocks of this drive are larger");
        return;
    }
    paper_fill(study, sweep.phase, CONTENT_ONES);
    const double *buffered = paper_sweep_costs(study, &sweep);
    sweep.phase = "procedure-7";
    paper_fill(study, sweep.phase, CONTENT_ONES);
    const double *full = paper_sweep_costs(study, &sweep);
    sweep.phase = "small-reads";
    sweep.count = 1;
    sweep.emit = emit_small_read;
    const double *reads = paper_sweep_costs(study, &sweep);
    conclude_write(study, buffered, full, reads, findings);
}

const struct probe paper_write_buffer = {
    .name = "write-buffer",
    .question = "Up to which size are writes faster into an empty buffer?",
    .answers = {"write_buffer"},
    .usual = {.requests =
                  5 * WRITE_ITERATIONS * BUFFER_MOST_KIB + WRITE_ITERATIONS,
              .bytes_written = WRITE_ITERATIONS * BUFFER_MOST_KIB *
                               (16 * MIB + KIB * (BUFFER_MOST_KIB + 1)),
              .bytes_read = WRITE_ITERATIONS * KIB},
    .usual_fills = 2,
    STUDY_PROBE(struct study, .think = think_write_buffer),
};
