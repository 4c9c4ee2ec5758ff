/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dirik 6.7, sentence by sentence: what its text and tables 6.6 and 6.7 say of
 * the order of requests. */
#include <math.h>
#include <stdio.h>

#include "lib/study/dirik/dirik.h"
#include "lib/study/subject.h"

static const char *const rules[] = {"FCFS", "RP", "SRF-FCT", "SRF-RPT", "WSRF"};

enum { FCFS, RP, SRF_FCT, SRF_RPT, WSRF, RULES_COUNT };

static struct dirik_pair at(const struct experiment_table *table,
                            const char *panel, const char *series,
                            const char *column)
{
    return dirik_at(table, (struct experiment_place){panel, series, column});
}

/* ---- response times ------------------------------------------------------ */

/* The least that a kind of request gains under any policy that serves the
 * shortest first. */
static struct dirik_pair least_gain(const struct experiment_table *table,
                                    const char *panel)
{
    struct dirik_pair least = {NAN, INFINITY};

    for (int i = SRF_FCT; i < RULES_COUNT; i++)
        least.ours =
            fmin(least.ours, dirik_less(at(table, panel, "FCFS", "25 MHz"),
                                        at(table, panel, rules[i], "25 MHz"))
                                 .ours);
    return least;
}

/* "One can achieve read performance of 2 or 4 banks by using a single bank with
 * read priority"; "both reads and writes benefit"; "SRF-FCT and SRF-RPT do not
 * perform as well as RP if reads are considered"; WSRF's "read performance is
 * almost as good as RP". */
static void judge_reads(struct experiment_table *table)
{
    const struct dirik_pair first = at(table, "Reads", "RP", "25 MHz");

    dirik_check(table,
                dirik_ratio(first, at(table, "Reads", "2 banks", "25 MHz")),
                (struct experiment_trend){
                    .claim = "RP, 25 MHz: reads, to those of 2 banks",
                    .unit = "x the time",
                    .low = 0,
                    .high = 1});
    dirik_check(table,
                dirik_ratio(first, at(table, "Reads", "4 banks", "25 MHz")),
                (struct experiment_trend){
                    .claim = "RP, 25 MHz: reads, to those of 4 banks",
                    .unit = "x the time",
                    .low = 0,
                    .high = 1});
    dirik_check(table, least_gain(table, "Reads"),
                (struct experiment_trend){
                    .claim = "shortest first, 25 MHz: reads gain at least",
                    .unit = "% less",
                    .low = 0,
                    .high = INFINITY});
    dirik_check(table, least_gain(table, "Writes"),
                (struct experiment_trend){
                    .claim = "shortest first, 25 MHz: writes gain at least",
                    .unit = "% less",
                    .low = 0,
                    .high = INFINITY});
    dirik_check(
        table, dirik_ratio(at(table, "Reads", "SRF-FCT", "25 MHz"), first),
        (struct experiment_trend){.claim = "SRF-FCT, 25 MHz: reads, to RP",
                                  .unit = "x the time",
                                  .low = 1,
                                  .high = INFINITY});
    dirik_check(
        table, dirik_ratio(at(table, "Reads", "SRF-RPT", "25 MHz"), first),
        (struct experiment_trend){.claim = "SRF-RPT, 25 MHz: reads, to RP",
                                  .unit = "x the time",
                                  .low = 1,
                                  .high = INFINITY});
    dirik_check(table, dirik_ratio(at(table, "Reads", "WSRF", "25 MHz"), first),
                (struct experiment_trend){.claim = "WSRF, 25 MHz: reads, to RP",
                                          .unit = "x the time",
                                          .low = 0.9,
                                          .high = 1.1,
                                          .bound_is_ours =
                                              "The paper says \"almost as "
                                              "good as\"."});
}

/* "Queue times in this configuration were less than 1 ms and not one of these
 * scheduling algorithms had an impact." */
static void judge_sixteen(struct experiment_table *table)
{
    double longest_ms = 0, most = 0, fcfs_ms = 0;

    for (int i = 0; i < RULES_COUNT; i++) {
        char series[32];
        snprintf(series, sizeof(series), "16 banks %s", rules[i]);
        double ms = at(table, "All requests", series, "25 MHz").ours;
        if (i == FCFS)
            fcfs_ms = ms;
        most = fmax(most, 100 * fabs(1 - ms / fcfs_ms));
        longest_ms =
            fmax(longest_ms,
                 at(table, "All requests: queue", series, "25 MHz").ours);
    }
    dirik_check(table, (struct dirik_pair){NAN, longest_ms},
                (struct experiment_trend){
                    .claim = "16 banks, any policy: a request waits at most",
                    .unit = "ms on average",
                    .low = 0,
                    .high = 1});
    dirik_check(table, (struct dirik_pair){NAN, most},
                (struct experiment_trend){
                    .claim = "16 banks, any policy: changes all requests by",
                    .unit = "%",
                    .low = 0,
                    .high = 1,
                    .bound_is_ours = DIRIK_NO_NUMBER});
}

