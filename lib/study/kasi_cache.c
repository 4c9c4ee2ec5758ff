/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kasi et al., figures 8 to 11: what does a small two-level write-back cache
 * save? */
#include <math.h>
#include <stdio.h>

#include "lib/base/random.h"
#include "lib/study/experiment.h"
#include "lib/study/subject.h"

/* 100 000 writes of 70 MB in ten iterations of equal size; four of five go on
 * where the last one ended, which is what such a cache can hold. The ninth
 * lacks locality, and its writes are larger. */
enum {
    ITERATIONS_COUNT = 10,
    WRITES_COUNT = 10000, /* of an iteration */
    ODD_ITERATION = 8,
    CONTINUED_PERCENT = 80,
    SECTOR_BYTES = 512,
    MEAN_BYTES = 700,
    ODD_BYTES = 4096
};

static const char drive_spec[] = "kasi-two-level,contents=off,"
                                 "capacity_bytes=256MiB";
static const char without_cache[] = ",first_level_bytes=0,second_level_bytes=0";

struct iteration {
    uint64_t programmed_count, elapsed_ns;
};

struct writer {
    struct random random;
    uint64_t end_bytes; /* of the last write */
};

static struct flash_request next_write(struct writer *writer, bool odd,
                                       uint64_t capacity_bytes)
{
    struct random *random = &writer->random;
    /* One sector or two: 700 bytes on average. */
    bool two = random_below(random, SECTOR_BYTES) < MEAN_BYTES - SECTOR_BYTES;
    uint64_t length = odd ? ODD_BYTES : two ? 2 * SECTOR_BYTES : SECTOR_BYTES;
    bool jumps = odd || random_below(random, 100) >= CONTINUED_PERCENT;
    uint64_t sectors = (capacity_bytes - length) / SECTOR_BYTES;

    if (jumps || writer->end_bytes + length > capacity_bytes)
        writer->end_bytes = random_below(random, sectors) * SECTOR_BYTES;
    if (odd) /* whole pages */
        writer->end_bytes -= writer->end_bytes % ODD_BYTES;
    struct flash_request request = {.operation = FLASH_WRITE,
                                    .offset_bytes = writer->end_bytes,
                                    .length_bytes = length};
    writer->end_bytes += length;
    return request;
}

static int run_iterations(const char *spec, uint64_t seed, uint64_t writes,
                          struct iteration iterations[], struct fault *why)
{
    struct flash_statistics before, after;
    struct writer writer = {.end_bytes = 0};
    struct subject subject;
    int error = subject_open(&subject, spec, why);

    random_seed(&writer.random, seed);
    for (size_t i = 0; !error && i < ITERATIONS_COUNT; i++) {
        uint64_t begin_ns = subject.now_ns;
        flash_statistics(subject.flash, &before);
        for (uint64_t sent = 0; !error && sent < writes; sent++) {
            struct flash_request request = next_write(
                &writer, i == ODD_ITERATION, subject.drive.capacity_bytes);
            error = subject_do(&subject, &request, why);
        }
        flash_statistics(subject.flash, &after);
        iterations[i].programmed_count =
            after.pages_programmed_count - after.pages_copied_count -
            (before.pages_programmed_count - before.pages_copied_count);
        iterations[i].elapsed_ns = subject.now_ns - begin_ns;
    }
    subject_close(&subject);
    return error;
}

static void add(struct experiment_table *table, const char *panel,
                const char *series, const char *unit, size_t iteration,
                double ours)
{
    struct experiment_value value = {.unit = unit, .paper = NAN, .ours = ours};

    snprintf(value.panel, sizeof(value.panel), "%s", panel);
    snprintf(value.series, sizeof(value.series), "%s", series);
    snprintf(value.column, sizeof(value.column), "%zu", iteration + 1);
    experiment_add(table, &value);
}

