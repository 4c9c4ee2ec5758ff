/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dirik 6.8: what does cleaning cost? */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "lib/flash/drive/drive.h"
#include "lib/study/dirik/dirik.h"

/* ---- one block --------------------------------------------------------- */

/* 2 GiB in four banks. */
enum { PAGE_BYTES = 2048, ERASE_NS = 1500000, BANK_BLOCKS = 4096 };

/* One write after the other, until one has to wait for cleaning: how long a
 * block takes to clean. */
static int write_until_cleaned(struct flash *flash, uint64_t *clean_ns)
{
    uint64_t capacity_bytes = flash_capacity_bytes(flash);
    uint64_t now_ns = 0, plain_ns = UINT64_MAX, took_ns = 0;
    struct flash_statistics did = {.blocks_cleaned_count = 0};

    for (uint64_t at = 0; did.blocks_cleaned_count == 0; at += PAGE_BYTES) {
        struct flash_request request = {.operation = FLASH_WRITE,
                                        .offset_bytes = at % capacity_bytes,
                                        .length_bytes = PAGE_BYTES};
        struct flash_done done;
        size_t count = 0;
        int error = flash_submit(flash, now_ns, &request);
        while (!error && count == 0) {
            now_ns = flash_next_event_ns(flash);
            flash_advance(flash, now_ns, &done, 1, &count);
        }
        if (error || at > 4 * capacity_bytes)
            return error ? error : -EIO;
        took_ns = done.complete_ns - done.submit_ns;
        plain_ns = took_ns < plain_ns ? took_ns : plain_ns;
        flash_statistics(flash, &did);
    }
    *clean_ns = (took_ns - plain_ns) / did.blocks_cleaned_count;
    return 0;
}

static int clean_one(unsigned percent, uint64_t *clean_ns, struct fault *why)
{
    struct drive drive;
    struct flash *flash;
    char spec[256];

    snprintf(spec, sizeof(spec),
             "dirik-32g,mapping=page-striped,stripe_banks_count=1,contents=off,"
             "capacity_bytes=64MiB,banks_per_channel_count=1,"
             "cleaning_efficiency_percent=%u",
             percent);
    int error = drive_load(spec, &drive, why);
    if (!error)
        error = flash_create(&drive, &flash, why);
    if (error)
        return error;
    error = write_until_cleaned(flash, clean_ns);
    flash_destroy(flash);
    return error ? fault_set(why, FAULT_IO, error, "no block was cleaned") : 0;
}

struct exact {
    const char *claim, *unit;
    double paper, ours, low, high;
};

static void check_exact(struct experiment_table *table,
                        const struct exact *exact)
{
    struct experiment_value value = {.unit = "ms; blocks",
                                     .panel = "Cleaning one block",
                                     .series = "internal copy",
                                     .paper = exact->paper,
                                     .ours = exact->ours};
    struct experiment_trend trend = {.unit = exact->unit,
                                     .paper = exact->paper,
                                     .ours = exact->ours,
                                     .low = exact->low,
                                     .high = exact->high};

    snprintf(value.column, sizeof(value.column), "%s", exact->claim);
    snprintf(trend.claim, sizeof(trend.claim), "%s", exact->claim);
    experiment_add(table, &value);
    experiment_check(table, &trend);
}

static int clean_blocks(struct experiment_table *table, struct fault *why)
{
    uint64_t whole_ns = 1, half_ns = 1, third_ns = 1;

    int error = clean_one(100, &whole_ns, why);
    if (!error)
        error = clean_one(50, &half_ns, why);
    if (!error)
        error = clean_one(30, &third_ns, why);
    if (error)
        return error;
    /* The paper rounds: 666.7 down, 93.8 up. */
    const struct exact rows[] = {
        {"ms: 32 pages", "ms", 6.521, (double)(half_ns - ERASE_NS) / 1e6, 6.521,
         6.521},
        {"blocks/s: 100 %", "blocks", 666, 1e9 / (double)whole_ns, 666, 667},
        {"blocks/s: 30 %", "blocks", 94, 1e9 / (double)third_ns, 93.5, 94.5}};
    for (size_t i = 0; i < 3; i++)
        check_exact(table, &rows[i]);
    return 0;
}

