/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dirik 6.5: how should four banks be connected? */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/study/dirik/dirik.h"

static const char reads_apart[] =
    "Reads of the model seldom wait for each other on a narrow bus: 1.2 ms, of "
    "which 1.0 are the transfer. The paper has 1.75 ms there, more than twice "
    "its time at 50 MHz, so its reads must come in denser groups than it says.";

/* Rows are MB/s in all, columns buses x bits x MHz. */
static const struct dirik_row rows[] = {
    {{1, 4, 1, 25, 8, NULL}, "25 MB/s", "1x8x25", {4.92, 2.41, 7.31}},
    {{1, 4, 1, 50, 8, NULL}, "50 MB/s", "1x8x50", {2.86, 0.84, 4.79}},
    {{1, 4, 1, 25, 16, NULL}, "50 MB/s", "1x16x25", DIRIK_NONE},
    {{2, 2, 1, 25, 8, NULL}, "50 MB/s", "2x8x25", {3.44, 1.85, 4.97}},
    {{1, 4, 1, 100, 8, NULL}, "100 MB/s", "1x8x100", {2.67, 0.58, 4.68}},
    {{1, 4, 1, 50, 16, NULL}, "100 MB/s", "1x16x50", DIRIK_NONE},
    {{1, 4, 1, 25, 32, NULL}, "100 MB/s", "1x32x25", {2.67, 0.58, 4.68}},
    {{2, 2, 1, 50, 8, NULL}, "100 MB/s", "2x8x50", {2.81, 0.8, 4.74}},
    {{2, 2, 1, 25, 16, NULL}, "100 MB/s", "2x16x25", DIRIK_NONE},
    {{4, 1, 1, 25, 8, NULL}, "100 MB/s", "4x8x25", {3.35, 1.75, 4.89}},
    {{1, 4, 1, 100, 16, NULL}, "200 MB/s", "1x16x100", DIRIK_NONE},
    {{1, 4, 1, 50, 32, NULL}, "200 MB/s", "1x32x50", DIRIK_NONE},
    {{2, 2, 1, 100, 8, NULL}, "200 MB/s", "2x8x100", DIRIK_NONE},
    {{2, 2, 1, 50, 16, NULL}, "200 MB/s", "2x16x50", DIRIK_NONE},
    {{2, 2, 1, 25, 32, NULL}, "200 MB/s", "2x32x25", DIRIK_NONE},
    {{4, 1, 1, 50, 8, NULL}, "200 MB/s", "4x8x50", {2.8, 0.79, 4.72}},
    {{4, 1, 1, 25, 16, NULL}, "200 MB/s", "4x16x25", DIRIK_NONE},
    {{1, 4, 1, 100, 32, NULL}, "400 MB/s", "1x32x100", DIRIK_NONE},
    {{2, 2, 1, 100, 16, NULL}, "400 MB/s", "2x16x100", DIRIK_NONE},
    {{2, 2, 1, 50, 32, NULL}, "400 MB/s", "2x32x50", DIRIK_NONE},
    {{4, 1, 1, 100, 8, NULL}, "400 MB/s", "4x8x100", DIRIK_NONE},
    {{4, 1, 1, 50, 16, NULL}, "400 MB/s", "4x16x50", DIRIK_NONE},
    {{4, 1, 1, 25, 32, NULL}, "400 MB/s", "4x32x25", DIRIK_NONE},
    {{2, 2, 1, 100, 32, NULL}, "800 MB/s", "2x32x100", DIRIK_NONE},
    {{4, 1, 1, 100, 16, NULL}, "800 MB/s", "4x16x100", DIRIK_NONE},
    {{4, 1, 1, 50, 32, NULL}, "800 MB/s", "4x32x50", DIRIK_NONE},
    {{4, 1, 1, 100, 32, NULL}, "1600 MB/s", "4x32x100", DIRIK_NONE},
};

static const char not_much[] = "The paper says \"not much\". Below 200 MB/s it "
                               "names 15 to 20 % as a change.";

