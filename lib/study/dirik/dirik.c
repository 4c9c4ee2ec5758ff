/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/study/dirik/dirik.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/flash/drive/drive.h"
#include "lib/study/dirik/trace.h"

const char *const dirik_panels[DIRIK_CLASSES] = {
    [DIRIK_ALL] = "All requests",
    [DIRIK_READS] = "Reads",
    [DIRIK_WRITES] = "Writes",
};

/* Of each workload: enough for its heaviest bursts to be counted on. */
static const double requests_count = 20000;

uint64_t dirik_requests_count(const struct experiment_settings *settings)
{
    return 1 + (uint64_t)(requests_count * settings->scale);
}

static int load(const struct dirik_drive *drive, struct drive *loaded,
                struct fault *why)
{
    char spec[512];

    snprintf(spec, sizeof(spec),
             "dirik-32g,mapping=page-striped,stripe_banks_count=1,contents=off,"
             "capacity_bytes=2GiB,spare_permille=1000,queue_depth_count=1024,"
             "cache_read=on,cache_program=on,partial_read=on,"
             "partial_program=on,sector_update=on,"
             "interface_bytes_per_second=133MB,channels_count=%u,"
             "banks_per_channel_count=%u,superblock_chips_count=%u,"
             "clustered_page_bytes=%u,bus_mhz=%u,bus_width_bits=%u%s",
             drive->channels, drive->banks, drive->superblock,
             2048 * drive->superblock, drive->bus_mhz, drive->bus_bits,
             drive->more ? drive->more : "");
    return drive_load(spec, loaded, why);
}

int dirik_play_one(const struct dirik_drive *drive,
                   const struct dirik_part *part,
                   const struct experiment_settings *settings,
                   struct replay_result *result,
                   struct flash_statistics *statistics, struct fault *why)
{
    struct drive loaded;
    struct flash *flash;
    struct dirik_trace made;
    struct trace *trace;

    int error = load(drive, &loaded, why);
    if (!error)
        error = flash_create(&loaded, &flash, why);
    if (error)
        return error;
    struct replay_settings replay = {.speed = part->speed > 0 ? part->speed : 1,
                                     .explain = part->explain,
                                     .request_limit_bytes =
                                         loaded.request_limit_bytes};
    dirik_trace_begin(&made, part->trace, settings->seed, part->requests_count,
                      flash_capacity_bytes(flash));
    error = trace_of(dirik_trace_next, &made, &trace);
    if (error)
        fault_set(why, FAULT_OPEN, error, "no memory for a trace");
    else
        error = trace_replay(trace, flash, &replay, result, why);
    flash_statistics(flash, statistics);
    for (uint32_t i = 0; i < part->banks_count; i++)
        part->banks[i] = flash_bank(flash, i);
    if (!error)
        trace_close(trace);
    flash_destroy(flash);
    return error;
}

int dirik_play_banks(const struct dirik_drive *drive,
                     const struct experiment_settings *settings,
                     struct flash_bank *banks, uint32_t count,
                     struct fault *why)
{
    struct replay_result *result = calloc(1, sizeof(*result));
    struct dirik_part part = {.requests_count = dirik_requests_count(settings),
                              .banks_count = count};
    int error = 0;

    if (!result)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "no memory for a replay");
    for (; part.trace < DIRIK_TRACES && !error; part.trace++) {
        struct flash_statistics did;
        part.banks = banks + (size_t)part.trace * count;
        error = dirik_play_one(drive, &part, settings, result, &did, why);
    }
    free(result);
    return error;
}

/* Response and queue of a class, in the order of `dirik_class`. */
static void pick(const struct replay_result *result, enum dirik_class class,
                 const struct histogram **response,
                 const struct histogram **queue)
{
    const struct replay_times *of =
        &result->classes[class == DIRIK_READS ? REPLAY_READS : REPLAY_WRITES];

    *response = class == DIRIK_ALL ? &result->response : &of->response;
    *queue = class == DIRIK_ALL ? &result->queue : &of->queue;
}

/* Averages of one workload; adds their sums to those of all. */
static void average(const struct replay_result *result,
                    struct dirik_times *times, struct dirik_times *sums,
                    double counts[DIRIK_CLASSES])
{
    for (int i = 0; i < DIRIK_CLASSES; i++) {
        const struct histogram *response, *queue;
        pick(result, (enum dirik_class)i, &response, &queue);
        double count = (double)response->count;
        times->response_ms[i] = histogram_mean_ns(response) / 1e6;
        times->queue_ms[i] = histogram_mean_ns(queue) / 1e6;
        sums->response_ms[i] += count * times->response_ms[i];
        sums->queue_ms[i] += count * times->queue_ms[i];
        counts[i] += count;
    }
}

int dirik_play(const struct dirik_drive *drive,
               const struct experiment_settings *settings,
               struct dirik_outcome *outcome, struct fault *why)
{
    struct replay_result *result = calloc(1, sizeof(*result));
    struct dirik_part part = {.requests_count = dirik_requests_count(settings)};
    double counts[DIRIK_CLASSES] = {0};
    int error = 0;

