/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dirik 6.7: in which order should a drive serve what waits? */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/study/dirik/dirik.h"
#include "lib/study/dirik/trace.h"

enum { BUCKETS = 5, STATISTICS = 3 + BUCKETS };

static const struct rule {
    const char *name, *key;
} rules[] = {
    {"FCFS", "fcfs"},        {"RP", "read-first"},     {"SRF-FCT", "srf"},
    {"SRF-RPT", "srf-read"}, {"WSRF", "weighted-srf"},
};

enum { RULES_COUNT = sizeof(rules) / sizeof(rules[0]) };

/* ---- response times ---------------------------------------------------- */

/* One bank, so that requests queue; one at a time, so that the rest can be
 * reordered. */
static struct dirik_drive one_bank(const char *key, unsigned bus_mhz,
                                   char more[64])
{
    snprintf(more, 64, ",queue_depth_count=1,scheduler=%s", key);
    return (struct dirik_drive){1, 1, 1, bus_mhz, 8, more};
}

static int respond(struct experiment_table *table,
                   const struct experiment_settings *settings,
                   struct fault *why)
{
    static const unsigned speeds_mhz[] = {25, 100, 400};
    int error = 0;

    for (size_t i = 0; i < RULES_COUNT; i++)
        for (size_t j = 0; j < 3 && !error; j++) {
            char more[64], column[16];
            snprintf(column, sizeof(column), "%u MHz", speeds_mhz[j]);
            error = dirik_add(
                table,
                &(struct dirik_row){one_bank(rules[i].key, speeds_mhz[j], more),
                                    rules[i].name, column, DIRIK_NONE},
                settings, why);
        }
    return error;
}

/* The read times that one bank has to reach, and four buses of four banks: so
 * many requests are under way that each bank can have one. */
static int respond_on_more(struct experiment_table *table,
                           const struct experiment_settings *settings,
                           struct fault *why)
{
    static const struct dirik_row more_banks[] = {
        {{1, 2, 1, 25, 8, NULL}, "2 banks", "25 MHz", {6.85, 3.01, 10.53}},
        {{1, 4, 1, 25, 8, NULL}, "4 banks", "25 MHz", {4.92, 2.41, 7.31}}};
    int error = 0;

    for (size_t i = 0; i < 2 && !error; i++)
        error = dirik_add(table, &more_banks[i], settings, why);
    for (size_t i = 0; i < RULES_COUNT && !error; i++) {
        char keys[64], series[32];
        struct dirik_row row = {
            {4, 4, 1, 25, 8, keys}, series, "25 MHz", DIRIK_NONE};
        if (i == 0)
            row = (struct dirik_row){
                row.drive, series, "25 MHz", {2.83, 1.59, 4.01}};
        snprintf(keys, sizeof(keys), ",queue_depth_count=16,scheduler=%s",
                 rules[i].key);
        snprintf(series, sizeof(series), "16 banks %s", rules[i].name);
        error = dirik_add(table, &row, settings, why);
    }
    return error;
}

static const char reads_left[] =
    "Read first, reads take what the flash takes. The paper's own figures ask "
    "for as much: 30.56 ms less 15 to 20 %, with writes 5 % above 45.13 ms, "
    "leave 0.9 to 4 ms of 15.55, 75 to 95 % less.";

