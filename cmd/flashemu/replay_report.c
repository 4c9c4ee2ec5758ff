/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What came out of a replay, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "cmd/flashemu/replay.h"

static const double shares[] = {0.50, 0.95, 0.99};
enum {
    SHARES_COUNT = 3,
    BAR_COLUMNS = 40,
    TEXT_STEPS = 2,
    JSON_STEPS = 8,
    BANKS_SHOWN = 64
};

/* Bytes programmed for each byte that the host wrote; 0: it wrote nothing. */
static double write_amplification(const struct replay_job *job)
{
    double page =
        (double)(job->drive.page_bytes * job->drive.superblock_chips_count);
    double written = (double)job->statistics.written_bytes;
    return written > 0
               ? (double)job->statistics.pages_programmed_count * page / written
               : 0;
}

/* ---- text -------------------------------------------------------------- */

static void print_count(uint64_t count, const char *what)
{
    if (count)
        printf("           %" PRIu64 " %s\n", count, what);
}

static void print_trace(const struct replay_job *job)
{
    const struct trace_counts *counts = &job->counts;
    const struct replay_result *result = &job->result;
    printf("trace      %s (%s): %" PRIu64 " requests in %" PRIu64 " lines\n",
           job->trace_path, trace_format_of(job->trace), counts->requests_count,
           counts->lines_count);
    for (size_t i = 0; trace_told(job->trace, i); i++)
        printf("           %s\n", trace_told(job->trace, i));
    print_count(result->beyond_count,
                "lie beyond the drive's end and were left out (--wrap folds "
                "them back)");
    print_count(result->wrapped_count,
                "lay beyond the drive's end and were folded back");
    print_count(counts->malformed_count, "malformed lines were left out");
    print_count(counts->empty_count, "requests of no bytes were left out");
    print_count(
        counts->backward_count,
        "came out of order and were sent together with the previous one");
    print_count(counts->rounded_count,
                "did not begin or end at a sector and were rounded outwards");
    print_count(counts->zones_count,
                "were for zones and were sent as discards and writes: the "
                "drive has none");
    print_count(counts->zones_left_count,
                "opened, closed or finished zones and were left out: the drive "
                "has none");
    print_count(counts->stacked_count,
                "were to devices above another one of the trace and were left "
                "out: it has them, too");
    print_count(result->split_count,
                "were larger than the drive's limit and were sent in parts");
    char devices[200];
    if (counts->devices_count > 1 && !job->trace_settings.device)
        printf("           %s%" PRIu64 " devices share this drive (--device= "
               "chooses one): %s\n",
               counts->devices_count == TRACE_DEVICES_MAX ? "at least " : "",
               counts->devices_count,
               trace_devices(job->trace, devices, sizeof(devices)));
}

/* What was acknowledged and is not in flash. */
static void print_buffered(const struct replay_job *job)
{
    const struct replay_result *result = &job->result;
    char bytes[32], kept[32], time[32];
    if (result->buffered_bytes == 0)
        return;
    printf("           at the end %s of writes were in the drive's buffer "
           "alone",
           format_bytes(result->buffered_bytes, bytes, sizeof(bytes)));
    if (!job->settings.drain)
        printf(" (--drain waits for them)\n");
    else if (result->kept_bytes)
        printf("; a flush took %s and left %s there\n",
               format_ns(result->drain_ns, time, sizeof(time)),
               format_bytes(result->kept_bytes, kept, sizeof(kept)));
    else
        printf("; to flush them took %s, which counts\n",
               format_ns(result->drain_ns, time, sizeof(time)));
}

static void print_drive(const struct replay_job *job)
{
    const struct replay_settings *settings = &job->settings;
    char text[32];
    printf("drive      %s, %s\n", job->drive.name,
           format_capacity(job->drive.capacity_bytes, text, sizeof(text)));
    if (settings->depth)
        printf("sent       closed loop, %" PRIu64 " outstanding",
               settings->depth);
    else
        printf("sent       open loop, %g times as fast as recorded",
               settings->speed);
    printf("; it took %s\n",
           format_ns(job->result.duration_ns, text, sizeof(text)));
    print_buffered(job);
}

