/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/study/lee_hot_cold.h"

#include <errno.h>
#include <stdio.h>

#include "lib/flash/drive/geometry.h"
#include "lib/flash/ftl/hotness.h"
#include "lib/flash/trace/trace.h"
#include "lib/study/subject.h"

enum { PAGE_BYTES = 32768, WHOLE = 1000 };

const char *const hot_policy_names[HOT_POLICIES] = {"Baseline", "Oracle", "LRU",
                                                    "MBF", "DAC"};
static const char *const policy_keys[HOT_POLICIES] = {"none", "oracle", "lru",
                                                      "bloom", "dac"};

struct writer {
    const struct hot_workload *workload;
    struct random random;
    uint64_t pages_count, sent_count, writes_count;
    uint64_t file_page, file_left_count;
    /* Of a recorded trace: the pages of one write that are still to come. */
    const char *trace_path;
    struct trace *trace;
    uint64_t trace_page, trace_left_count;
    bool trace_wrote; /* since it was opened */
};

static uint32_t skew_now(const struct writer *writer)
{
    double first = writer->workload->skew_permille;
    double last = writer->workload->last_skew_permille;
    double way = (double)writer->sent_count / (double)writer->writes_count;

    return (uint32_t)(first + (last - first) * way + 0.5);
}

/* X % of the writes go to (100 - X) % of the pages (Lee & Kim 4.1). */
static uint64_t skewed_page(struct writer *writer, uint64_t pages_count)
{
    uint32_t skew = skew_now(writer);
    uint64_t hot = pages_count * (WHOLE - skew) / WHOLE;

    if (hot == 0)
        hot = 1;
    return random_below(&writer->random, WHOLE) < skew
               ? random_below(&writer->random, hot)
               : hot + random_below(&writer->random, pages_count - hot);
}

static uint64_t next_page(struct writer *writer)
{
    const struct hot_workload *workload = writer->workload;
    uint64_t warm =
        writer->pages_count * (WHOLE - workload->cold_permille) / WHOLE;

    if (writer->file_left_count > 0) {
        writer->file_left_count--;
        return writer->file_page++;
    }
    uint64_t pages = workload->file_pages_count;
    if (pages > 0 && random_below(&writer->random, WHOLE * pages) <
                         workload->file_permille) {
        writer->file_page = random_below(&writer->random, warm / pages) * pages;
        writer->file_left_count = pages - 1;
        return writer->file_page++;
    }
    return skewed_page(writer, warm);
}

/* ---- a recorded trace --------------------------------------------------- */

/* Takes the pages of the next write of the trace. At its end it begins
 * again. */
static int next_traced_write(struct writer *writer, struct fault *why)
{
    struct trace_request request;
    bool end = true;

    if (writer->trace) {
        int error = trace_next(writer->trace, &request, &end, why);
        if (error)
            return error;
    }
    if (end) {
        if (writer->trace && !writer->trace_wrote)
            return fault_set(why, FAULT_USAGE, -EINVAL,
                             "%.200s has no writes: this study counts nothing "
                             "else",
                             writer->trace_path);
        trace_close(writer->trace);
        writer->trace = NULL;
        writer->trace_wrote = false;
        return trace_open(writer->trace_path,
                          &(struct trace_settings){.timeless = true},
                          &writer->trace, why);
    }
    if (request.operation != FLASH_WRITE || request.length_bytes == 0)
        return 0;
    uint64_t last =
        (request.offset_bytes + request.length_bytes - 1) / PAGE_BYTES;
    writer->trace_wrote = true;
    writer->trace_page = request.offset_bytes / PAGE_BYTES;
    writer->trace_left_count = last - writer->trace_page + 1;
    return 0;
}

static int next_traced_page(struct writer *writer, uint64_t *page,
                            struct fault *why)
{
    int error = 0;

    while (!error && writer->trace_left_count == 0)
        error = next_traced_write(writer, why);
    if (error)
        return error;
    writer->trace_left_count--;
    *page = writer->trace_page++ % writer->pages_count;
    return 0;
}

/* ---- the drive ---------------------------------------------------------- */

static int choose_page(struct writer *writer, uint64_t *page, struct fault *why)
{
    if (writer->trace_path)
        return next_traced_page(writer, page, why);
    *page = next_page(writer);
    return 0;
}