static void add_figures(struct experiment_table *table, const char *series,
                        const struct iteration iterations[], uint64_t writes)
{
    for (size_t i = 0; i < ITERATIONS_COUNT; i++) {
        const struct iteration *at = &iterations[i];
        double ms = (double)at->elapsed_ns / 1e6;
        add(table, "Writes to flash (figure 8)", series, "pages", i,
            (double)at->programmed_count);
        add(table, "Mean response (figure 9)", series, "ms", i,
            ms / (double)writes);
        add(table, "Execution time (figure 10)", series, "ms", i, ms);
    }
}

static void check(struct experiment_table *table, const char *claim,
                  double paper, double ours, double low, double high)
{
    struct experiment_trend trend = {.unit = "% less",
                                     .paper = paper,
                                     .ours = ours,
                                     .low = low,
                                     .high = high};

    snprintf(trend.claim, sizeof(trend.claim), "%s", claim);
    experiment_check(table, &trend);
}

static double percent_less(double from, double to)
{
    return 100 * (1 - to / from);
}

static void judge(struct experiment_table *table,
                  const struct iteration plain[],
                  const struct iteration cached[])
{
    uint64_t written[2] = {0}, elapsed[2] = {0};
    double least = INFINITY;

    for (size_t i = 0; i < ITERATIONS_COUNT; i++) {
        written[0] += plain[i].programmed_count;
        written[1] += cached[i].programmed_count;
        elapsed[0] += plain[i].elapsed_ns;
        elapsed[1] += cached[i].elapsed_ns;
        double saved = percent_less((double)plain[i].programmed_count,
                                    (double)cached[i].programmed_count);
        if (i != ODD_ITERATION && saved < least)
            least = saved;
    }
    const double published = 63, about = 4;
    check(table, "writes to flash, all iterations", published,
          percent_less((double)written[0], (double)written[1]),
          published - about, published + about);
    check(table, "each but the ninth, at least", NAN, least, 50, INFINITY);
    check(table, "the ninth gains next to nothing", NAN,
          percent_less((double)plain[ODD_ITERATION].programmed_count,
                       (double)cached[ODD_ITERATION].programmed_count),
          -INFINITY, 10);
    check(table, "execution time, all iterations", NAN,
          percent_less((double)elapsed[0], (double)elapsed[1]), 0, INFINITY);
}

static int run(const struct experiment *experiment,
               const struct experiment_settings *settings,
               struct experiment_table *table, struct fault *why)
{
    struct iteration plain[ITERATIONS_COUNT], cached[ITERATIONS_COUNT];
    struct iteration instant[ITERATIONS_COUNT];
    uint64_t writes = (uint64_t)(WRITES_COUNT * settings->scale);
    char spec[160];

    (void)experiment;
    writes = writes > 0 ? writes : 1;
    snprintf(spec, sizeof(spec), "%s%s", drive_spec, without_cache);
    int error = run_iterations(spec, settings->seed, writes, plain, why);
    if (!error)
        error = run_iterations(drive_spec, settings->seed, writes, cached, why);
    snprintf(spec, sizeof(spec), "%s,cache_hit_ns=0", drive_spec);
    if (!error)
        error = run_iterations(spec, settings->seed, writes, instant, why);
    if (error)
        return error;
    add_figures(table, "no cache", plain, writes);
    add_figures(table, "two levels", cached, writes);
    /* What the cache itself costs: the same without the time of its access. */
    for (size_t i = 0; i < ITERATIONS_COUNT; i++)
        add(table, "Cache overhead (figure 11)", "two levels", "% of the time",
            i,
            percent_less((double)cached[i].elapsed_ns,
                         (double)instant[i].elapsed_ns));
    judge(table, plain, cached);
    return 0;
}

const struct experiment experiment_two_level_cache = {
    .name = "two-level-cache",
    .question = "What does a small two-level write-back cache save?",
    .source = "Kasi et al. VII, figures 8 to 11",
    .setting = "Drive kasi-two-level: 8 KiB and 16 KiB in front of 4 KiB "
               "pages. 100 000 writes of 700 bytes on average in ten "
               "iterations; four of five go on where the last ended. The "
               "ninth writes pages of 4 KiB at random.",
    .test_scale = 0.5,
    .run = run,
};
