/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dirik 6.9: how much more is written when the unit of mapping grows? */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/flash/drive/drive.h"
#include "lib/study/dirik/dirik.h"
#include "lib/study/dirik/trace.h"

/* ---- figure 6.48 ------------------------------------------------------- */

/* Blocks of four 2 KiB pages, and nothing counts but 25 and 200 us. */
static const char small_blocks[] =
    "dirik-32g,mapping=block,stripe_banks_count=1,banks_per_channel_count=1,"
    "capacity_bytes=4MiB,pages_per_block_count=4,merge_copy=bus,"
    "cache_copy_ns=0,erase_ns=0,bus_width_bits=1024,bus_mhz=2000,contents=off,"
    "interface_bytes_per_second=1000000000000";

enum { WRITE_BYTES = 4096, BLOCK_BYTES = 8192, WRITES = 64 };

/* The longest of many writes of 4 KB, each this far behind the last, once the
 * first has opened a block; in us. */
static int write_apart(uint64_t apart_bytes, double *longest_us,
                       struct fault *why)
{
    struct drive drive;
    struct flash *flash;
    uint64_t now_ns = 0, longest_ns = 0;

    int error = drive_load(small_blocks, &drive, why);
    if (!error)
        error = flash_create(&drive, &flash, why);
    if (error)
        return error;
    for (uint64_t i = 0; i < WRITES && !error; i++) {
        struct flash_request request = {.operation = FLASH_WRITE,
                                        .offset_bytes = i * apart_bytes,
                                        .length_bytes = WRITE_BYTES};
        struct flash_done done = {.complete_ns = now_ns};
        size_t count;
        error = flash_submit(flash, now_ns, &request);
        if (!error)
            flash_advance(flash, flash_next_event_ns(flash), &done, 1, &count);
        uint64_t took_ns = done.complete_ns - now_ns;
        now_ns = done.complete_ns;
        longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
    }
    flash_destroy(flash);
    *longest_us = (double)longest_ns / 1e3;
    return error ? fault_set(why, FAULT_IO, error, "a write was refused") : 0;
}

static int write_small_blocks(struct experiment_table *table, struct fault *why)
{
    static const struct {
        const char *name;
        uint64_t apart_bytes;
        double paper_us;
    } rows[] = {{"at random", BLOCK_BYTES, 850},
                {"in sequence", WRITE_BYTES, 400}};

    for (size_t i = 0; i < 2; i++) {
        struct experiment_value value = {.panel = "A write of 4 KB",
                                         .series = "block mapping",
                                         .unit = "us",
                                         .paper = rows[i].paper_us};
        int error = write_apart(rows[i].apart_bytes, &value.ours, why);
        if (error)
            return error;
        snprintf(value.column, sizeof(value.column), "%s", rows[i].name);
        experiment_add(table, &value);
        /* Four transfers of 8 ns. */
        struct experiment_trend trend = {.unit = "us",
                                         .paper = value.paper,
                                         .ours = value.ours,
                                         .low = value.paper,
                                         .high = value.paper + 0.1};
        snprintf(trend.claim, sizeof(trend.claim), "4 KB written %s",
                 rows[i].name);
        experiment_check(table, &trend);
    }
    return 0;
}

/* ---- figure 6.49 ------------------------------------------------------- */

static const char few_go_on[] =
    "Half of the writes are of 4 to 8 KB and begin at any 4 KB, which costs up "
    "to 12 KB more unless they go on where the last one ended. Here 44 % do; "
    "how many of the paper's did is not published. With 54 % it is 19 % more.";

static const struct granularity {
    const char *column;
    unsigned kib;
    double low, high; /* percent more */
    const char *reason;
} granularities[] = {
    /* "Only increased by 0.4 %", "without any significant", "less than 20 %",
     * "by 3-6x". */
    {"2 KB", 2, 0, 0.5, NULL},
    {"4 KB", 4, -INFINITY, INFINITY, NULL},
    {"8 KB", 8, -INFINITY, INFINITY, NULL},
    {"16 KB", 16, 0, 20, few_go_on},
    {"32 KB", 32, -INFINITY, INFINITY, NULL},
    {"64 KB", 64, -INFINITY, INFINITY, NULL},
    {"block", 128, 200, 600, NULL},
};

/* Blocks of this size, any of which a write that goes on can continue: what
 * lies around it moves along. Below 8 KB a unit is mapped by itself. */
static int load(const struct granularity *row, struct drive *drive,
                struct fault *why)
{
    char spec[256];

