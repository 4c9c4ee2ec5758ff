/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flashemu bench: how fast the model is, on one core, by workload. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/flash.h"
#include "cmd/common/json.h"
#include "cmd/flashemu/flashemu.h"

static const char bench_drive[] = "bench-64g";
/* Banks share the bus page by page, each request in a bank (Dirik). */
static const char striped_drive[] =
    "dirik-32g,mapping=page-striped,stripe_banks_count=1,contents=off,"
    "queue_depth_count=64,cache_read=on,cache_program=on";
/* Banks have queues; the same with a cache of flash before them, and with a
 * part of the mapping table in memory. */
static const char queue_drive[] =
    "nvme-tlc,slc_blocks_count=0,slc_least_blocks_count=0";
static const char today_drive[] = "nvme-tlc";
static const char map_drive[] = "nvme-dramless";
static const char log_drive[] = "bench-64g,mapping=log-block";

enum {
    SMALL_BYTES = 4096,
    TODAY_BYTES = 16384, /* what a drive of today programs anew */
    LARGE_BYTES = 1 << 20,
    DEPTH = 32,
    AHEAD = 16, /* requests that the model is told of before they come */
    SETTLE_DONE = 64
};

/* Cleaning has settled when two stretches in a row copy the same share. */
static const double settled_share = 0.01;

struct workload {
    const char *name, *drive, *key; /* of the JSON document, or NULL */
    enum flash_operation operation;
    uint64_t request_bytes, requests_count;
    uint64_t before_count; /* that come first, and are not measured */
    bool random, settle;
};

static const struct workload workloads[] = {
    {.name = "random 4 KiB reads",
     .drive = bench_drive,
     .key = "random_read_per_second",
     .operation = FLASH_READ,
     .request_bytes = SMALL_BYTES,
     .requests_count = 8000000,
     .random = true},
    {.name = "sequential 1 MiB reads",
     .drive = bench_drive,
     .operation = FLASH_READ,
     .request_bytes = LARGE_BYTES,
     .requests_count = 60000},
    {.name = "random 4 KiB writes, cleaning",
     .drive = bench_drive,
     .key = "random_write_per_second",
     .operation = FLASH_WRITE,
     .request_bytes = SMALL_BYTES,
     .requests_count = 4000000,
     .random = true,
     .settle = true},
    {.name = "fill with 1 MiB writes",
     .drive = "bench-64g,initial_state=fresh",
     .operation = FLASH_WRITE,
     .request_bytes = LARGE_BYTES,
     .requests_count = UINT64_C(64000000000) / LARGE_BYTES},
    {.name = "log blocks: random 4 KiB writes",
     .drive = log_drive,
     .operation = FLASH_WRITE,
     .request_bytes = SMALL_BYTES,
     .requests_count = 20000,
     .random = true},
    {.name = "page-striped: random 4 KiB reads",
     .drive = striped_drive,
     .key = "page_striped_random_read_per_second",
     .operation = FLASH_READ,
     .request_bytes = SMALL_BYTES,
     .requests_count = 500000,
     .random = true},
    {.name = "page-striped: random 4 KiB writes",
     .drive = striped_drive,
     .key = "page_striped_random_write_per_second",
     .operation = FLASH_WRITE,
     .request_bytes = SMALL_BYTES,
     .requests_count = 500000,
     .random = true},
    {.name = "die queues: random 4 KiB reads",
     .drive = queue_drive,
     .operation = FLASH_READ,
     .request_bytes = SMALL_BYTES,
     .requests_count = 1000000,
     .random = true},
    {.name = "die queues: random 16 KiB writes",
     .drive = queue_drive,
     .operation = FLASH_WRITE,
     .request_bytes = TODAY_BYTES,
     .requests_count = 200000,
     .before_count = 500000,
     .random = true},
    {.name = "mapping cache: random 4 KiB reads",
     .drive = map_drive,
     .key = "mapping_cache_random_read_per_second",
     .operation = FLASH_READ,
     .request_bytes = SMALL_BYTES,
     .requests_count = 1000000,
     .random = true},
    {.name = "mapping cache: 16 KiB writes",
     .drive = map_drive,
     .operation = FLASH_WRITE,
     .request_bytes = TODAY_BYTES,
     .requests_count = 200000,
     .before_count = 200000,
     .random = true},
    {.name = "SLC cache: random 4 KiB reads",
     .drive = today_drive,
     .key = "die_queue_random_read_per_second",
     .operation = FLASH_READ,
     .request_bytes = SMALL_BYTES,
     .requests_count = 1000000,
     .random = true},
    {.name = "SLC cache: random 16 KiB writes",
     .drive = today_drive,
     .key = "die_queue_random_write_per_second",
     .operation = FLASH_WRITE,
     .request_bytes = TODAY_BYTES,
     .requests_count = 200000,
     .before_count = 500000,
     .random = true},
};