/* ---- queues -------------------------------------------------------------- */

static const char bursts[] =
    "How long a queue grows follows from the bursts of the trace, which was "
    "never published. Ours are set by the average times of table 6.1 alone.";

static const char seldom_a_second[] =
    "Hardly any request of the model waits for a second. Some bursts of the "
    "paper's traces are longer, and they were never published.";

/* Numbers that the text names. */
static void judge_numbers(struct experiment_table *table)
{
    static const struct {
        const char *claim, *panel, *series, *unit;
        double low, high;
    } claims[] = {
        {"workload 1, FCFS: a request waits", "Queue of workload 1", "mean ms",
         "ms", 22.385, 22.395},
        {"workload 1, FCFS: the longest queue", "Queue of workload 1",
         "longest queue", "requests", 544, 544},
        {"workload 1, FCFS: of those that wait, below 1 ms",
         "Queue of workload 1", "% waits below 1 ms", "%", 47.45, 47.55},
        {"workload 1, FCFS: the longest wait", "Queue of workload 1",
         "longest ms", "ms", 1086.765, 1086.775},
        {"workload 1, FCFS: wait 1 s or more", "Queue of workload 1: waits",
         "% longer", "requests", 33, 33},
        {"workload 7, FCFS: the longest wait", "Queue of workload 7",
         "longest ms", "ms", 1320.855, 1320.865},
        {"workload 7, FCFS: wait 1 s or more", "Queue of workload 7: waits",
         "% longer", "requests", 18, 18},
    };

    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        struct experiment_trend trend = {.unit = claims[i].unit,
                                         .low = claims[i].low,
                                         .high = claims[i].high,
                                         .reason = bursts};
        snprintf(trend.claim, sizeof(trend.claim), "%s", claims[i].claim);
        dirik_check(table, at(table, claims[i].panel, claims[i].series, "FCFS"),
                    trend);
    }
}

/* By how much waiting falls, by the tables. */
static void judge_means(struct experiment_table *table)
{
    static const char *const panels[] = {"Queue of workload 1",
                                         "Queue of workload 7"};

    for (size_t i = 0; i < 2; i++)
        for (int j = SRF_FCT; j < RULES_COUNT; j++) {
            struct experiment_trend trend = {.unit = "% less",
                                             .low = 60,
                                             .high = 75,
                                             .by_seed = i == 1,
                                             .bound_is_ours =
                                                 DIRIK_AROUND_TABLE};
            snprintf(trend.claim, sizeof(trend.claim),
                     "table 6.%zu: %s: a request waits", 6 + i, rules[j]);
            dirik_check(table,
                        dirik_less(at(table, panels[i], "mean ms", "FCFS"),
                                   at(table, panels[i], "mean ms", rules[j])),
                        trend);
        }
}

/* The least of all policies, against FCFS. */
static struct dirik_pair least_drop(const struct experiment_table *table,
                                    const char *panel, const char *series)
{
    const struct dirik_pair from = at(table, panel, series, "FCFS");
    struct dirik_pair least = {INFINITY, INFINITY};

    for (int i = RP; i < RULES_COUNT; i++) {
        struct dirik_pair one =
            dirik_less(from, at(table, panel, series, rules[i]));
        least.paper = fmin(least.paper, one.paper);
        least.ours = fmin(least.ours, one.ours);
    }
    return least;
}

static struct dirik_pair times_fcfs(const struct experiment_table *table,
                                    const char *panel, int rule)
{
    return dirik_ratio(at(table, panel, "longest ms", rules[rule]),
                       at(table, panel, "longest ms", "FCFS"));
}

/* "The number of requests in [10, 100) and [100, 1000) decreased considerably";
 * "with any shortest request first type algorithm, the maximum queue time is
 * increased by 3 times"; "[1000, Max] increased substantially, 33 to 121";
 * "these represent 0.12 % and are almost always write requests". */