/* ---- workloads --------------------------------------------------------- */

/*
 * The paper gives each of four banks 2048 free blocks, 256 MB, and cleans when
 * fewer than 64, 128 or 192 MB of them are left. How much of a workload comes
 * after that depends on what it writes: the first has 100800 requests (table
 * 6.6), 40 % of them writes, 1.3 GB. Ours are shorter, and have fewer blocks in
 * the same proportion.
 */
static const double paper_requests_count = 100800 * 0.4, paper_blocks = 2048;
static const double our_writes_share = 0.5;

static const unsigned thresholds_mb[] = {192, 128, 64};
static const unsigned efficiencies[] = {100, 70, 30};

static int play(struct experiment_table *table,
                const struct experiment_settings *settings, struct fault *why)
{
    static const struct dirik_row plain = {
        {1, 4, 1, 25, 8, NULL}, "no cleaning", "192 MB", {4.92, 2.41, 7.31}};
    unsigned free_blocks = (unsigned)(paper_blocks * our_writes_share *
                                      (double)dirik_requests_count(settings) /
                                      paper_requests_count);
    int error = dirik_add(table, &plain, settings, why);

    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3 && !error; j++) {
            char more[160], series[32], column[16];
            unsigned blocks = free_blocks * thresholds_mb[j] / 256;
            snprintf(more, sizeof(more),
                     ",spare_permille=%u,free_blocks_threshold_count=%u,"
                     "cleaning_efficiency_percent=%u",
                     (free_blocks + 4) * 1000 / BANK_BLOCKS, blocks,
                     efficiencies[i]);
            snprintf(series, sizeof(series), "%u %%", efficiencies[i]);
            snprintf(column, sizeof(column), "%u MB", thresholds_mb[j]);
            error = dirik_add(
                table,
                &(struct dirik_row){
                    {1, 4, 1, 25, 8, more}, series, column, DIRIK_NONE},
                settings, why);
        }
    return error;
}

static const char how_far[] =
    "Cleaning costs as much as there is of the workload behind the threshold. "
    "How far the paper's went is known of the first alone, and so ours go: "
    "four "
    "fifths of it lie behind 192 MB, two fifths behind 64 MB. With nine tenths "
    "it is 7 % more at 100 %, and 9 times as long at 30 %.";

/* By how many percent, or how many times, is it slower than without? */
static void compare(struct experiment_table *table, const char *series,
                    const char *column, double low, double high,
                    const char *reason)
{
    const struct experiment_place from = {"All requests", "no cleaning",
                                          "192 MB"},
                                  to = {"All requests", series, column};
    bool times = low >= 10 && isinf(high);
    double ratio =
        experiment_at(table, &to)->ours / experiment_at(table, &from)->ours;
    struct experiment_trend trend = {.unit = times ? "times as long" : "% more",
                                     .paper = NAN,
                                     .ours = times ? ratio : 100 * (ratio - 1),
                                     .low = low,
                                     .high = high,
                                     .reason = reason};

    snprintf(trend.claim, sizeof(trend.claim), "%s efficiency, %s: all", series,
             column);
    experiment_check(table, &trend);
}

static int run(const struct experiment *experiment,
               const struct experiment_settings *settings,
               struct experiment_table *table, struct fault *why)
{
    int error = clean_blocks(table, why);

    (void)experiment;
    if (!error)
        error = play(table, settings, why);
    if (error)
        return error;
    compare(table, "100 %", "64 MB", 5, 20, how_far);
    compare(table, "100 %", "192 MB", 5, 20, NULL);
    compare(table, "30 %", "192 MB", 10, INFINITY, how_far);
    return 0;
}

const struct experiment experiment_cleaning = {
    .name = "cleaning",
    .question = "What does cleaning cost, by how much of a block is invalid?",
    .source = "Dirik 6.8 and 3.3.4, figures 6.43 to 6.45",
    .setting =
        "Seven workloads made after Dirik 5.3 on four banks and a bus of 25 "
        "MHz; columns say how many MB of free blocks start cleaning.",
    .test_scale = 0.3,
    .run = run,
};
