/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dirik 6.1, sentence by sentence: what its text says besides its tables. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/study/dirik/dirik.h"
#include "lib/study/subject.h"

static struct dirik_pair at(const struct experiment_table *table,
                            const char *panel, const char *series,
                            const char *column)
{
    return dirik_at(table, (struct experiment_place){panel, series, column});
}

static struct dirik_pair gain(const struct experiment_table *table,
                              const char *panel, const char *series,
                              const char *from, const char *to)
{
    return dirik_less(at(table, panel, series, from),
                      at(table, panel, series, to));
}

/* ---- more banks on a bus ------------------------------------------------- */

static const char table_denies[] =
    "The paper contradicts itself: its table has 19.9 % there.";

static const char bus_is_full[] =
    "Four banks fill our bus of 25 MB/s: reads and writes together take 2.7 ms "
    "of it and of waiting for it, of 4.4.";

static const char one_burst[] =
    "All our workloads have the same bursts, and differ in their rates and "
    "shares of reads alone. Those of the paper were never published.";

/* "Further improved by 30-50 %" from 2 to 4; "continue to improve for writes";
 * "an increase in the physical access times"; "reads do not benefit from
 * multiple banks as much as writes". */
static void judge_banks(struct experiment_table *table)
{
    const struct dirik_pair reads =
                                gain(table, "Reads", "25 MHz", "1x1", "1x2"),
                            writes =
                                gain(table, "Writes", "25 MHz", "1x1", "1x2"),
                            more_reads =
                                gain(table, "Reads", "25 MHz", "1x2", "1x4"),
                            more_writes =
                                gain(table, "Writes", "25 MHz", "1x2", "1x4");

    dirik_check(
        table, dirik_text(more_reads),
        (struct experiment_trend){.claim = "text, 25 MHz: 2 to 4 banks: reads",
                                  .unit = "% less",
                                  .low = 30,
                                  .high = 50,
                                  .reason = table_denies,
                                  .by_seed = true,
                                  .calibrated = true});
    dirik_check(
        table, more_writes,
        (struct experiment_trend){.claim = "text, 25 MHz: 2 to 4 banks: writes",
                                  .unit = "% less",
                                  .low = 30,
                                  .high = 50,
                                  .by_seed = true,
                                  .calibrated = true});
    dirik_check(table, gain(table, "Writes", "25 MHz", "1x4", "1x8"),
                (struct experiment_trend){
                    .claim = "text, 25 MHz: 4 to 8 banks: writes still gain",
                    .unit = "% less",
                    .low = 0,
                    .high = INFINITY,
                    .reason = bus_is_full,
                    .calibrated = true});
    dirik_check(table, gain(table, "Reads: access", "25 MHz", "1x8", "1x4"),
                (struct experiment_trend){
                    .claim = "text, 25 MHz: 8 to 4 banks: access of reads",
                    .unit = "% less",
                    .low = 0,
                    .high = INFINITY});
    dirik_check(table, dirik_text(dirik_minus(writes, reads)),
                (struct experiment_trend){
                    .claim = "text, 25 MHz: 1 to 2 banks: writes gain more, by",
                    .by_seed = true,
                    .unit = "points",
                    .low = 0,
                    .high = INFINITY,
                    .calibrated = true});
    dirik_check(table, dirik_minus(more_writes, more_reads),
                (struct experiment_trend){
                    .claim = "text, 25 MHz: 2 to 4 banks: writes gain more, by",
                    .unit = "points",
                    .low = 0,
                    .high = INFINITY,
                    .calibrated = true});
}

/* "With trace 1, moving from 4-way to 8-way banking performance improved 4-18 %
 * depending on the speed of the bus; trace 7 15-30 %; reads only 2-15 % for
 * both." */