    *outcome = (struct dirik_outcome){.cleaned_count = 0};
    if (!result)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "no memory for a replay");
    for (; part.trace < DIRIK_TRACES && !error; part.trace++) {
        struct flash_statistics statistics = {.blocks_cleaned_count = 0};
        error =
            dirik_play_one(drive, &part, settings, result, &statistics, why);
        outcome->cleaned_count += statistics.blocks_cleaned_count;
        outcome->cleaned_idle_count += statistics.blocks_cleaned_idle_count;
        if (!error)
            average(result, &outcome->traces[part.trace], &outcome->all,
                    counts);
    }
    for (int i = 0; i < DIRIK_CLASSES; i++) {
        outcome->all.response_ms[i] /= counts[i];
        outcome->all.queue_ms[i] /= counts[i];
    }
    free(result);
    return error;
}

/* ---- the table ----------------------------------------------------------- */

static void add(struct experiment_table *table, const struct dirik_row *row,
                const char *panel, struct dirik_pair pair, bool detail)
{
    struct experiment_value value = {
        .unit = "ms", .paper = pair.paper, .ours = pair.ours, .detail = detail};

    snprintf(value.panel, sizeof(value.panel), "%s", panel);
    snprintf(value.series, sizeof(value.series), "%s", row->series);
    snprintf(value.column, sizeof(value.column), "%s", row->column);
    experiment_add(table, &value);
}

/* What the paper's tables do not have. */
static void add_details(struct experiment_table *table,
                        const struct dirik_row *row,
                        const struct dirik_outcome *outcome, int class)
{
    static const char *const small[] = {"all", "reads", "writes"};
    const double queue_ms = outcome->all.queue_ms[class];
    char panel[32];

    snprintf(panel, sizeof(panel), "%s: queue", dirik_panels[class]);
    add(table, row, panel, (struct dirik_pair){NAN, queue_ms}, true);
    snprintf(panel, sizeof(panel), "%s: access", dirik_panels[class]);
    add(table, row, panel,
        (struct dirik_pair){NAN, outcome->all.response_ms[class] - queue_ms},
        true);
    for (int i = 0; i < DIRIK_TRACES; i++) {
        snprintf(panel, sizeof(panel), "Workload %d: %s", i + 1, small[class]);
        add(table, row, panel,
            (struct dirik_pair){NAN, outcome->traces[i].response_ms[class]},
            true);
    }
}

void dirik_take(struct experiment_table *table, const struct dirik_row *row,
                const struct dirik_outcome *outcome)
{
    for (int i = 0; i < DIRIK_CLASSES; i++)
        add(table, row, dirik_panels[i],
            (struct dirik_pair){row->paper_ms[i], outcome->all.response_ms[i]},
            false);
    for (int i = 0; i < DIRIK_CLASSES; i++)
        add_details(table, row, outcome, i);
}

int dirik_add(struct experiment_table *table, const struct dirik_row *row,
              const struct experiment_settings *settings, struct fault *why)
{
    struct dirik_outcome outcome;
    int error = dirik_play(&row->drive, settings, &outcome, why);

    if (!error)
        dirik_take(table, row, &outcome);
    return error;
}

int dirik_run(const struct experiment *experiment,
              const struct experiment_settings *settings,
              struct experiment_table *table, struct fault *why)
{
    const struct dirik_plan *plan = experiment->plan;
    int error = 0;

    for (size_t i = 0; i < plan->rows_count && !error; i++)
        error = dirik_add(table, &plan->rows[i], settings, why);
    for (size_t i = 0; i < plan->changes_count && !error; i++)
        experiment_compare(table, &plan->changes[i]);
    return error;
}

/* ---- claims on several numbers ------------------------------------------ */

struct dirik_pair dirik_at(const struct experiment_table *table,
                           struct experiment_place place)
{
    const struct experiment_value *value = experiment_at(table, &place);

    return (struct dirik_pair){value->paper, value->ours};
}

struct dirik_pair dirik_ratio(struct dirik_pair of, struct dirik_pair to)
{
    return (struct dirik_pair){of.paper / to.paper, of.ours / to.ours};
}

struct dirik_pair dirik_less(struct dirik_pair from, struct dirik_pair to)
{
    return (struct dirik_pair){100 * (1 - to.paper / from.paper),
                               100 * (1 - to.ours / from.ours)};
}

struct dirik_pair dirik_minus(struct dirik_pair a, struct dirik_pair b)
{
    return (struct dirik_pair){a.paper - b.paper, a.ours - b.ours};
}

struct dirik_pair dirik_text(struct dirik_pair pair)
{
    return (struct dirik_pair){NAN, pair.ours};
}

void dirik_check(struct experiment_table *table, struct dirik_pair pair,
                 struct experiment_trend trend)
{
    trend.paper = pair.paper;
    trend.ours = pair.ours;
    experiment_check(table, &trend);
}