/* What one workload took, and what it did. */
struct measured {
    double seconds;
    uint64_t requests_count, pages_count;
    uint64_t memory_bytes, flash_pages_count;
    double write_amplification;
    uint64_t drive_ns;
};

struct run {
    const struct workload *workload;
    struct flash *flash;
    struct random random;
    uint64_t capacity_bytes, page_bytes, next_bytes, now_ns;
    uint64_t ahead_bytes[AHEAD]; /* a ring: where the next requests begin */
    size_t ahead_first;
    size_t outstanding;
};

/* Of this process: other work on the machine does not count. */
static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t draw_offset(struct run *run)
{
    uint64_t bytes = run->workload->request_bytes;
    uint64_t slots = run->capacity_bytes / bytes;
    if (run->workload->random)
        return random_below(&run->random, slots) * bytes;
    uint64_t offset = run->next_bytes;
    run->next_bytes = (offset + bytes) / bytes % slots * bytes;
    return offset;
}

static void look_ahead(struct run *run)
{
    for (size_t i = 0; i < AHEAD; i++)
        run->ahead_bytes[i] = draw_offset(run);
}

/* The next request's, known for a while: as a host that plans does. */
static uint64_t next_offset(struct run *run)
{
    uint64_t *at = &run->ahead_bytes[run->ahead_first], offset = *at;
    run->ahead_first = (run->ahead_first + 1) % AHEAD;
    *at = draw_offset(run);
    flash_expect(run->flash, *at);
    return offset;
}

/* Keeps DEPTH requests outstanding until `count` are sent and all are done. */
static int send(struct run *run, uint64_t count)
{
    struct flash_done done[SETTLE_DONE];
    size_t done_count;
    while (count > 0 || run->outstanding > 0) {
        for (; count > 0 && run->outstanding < DEPTH; count--) {
            struct flash_request request = {
                .operation = run->workload->operation,
                .offset_bytes = next_offset(run),
                .length_bytes = run->workload->request_bytes};
            int error = flash_submit(run->flash, run->now_ns, &request);
            if (error)
                return error;
            run->outstanding++;
        }
        uint64_t next_ns = flash_next_event_ns(run->flash);
        if (next_ns > run->now_ns)
            run->now_ns = next_ns;
        flash_advance(run->flash, run->now_ns, done, SETTLE_DONE, &done_count);
        run->outstanding -= done_count;
    }
    return 0;
}

static uint64_t pages_of(const struct flash_statistics *statistics)
{
    return statistics->pages_read_count + statistics->pages_programmed_count;
}

/* Writes until cleaning copies as much as it did before. */
static int settle(struct run *run)
{
    enum { STRETCHES_MAX = 40, STRETCH_COUNT = 2000000 };
    struct flash_statistics before, after;
    double last = -1;
    for (int i = 0; i < STRETCHES_MAX; i++) {
        flash_statistics(run->flash, &before);
        int error = send(run, STRETCH_COUNT);
        if (error)
            return error;
        flash_statistics(run->flash, &after);
        double copied =
            (double)(after.pages_copied_count - before.pages_copied_count) /
            STRETCH_COUNT;
        if (copied > 0 && copied <= last * (1 + settled_share))
            return 0;
        last = copied;
    }
    return 0;
}

static int measure_run(struct run *run, struct measured *measured)
{
    struct flash_statistics before, after;
    int error = run->workload->settle ? settle(run)
                                      : send(run, run->workload->before_count);
    if (error)
        return error;
    flash_statistics(run->flash, &before);
    uint64_t begin_ns = run->now_ns;
    double begin = processor_seconds();
    error = send(run, run->workload->requests_count);
    measured->seconds = processor_seconds() - begin;
    flash_statistics(run->flash, &after);
    measured->requests_count = run->workload->requests_count;
    measured->pages_count = pages_of(&after) - pages_of(&before);
    measured->drive_ns = run->now_ns - begin_ns;
    measured->memory_bytes = after.memory_bytes;
    uint64_t programmed =
        after.pages_programmed_count - before.pages_programmed_count;
    uint64_t written = after.written_bytes - before.written_bytes;
    measured->write_amplification =
        written ? (double)programmed * (double)run->page_bytes / (double)written
                : 0;
    return error;
}

