/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dirik 6.4: how fast must the bus to the flash be? */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/flash/drive/drive.h"
#include "lib/flash/flash.h"
#include "lib/study/dirik/dirik.h"

/* The file that Bonnie reads: 51200 pages of 2 KiB. */
enum { FILE_BYTES = 51200 * 2048 };

/* Seconds to read it in cache mode, in order, on a drive that waits for nothing
 * but the flash. */
static int read_file(unsigned bus_mhz, double *seconds, struct fault *why)
{
    static const char drive_text[] =
        "dirik-32g,capacity_bytes=1GiB,contents=off,cache_read=on,"
        "banks_per_channel_count=1,stripe_banks_count=1,"
        "interface_bytes_per_second=1000000000000,bus_mhz=%u";
    struct flash_request request = {.operation = FLASH_READ,
                                    .length_bytes = FILE_BYTES};
    struct flash_done done = {.complete_ns = 0};
    struct drive drive;
    struct flash *flash;
    char spec[512];
    size_t count;

    snprintf(spec, sizeof(spec), drive_text, bus_mhz);
    int error = drive_load(spec, &drive, why);
    if (!error)
        error = flash_create(&drive, &flash, why);
    if (error)
        return error;
    error = flash_submit(flash, 0, &request);
    if (!error)
        flash_advance(flash, flash_next_event_ns(flash), &done, 1, &count);
    flash_destroy(flash);
    *seconds = (double)done.complete_ns / 1e9;
    return error ? fault_set(why, FAULT_IO, error,
                             "the model refused to read 100 MB")
                 : 0;
}

static const char hidden_sense[] =
    "The paper adds 25 us once, 3 us a page and the transfers. A transfer "
    "takes "
    "15.4 us at 133 MB/s, so the 25 us that each page is sensed no longer hide "
    "behind it: one chip cannot exceed 2048 bytes in 28 us.";

static const char own_sum[] =
    "By the paper's own sum it is 84 %: the 3 us a page alone are 16 %. In "
    "ours "
    "the bus waits for the sense besides.";

static const char no_share[] =
    "How much of the time of its users' traces such files take was not "
    "published; our workloads are made of the sizes that it gives, and have "
    "none.";

/* "The result is 0.9 seconds, 73 % faster. In both cases, more than 95 % of the
 * time is spent in data transfer"; "a large file such as 100 Mbytes is observed
 * in less than 1 % of the time". */
static void judge_files(struct experiment_table *table, double seconds_33,
                        double seconds_133)
{
    const double megabytes = FILE_BYTES / 1e6;

    dirik_check(table,
                (struct dirik_pair){100 * (1 - 0.9 / 3.3),
                                    100 * (1 - seconds_133 / seconds_33)},
                (struct experiment_trend){.claim = "133 MB/s for 33: less time",
                                          .unit = "%",
                                          .low = 72.5,
                                          .high = 73.5,
                                          .reason = hidden_sense});
    dirik_check(table,
                (struct dirik_pair){NAN, 100 * megabytes / 33 / seconds_33},
                (struct experiment_trend){
                    .claim = "at 33 MB/s the bus moves data of the time",
                    .unit = "%",
                    .low = 95,
                    .high = 100});
    dirik_check(table,
                (struct dirik_pair){NAN, 100 * megabytes / 133 / seconds_133},
                (struct experiment_trend){
                    .claim = "at 133 MB/s the bus moves data of the time",
                    .unit = "%",
                    .low = 95,
                    .high = 100,
                    .reason = own_sum});
    dirik_check(table, (struct dirik_pair){NAN, NAN},
                (struct experiment_trend){
                    .claim = "users read or write 100 MB of the time",
                    .unit = "%",
                    .low = 0,
                    .high = 1,
                    .reason = no_share,
                    .cannot_follow = true});
}

