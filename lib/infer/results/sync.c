/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a synced write takes: pg_test_fsync, etcd, ioping. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/infer/results/tool.h"

/* ---- pg_test_fsync ---- */

static bool is_pg(const char *text)
{
    return strstr(text, "Compare file sync methods using one 8kB write") ||
           strstr(text,
                  "O_DIRECT supported on this platform for open_datasync");
}

/* "open_datasync   1170.565 ops/sec   854 usecs/op", of one write. */
static int read_pg(const struct result_text *source)
{
    const char *at = strstr(source->text, "using one 8kB write");
    const char *end = at ? strstr(at, "using two 8kB") : NULL;
    const char *line = at ? result_after(at, "") : NULL;
    double best = 0, rate;
    char method[32] = "";

    /* The fastest method that is durable is what the drive can do. */
    for (; line && (!end || line < end); line = result_next_line(line)) {
        char name[32];
        const char *word = line + strspn(line, " \t");
        if (sscanf(word, "%31[a-z_]", name) != 1 ||
            !result_after(line, "ops/sec") ||
            !result_number(word + strlen(name), &rate) || rate <= best)
            continue;
        best = rate;
        snprintf(method, sizeof(method), "%s", name);
    }
    if (at && best <= 0)
        return RESULT_REFUSE(source, at, "%s",
                             "pg_test_fsync's rates of one 8 kB write are "
                             "missing; give its whole output");
    if (!at)
        return 0;
    result_note(source->results,
                "pg_test_fsync syncs 8 KiB of a file, fastest by %s: the file "
                "system's work is in its times",
                method);
    return result_add(source->results,
                      &(struct result_point){.tool = "pg_test_fsync",
                                             .writes = true,
                                             .synced = true,
                                             .of_file = true,
                                             .cache = CACHE_BYPASSED,
                                             .block_bytes = 8192,
                                             .depth = 1,
                                             .requests_per_second = best,
                                             .bytes_per_second = best * 8192,
                                             .mean_ns = 1e9 / best});
}

/* ---- etcd ---- */

static const char wal[] = "etcd_disk_wal_fsync_duration_seconds";

static bool is_etcd(const char *text)
{
    return strstr(text, wal) || strstr(text, "etcd_disk_backend_commit");
}

/* A line of Prometheus: NAME_SUFFIX[{...}] VALUE */
static bool metric(const char *text, const char *suffix, double *value)
{
    char name[64];

    snprintf(name, sizeof(name), "\n%s_%s", wal, suffix);
    const char *at = strstr(text, name);
    if (!at)
        return false;
    at += strlen(name);
    at += strcspn(at, " \n");
    char *end;
    *value = strtod(at, &end);
    return end > at && *value >= 0;
}

static int read_etcd(const struct result_text *source)
{
    struct result_point point = {.tool = "etcd",
                                 .writes = true,
                                 .synced = true,
                                 .of_file = true,
                                 .cache = CACHE_BYPASSED,
                                 .depth = 1};
    double sum, count, last = 0, last_seconds = 0;

    if (!strstr(source->text, wal)) {
        result_note(source->results,
                    "%.120s: of etcd's metrics only wal_fsync is of the drive "
                    "alone, and it is not there",
                    source->path);
        return 0;
    }
    if (!metric(source->text, "sum", &sum) ||
        !metric(source->text, "count", &count) || count < 1 || sum <= 0)
        return RESULT_REFUSE(source, strstr(source->text, wal), "%s",
                             "etcd's histogram has no _sum and _count, or "
                             "counts nothing");
    point.mean_ns = sum / count * 1e9;
    point.requests_count = count;
    for (const char *at = source->text;
         (at = result_find(at, "_wal_fsync_duration_seconds_bucket{"));) {
        const char *le = result_after(at, "le=\"");
        const char *value = result_after(at, "} ");
        double seconds = le ? strtod(le, NULL) : 0;
        double below = value ? strtod(value, NULL) : -1;
        if (!le || below < last || below > count || seconds <= last_seconds) {
            if (le && strncmp(le, "+Inf", 4) == 0 && below == count)
                continue;
            return RESULT_REFUSE(source, at, "%s",
                                 "etcd's buckets must rise to its _count");
        }
        if (!isinf(seconds) && below > 0 &&
            point.shares_count < RESULT_SHARES_MAX)
            point.shares[point.shares_count++] =
                (struct result_share){below / count, seconds * 1e9};
        last = below;
        last_seconds = seconds;
    }
    result_note(source->results,
                "etcd's wal_fsync is the sync of a file of entries of any "
                "size: the file system's work is in its times");
    return result_add(source->results, &point);
}

/* ---- ioping ---- */

static bool is_ioping(const char *text)
{
    return strstr(text, "ioping statistics ---") ||
           (strstr(text, ": request=") &&
            (strstr(text, " <<< ") || strstr(text, " >>> ")));
}

static int read_ioping(const struct result_text *source)
{
    const char *text = source->text;
    const char *at = result_find(text, "min/avg/max/mdev = ");
    const char *request = strstr(text, " <<< ");
    struct result_point point = {.tool = "ioping", .depth = 1, .random = true};
    double least;

    if (!at)
        return 0; /* cut off */
    if (!request) {
        request = strstr(text, " >>> ");
        point.writes = true;
    }
    while (request && request > text && request[-1] != '\n')
        request--;
    if (!request || !result_bytes(request, 1024, &point.block_bytes)) {
        result_note(source->results,
                    "%.120s: ioping was quiet (-q), so neither the size of its "
                    "requests nor whether they were writes is known: no "
                    "finding follows",
                    source->path);
        return 0;
    }
    if (!(at = result_ns(at, &least)) || strncmp(at, " / ", 3) != 0 ||
        !result_ns(at + 3, &point.mean_ns) || point.mean_ns <= 0)
        return RESULT_REFUSE(source, result_find(text, "min/avg/max/mdev"),
                             "%s", "expected 'min/avg/max/mdev = ' and times");
    if (point.writes) {
        result_note(source->results,
                    "%.120s: ioping does not say whether its writes were "
                    "synced (-Y) or direct (-D): no finding follows",
                    source->path);
        return 0;
    }
    point.requests_per_second = 1e9 / point.mean_ns;
    point.bytes_per_second = point.requests_per_second * point.block_bytes;
    return result_add(source->results, &point);
}

const struct result_tool tools_sync[] = {{"pg_test_fsync", is_pg, read_pg},
                                         {"etcd", is_etcd, read_etcd},
                                         {"ioping", is_ioping, read_ioping},
                                         {NULL, NULL, NULL}};