static void judge_workloads(struct experiment_table *table)
{
    static const struct {
        const char *panel, *series, *claim;
        double low, high;
        const char *reason;
        bool by_seed;
    } claims[] = {
        {"Workload 1: all", "25 MHz", "text, workload 1, 25 MHz: 4 to 8: all",
         4, 18, bus_is_full, false},
        {"Workload 1: all", "50 MHz", "text, workload 1, 50 MHz: 4 to 8: all",
         4, 18, NULL, true},
        {"Workload 1: all", "100 MHz", "text, workload 1, 100 MHz: 4 to 8: all",
         4, 18, NULL, true},
        {"Workload 7: all", "25 MHz", "text, workload 7, 25 MHz: 4 to 8: all",
         15, 30, bus_is_full, false},
        {"Workload 7: all", "50 MHz", "text, workload 7, 50 MHz: 4 to 8: all",
         15, 30, one_burst, false},
        {"Workload 7: all", "100 MHz", "text, workload 7, 100 MHz: 4 to 8: all",
         15, 30, one_burst, true},
        {"Workload 1: reads", "25 MHz",
         "text, workload 1, 25 MHz: 4 to 8: reads", 2, 15, NULL, true},
        {"Workload 1: reads", "50 MHz",
         "text, workload 1, 50 MHz: 4 to 8: reads", 2, 15, NULL, true},
        {"Workload 1: reads", "100 MHz",
         "text, workload 1, 100 MHz: 4 to 8: reads", 2, 15, NULL, true},
        {"Workload 7: reads", "25 MHz",
         "text, workload 7, 25 MHz: 4 to 8: reads", 2, 15, NULL, true},
        {"Workload 7: reads", "50 MHz",
         "text, workload 7, 50 MHz: 4 to 8: reads", 2, 15, NULL, true},
        {"Workload 7: reads", "100 MHz",
         "text, workload 7, 100 MHz: 4 to 8: reads", 2, 15, NULL, true},
    };

    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        struct experiment_trend trend = {.unit = "% less",
                                         .low = claims[i].low,
                                         .high = claims[i].high,
                                         .reason = claims[i].reason,
                                         .by_seed = claims[i].by_seed};
        snprintf(trend.claim, sizeof(trend.claim), "%s", claims[i].claim);
        dirik_check(
            table, gain(table, claims[i].panel, claims[i].series, "1x4", "1x8"),
            trend);
    }
}

/* ---- reads against writes ------------------------------------------------ */

/* "Asymmetry results in 2-3x scale difference"; "very high variation depending
 * on the workload even with a high degree of banking". */
static void judge_asymmetry(struct experiment_table *table)
{
    static const char *const columns[] = {"1x1", "1x2", "1x4", "1x8"};
    double slowest = 0, fastest = INFINITY;

    for (size_t i = 0; i < 4; i++) {
        struct dirik_pair ratio =
            dirik_ratio(at(table, "Writes", "25 MHz", columns[i]),
                        at(table, "Reads", "25 MHz", columns[i]));
        struct experiment_trend trend = {.unit = "x a read",
                                         .low = 2,
                                         .high = 3,
                                         .by_seed = i < 2,
                                         .calibrated = true};
        snprintf(trend.claim, sizeof(trend.claim),
                 "text, 25 MHz, %s: a write takes", columns[i]);
        dirik_check(table, ratio.paper > 3 ? dirik_text(ratio) : ratio, trend);
    }
    for (int i = 1; i <= DIRIK_TRACES; i++) {
        char panel[32];
        snprintf(panel, sizeof(panel), "Workload %d: writes", i);
        const double ours = at(table, panel, "25 MHz", "1x8").ours;
        slowest = fmax(slowest, ours);
        fastest = fmin(fastest, ours);
    }
    dirik_check(table, (struct dirik_pair){NAN, slowest / fastest},
                (struct experiment_trend){
                    .claim = "text, 25 MHz, 1x8: slowest workload's writes",
                    .by_seed = true,
                    .unit = "x the fastest",
                    .low = 2,
                    .high = INFINITY,
                    .reason = one_burst,
                    .bound_is_ours = DIRIK_NO_NUMBER});
}

static const char reads_wait[] =
    "The bursts of our reads keep two banks busy however fast the bus is: 1.7 "
    "ms at 100 MHz, where the paper has 1.2.";

/* "Moving from 2-way banking with high speed 100-200 MHz I/O bus to 4-way
 * banking with a slower 25 MHz I/O bus will always see performance
 * improvements" of writes, and "100 % or more performance degradation" of
 * reads. */
static void judge_trade(struct experiment_table *table)
{
    static const char *const fast[] = {"100 MHz", "200 MHz"};

    for (size_t i = 0; i < 2; i++) {
        struct experiment_trend writes = {.unit = "% less",
                                          .low = 0,
                                          .high = INFINITY},
                                reads = {.unit = "% less",
                                         .low = -INFINITY,
                                         .high = -100,
                                         .reason = reads_wait};
        double least = INFINITY;
        for (int j = 1; j <= DIRIK_TRACES; j++) {
            char panel[32];
            snprintf(panel, sizeof(panel), "Workload %d: writes", j);
            least = fmin(least, dirik_less(at(table, panel, fast[i], "1x2"),
                                           at(table, panel, "25 MHz", "1x4"))
                                    .ours);
        }
        snprintf(writes.claim, sizeof(writes.claim),
                 "text, 2 banks %s to 4 at 25: writes of any", fast[i]);
        snprintf(reads.claim, sizeof(reads.claim),
                 "text, 2 banks %s to 4 at 25: reads", fast[i]);
        dirik_check(table, (struct dirik_pair){NAN, least}, writes);
        dirik_check(table,
                    dirik_less(at(table, "Reads", fast[i], "1x2"),
                               at(table, "Reads", "25 MHz", "1x4")),
                    reads);
    }
}