/* What the text says of a policy against none. */
static void compare_responses(struct experiment_table *table)
{
    static const struct experiment_change changes[] = {
        {.claim = "RP, 25 MHz: reads",
         .by_seed = true,
         .from = {"Reads", "FCFS", "25 MHz"},
         .to = {"Reads", "RP", "25 MHz"},
         .low = 60,
         .high = 80,
         .reason = reads_left},
        {.claim = "RP, 100 MHz: reads",
         .from = {"Reads", "FCFS", "100 MHz"},
         .to = {"Reads", "RP", "100 MHz"},
         .low = 60,
         .high = 80,
         .reason = reads_left},
        {.claim = "RP, 400 MHz: reads",
         .from = {"Reads", "FCFS", "400 MHz"},
         .to = {"Reads", "RP", "400 MHz"},
         .low = 60,
         .high = 80,
         .reason = reads_left},
        /* "A degradation of roughly 5 %". */
        {.claim = "RP, 25 MHz: writes",
         .from = {"Writes", "FCFS", "25 MHz"},
         .to = {"Writes", "RP", "25 MHz"},
         .low = -10,
         .high = 0,
         .bound_is_ours = "The paper says \"roughly 5 %\".",
         .by_seed = true},
        /* "Overall request time improves by 15-20 %". */
        {.claim = "RP, 25 MHz: all",
         .by_seed = true,
         .from = {"All requests", "FCFS", "25 MHz"},
         .to = {"All requests", "RP", "25 MHz"},
         .low = 15,
         .high = 20},
        {.claim = "RP, 100 MHz: all",
         .by_seed = true,
         .from = {"All requests", "FCFS", "100 MHz"},
         .to = {"All requests", "RP", "100 MHz"},
         .low = 15,
         .high = 20},
        {.claim = "RP, 400 MHz: all",
         .by_seed = true,
         .from = {"All requests", "FCFS", "400 MHz"},
         .to = {"All requests", "RP", "400 MHz"},
         .low = 15,
         .high = 20},
        /* "Average request time improves 50-60 %". */
        {.claim = "SRF-FCT, 25 MHz: all",
         .by_seed = true,
         .from = {"All requests", "FCFS", "25 MHz"},
         .to = {"All requests", "SRF-FCT", "25 MHz"},
         .low = 50,
         .high = 60},
        {.claim = "SRF-RPT, 25 MHz: all",
         .by_seed = true,
         .from = {"All requests", "FCFS", "25 MHz"},
         .to = {"All requests", "SRF-RPT", "25 MHz"},
         .low = 50,
         .high = 60},
        {.claim = "WSRF, 25 MHz: all",
         .by_seed = true,
         .from = {"All requests", "FCFS", "25 MHz"},
         .to = {"All requests", "WSRF", "25 MHz"},
         .low = 50,
         .high = 60},
    };

    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        experiment_compare(table, &changes[i]);
}

/* ---- queues (tables 6.6 and 6.7) --------------------------------------- */

static const char *const rows[STATISTICS] = {
    "mean ms",      "longest ms",     "longest queue",    "% waits below 1 ms",
    "% 1 to 10 ms", "% 10 to 100 ms", "% 100 to 1000 ms", "% longer"};

/* A workload of the paper, and what its table says: the rows above, the last
 * five as numbers of requests. The 121 requests of workload 1 that wait for a
 * second under WSRF are 0.12 % of it. */
struct queue_table {
    unsigned trace;
    double length; /* in the requests of a workload of ours */
    const char *panel;
    double paper[RULES_COUNT][STATISTICS];
};

static const struct queue_table queue_tables[] = {
    {0,
     5,
     "Queue of workload 1",
     {{22.39, 1086.77, 544, 24709, 13016, 9491, 4731, 33},
      {19.49, 1219.58, 541, 25342, 13380, 9116, 3875, 179},
      {7.29, 3322.02, 120, 29504, 14626, 6393, 1001, 104},
      {7.15, 3322.02, 120, 29960, 14054, 6332, 966, 118},
      {7.13, 3333.36, 118, 29571, 14620, 6334, 954, 121}}},
    {6,
     1,
     "Queue of workload 7",
     {{61.66, 1320.86, 110, 3678, 4547, 3518, 3514, 18},
      {58.71, 1309.28, 110, 3716, 4554, 3621, 3374, 7},
      {18.31, 1237.68, 82, 4669, 4662, 5090, 774, 7},
      {18.31, 1237.31, 82, 4657, 4621, 5083, 778, 7},
      {18.31, 1237.31, 82, 4676, 4658, 5088, 773, 7}}}};

/* How many waited so long; none at all is not counted. */
static void count_waits(const struct histogram *queue, double counts[BUCKETS])
{
    static const double limits_ms[BUCKETS - 1] = {1, 10, 100, 1000};

    for (size_t i = 0; i < histogram_coarse_count(HISTOGRAM_STEPS); i++) {
        struct histogram_bucket bucket;
        size_t at = 0;
        histogram_coarse(queue, HISTOGRAM_STEPS, i, &bucket);
        while (at < BUCKETS - 1 && (double)bucket.low_ns / 1e6 >= limits_ms[at])
            at++;
        if (bucket.low_ns > 0)
            counts[at] += (double)bucket.count;
    }
}

/* Shares of what waited, in percent. */
static double in_percent(const double counts[BUCKETS], size_t index)
{
    double sum = 0;

    for (size_t i = 0; i < BUCKETS; i++)
        sum += counts[i];
    return sum > 0 ? 100 * counts[index] / sum : 0;
}