static void judge_starvation(struct experiment_table *table)
{
    static const char panel[] = "Queue of workload 1",
                      waits[] = "Queue of workload 1: waits",
                      longest[] = "Queue of workload 1: longest";

    dirik_check(table, least_drop(table, waits, "% 10 to 100 ms"),
                (struct experiment_trend){
                    .claim = "workload 1: waits of 10 to 100 ms, at least",
                    .unit = "% less",
                    .low = 1,
                    .high = INFINITY});
    dirik_check(table, least_drop(table, waits, "% 100 to 1000 ms"),
                (struct experiment_trend){
                    .claim = "workload 1: waits of 100 to 1000 ms, at least",
                    .unit = "% less",
                    .low = 1,
                    .high = INFINITY});
    for (int i = SRF_FCT; i < RULES_COUNT; i++) {
        struct experiment_trend more = {.unit = "times the longest wait",
                                        .low = 1,
                                        .high = INFINITY},
                                thrice = {.unit = "times the longest wait",
                                          .low = 2.5,
                                          .high = 3.5,
                                          .reason = bursts,
                                          .bound_is_ours =
                                              "The paper rounds to 3."};
        snprintf(more.claim, sizeof(more.claim), "workload 1: %s starves some",
                 rules[i]);
        snprintf(thrice.claim, sizeof(thrice.claim),
                 "text, workload 1: %s, 3 times", rules[i]);
        dirik_check(table, times_fcfs(table, panel, i), more);
        dirik_check(table, times_fcfs(table, panel, i), thrice);
    }
    dirik_check(table,
                dirik_minus(at(table, waits, "% longer", "WSRF"),
                            at(table, waits, "% longer", "FCFS")),
                (struct experiment_trend){
                    .claim = "workload 1, WSRF: more wait 1 s or more, by",
                    .by_seed = true,
                    .unit = "requests",
                    .low = 1,
                    .high = INFINITY,
                    .reason = seldom_a_second});
    dirik_check(table,
                dirik_ratio(at(table, longest, "a read", "WSRF"),
                            at(table, longest, "a write", "WSRF")),
                (struct experiment_trend){
                    .claim = "workload 1, WSRF: a read waits at most",
                    .unit = "x the longest of a write",
                    .low = 0,
                    .high = 1});
}

static const char starves_too[] =
    "Ours starves large writes in both: workload 7 has the same bursts as "
    "workload 1, with more writes in them.";

/* "If the scheduling policy is changed, the maximum queue time decreases and
 * there are less requests whose queue time is larger than 1000 ms." */
static void judge_write_heavy(struct experiment_table *table)
{
    static const char waits[] = "Queue of workload 7: waits";

    for (int i = RP; i < RULES_COUNT; i++) {
        struct experiment_trend trend = {.unit = "times the longest wait",
                                         .low = 0,
                                         .high = 1,
                                         .by_seed = i == RP,
                                         .reason =
                                             i == RP ? NULL : starves_too};
        snprintf(trend.claim, sizeof(trend.claim),
                 "workload 7: %s starves none", rules[i]);
        dirik_check(table, times_fcfs(table, "Queue of workload 7", i), trend);
    }
    dirik_check(table,
                dirik_minus(at(table, waits, "% longer", "FCFS"),
                            at(table, waits, "% longer", "WSRF")),
                (struct experiment_trend){
                    .claim = "workload 7, WSRF: fewer wait 1 s or more, by",
                    .unit = "requests",
                    .low = 1,
                    .high = INFINITY,
                    .reason = seldom_a_second});
}

/* ---- what WSRF compares -------------------------------------------------- */

enum { WORTH_MOST = 128 * 1024 };

/* A write of 4 KB and a read of so many bytes, which comes after it, wait for a
 * third request: is the read served first? */
static int overtakes(uint64_t read_bytes, bool *first, struct fault *why)
{
    const struct flash_request requests[] = {
        {.operation = FLASH_WRITE, .length_bytes = 65536, .tag = 1},
        {.operation = FLASH_WRITE,
         .offset_bytes = 1 << 20,
         .length_bytes = 4096,
         .tag = 2},
        {.operation = FLASH_READ,
         .offset_bytes = 2 << 20,
         .length_bytes = read_bytes,
         .tag = 3}};
    struct flash_done done[3];
    struct subject subject;
    size_t count = 0, taken = 0;

    int error = subject_open(
        &subject,
        "dirik-32g,mapping=page-striped,stripe_banks_count=1,contents=off,"
        "capacity_bytes=64MiB,banks_per_channel_count=1,spare_permille=500,"
        "queue_depth_count=1,scheduler=weighted-srf",
        why);
    for (size_t i = 0; i < 3 && !error; i++)
        error = flash_submit(subject.flash, i * 1000, &requests[i]);
    while (!error && count < 3) {
        flash_advance(subject.flash, flash_next_event_ns(subject.flash),
                      done + count, 3 - count, &taken);
        count += taken;
    }
    *first = !error && done[1].tag == 3;
    subject_close(&subject);
    return error ? fault_set(why, FAULT_IO, error, "a request was refused") : 0;
}

/* "Between 8K read and 4K write request read request will be serviced first. A
 * 4K write request will be considered equivalent to a 32K read request." */
static int judge_weights(struct experiment_table *table, struct fault *why)
{
    uint64_t worth = 4096;
    bool first = true;

    for (; worth <= WORTH_MOST; worth += 4096) {
        int error = overtakes(worth, &first, why);
        if (error)
            return error;
        if (!first)
            break;
    }
    dirik_check(table, (struct dirik_pair){32, (double)worth / 1024},
                (struct experiment_trend){
                    .claim = "WSRF: the read that a write of 4 KB is worth",
                    .unit = "KB",
                    .low = 32,
                    .high = 32});
    return 0;
}

int dirik_judge_scheduling(struct experiment_table *table, struct fault *why)
{
    judge_reads(table);
    judge_sixteen(table);
    judge_numbers(table);
    judge_means(table);
    judge_starvation(table);
    judge_write_heavy(table);
    return judge_weights(table, why);
}