/* ---- more buses ---------------------------------------------------------- */

static const char own_bus[] =
    "Requests of the model wait longer for a bus of eight banks: 15 % of the "
    "writes are of 128 KB, come in runs, and overlap.";

static const char table_has_a_third[] =
    "The paper contradicts itself: table 6.2 has 33.1 % there.";

/* "Only improves performance when I/O bandwidth is low"; "a maximum of 5 %" of
 * the same number of banks at 50 MHz; "close to 50 %" by a faster bus; "write
 * performance does not change much with the number of I/O channels" (figures
 * 6.10 and 6.11). */
static void judge_buses(struct experiment_table *table)
{
    const struct dirik_pair slow = gain(table, "All requests", "25 MHz", "1x4",
                                        "4x1"),
                            fast = gain(table, "All requests", "50 MHz", "1x4",
                                        "4x1");
    const struct dirik_pair faster =
        dirik_less(at(table, "All requests", "25 MHz", "1x4"),
                   at(table, "All requests", "100 MHz", "1x4"));

    dirik_check(table, dirik_minus(slow, fast),
                (struct experiment_trend){
                    .claim = "text, 1 to 4 buses: 25 MHz gains more, by",
                    .unit = "points",
                    .low = 0,
                    .high = INFINITY});
    dirik_check(table, gain(table, "All requests", "50 MHz", "1x2", "2x1"),
                (struct experiment_trend){
                    .claim = "text, 50 MHz: 1 to 2 buses for 2 banks: all",
                    .unit = "% less",
                    .low = 0,
                    .high = 5});
    dirik_check(table, gain(table, "All requests", "50 MHz", "1x8", "4x2"),
                (struct experiment_trend){
                    .claim = "text, 50 MHz: 1 to 4 buses for 8 banks: all",
                    .reason = own_bus,
                    .unit = "% less",
                    .low = 0,
                    .high = 5});
    dirik_check(table, faster,
                (struct experiment_trend){
                    .claim = "text, 4 banks: 25 to 100 MHz: close to 50 %",
                    .by_seed = true,
                    .unit = "% less",
                    .low = 45,
                    .high = 55,
                    .bound_is_ours = "The paper says \"close to\"."});
    dirik_check(table, gain(table, "Writes", "50 MHz", "1x4", "4x1"),
                (struct experiment_trend){
                    .claim = "figure 6.10, 50 MHz: 1 to 4 buses: writes",
                    .unit = "% less",
                    .low = -5,
                    .high = 5});
    dirik_check(table,
                dirik_text(gain(table, "Writes", "25 MHz", "1x4", "4x1")),
                (struct experiment_trend){
                    .claim = "figure 6.10, 25 MHz: 1 to 4 buses: writes",
                    .unit = "% less",
                    .low = -5,
                    .high = 5,
                    .reason = table_has_a_third});
}

/* ---- the bus itself ------------------------------------------------------ */

static const char more_than_the_bus[] =
    "4 KB take 164 us of the bus. A read takes 25 us to sense and 3 to copy "
    "besides, and 3 for its second page; a write programs twice for 200 us.";

/* "For a typical 4K read request, 90 % of the physical access is reading data
 * through the I/O interface. For a 4K write only 40 % requires the I/O bus." */
static int judge_small(struct experiment_table *table, struct fault *why)
{
    static const struct {
        enum flash_operation operation;
        const char *claim;
        double paper;
    } claims[] = {
        {FLASH_READ, "text, 25 MHz: a read of 4 KB is of the bus", 90},
        {FLASH_WRITE, "text, 25 MHz: a write of 4 KB is of the bus", 40}};
    const double bus_ns = 4096 * 1e9 / 25e6;

    for (size_t i = 0; i < 2; i++) {
        struct flash_request request = {.operation = claims[i].operation,
                                        .length_bytes = 4096};
        struct subject subject;
        int error = subject_open(
            &subject,
            "dirik-32g,mapping=page-striped,stripe_banks_count=1,contents=off,"
            "capacity_bytes=64MiB,banks_per_channel_count=1,spare_permille=500,"
            "interface_bytes_per_second=1000000000000,cache_read=on,"
            "cache_program=on",
            why);
        if (!error)
            error = subject_do(&subject, &request, why);
        struct experiment_trend trend = {.unit = "%",
                                         .low = claims[i].paper - 5,
                                         .high = claims[i].paper + 5,
                                         .reason = more_than_the_bus,
                                         .bound_is_ours =
                                             "The paper rounds to tens."};
        snprintf(trend.claim, sizeof(trend.claim), "%s", claims[i].claim);
        const double took_ns = (double)subject.now_ns;
        subject_close(&subject);
        if (error)
            return error;
        dirik_check(
            table, (struct dirik_pair){claims[i].paper, 100 * bus_ns / took_ns},
            trend);
    }
    return 0;
}

