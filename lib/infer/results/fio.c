/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fio: JSON, text, terse, and logs of latencies. */
#include <ctype.h>
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/infer/results/tool.h"

/* ---- what a job was asked to do ---- */

struct job {
    char mode[16]; /* randread ... */
    struct result_point point;
    bool syncs;      /* by a call of its own, after each write */
    char limit[24];  /* an option that kept it from its fastest; or empty */
    bool is_grouped; /* what it measured is of all its `jobs_count` */
    double jobs_count, iodepth;
};

static void set_block(struct job *job, const char *text)
{
    double bytes;

    if (result_bytes(text, 1024, &bytes))
        job->point.block_bytes = bytes;
}

/* Reads or writes alone, at random or in order; else what it measured is of no
 * one kind. */
static bool has_kind(const struct job *job)
{
    static const char *const modes[] = {"read", "write", "randread",
                                        "randwrite"};

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(job->mode, modes[i]) == 0)
            return true;
    return false;
}

/* Does it wait on purpose, or do nothing at all? */
static bool is_limit(const char *name, const char *value)
{
    static const char *const names[] = {"rate", "rate_iops", "thinktime",
                                        "latency_target"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return strcmp(value, "0") != 0;
    return strcmp(name, "ioengine") == 0 && strcmp(value, "null") == 0;
}

static void set_option(struct job *job, const char *name, const char *value)
{
    if (strcmp(name, "rw") == 0 || strcmp(name, "readwrite") == 0)
        snprintf(job->mode, sizeof(job->mode), "%.15s", value);
    else if (strcmp(name, "bs") == 0 || strcmp(name, "blocksize") == 0)
        set_block(job, value);
    else if (strcmp(name, "bsrange") == 0 || strcmp(name, "bssplit") == 0)
        snprintf(job->mode, sizeof(job->mode), "of mixed sizes");
    else if (strcmp(name, "iodepth") == 0)
        (void)result_number(value, &job->iodepth);
    else if (is_limit(name, value))
        snprintf(job->limit, sizeof(job->limit), "%.23s", name);
    else if (strcmp(name, "numjobs") == 0)
        (void)result_number(value, &job->jobs_count);
    else if (strcmp(name, "direct") == 0)
        job->point.cache = value[0] == '0' ? CACHE_USED : CACHE_BYPASSED;
    else if (strcmp(name, "group_reporting") == 0)
        job->is_grouped = value[0] != '0';
    else if (strcmp(name, "fsync") == 0 || strcmp(name, "fdatasync") == 0)
        job->syncs = job->syncs || strcmp(value, "1") == 0;
    else if (strcmp(name, "sync") == 0)
        job->point.synced = strcmp(value, "1") == 0 || strstr(value, "sync");
}

static void begin_job(struct job *job)
{
    *job = (struct job){.jobs_count = 1, .iodepth = 1};
    job->point.tool = "fio";
    job->point.block_bytes = 4096;
    snprintf(job->mode, sizeof(job->mode), "read"); /* as fio does */
}

static int add_job(const struct result_text *source, const char *name,
                   struct job *job)
{
    struct result_point *point = &job->point;

    if (!has_kind(job)) {
        result_note(source->results,
                    "fio's job %.40s%smixes kinds of requests (%s): none of "
                    "its times is of one kind, so no finding follows",
                    name, name[0] ? " " : "", job->mode);
        return 0;
    }
    if (job->limit[0] || (point->cache == CACHE_USED && !point->synced)) {
        result_note(source->results,
                    "fio's job%s%.40s says nothing of the drive: %s%s",
                    name[0] ? " " : "", name,
                    job->limit[0] ? "it was held back, by its option "
                                  : "it went through the page cache, which "
                                    "direct=1 avoids",
                    job->limit);
        return 0;
    }
    point->writes = strstr(job->mode, "write") != NULL;
    point->random = strncmp(job->mode, "rand", 4) == 0;
    point->synced = point->synced && point->writes;
    point->depth = job->iodepth * job->jobs_count;
    return point->requests_per_second > 0 ? result_add(source->results, point)
                                          : 0;
}

/* ---- JSON ---- */

static double number_at(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;

    return object && json_object_object_get_ex(object, key, &value)
               ? json_object_get_double(value)
               : 0;
}

static struct json_object *object_at(struct json_object *object,
                                     const char *key)
{
    struct json_object *value = NULL;

    if (!json_object_is_type(object, json_type_object) ||
        !json_object_object_get_ex(object, key, &value))
        return NULL;
    return value;
}

static const char *text_at(struct json_object *object, const char *key)
{
    struct json_object *value = object_at(object, key);

    return value ? json_object_get_string(value) : "";
}

static void take_options(struct json_object *options, struct job *job)
{
    if (!json_object_is_type(options, json_type_object))
        return;
    json_object_object_foreach(options, name, value)
    {
        set_option(job, name, value ? json_object_get_string(value) : "");
    }
}

/* "99.000000": 123 */
static void take_percentiles(struct json_object *table, double unit_ns,
                             struct result_point *point)
{
    if (!json_object_is_type(table, json_type_object))
        return;
    json_object_object_foreach(table, name, value)
    {
        const double share = strtod(name, NULL) / 100;
        const double ns = json_object_get_double(value) * unit_ns;
        if (point->shares_count < RESULT_SHARES_MAX && share > 0 && ns > 0)
            point->shares[point->shares_count++] =
                (struct result_share){share, ns};
    }
}

/* fio 3 has ..._ns, fio 2 microseconds; old ones have no total `lat`. */
static void take_times(struct json_object *side, struct result_point *point)
{
    static const struct {
        const char *name;
        double ns;
    } names[] = {{"lat_ns", 1}, {"lat", 1e3}, {"clat_ns", 1}, {"clat", 1e3}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct json_object *times = object_at(side, names[i].name);
        const double mean_ns = number_at(times, "mean") * names[i].ns;
        if (point->mean_ns <= 0)
            point->mean_ns = mean_ns;
        if (point->shares_count == 0)
            take_percentiles(object_at(times, "percentile"), names[i].ns,
                             point);
    }
}

/* A write is done when its fsync is: the latter takes most of the time. */
static void add_sync(struct json_object *sync, struct result_point *point)
{
    struct json_object *times = object_at(sync, "lat_ns");
    const double mean_ns = number_at(times, "mean");

    point->synced = true;
    point->shares_count = 0;
    if (mean_ns <= 0) /* an old fio's: the rate has both in it */
        point->mean_ns = 1e9 / fmax(point->requests_per_second, 1e-9);
    else
        point->mean_ns += mean_ns;
    take_percentiles(object_at(times, "percentile"), 1, point);
}

/* The rates of jobs that ran side by side add up to the drive's; their times
 * are those of each. */
static void sum_up(struct job *sum, const struct job *job)
{
    const double before = sum->point.requests_per_second;
    const double own = job->point.requests_per_second;

    if (before + own > 0)
        sum->point.mean_ns =
            (sum->point.mean_ns * before + job->point.mean_ns * own) /
            (before + own);
    sum->point.requests_per_second += own;
    sum->point.bytes_per_second += job->point.bytes_per_second;
    sum->point.requests_count += job->point.requests_count;
    sum->jobs_count += job->jobs_count;
}

static bool are_one_kind(const struct job *a, const struct job *b)
{
    return strcmp(a->mode, b->mode) == 0 && a->iodepth == b->iodepth &&
           a->point.block_bytes == b->point.block_bytes &&
           a->point.synced == b->point.synced;
}

static void read_job(struct json_object *document, struct json_object *item,
                     struct job *job)
{
    begin_job(job);
    take_options(object_at(document, "global options"), job);
    take_options(object_at(item, "job options"), job);
    if (job->point.cache == CACHE_UNKNOWN)
        job->point.cache = CACHE_USED; /* where it is not given */
    const bool writes = strstr(job->mode, "write") != NULL;
    struct json_object *side = object_at(item, writes ? "write" : "read");
    job->point.requests_per_second = number_at(side, "iops");
    job->point.bytes_per_second = number_at(side, "bw_bytes");
    if (job->point.bytes_per_second <= 0)
        job->point.bytes_per_second = number_at(side, "bw") * 1024;
    job->point.requests_count = number_at(side, "total_ios");
    take_times(side, &job->point);
    if (writes && job->syncs)
        add_sync(object_at(item, "sync"), &job->point);
    if (job->point.synced)
        job->point.cache = CACHE_BYPASSED;
    if (!job->is_grouped)
        job->jobs_count = 1; /* each has a result of its own */
}

static void note_beside(const struct result_text *source)
{
    result_note(source->results,
                "%.120s: fio's jobs of different kinds ran at the same time: "
                "each had a part of the drive. Put 'stonewall' between them",
                source->path);
}

/* Jobs of one group ran at the same time. */
static int read_jobs(const struct result_text *source,
                     struct json_object *document, struct json_object *jobs)
{
    const size_t count = json_object_array_length(jobs);
    int error = 0;

    for (size_t i = 0; i < count && !error; i++) {
        struct json_object *item = json_object_array_get_idx(jobs, i);
        const double group = number_at(item, "groupid");
        struct job sum, job;
        bool same = true;
        read_job(document, item, &sum);
        const char *device =
            text_at(object_at(item, "job options"), "filename");
        if (!device[0])
            device = text_at(object_at(document, "global options"), "filename");
        if (device[0])
            result_device(source->results, device);
        if (number_at(item, "error") != 0) {
            result_note(source->results,
                        "%.120s: fio's job %.40s ended with an error: what it "
                        "measured does not count",
                        source->path, text_at(item, "jobname"));
            continue;
        }
        for (; i + 1 < count; i++) {
            item = json_object_array_get_idx(jobs, i + 1);
            if (number_at(item, "groupid") != group)
                break;
            read_job(document, item, &job);
            same = same && are_one_kind(&sum, &job);
            sum_up(&sum, &job);
        }
        if (same)
            error = add_job(source, text_at(item, "jobname"), &sum);
        else
            note_beside(source);
    }
    return error;
}

/* The document begins at a line, after what fio had to say. */
static const char *find_document(const char *text)
{
    const char *at = text[0] == '{' ? text : strstr(text, "\n{\n");

    return at && at[0] == '\n' ? at + 1 : at;
}

static bool is_json(const char *text)
{
    const char *at = find_document(text);

    return at && strstr(at, "\"fio version\"");
}

static int read_json(const struct result_text *source)
{
    const char *at = find_document(source->text);
    struct json_tokener *tokener = json_tokener_new();
    int error = tokener ? 0 : -ENOMEM;

    /* One may follow the other. */
    for (; at && !error; at = find_document(at)) {
        struct json_object *document =
            json_tokener_parse_ex(tokener, at, (int)strlen(at));
        struct json_object *jobs = object_at(document, "jobs");
        if (!document)
            error = RESULT_REFUSE(
                source, at + json_tokener_get_parse_end(tokener),
                "fio's document is damaged or cut off: %s",
                json_tokener_error_desc(json_tokener_get_error(tokener)));
        else if (!json_object_is_type(jobs, json_type_array))
            error = RESULT_REFUSE(source, at, "%s",
                                  "fio's document has no list of jobs");
        else
            error = read_jobs(source, document, jobs);
        json_object_put(document);
        at += json_tokener_get_parse_end(tokener);
        json_tokener_reset(tokener);
    }
    if (tokener)
        json_tokener_free(tokener);
    return error;
}

/* ---- text ---- */

static bool is_text(const char *text)
{
    return strstr(text, ": (groupid=") &&
           (strstr(text, "rw=") || strstr(text, "IOPS=") ||
            strstr(text, "clat "));
}

/* "name: (g=0): rw=randread, bs=(R) 4096B-4096B, ..., iodepth=8"; fio 2 has
 * "bs=4K-4K/4K-4K/4K-4K". */
static void read_head(const char *line, struct job *job)
{
    char mode[16];
    const char *at;
    double number;

    begin_job(job);
    if ((at = result_after(line, "rw=")) && sscanf(at, "%15[a-z]", mode) == 1)
        snprintf(job->mode, sizeof(job->mode), "%s", mode);
    const bool writes = strstr(job->mode, "write") != NULL;
    at = result_after(line, writes ? "(W) " : "bs=(R) ");
    if (!at)
        at = result_after(line, "bs=");
    if (at)
        set_block(job, at);
    if ((at = result_after(line, "iodepth=")) && result_number(at, &number))
        job->iodepth = number;
}

/* The head of the job of that name; "name: (g=0): ..." of several jobs is there
 * once. */
static bool find_head(const char *text, const char *name, size_t length,
                      struct job *job)
{
    for (const char *line = text; line; line = result_next_line(line))
        if (strncmp(line, name, length) == 0 &&
            strncmp(line + length, ": (g=", 5) == 0) {
            read_head(line, job);
            return true;
        }
    return false;
}

/* "(usec): min=..., avg=251.62" */
static double mean_of(const char *line)
{
    const char *at = result_after(line, "avg=");
    double number;

    if (!at || !result_number(at, &number))
        return 0;
    return number * (result_after(line, "(nsec)")   ? 1
                     : result_after(line, "(usec)") ? 1e3
                                                    : 1e6);
}

/* " | 99.00th=[ 2638], 99.50th=[ 3982]," */
static void take_percentile_line(const char *line, double unit_ns,
                                 struct result_point *point)
{
    const char *at = line + strspn(line, " |");
    double share, value;

    while ((at = result_number(at, &share)) && strncmp(at, "th=[", 4) == 0 &&
           (at = result_number(at + 4, &value))) {
        if (point->shares_count < RESULT_SHARES_MAX && value > 0)
            point->shares[point->shares_count++] =
                (struct result_share){share / 100, value * unit_ns};
        at = result_after(at, ",");
        if (!at)
            return;
        at += strspn(at, " |");
    }
}

static void read_body(const char *line, struct job *job)
{
    const char *side = strstr(job->mode, "write") ? "write" : "read";
    struct result_point *point = &job->point;
    double unit_ns = 1e6;
    bool inside = false;

    for (line = result_next_line(line); line; line = result_next_line(line)) {
        const char *at = line + strspn(line, " ");
        double number;
        if (strstr(line, "(groupid=") &&
            result_after(line, "(groupid=")) /* the next job */
            return;
        job->syncs = job->syncs || strncmp(at, "fsync/fdatasync", 15) == 0;
        if (strncmp(at, "read", 4) == 0 || strncmp(at, "write", 5) == 0)
            inside = strncmp(at, side, strlen(side)) == 0;
        if (!inside)
            continue;
        if (strncmp(at, side, strlen(side)) == 0) {
            const char *iops = result_after(line, "IOPS=");
            const char *rate = result_after(line, "BW=");
            if (!iops)
                iops = result_after(line, "iops=");
            if (!rate)
                rate = result_after(line, "bw=");
            if (iops && result_bytes(iops, 1000, &number))
                point->requests_per_second = number;
            if (rate && result_bytes(rate, 1024, &number))
                point->bytes_per_second = number;
        } else if (strncmp(at, "lat (", 5) == 0 && result_after(at, "avg=")) {
            point->mean_ns = mean_of(at);
        } else if (strncmp(at, "clat percentiles", 16) == 0) {
            unit_ns = result_after(at, "(nsec)")   ? 1
                      : result_after(at, "(usec)") ? 1e3
                                                   : 1e6;
        } else if (strncmp(at, "clat (", 6) == 0 && point->mean_ns <= 0) {
            point->mean_ns = mean_of(at);
        } else if (*at == '|') {
            take_percentile_line(at, unit_ns, point);
        }
    }
}

/* One job: 0, or -EINVAL. `*group`: jobs of one ran side by side. */
static int take_job(const struct result_text *source, const char *line,
                    struct job *job, double *group)
{
    const char *at = result_after(line, ": (groupid=");
    const size_t length = strcspn(line, ":");
    char name[48];
    double count;

    snprintf(name, sizeof(name), "%.*s", (int)length, line);
    *group = -1;
    (void)result_number(at, group);
    if (!find_head(source->text, line, length, job))
        return RESULT_REFUSE(source, line,
                             "fio's job %.40s has no line with 'rw=' before "
                             "it, so its kind is lost; give the whole output, "
                             "or --output-format=json",
                             name);
    if ((at = result_after(at, "jobs=")) && result_number(at, &count))
        job->jobs_count = count;
    read_body(line, job);
    if (has_kind(job) && job->point.requests_per_second <= 0)
        return RESULT_REFUSE(source, line,
                             "fio's job %.40s has no rate; it may be cut off",
                             name);
    return 0;
}

static int add_group(const struct result_text *source, struct job *sum,
                     bool same)
{
    if (!same)
        note_beside(source);
    else if (sum->syncs)
        result_note(source->results,
                    "%.120s: fio's jobs synced among their writes; how often, "
                    "their text does not say, so no finding follows. "
                    "--output-format=json does",
                    source->path);
    return same && !sum->syncs ? add_job(source, "", sum) : 0;
}

static int read_text(const struct result_text *source)
{
    struct job sum, job;
    double group = -1, own;
    bool same = true;
    int error = 0;

    begin_job(&sum);
    for (const char *line = source->text; line && !error;
         line = result_next_line(line)) {
        if (!result_after(line, ": (groupid="))
            continue;
        error = take_job(source, line, &job, &own);
        if (!error && group >= 0 && own == group) {
            same = same && are_one_kind(&sum, &job);
            sum_up(&sum, &job);
            continue;
        }
        if (!error && group >= 0)
            error = add_group(source, &sum, same);
        group = own;
        sum = job;
        same = true;
    }
    return error || group < 0 ? error : add_group(source, &sum, same);
}

/* ---- terse ---- */

static bool is_terse(const char *text)
{
    return (text[0] >= '2' && text[0] <= '5') &&
           strncmp(text + 1, ";fio-", 5) == 0;
}

static int read_terse(const struct result_text *source)
{
    result_note(source->results,
                "%.120s: fio's terse output does not say whether requests were "
                "random, nor their depth: no finding follows. "
                "--output-format=json says both",
                source->path);
    return 0;
}

/* ---- logs ---- */

/* "TIME_MS, VALUE, DIRECTION, BYTES[, OFFSET[, PRIORITY]]" */
struct log_row {
    double time_ms, value, direction, bytes, offset;
};

/* How many columns there are, up to five; 0: it is no such line. */
static int read_row(const char *line, struct log_row *row)
{
    double *const columns[] = {&row->time_ms, &row->value, &row->direction,
                               &row->bytes, &row->offset};
    int count = 0;

    row->offset = 0;
    while (count < 5) {
        char *end;
        line += strspn(line, " ");
        if (!isdigit((unsigned char)*line))
            break;
        *columns[count++] = (double)strtoull(line, &end, 10);
        line = end + strspn(end, " ");
        if (*line != ',')
            break;
        line++;
    }
    return count >= 4 && row->direction <= 2 ? count : 0;
}

static bool is_log(const char *text)
{
    struct log_row row;
    int lines = 0;

    for (const char *line = text; line && lines < 5;
         line = result_next_line(line), lines++)
        if (strspn(line, "0123456789., ") != strcspn(line, "\n") ||
            strncmp(line + strspn(line, "0123456789"), ", ", 2) != 0 ||
            !read_row(line, &row))
            return false;
    return lines > 0;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct log {
    double *values;
    size_t count, jumps_count;
    double sum, first_ms, last_ms, bytes, next_offset;
    bool has_offsets, is_mixed;
    double direction;
    size_t gaps_even_count;
};

static int collect(const struct result_text *source, struct log *log)
{
    size_t room = 0;
    double last_gap = -1;

    for (const char *line = source->text; line; line = result_next_line(line)) {
        struct log_row row;
        int columns;
        if (*line == '\n' || *line == '\0')
            continue;
        if (!(columns = read_row(line, &row)))
            return RESULT_REFUSE(source, line, "%s",
                                 "expected TIME, LATENCY, DIRECTION, BYTES[, "
                                 "OFFSET] as fio logs them");
        if (log->count == room) {
            room = room ? 2 * room : 1024;
            double *grown = realloc(log->values, room * sizeof(*grown));
            if (!grown)
                return -ENOMEM;
            log->values = grown;
        }
        if (log->count == 0) {
            log->first_ms = row.time_ms;
            log->direction = row.direction;
            log->bytes = row.bytes;
            log->has_offsets = columns >= 5;
        } else {
            const double gap = row.time_ms - log->last_ms;
            log->gaps_even_count += gap >= 10 && gap == last_gap;
            last_gap = gap;
            log->jumps_count += row.offset != log->next_offset;
        }
        log->is_mixed = log->is_mixed || row.direction != log->direction ||
                        row.bytes != log->bytes;
        log->next_offset = row.offset + row.bytes;
        log->last_ms = row.time_ms;
        log->sum += row.value;
        log->values[log->count++] = row.value;
    }
    return 0;
}

/* The average queue depth if values are of `unit_ns`. */
static double depth_of(const struct log *log, double unit_ns)
{
    return log->sum * unit_ns / ((log->last_ms - log->first_ms + 1) * 1e6);
}

static const double busy_least = 0.5, alone_most = 1.5, depth_most = 4096;

/* fio names a log NAME_lat.JOB.log. Is there one of another job, that ran at
 * the same time? */
static bool has_sibling(const char *path)
{
    const char *end = path + strlen(path);
    char other[4096];

    if (end - path < 6 || strcmp(end - 4, ".log") != 0 ||
        !isdigit((unsigned char)end[-5]) || end[-6] != '.')
        return false;
    snprintf(other, sizeof(other), "%.*s%c.log", (int)(end - 5 - path), path,
             end[-5] == '1' ? '2' : '1');
    return access(other, F_OK) == 0;
}

/* NULL: it may be one of latencies; else why no finding follows. */
static const char *against_log(const char *path, const struct log *log)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') : path;

    if (strstr(name, "_slat."))
        return "it is of the submission alone";
    if (strstr(name, "_bw.") || strstr(name, "_iops.") || log->bytes <= 0)
        return "bandwidth and IOPS are averages of many requests";
    if (log->is_mixed || log->direction == 2)
        return "its requests are of different kinds";
    if (log->count < 20)
        return "it has fewer than 20 requests";
    if (2 * log->gaps_even_count > log->count)
        return "its values are averages (log_avg_msec), not requests";
    if (!log->has_offsets)
        return "it does not say where requests were (log_offset=1 does)";
    return has_sibling(path) ? "other jobs ran at the same time, as their logs "
                               "beside it say"
                             : NULL;
}

static int conclude_log(const struct result_text *source, struct log *log)
{
    static const double shares[] = {0.01, 0.05, 0.1, 0.2, 0.3,  0.4, 0.5,
                                    0.6,  0.7,  0.8, 0.9, 0.95, 0.99};
    /* fio 3 logs ns, fio 2 us. What is no latency of whole requests adds up to
     * less than the time of the log, or, read as us, to many times as much. */
    const double depth_ns = depth_of(log, 1), depth_us = depth_of(log, 1e3);
    const double unit_ns = depth_ns >= busy_least ? 1 : 1e3;
    const double depth = unit_ns > 1 ? depth_us : depth_ns;
    const char *against = against_log(source->path, log);
    struct result_point point = {.tool = "fio",
                                 .writes = log->direction == 1,
                                 .block_bytes = log->bytes,
                                 .requests_count = (double)log->count};

    if (!against && (depth < busy_least || depth > depth_most ||
                     (unit_ns > 1 && depth > alone_most)))
        against = "its values are no latencies of requests, or the requests "
                  "came with pauses";
    if (against) {
        result_note(source->results,
                    "%.120s: a log of fio's, of which no finding follows: %s",
                    source->path, against);
        return 0;
    }
    qsort(log->values, log->count, sizeof(*log->values), compare_doubles);
    point.random = 2 * log->jumps_count > log->count;
    point.depth = depth < alone_most ? 1 : depth;
    point.mean_ns = log->sum * unit_ns / (double)log->count;
    point.requests_per_second =
        (double)log->count * 1e3 / (log->last_ms - log->first_ms + 1);
    point.bytes_per_second = point.requests_per_second * log->bytes;
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
        point.shares[point.shares_count++] = (struct result_share){
            shares[i],
            unit_ns * log->values[(size_t)(shares[i] * (double)log->count)]};
    return result_add(source->results, &point);
}

static int read_log(const struct result_text *source)
{
    struct log log = {.values = NULL};
    int error = collect(source, &log);

    if (!error)
        error = conclude_log(source, &log);
    free(log.values);
    return error;
}

const struct result_tool tools_fio[] = {{"fio", is_json, read_json},
                                        {"fio", is_text, read_text},
                                        {"fio", is_terse, read_terse},
                                        {"fio", is_log, read_log},
                                        {NULL, NULL, NULL}};