static void print_times(const char *name, const struct histogram *histogram)
{
    char text[32];
    if (histogram->count == 0)
        return;
    printf(
        "%-16s %10" PRIu64 " %10s", name, histogram->count,
        format_ns((uint64_t)histogram_mean_ns(histogram), text, sizeof(text)));
    for (size_t i = 0; i < SHARES_COUNT; i++)
        printf(" %10s", format_ns(histogram_quantile_ns(histogram, shares[i]),
                                  text, sizeof(text)));
    printf(" %10s\n", format_ns(histogram->most_ns, text, sizeof(text)));
}

static void print_distribution(const char *title,
                               const struct histogram *histogram)
{
    size_t count = histogram_coarse_count(TEXT_STEPS);
    struct histogram_bucket bucket;
    uint64_t most = 0;
    if (histogram->count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        histogram_coarse(histogram, TEXT_STEPS, i, &bucket);
        most = bucket.count > most ? bucket.count : most;
    }
    printf("\n%s\n", title);
    for (size_t i = 0; i < count; i++) {
        char low[32], high[32];
        histogram_coarse(histogram, TEXT_STEPS, i, &bucket);
        if (bucket.count == 0)
            continue;
        int bar = (int)((double)bucket.count / (double)most * BAR_COLUMNS);
        printf("%10s to %-10s %10" PRIu64 "%s%.*s\n",
               format_ns(bucket.low_ns, low, sizeof(low)),
               format_ns(bucket.high_ns, high, sizeof(high)), bucket.count,
               bar ? " " : "", bar, "########################################");
    }
}

static void print_flash(const struct replay_job *job)
{
    const struct flash_statistics *did = &job->statistics;
    double seconds = (double)job->result.duration_ns / 1e9;
    printf("\nwritten    %" PRIu64 " bytes by the host, %" PRIu64
           " pages programmed: write amplification %.3f\n",
           did->written_bytes, did->pages_programmed_count,
           write_amplification(job));
    printf("flash      %" PRIu64 " pages read, %" PRIu64 " copied, %" PRIu64
           " blocks erased, merges %" PRIu64 " switch %" PRIu64
           " partial %" PRIu64 " full\n",
           did->pages_read_count, did->pages_copied_count,
           did->blocks_erased_count, did->merges_switch_count,
           did->merges_partial_count, did->merges_full_count);
    if (seconds > 0)
        printf("rate       %.1f requests/s, %.2f MB/s read, %.2f MB/s "
               "written\n",
               (double)job->result.response.count / seconds,
               (double)job->result.classes[REPLAY_READS].bytes / 1e6 / seconds,
               (double)job->result.classes[REPLAY_WRITES].bytes / 1e6 /
                   seconds);
}

static const char *const class_names[REPLAY_CLASSES] = {"read", "write",
                                                        "other"};

/* Shares of the response time, a row a part that is not zero. */
static void print_why(const struct replay_job *job)
{
    const struct flash_why *why = job->result.why;
    double sums[REPLAY_CLASSES] = {0};
    if (!job->settings.explain)
        return;
    for (size_t class = 0; class < REPLAY_CLASSES; class ++)
        for (size_t i = 0; i < FLASH_WHY_PARTS; i++)
            sums[class] += (double)flash_why_part_ns(&why[class], i);
    printf("\n%-24s %8s %8s %8s\n", "where the time went", "reads", "writes",
           "other");
    for (size_t i = 0; i < FLASH_WHY_PARTS; i++) {
        uint64_t any = 0;
        for (size_t class = 0; class < REPLAY_CLASSES; class ++)
            any += flash_why_part_ns(&why[class], i);
        if (any == 0)
            continue;
        printf("  %-22s", flash_why_parts[i].name);
        for (size_t class = 0; class < REPLAY_CLASSES; class ++) {
            double ns = (double)flash_why_part_ns(&why[class], i);
            printf(" %6.2f %%", sums[class] > 0 ? 100 * ns / sums[class] : 0);
        }
        printf("\n");
    }
}

static uint64_t bank_pages(const struct flash_bank *bank)
{
    return bank->pages_read_count + bank->pages_programmed_count;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

static void print_banks(const struct replay_job *job)
{
    uint32_t count = flash_banks_count(job->flash);
    uint64_t pages = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct flash_bank bank = flash_bank(job->flash, i);
        pages += bank_pages(&bank);
    }
    if (count == 0)
        return;
    printf("\n%-8s %-8s %12s %12s %10s %8s %8s\n", "bank", "channel",
           "pages read", "programmed", "erased", "share", "busy");
    for (uint32_t i = 0; i < count && i < BANKS_SHOWN; i++) {
        struct flash_bank bank = flash_bank(job->flash, i);
        printf("%-8" PRIu32 " %-8" PRIu64 " %12" PRIu64 " %12" PRIu64
               " %10" PRIu64 " %6.2f %% %6.2f %%\n",
               i, i % job->drive.channels_count, bank.pages_read_count,
               bank.pages_programmed_count, bank.blocks_erased_count,
               percent(bank_pages(&bank), pages),
               percent(bank.busy_ns, job->result.duration_ns));
    }
    if (count > BANKS_SHOWN)
        printf("%d of %" PRIu32 " banks are shown; --json has all\n",
               BANKS_SHOWN, count);
}

