/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/study/dirik/dirik.h"

#include <errno.h>
#include <inttypes.h>
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
    struct replay_settings replay = {
        .speed = 1, .request_limit_bytes = loaded.request_limit_bytes};
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

static const struct histogram *responses(const struct replay_result *result,
                                         enum dirik_class class)
{
    if (class == DIRIK_ALL)
        return &result->response;
    return &result->classes[class == DIRIK_READS ? REPLAY_READS : REPLAY_WRITES]
                .response;
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
        for (int i = 0; i < DIRIK_CLASSES && !error; i++) {
            const struct histogram *times =
                responses(result, (enum dirik_class)i);
            counts[i] += (double)times->count;
            outcome->response_ms[i] +=
                (double)times->count * histogram_mean_ns(times) / 1e6;
        }
    }
    for (int i = 0; i < DIRIK_CLASSES; i++)
        outcome->response_ms[i] /= counts[i];
    free(result);
    return error;
}

int dirik_add(struct experiment_table *table, const struct dirik_row *row,
              const struct experiment_settings *settings, struct fault *why)
{
    struct dirik_outcome outcome;
    int error = dirik_play(&row->drive, settings, &outcome, why);

    for (int i = 0; i < DIRIK_CLASSES && !error; i++) {
        struct experiment_value value = {.unit = "ms",
                                         .paper = row->paper_ms[i],
                                         .ours = outcome.response_ms[i]};
        snprintf(value.panel, sizeof(value.panel), "%s", dirik_panels[i]);
        snprintf(value.series, sizeof(value.series), "%s", row->series);
        snprintf(value.column, sizeof(value.column), "%s", row->column);
        experiment_add(table, &value);
    }
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