    if (row->kib < 8)
        snprintf(spec, sizeof(spec),
                 "dirik-32g,contents=off,capacity_bytes=2GiB,"
                 "clustered_page_bytes=%uKiB,spare_permille=1000",
                 row->kib);
    else
        snprintf(spec, sizeof(spec),
                 "dirik-32g,contents=off,capacity_bytes=2GiB,mapping=block,"
                 "banks_per_channel_count=1,stripe_banks_count=1,"
                 "pages_per_block_count=%u",
                 row->kib / 2);
    return drive_load(spec, drive, why);
}

static int play(const struct granularity *row, unsigned index,
                const struct experiment_settings *settings,
                struct flash_statistics *did, struct fault *why)
{
    struct replay_result *result = calloc(1, sizeof(*result));
    struct flash *flash = NULL;
    struct trace *trace = NULL;
    struct drive drive;
    struct dirik_trace made;

    int error = result ? load(row, &drive, why)
                       : fault_set(why, FAULT_OPEN, -ENOMEM, "no memory");
    if (!error)
        error = flash_create(&drive, &flash, why);
    if (!error) {
        struct replay_settings replay = {.depth = 1,
                                         .speed = 1,
                                         .request_limit_bytes =
                                             drive.request_limit_bytes};
        dirik_trace_begin(&made, index, settings->seed,
                          dirik_requests_count(settings),
                          flash_capacity_bytes(flash));
        error = trace_of(dirik_trace_next, &made, &trace);
        if (!error)
            error = trace_replay(trace, flash, &replay, result, why);
        flash_statistics(flash, did);
    }
    trace_close(trace);
    flash_destroy(flash);
    free(result);
    return error;
}

/* Percent more than the host wrote, over all workloads; the least and the most
 * of one. */
struct growth {
    double all, least, most;
};

static int grow(const struct granularity *row,
                const struct experiment_settings *settings,
                struct growth *growth, struct fault *why)
{
    double written = 0, programmed = 0;

    *growth = (struct growth){0, INFINITY, -INFINITY};
    for (unsigned i = 0; i < DIRIK_TRACES; i++) {
        struct flash_statistics did;
        int error = play(row, i, settings, &did, why);
        if (error)
            return error;
        double here = (double)did.pages_programmed_count * 2048;
        double more = 100 * (here / (double)did.written_bytes - 1);
        growth->least = more < growth->least ? more : growth->least;
        growth->most = more > growth->most ? more : growth->most;
        written += (double)did.written_bytes;
        programmed += here;
    }
    growth->all = 100 * (programmed / written - 1);
    return 0;
}

static void add_growth(struct experiment_table *table,
                       const struct granularity *row,
                       const struct growth *growth)
{
    const struct {
        const char *series;
        double ours, paper;
    } values[] = {{"all workloads", growth->all, row->kib == 2 ? 0.4 : NAN},
                  {"the least", growth->least, NAN},
                  {"the most", growth->most, NAN}};

    for (size_t i = 0; i < 3; i++) {
        struct experiment_value value = {.panel = "Additional sectors written",
                                         .unit = "%",
                                         .paper = values[i].paper,
                                         .ours = values[i].ours};
        snprintf(value.series, sizeof(value.series), "%s", values[i].series);
        snprintf(value.column, sizeof(value.column), "%s", row->column);
        experiment_add(table, &value);
    }
    if (isinf(row->high))
        return;
    struct experiment_trend trend = {.unit = "% more",
                                     .paper = NAN,
                                     .ours = growth->all,
                                     .low = row->low,
                                     .high = row->high,
                                     .reason = row->reason};
    snprintf(trend.claim, sizeof(trend.claim), "Mapping by %s", row->column);
    experiment_check(table, &trend);
}

static int run(const struct experiment *experiment,
               const struct experiment_settings *settings,
               struct experiment_table *table, struct fault *why)
{
    int error = write_small_blocks(table, why);

    (void)experiment;
    for (size_t i = 0;
         i < sizeof(granularities) / sizeof(granularities[0]) && !error; i++) {
        struct growth growth;
        error = grow(&granularities[i], settings, &growth, why);
        if (!error)
            add_growth(table, &granularities[i], &growth);
    }
    return error;
}

const struct experiment experiment_mapping = {
    .name = "mapping",
    .question = "How much more is written when the unit of mapping grows?",
    .source = "Dirik 6.9, figures 6.48 and 6.49",
    .setting = "The writes of seven workloads made after Dirik 5.3, one after "
               "the other; what lies around them in a unit moves along, unless "
               "they go on where the last one ended.",
    .test_scale = 0.3,
    .run = run,
};