/* What the requests of all workloads wait for on a bus of 8 banks; how long it
 * is used, and the traces are. */
struct bus {
    double wait_ns, requests_count, used_ns, duration_ns;
};

static int watch(const struct dirik_drive *drive,
                 const struct experiment_settings *settings, struct bus *bus,
                 struct fault *why)
{
    struct replay_result *result = calloc(1, sizeof(*result));
    struct dirik_part part = {.requests_count = dirik_requests_count(settings),
                              .explain = true};
    int error = 0;

    *bus = (struct bus){.wait_ns = 0};
    if (!result)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "no memory for a replay");
    for (; part.trace < DIRIK_TRACES && !error; part.trace++) {
        struct flash_statistics did;
        error = dirik_play_one(drive, &part, settings, result, &did, why);
        if (error)
            break;
        for (int i = REPLAY_READS; i <= REPLAY_WRITES; i++)
            bus->wait_ns += (double)result->why[i].channel_ns;
        bus->requests_count += (double)result->response.count;
        bus->used_ns += (double)(did.read_bytes + did.written_bytes) * 1e3 /
                        drive->bus_mhz / drive->channels;
        bus->duration_ns += (double)result->duration_ns;
    }
    free(result);
    return error;
}

static const char bursts_decide[] =
    "Bursts decide how many of eight banks ask for the bus at once. Ours wait "
    "for it for 1.2 to 1.4 ms.";

/* "With 8-way banking and low I/O bus bandwidth 1.3 milliseconds in average on
 * bus arbitration, more than 50 % of average read request service time"; "when
 * I/O channels are added, they are idle most of the time". */
static int judge_bus(struct experiment_table *table,
                     const struct experiment_settings *settings,
                     struct fault *why)
{
    static const struct dirik_drive eight = {1, 8, 1, 25, 8, NULL};
    struct bus bus;
    int error = watch(&eight, settings, &bus, why);

    if (error)
        return error;
    const double wait_ms = bus.wait_ns / bus.requests_count / 1e6;
    const double reads_ms = at(table, "Reads", "25 MHz", "1x8").ours;
    dirik_check(table, (struct dirik_pair){1.3, wait_ms},
                (struct experiment_trend){
                    .claim = "text, 25 MHz, 1x8: a request waits for the bus",
                    .unit = "ms",
                    .low = 1.25,
                    .high = 1.35,
                    .reason = bursts_decide,
                    .by_seed = true});
    dirik_check(table,
                (struct dirik_pair){100 * 1.3 / 2.38, 100 * wait_ms / reads_ms},
                (struct experiment_trend){
                    .claim = "text, 25 MHz, 1x8: which is of a read's time",
                    .by_seed = true,
                    .unit = "%",
                    .low = 50,
                    .high = 100});
    /* The same bytes go over buses that are twice as fast, four of them. */
    dirik_check(
        table,
        (struct dirik_pair){NAN, 100 * (1 - bus.used_ns / bus.duration_ns / 8)},
        (struct experiment_trend){
            .claim = "text, 50 MHz, 4 buses: they are idle of the time",
            .unit = "%",
            .low = 50,
            .high = 100});
    return 0;
}

/* "Attaching more banks to a single channel increases the electrical load and
 * may limit the maximum clock rate of the I/O bus. More load draws more
 * power." */
static void judge_load(struct experiment_table *table)
{
    static const char no_load[] =
        "A bus has the clock that its drive file says, whatever is on it, and "
        "currents are not in the model; the paper gives no number for either.";
    static const char *const claims[] = {
        "text: more banks on a bus limit its clock",
        "text: more banks on a bus draw more power"};

    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        struct experiment_trend trend = {.unit = "times",
                                         .low = 1,
                                         .high = INFINITY,
                                         .reason = no_load,
                                         .cannot_follow = true};
        snprintf(trend.claim, sizeof(trend.claim), "%s", claims[i]);
        dirik_check(table, (struct dirik_pair){NAN, NAN}, trend);
    }
}

int dirik_judge_banks(struct experiment_table *table,
                      const struct experiment_settings *settings,
                      struct fault *why)
{
    judge_banks(table);
    judge_workloads(table);
    judge_asymmetry(table);
    judge_trade(table);
    judge_buses(table);
    judge_load(table);
    int error = judge_small(table, why);
    return error ? error : judge_bus(table, settings, why);
}