void replay_print(const struct replay_job *job)
{
    const struct replay_result *result = &job->result;
    const struct replay_times *reads = &result->classes[REPLAY_READS];
    const struct replay_times *writes = &result->classes[REPLAY_WRITES];
    print_trace(job);
    print_drive(job);
    printf("\n%-16s %10s %10s %10s %10s %10s %10s\n", "", "count", "mean",
           "median", "p95", "p99", "max");
    print_times("response, all", &result->response);
    print_times("  reads", &reads->response);
    print_times("  writes", &writes->response);
    print_times("  other", &result->classes[REPLAY_OTHERS].response);
    print_times("queue, all", &result->queue);
    print_times("  reads", &reads->queue);
    print_times("  writes", &writes->queue);
    print_flash(job);
    print_why(job);
    print_banks(job);
    print_distribution("response time of reads", &reads->response);
    print_distribution("response time of writes", &writes->response);
    print_distribution("queue time of reads and writes", &result->queue);
}

/* ---- JSON -------------------------------------------------------------- */

static void add_integer(struct json_object *object, const char *key,
                        uint64_t value)
{
    json_object_object_add(object, key, json_object_new_uint64(value));
}

static void add_text(struct json_object *object, const char *key,
                     const char *text)
{
    json_object_object_add(object, key, json_object_new_string(text));
}

static void add_real(struct json_object *object, const char *key, double value)
{
    char text[40];
    snprintf(text, sizeof(text), "%.6f", value);
    json_object_object_add(object, key, json_object_new_double_s(value, text));
}

static struct json_object *distribution_json(const struct histogram *histogram)
{
    struct json_object *rows = json_object_new_array();
    for (size_t i = 0; i < histogram_coarse_count(JSON_STEPS); i++) {
        struct histogram_bucket bucket;
        histogram_coarse(histogram, JSON_STEPS, i, &bucket);
        if (bucket.count == 0)
            continue;
        struct json_object *row = json_object_new_object();
        add_integer(row, "low_ns", bucket.low_ns);
        add_integer(row, "high_ns", bucket.high_ns);
        add_integer(row, "count", bucket.count);
        json_object_array_add(rows, row);
    }
    return rows;
}

static struct json_object *times_json(const struct histogram *histogram)
{
    static const char *const names[SHARES_COUNT] = {"median_ns", "p95_ns",
                                                    "p99_ns"};
    struct json_object *object = json_object_new_object();
    add_integer(object, "count", histogram->count);
    add_integer(object, "mean_ns", (uint64_t)histogram_mean_ns(histogram));
    for (size_t i = 0; i < SHARES_COUNT; i++)
        add_integer(object, names[i],
                    histogram_quantile_ns(histogram, shares[i]));
    add_integer(object, "min_ns", histogram->least_ns);
    add_integer(object, "max_ns", histogram->most_ns);
    json_object_object_add(object, "distribution",
                           distribution_json(histogram));
    return object;
}

static struct json_object *trace_json(const struct replay_job *job)
{
    const struct trace_counts *counts = &job->counts;
    struct json_object *object = json_object_new_object();
    add_text(object, "path", job->trace_path);
    add_text(object, "format", trace_format_of(job->trace));
    add_integer(object, "lines", counts->lines_count);
    add_integer(object, "requests", counts->requests_count);
    add_integer(object, "malformed", counts->malformed_count);
    add_integer(object, "empty", counts->empty_count);
    add_integer(object, "out_of_order", counts->backward_count);
    add_integer(object, "rounded", counts->rounded_count);
    add_integer(object, "devices", counts->devices_count);
    add_integer(object, "zones", counts->zones_count);
    add_integer(object, "zones_left_out", counts->zones_left_count);
    add_integer(object, "stacked_left_out", counts->stacked_count);
    add_integer(object, "beyond_end", job->result.beyond_count);
    add_integer(object, "wrapped", job->result.wrapped_count);
    add_integer(object, "split", job->result.split_count);
    add_integer(object, "fua", job->result.fua_count);
    struct json_object *told = json_object_new_array();
    for (size_t i = 0; trace_told(job->trace, i); i++)
        json_object_array_add(
            told, json_object_new_string(trace_told(job->trace, i)));
    json_object_object_add(object, "notes", told);
    return object;
}