static int write_pages(struct subject *subject, struct writer *writer,
                       uint64_t count, struct fault *why)
{
    int error = 0;

    for (; !error && count > 0; count--, writer->sent_count++) {
        struct flash_request request = {.operation = FLASH_WRITE,
                                        .length_bytes = PAGE_BYTES};
        uint64_t page = 0;
        error = choose_page(writer, &page, why);
        request.offset_bytes = page * PAGE_BYTES;
        if (!error)
            error = subject_do(subject, &request, why);
    }
    return error;
}

/* The oracle knows where the hot area is on average. */
static uint32_t hot_permille(const struct hot_workload *workload)
{
    uint32_t hot =
        WHOLE - (workload->skew_permille + workload->last_skew_permille) / 2;

    return hot * (WHOLE - workload->cold_permille) / WHOLE;
}

static void drive_of(const struct hot_run *run, char *spec, size_t size)
{
    snprintf(spec, size,
             "jasmine-64g,contents=off,capacity_bytes=%uMiB,"
             "pages_per_block_count=%u,hotness=%s,oracle_hot_permille=%u",
             (unsigned)run->capacity_mib,
             run->capacity_mib < 16384 ? 32u : 256u, policy_keys[run->policy],
             (unsigned)hot_permille(run->workload));
}

int hot_cold_found(const struct hot_run *run, struct hot_found *found,
                   struct fault *why)
{
    struct hotness *hotness = NULL;
    struct drive drive;
    uint64_t counts[2] = {0, 0}, taken[2] = {0, 0}; /* cold, hot */
    char spec[160];

    drive_of(run, spec, sizeof(spec));
    int error = drive_load(spec, &drive, why);
    if (error)
        return error;
    struct writer writer = {.workload = run->workload,
                            .writes_count = run->writes_count,
                            .pages_count = drive.capacity_bytes / PAGE_BYTES};
    const struct hotness_geometry geometry = {
        .units_count = writer.pages_count,
        .blocks_count =
            (uint32_t)(drive.capacity_bytes / drive_block_bytes(&drive))};
    const struct hotness_ops *ops = hotness_ops(&drive);
    if (ops->create(&drive, &geometry, &hotness))
        return fault_set(why, FAULT_OPEN, -ENOMEM, "no memory");
    const uint64_t hot_pages =
        writer.pages_count * hot_permille(run->workload) / WHOLE;
    random_seed(&writer.random, run->seed);
    for (; writer.sent_count < run->writes_count; writer.sent_count++) {
        const uint64_t page = next_page(&writer);
        const uint32_t level = ops->written(hotness, page, UINT32_MAX);
        if (writer.sent_count < run->writes_count / 2)
            continue;
        counts[page < hot_pages]++;
        taken[page < hot_pages] += level > 0;
    }
    ops->destroy(hotness);
    *found = (struct hot_found){(double)taken[1] / (double)counts[1],
                                (double)taken[0] / (double)counts[0]};
    return 0;
}

int hot_cold_run(const struct hot_run *run, struct hot_result *result,
                 struct fault *why)
{
    struct flash_statistics half = {0}, now = {0};
    struct subject subject;
    char spec[160];

    drive_of(run, spec, sizeof(spec));
    int error = subject_open(&subject, spec, why);
    struct writer writer = {.workload = run->workload,
                            .writes_count = run->writes_count,
                            .trace_path = run->trace_path};
    random_seed(&writer.random, run->seed);
    if (!error) {
        writer.pages_count = subject.drive.capacity_bytes / PAGE_BYTES;
        error = write_pages(&subject, &writer, run->writes_count / 2, why);
    }
    if (!error) {
        flash_statistics(subject.flash, &half);
        error = write_pages(&subject, &writer,
                            run->writes_count - run->writes_count / 2, why);
    }
    if (!error) {
        flash_statistics(subject.flash, &now);
        result->write_amplification =
            (double)(now.pages_programmed_count - half.pages_programmed_count) *
            PAGE_BYTES / (double)(now.written_bytes - half.written_bytes);
        result->writes_count = now.writes_count;
        result->cleaned_count = now.blocks_cleaned_count;
        result->steps_count = now.hotness_steps_count;
    }
    trace_close(writer.trace);
    subject_close(&subject);
    return error;
}