static int read_files(struct experiment_table *table, struct fault *why)
{
    static const struct {
        unsigned bus_mhz;
        double paper_seconds;
        const char *reason;
    } reads[] = {{33, 3.3, NULL}, {133, 0.9, hidden_sense}};
    double seconds[2] = {0, 0};

    for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
        struct experiment_value value = {.panel = "Reading 100 MB",
                                         .series = "one bank",
                                         .unit = "s",
                                         .paper = reads[i].paper_seconds};
        struct experiment_trend trend = {.unit = "s",
                                         .paper = reads[i].paper_seconds,
                                         .low = reads[i].paper_seconds - 0.05,
                                         .high = reads[i].paper_seconds + 0.05};
        int error = read_file(reads[i].bus_mhz, &value.ours, why);
        if (error)
            return error;
        snprintf(value.column, sizeof(value.column), "%u MHz",
                 reads[i].bus_mhz);
        experiment_add(table, &value);
        snprintf(trend.claim, sizeof(trend.claim), "100 MB at %u MB/s",
                 reads[i].bus_mhz);
        trend.ours = seconds[i] = value.ours;
        trend.reason = reads[i].reason;
        experiment_check(table, &trend);
    }
    judge_files(table, seconds[0], seconds[1]);
    return 0;
}

static const struct dirik_row rows[] = {
    {{1, 2, 1, 25, 8, NULL}, "2 banks", "25 MHz", {6.85, 3.01, 10.53}},
    {{1, 2, 1, 100, 8, NULL}, "2 banks", "100 MHz", {5.34, 1.2, 9.31}},
    {{1, 2, 1, 400, 8, NULL}, "2 banks", "400 MHz", DIRIK_NONE},
    {{1, 4, 1, 25, 8, NULL}, "4 banks", "25 MHz", {4.92, 2.41, 7.31}},
    {{1, 4, 1, 100, 8, NULL}, "4 banks", "100 MHz", {2.67, 0.58, 4.68}},
    {{1, 4, 1, 400, 8, NULL}, "4 banks", "400 MHz", DIRIK_NONE},
    {{1, 8, 1, 25, 8, NULL}, "8 banks", "25 MHz", {4.68, 2.38, 6.91}},
    {{1, 8, 1, 100, 8, NULL}, "8 banks", "100 MHz", {2.16, 0.47, 3.79}},
    {{1, 8, 1, 400, 8, NULL}, "8 banks", "400 MHz", DIRIK_NONE},
    {{1, 1, 2, 25, 8, NULL}, "2-way superblock", "25 MHz", {6.45, 2.53, 10.25}},
    {{1, 1, 2, 100, 8, NULL}, "2-way superblock", "100 MHz", {4.43, 0.9, 7.85}},
    {{1, 1, 2, 400, 8, NULL}, "2-way superblock", "400 MHz", DIRIK_NONE},
    {{1, 1, 4, 25, 8, NULL}, "4-way superblock", "25 MHz", {4.95, 2.09, 7.73}},
    {{1, 1, 4, 100, 8, NULL},
     "4-way superblock",
     "100 MHz",
     {1.49, 0.35, 2.59}},
    {{1, 1, 4, 400, 8, NULL}, "4-way superblock", "400 MHz", DIRIK_NONE},
    {{1, 1, 8, 25, 8, NULL}, "8-way superblock", "25 MHz", {4.91, 2.07, 7.68}},
    {{1, 1, 8, 100, 8, NULL},
     "8-way superblock",
     "100 MHz",
     {0.76, 0.27, 1.23}},
    {{1, 1, 8, 400, 8, NULL}, "8-way superblock", "400 MHz", DIRIK_NONE},
};

/* "Does not improve significantly beyond 100 MBps". */
static const char not_significant[] = "The paper says \"not significantly\". "
                                      "Up to 20 % it finds not worth the cost "
                                      "(6.1).";

static const struct experiment_change changes[] = {
    {.claim = "2 banks: 100 to 400 MHz: all",
     .from = {"All requests", "2 banks", "100 MHz"},
     .to = {"All requests", "2 banks", "400 MHz"},
     .low = 0,
     .high = 20,
     .bound_is_ours = not_significant},
    {.claim = "4 banks: 100 to 400 MHz: all",
     .from = {"All requests", "4 banks", "100 MHz"},
     .to = {"All requests", "4 banks", "400 MHz"},
     .low = 0,
     .high = 20,
     .bound_is_ours = not_significant},
    {.claim = "8 banks: 100 to 400 MHz: all",
     .from = {"All requests", "8 banks", "100 MHz"},
     .to = {"All requests", "8 banks", "400 MHz"},
     .low = 0,
     .high = 20,
     .bound_is_ours = not_significant},
    {.claim = "2-way superblock: 100 to 400 MHz: all",
     .from = {"All requests", "2-way superblock", "100 MHz"},
     .to = {"All requests", "2-way superblock", "400 MHz"},
     .low = 0,
     .high = 20,
     .bound_is_ours = not_significant},
    {.claim = "4-way superblock: 100 to 400 MHz: all",
     .from = {"All requests", "4-way superblock", "100 MHz"},
     .to = {"All requests", "4-way superblock", "400 MHz"},
     .low = 0,
     .high = 20,
     .bound_is_ours = not_significant},
    {.claim = "8-way superblock: 100 to 400 MHz: all",
     .from = {"All requests", "8-way superblock", "100 MHz"},
     .to = {"All requests", "8-way superblock", "400 MHz"},
     .low = 0,
     .high = 20,
     .bound_is_ours = not_significant},
};