static const struct experiment_change changes[] = {
    /* By table 6.5; what the text says comes after. */
    {.claim = "100 MB/s: 4 narrow buses to 1 wide: all",
     .from = {"All requests", "100 MB/s", "4x8x25"},
     .to = {"All requests", "100 MB/s", "1x32x25"},
     .low = 15,
     .high = 25,
     .reason = reads_apart,
     .bound_is_ours = DIRIK_AROUND_TABLE},
    {.claim = "100 MB/s: 4 narrow buses to 1 wide: reads",
     .from = {"Reads", "100 MB/s", "4x8x25"},
     .to = {"Reads", "100 MB/s", "1x32x25"},
     .low = 60,
     .high = 75,
     .reason = reads_apart,
     .bound_is_ours = DIRIK_AROUND_TABLE},
    {.claim = "100 MB/s: 4 narrow buses to 1 wide: writes",
     .from = {"Writes", "100 MB/s", "4x8x25"},
     .to = {"Writes", "100 MB/s", "1x32x25"},
     .low = 0,
     .high = 5,
     .bound_is_ours = DIRIK_AROUND_TABLE},
    /* "Overall performance does not change much beyond 200 MBps". */
    {.claim = "1x16x100 to 1600 MB/s: all",
     .from = {"All requests", "200 MB/s", "1x16x100"},
     .to = {"All requests", "1600 MB/s", "4x32x100"},
     .low = 0,
     .high = 15,
     .bound_is_ours = not_much},
    {.claim = "2x8x100 to 1600 MB/s: all",
     .from = {"All requests", "200 MB/s", "2x8x100"},
     .to = {"All requests", "1600 MB/s", "4x32x100"},
     .low = 0,
     .high = 15,
     .bound_is_ours = not_much},
    {.claim = "1x32x50 to 1600 MB/s: all",
     .from = {"All requests", "200 MB/s", "1x32x50"},
     .to = {"All requests", "1600 MB/s", "4x32x100"},
     .low = 0,
     .high = 15,
     .bound_is_ours = not_much},
    {.claim = "4x8x50 to 1600 MB/s: all",
     .from = {"All requests", "200 MB/s", "4x8x50"},
     .to = {"All requests", "1600 MB/s", "4x32x100"},
     .low = 0,
     .high = 15,
     .bound_is_ours = not_much},
    {.claim = "4x16x25 to 1600 MB/s: all",
     .from = {"All requests", "200 MB/s", "4x16x25"},
     .to = {"All requests", "1600 MB/s", "4x32x100"},
     .low = 0,
     .high = 15,
     .bound_is_ours = not_much},
    {.claim = "2x32x25 to 1600 MB/s: all",
     .from = {"All requests", "200 MB/s", "2x32x25"},
     .to = {"All requests", "1600 MB/s", "4x32x100"},
     .low = 0,
     .high = 15,
     .bound_is_ours = not_much},
    {.claim = "2x16x50 to 1600 MB/s: all",
     .from = {"All requests", "200 MB/s", "2x16x50"},
     .to = {"All requests", "1600 MB/s", "4x32x100"},
     .low = 0,
     .high = 15,
     .bound_is_ours = not_much},
};

static const struct dirik_plan plan = DIRIK_PLAN(rows, changes);

/* ---- claims on all organisations of one bandwidth ------------------------ */

/* By how many percent the fastest takes less than the slowest. */
static struct dirik_pair spread(const struct experiment_table *table,
                                const char *panel, const char *series)
{
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].series, series) != 0)
            continue;
        const double ours =
            dirik_at(table,
                     (struct experiment_place){panel, series, rows[i].column})
                .ours;
        least = fmin(least, ours);
        most = fmax(most, ours);
    }
    return (struct dirik_pair){NAN, 100 * (1 - least / most)};
}

static const char very_small[] =
    "The paper gives no number. Of 5 % it says in 6.1 that it is very small.";

/* "For low bandwidth configurations - 25, 50 and 100 MBps - overall request
 * service time changes within 15-20 % if memory banks are connected
 * differently. For some workloads, such as user trace 6, 30-40 %."; beyond 200
 * MBps "it does not matter how these memory banks are connected"; "write
 * performance does not change". Of 25 MB/s there is one organisation. */
static void judge_connections(struct experiment_table *table)
{
    static const struct {
        const char *panel, *series, *claim;
        double low, high;
        const char *reason, *bound_is_ours;
    } claims[] = {
        {"All requests", "50 MB/s", "text, 50 MB/s: all differ by", 15, 20,
         reads_apart, NULL},
        {"All requests", "100 MB/s", "text, 100 MB/s: all differ by", 15, 20,
         reads_apart, NULL},
        {"Workload 6: all", "50 MB/s", "text, workload 6, 50 MB/s: differ by",
         30, 40, reads_apart, NULL},
        {"Workload 6: all", "100 MB/s", "text, workload 6, 100 MB/s: differ by",
         30, 40, reads_apart, NULL},
        {"All requests", "200 MB/s", "text, 200 MB/s: all differ by", 0, 5,
         NULL, very_small},
        {"Writes", "50 MB/s", "text, 50 MB/s: writes differ by", 0, 5, NULL,
         very_small},
        {"Writes", "100 MB/s", "text, 100 MB/s: writes differ by", 0, 5, NULL,
         very_small},
        {"Writes", "200 MB/s", "text, 200 MB/s: writes differ by", 0, 5, NULL,
         very_small},
    };

    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        struct experiment_trend trend = {.unit = "%",
                                         .low = claims[i].low,
                                         .high = claims[i].high,
                                         .reason = claims[i].reason,
                                         .bound_is_ours =
                                             claims[i].bound_is_ours};
        snprintf(trend.claim, sizeof(trend.claim), "%s", claims[i].claim);
        dirik_check(table, spread(table, claims[i].panel, claims[i].series),
                    trend);
    }
}

static int run(const struct experiment *experiment,
               const struct experiment_settings *settings,
               struct experiment_table *table, struct fault *why)
{
    int error = dirik_run(experiment, settings, table, why);

    if (error)
        return error;
    judge_connections(table);
    /* "One can cut read request times by 3 if 4 I/O channels are replaced by a
     * single fast narrow I/O bus." */
    dirik_check(
        table,
        dirik_ratio(
            dirik_at(table,
                     (struct experiment_place){"Reads", "100 MB/s", "4x8x25"}),
            dirik_at(table, (struct experiment_place){"Reads", "100 MB/s",
                                                      "1x8x100"})),
        (struct experiment_trend){
            .claim = "text, 100 MB/s: 4 narrow buses to a fast one: reads",
            .unit = "times less",
            .low = 2.95,
            .high = 3.05,
            .reason = reads_apart});
    return 0;
}

const struct experiment experiment_bandwidth = {
    .name = "bandwidth",
    .question = "How should four banks be connected?",
    .source = "Dirik 6.5, table 6.5, figures 6.26 to 6.31",
    .setting = DIRIK_WORKLOADS " Columns are buses x bits x MHz.",
    .test_scale = 0.3,
    .run = run,
    .plan = &plan,
};
