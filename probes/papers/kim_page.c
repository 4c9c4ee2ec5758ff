/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Procedure 1 of Kim et al.: the page size, from a sweep over the sizes of
 * writes. */
#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/papers/sweep.h"

/* The parameters that the paper gives with its procedures. */
enum { PAGE_STEP_KIB = 2, PAGE_MOST_KIB = 1024, PAGE_ITERATIONS = 64 };

/* Least relative drop that a reader of the figure sees. */
static const double drop_least = 0.03;

static void emit_page(struct study *study, const struct paper_sweep *sweep,
                      uint64_t size_bytes, const char *cell)
{
    for (uint32_t i = 0; i < sweep->iterations; i++) {
        paper_ask(study,
                  paper_step(OPERATION_WRITE,
                             paper_at(study, i * size_bytes, size_bytes),
                             size_bytes),
                  sweep->phase, cell);
        paper_ask_flush(study, sweep->phase, cell);
    }
}

static const struct paper_sweep page_sweep = {.phase = "procedure-1",
                                              .first_kib = PAGE_STEP_KIB,
                                              .step_kib = PAGE_STEP_KIB,
                                              .count =
                                                  PAGE_MOST_KIB / PAGE_STEP_KIB,
                                              .iterations = PAGE_ITERATIONS,
                                              .rows_each = 2,
                                              .emit = emit_page};

/* Relative drop of the cost at a size, against its neighbours. */
static double drop_at(const double means[], uint32_t i)
{
    return 1 - 2 * means[i] / (means[i - 1] + means[i + 1]);
}

/* Period of the drops, in steps of the sweep; 0: a reader sees none. */
static uint32_t read_drops(const double costs[], enum paper_half half)
{
    enum { COUNT = PAGE_MOST_KIB / PAGE_STEP_KIB };
    double means[COUNT], scores[COUNT / 4 + 1], best = 0;

    for (uint32_t i = 0; i < COUNT; i++)
        means[i] = paper_mean(&costs[(size_t)i * PAGE_ITERATIONS],
                              PAGE_ITERATIONS, half);
    for (uint32_t period = 2; period <= COUNT / 4; period++) {
        double on[COUNT], off[COUNT];
        size_t on_count = 0, off_count = 0;
        for (uint32_t i = 1; i + 1 < COUNT; i++) {
            if ((i + 1) % period == 0)
                on[on_count++] = drop_at(means, i);
            else
                off[off_count++] = drop_at(means, i);
        }
        scores[period] =
            stats_median(on, on_count) - stats_median(off, off_count);
        best = fmax(best, scores[period]);
    }
    for (uint32_t period = 2; best > drop_least && period <= COUNT / 4;
         period++)
        if (scores[period] > 0.6 * best)
            return period;
    return 0;
}

/* "every 128 KiB", "nowhere" */
static const char *reading(uint32_t period, char text[32])
{
    snprintf(text, 32, "nowhere");
    if (period)
        snprintf(text, 32, "every %s",
                 TEXT_BYTES((uint64_t)period * PAGE_STEP_KIB * KIB));
    return text;
}

/* The paper reads its figure once. Where halves of the measurement read
 * otherwise, all readings are said, and none is stated: under noise most are
 * wrong. */
static void think_clustered_page(struct study *study, struct findings *findings)
{
    char whole[32], even[32], odd[32];

    paper_fill(study, page_sweep.phase, CONTENT_ONES);
    const double *costs = paper_sweep_costs(study, &page_sweep);
    const uint32_t period = read_drops(costs, PAPER_WHOLE);
    const uint32_t halves[] = {read_drops(costs, PAPER_EVEN),
                               read_drops(costs, PAPER_ODD)};
    if (period == 0 || halves[0] != period || halves[1] != period) {
        char reason[200] = "no sharp periodic drops of the cost over the size";
        if (period)
            snprintf(reason, sizeof(reason),
                     "the mean cost of a write drops %s; in one half of the "
                     "measurement it drops %s, and in the other %s",
                     reading(period, whole), reading(halves[0], even),
                     reading(halves[1], odd));
        study_say_open(study->probe, findings, reason);
        return;
    }
    uint64_t bytes = (uint64_t)period * PAGE_STEP_KIB * KIB;
    finding_why(paper_say_size(study, findings, "clustered_page", bytes),
                "the mean cost of a write drops at every multiple of %s",
                study_bytes(study, bytes));
    struct finding *rmw = paper_add(study, findings, "read_modify_write");
    finding_found(rmw, value_boolean(true), paper_confidence);
    finding_why(
        rmw, "the mean cost of a write drops at sizes that fill whole pages");
}

const struct probe paper_clustered_page = {
    .name = "clustered-page",
    .question = "At which unit of size does the cost of a write drop?",
    .answers = {"clustered_page", "read_modify_write"},
    .usual = {.requests = PAGE_ITERATIONS * PAGE_MOST_KIB,
              .bytes_written = PAGE_ITERATIONS * PAGE_MOST_KIB * KIB / 2 *
                               (PAGE_MOST_KIB / PAGE_STEP_KIB + 1)},
    .usual_fills = 1,
    STUDY_PROBE(struct study, .think = think_clustered_page),
};