/* ---- requests that come faster ------------------------------------------ */

/* Average over the requests of all workloads, so many times as fast, on four
 * banks. */
static int play_faster(unsigned bus_mhz, double speed,
                       const struct experiment_settings *settings, double *ms,
                       struct fault *why)
{
    const struct dirik_drive drive = {1, 4, 1, bus_mhz, 8, NULL};
    struct dirik_part part = {.requests_count = dirik_requests_count(settings),
                              .speed = speed};
    struct replay_result *result = calloc(1, sizeof(*result));
    double sum_ms = 0, count = 0;
    int error = 0;

    if (!result)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "no memory for a replay");
    for (; part.trace < DIRIK_TRACES && !error; part.trace++) {
        struct flash_statistics unused;
        error = dirik_play_one(&drive, &part, settings, result, &unused, why);
        const struct histogram *response = &result->response;
        sum_ms += (double)response->count * histogram_mean_ns(response) / 1e6;
        count += (double)response->count;
    }
    free(result);
    *ms = sum_ms / count;
    return error;
}

static const char may_gain[] =
    "The paper gives no number. What a bus of 400 for 100 MHz gains at the "
    "pace of the workloads is the least.";

/* "If a workload is sped up by compressing inter-arrival times, one may see
 * performance improvements beyond 100 MBps." */
static int speed_up(const struct experiment_settings *settings,
                    struct experiment_table *table, struct fault *why)
{
    static const unsigned speeds[] = {1, 2, 8};
    static const unsigned buses_mhz[] = {100, 400};
    double gains[3];

    for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
        double ms[2] = {0, 0};
        for (size_t bus = 0; bus < 2; bus++) {
            struct experiment_value value = {.panel =
                                                 "4 banks: all in less time",
                                             .unit = "ms",
                                             .paper = NAN};
            int error =
                play_faster(buses_mhz[bus], speeds[i], settings, &ms[bus], why);
            if (error)
                return error;
            value.ours = ms[bus];
            snprintf(value.series, sizeof(value.series), "%u MHz",
                     buses_mhz[bus]);
            snprintf(value.column, sizeof(value.column), "%u times", speeds[i]);
            experiment_add(table, &value);
        }
        gains[i] = 100 * (1 - ms[1] / ms[0]);
        if (i == 0)
            continue;
        struct experiment_trend trend = {.unit = "%",
                                         .low = gains[0],
                                         .high = 100,
                                         .bound_is_ours = may_gain};
        snprintf(trend.claim, sizeof(trend.claim),
                 "text: %u times as fast: 100 to 400 MHz", speeds[i]);
        dirik_check(table, (struct dirik_pair){NAN, gains[i]}, trend);
    }
    return 0;
}

static int run(const struct experiment *experiment,
               const struct experiment_settings *settings,
               struct experiment_table *table, struct fault *why)
{
    int error = read_files(table, why);

    if (!error)
        error = dirik_run(experiment, settings, table, why);
    return error ? error : speed_up(settings, table, why);
}

static const struct dirik_plan plan = DIRIK_PLAN(rows, changes);

const struct experiment experiment_bus = {
    .name = "bus",
    .question = "How fast must the bus to the flash be?",
    .source = "Dirik 6.4, figures 6.22 to 6.24",
    .setting = "A file of 100 MB read from one bank in cache mode. Then seven "
               "workloads made after Dirik 5.3; averages over all their "
               "requests. The paper's figures are those of tables 6.2 to 6.4.",
    .test_scale = 0.3,
    .run = run,
    .plan = &plan,
};