static struct json_object *drive_json(const struct replay_job *job)
{
    const struct flash_statistics *did = &job->statistics;
    struct json_object *object = json_object_new_object();
    add_text(object, "name", job->drive.name);
    add_integer(object, "capacity_bytes", job->drive.capacity_bytes);
    add_integer(object, "read_bytes", did->read_bytes);
    add_integer(object, "written_bytes", did->written_bytes);
    add_integer(object, "pages_read", did->pages_read_count);
    add_integer(object, "pages_programmed", did->pages_programmed_count);
    add_integer(object, "pages_copied", did->pages_copied_count);
    add_integer(object, "blocks_erased", did->blocks_erased_count);
    add_integer(object, "merges_switch", did->merges_switch_count);
    add_integer(object, "merges_partial", did->merges_partial_count);
    add_integer(object, "merges_full", did->merges_full_count);
    add_integer(object, "read_buffer_hits", did->read_buffer_hits_count);
    add_real(object, "write_amplification", write_amplification(job));
    add_integer(object, "memory_bytes", did->memory_bytes);
    return object;
}

static struct json_object *why_json(const struct flash_why *why)
{
    struct json_object *object = json_object_new_object();
    for (size_t i = 0; i < FLASH_WHY_PARTS; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%s_ns", flash_why_parts[i].name);
        add_integer(object, key, flash_why_part_ns(why, i));
    }
    return object;
}

/* Pages and erases of each bank, and how long it was busy. */
static struct json_object *banks_json(const struct replay_job *job)
{
    struct json_object *rows = json_object_new_array();
    for (uint32_t i = 0; i < flash_banks_count(job->flash); i++) {
        struct flash_bank bank = flash_bank(job->flash, i);
        struct json_object *row = json_object_new_object();
        add_integer(row, "bank", i);
        add_integer(row, "channel", i % job->drive.channels_count);
        add_integer(row, "pages_read", bank.pages_read_count);
        add_integer(row, "pages_programmed", bank.pages_programmed_count);
        add_integer(row, "blocks_erased", bank.blocks_erased_count);
        add_integer(row, "busy_ns", bank.busy_ns);
        json_object_array_add(rows, row);
    }
    return rows;
}

struct json_object *replay_json(struct json_object *document,
                                const struct replay_job *job)
{
    const struct replay_result *result = &job->result;
    struct json_object *response, *queue;
    if (!document)
        return NULL;
    response = json_object_new_object();
    queue = json_object_new_object();
    json_object_object_add(document, "trace", trace_json(job));
    json_object_object_add(document, "drive", drive_json(job));
    add_text(document, "loop", job->settings.depth ? "closed" : "open");
    if (job->settings.depth)
        add_integer(document, "depth", job->settings.depth);
    else
        add_real(document, "speed", job->settings.speed);
    add_integer(document, "duration_ns", result->duration_ns);
    add_integer(document, "outstanding_max", result->outstanding_max_count);
    add_integer(document, "buffered_bytes", result->buffered_bytes);
    add_integer(document, "drain_ns", result->drain_ns);
    json_object_object_add(response, "all", times_json(&result->response));
    json_object_object_add(queue, "all", times_json(&result->queue));
    for (size_t i = 0; i < REPLAY_CLASSES; i++) {
        const struct replay_times *times = &result->classes[i];
        json_object_object_add(response, class_names[i],
                               times_json(&times->response));
        json_object_object_add(queue, class_names[i],
                               times_json(&times->queue));
    }
    json_object_object_add(document, "response", response);
    json_object_object_add(document, "queue", queue);
    json_object_object_add(document, "banks", banks_json(job));
    if (job->settings.explain) {
        struct json_object *why = json_object_new_object();
        for (size_t i = 0; i < REPLAY_CLASSES; i++)
            json_object_object_add(why, class_names[i],
                                   why_json(&result->why[i]));
        json_object_object_add(document, "why", why);
    }
    return document;
}