/* The last five of the table's rows as it has them. */
static void add_counts(struct experiment_table *table,
                       const struct queue_table *row, size_t rule,
                       const double ours[STATISTICS])
{
    for (size_t i = 3; i < STATISTICS; i++) {
        struct experiment_value value = {.unit = "requests",
                                         .paper = row->paper[rule][i],
                                         .ours = ours[i],
                                         .detail = true};
        snprintf(value.panel, sizeof(value.panel), "%s: waits", row->panel);
        snprintf(value.series, sizeof(value.series), "%s", rows[i]);
        snprintf(value.column, sizeof(value.column), "%s", rules[rule].name);
        experiment_add(table, &value);
    }
}

/* Who waits longest. */
static void add_longest(struct experiment_table *table,
                        const struct queue_table *row, size_t rule,
                        const struct replay_result *result)
{
    static const char *const who[] = {"a read", "a write"};

    for (size_t i = 0; i < 2; i++) {
        const struct replay_times *times =
            &result->classes[i == 0 ? REPLAY_READS : REPLAY_WRITES];
        struct experiment_value value = {.unit = "ms",
                                         .paper = NAN,
                                         .ours =
                                             (double)times->queue.most_ns / 1e6,
                                         .detail = true};
        snprintf(value.panel, sizeof(value.panel), "%s: longest", row->panel);
        snprintf(value.series, sizeof(value.series), "%s", who[i]);
        snprintf(value.column, sizeof(value.column), "%s", rules[rule].name);
        experiment_add(table, &value);
    }
}

static void add_queue(struct experiment_table *table,
                      const struct queue_table *row, size_t rule,
                      const struct replay_result *result,
                      const struct flash_statistics *statistics)
{
    double ours[STATISTICS] = {histogram_mean_ns(&result->queue) / 1e6,
                               (double)result->queue.most_ns / 1e6,
                               (double)statistics->queue_depth_most};
    const double *paper = row->paper[rule];

    count_waits(&result->queue, &ours[3]);
    for (size_t i = 0; i < STATISTICS; i++) {
        struct experiment_value value = {.unit = "ms; requests; %"};
        value.ours = i < 3 ? ours[i] : in_percent(&ours[3], i - 3);
        value.paper = i < 3 ? paper[i] : in_percent(&paper[3], i - 3);
        snprintf(value.panel, sizeof(value.panel), "%s", row->panel);
        snprintf(value.series, sizeof(value.series), "%s", rows[i]);
        snprintf(value.column, sizeof(value.column), "%s", rules[rule].name);
        experiment_add(table, &value);
    }
    add_counts(table, row, rule, ours);
    add_longest(table, row, rule, result);
}

static int queue_up(struct experiment_table *table,
                    const struct experiment_settings *settings,
                    struct fault *why)
{
    struct replay_result *result = calloc(1, sizeof(*result));
    struct flash_statistics statistics;
    int error = 0;

    if (!result)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "no memory for a replay");
    for (size_t i = 0; i < 2; i++)
        for (size_t rule = 0; rule < RULES_COUNT && !error; rule++) {
            char more[64];
            struct dirik_drive drive = one_bank(rules[rule].key, 25, more);
            struct dirik_part part = {
                .trace = queue_tables[i].trace,
                .requests_count =
                    (uint64_t)(queue_tables[i].length *
                               (double)dirik_requests_count(settings))};
            error = dirik_play_one(&drive, &part, settings, result, &statistics,
                                   why);
            if (!error)
                add_queue(table, &queue_tables[i], rule, result, &statistics);
        }
    free(result);
    return error;
}

static int run(const struct experiment *experiment,
               const struct experiment_settings *settings,
               struct experiment_table *table, struct fault *why)
{
    int error = respond(table, settings, why);

    (void)experiment;
    if (!error)
        error = respond_on_more(table, settings, why);
    if (!error)
        error = queue_up(table, settings, why);
    if (error)
        return error;
    compare_responses(table);
    return dirik_judge_scheduling(table, why);
}

const struct experiment experiment_scheduling = {
    .name = "scheduling",
    .question = "In which order should a drive serve what waits?",
    .source = "Dirik 6.7, tables 6.6 and 6.7, figures 6.40 to 6.42",
    .setting = "Seven workloads made after Dirik 5.3 on one bank, one request "
               "at a time, and on four buses of four banks, 16 at a time. RP: "
               "reads first; SRF: shortest first, ties by "
               "arrival (FCT) or reads first (RPT); WSRF: a write weighs 8.",
    .test_scale = 0.3,
    .run = run,
};