static int measure(const struct workload *workload, struct measured *measured,
                   struct fault *why)
{
    static struct drive drive;
    struct run run = {.workload = workload};
    int error = drive_load(workload->drive, &drive, why);
    if (error)
        return error;
    error = flash_create(&drive, &run.flash, why);
    if (error)
        return error;
    random_seed(&run.random, drive.seed);
    run.capacity_bytes = drive.capacity_bytes;
    run.page_bytes = drive.page_bytes;
    look_ahead(&run);
    error = measure_run(&run, measured);
    measured->flash_pages_count = drive.capacity_bytes / SMALL_BYTES *
                                  (1000 + drive.spare_permille) / 1000;
    flash_destroy(run.flash);
    return error ? fault_set(why, FAULT_OPEN, error,
                             "%s: the model refused a request", workload->name)
                 : 0;
}

/* ---- what was measured ------------------------------------------------- */

static double per_second(uint64_t count, double seconds)
{
    return seconds > 0 ? (double)count / seconds : 0;
}

static void print_row(const struct workload *workload,
                      const struct measured *measured)
{
    printf("%-32s %12.0f %12.0f %7.3f %6.2f\n", workload->name,
           per_second(measured->requests_count, measured->seconds),
           per_second(measured->pages_count, measured->seconds),
           measured->seconds, measured->write_amplification);
    fflush(stdout);
}

static void add_number(struct json_object *object, const char *key,
                       double number)
{
    json_object_object_add(object, key, json_object_new_double(number));
}

static struct json_object *row_json(const struct workload *workload,
                                    const struct measured *measured)
{
    struct json_object *row = json_object_new_object();
    json_object_object_add(row, "workload",
                           json_object_new_string(workload->name));
    json_object_object_add(row, "drive",
                           json_object_new_string(workload->drive));
    json_object_object_add(row, "requests",
                           json_object_new_uint64(measured->requests_count));
    add_number(row, "processor_seconds", measured->seconds);
    add_number(row, "requests_per_second",
               per_second(measured->requests_count, measured->seconds));
    add_number(row, "page_operations_per_second",
               per_second(measured->pages_count, measured->seconds));
    add_number(row, "write_amplification", measured->write_amplification);
    json_object_object_add(row, "drive_ns",
                           json_object_new_uint64(measured->drive_ns));
    json_object_object_add(row, "memory_bytes",
                           json_object_new_uint64(measured->memory_bytes));
    return row;
}

/* Memory of the first workload's drive, and the seconds of a fill. */
static void summarise(struct json_object *document,
                      const struct workload *workload,
                      const struct measured *measured)
{
    bool fill = workload->operation == FLASH_WRITE && !workload->random;
    double page_bytes =
        (double)measured->memory_bytes / (double)measured->flash_pages_count;
    double gib = (double)(measured->flash_pages_count * SMALL_BYTES) /
                 (1024.0 * 1024 * 1024);
    if (document && workload->key)
        add_number(document, workload->key,
                   per_second(measured->requests_count, measured->seconds));
    if (document && fill)
        add_number(document, "fill_seconds", measured->seconds);
    if (!workload->settle)
        return;
    if (document) {
        add_number(document, "bytes_per_flash_page", page_bytes);
        add_number(document, "memory_bytes_per_gib",
                   (double)measured->memory_bytes / gib);
        return;
    }
    printf("%-32s %12.2f bytes a page, %.0f a GiB of flash\n", "  its memory",
           page_bytes, (double)measured->memory_bytes / gib);
}

int flashemu_bench(const struct options_given *given)
{
    struct fault why = {.kind = FAULT_NONE};
    struct json_object *document = NULL, *rows = NULL;
    if (options_find(given, OPTION_JSON)) {
        document = flashemu_json(given);
        rows = json_object_new_array();
    } else {
        printf("%-32s %12s %12s %7s %6s\n", "workload (one core)", "requests/s",
               "pages/s", "CPU s", "write");
    }
    for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
        struct measured measured = {.seconds = 0};
        if (measure(&workloads[i], &measured, &why)) {
            json_object_put(rows);
            json_object_put(document);
            return flashemu_fail(given, &why);
        }
        if (rows)
            json_object_array_add(rows, row_json(&workloads[i], &measured));
        else
            print_row(&workloads[i], &measured);
        summarise(document, &workloads[i], &measured);
    }
    if (!document)
        return flashemu_finish_text();
    json_object_object_add(document, "workloads", rows);
    return flashemu_print(given, document);
}
