/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How to write and read. */
#include "lib/report/advice/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/report/advice/parts.h"

static const uint64_t BANDWIDTH_TIMES = 9; /* data to overhead, at 90 % */

static void advise_writing(const struct findings *findings,
                           struct advice_list *list)
{
    const struct finding *rmw = findings_get(findings, "read_modify_write");
    uint64_t page = advice_value(findings, "clustered_page");

    if (!rmw || rmw->verdict != VERDICT_FOUND ||
        rmw->value.kind != VALUE_BOOLEAN || page == 0)
        return;
    struct advice *advice =
        advice_add(list, "writes", "clustered_page", "read_modify_write");
    const char *text = TEXT_BYTES(page);
    if (rmw->value.boolean) {
        advice_brief(advice, "write in multiples of %s, aligned to %s", text,
                     text);
        advice_say(advice,
                   "Write whole pages: multiples of %s, aligned to %s. A write "
                   "of part of a page makes the drive read the rest first.",
                   text, text);
    } else {
        advice_brief(advice, "writes need no alignment to %s", text);
        advice_say(advice,
                   "Writes need no alignment to the page of %s: the drive does "
                   "not read the rest of a page first.",
                   text);
    }
}

static void advise_requests(const struct findings *findings,
                            uint64_t limit_bytes, struct advice_list *list)
{
    uint64_t overhead = advice_value(findings, "request_overhead");
    uint64_t cost = advice_value(findings, "read_cost_4k");
    uint64_t size;

    if (overhead == 0 || cost == 0)
        return;
    size = (BANDWIDTH_TIMES * overhead + cost - 1) / cost * 4 * KIB;
    struct advice *advice =
        advice_add(list, "request size", "request_overhead", "read_cost_4k");
    bool limited = limit_bytes && size > limit_bytes;
    const char *text = TEXT_BYTES(limited ? limit_bytes : size);
    advice_brief(advice, "read in requests of %s%s", text,
                 limited ? "" : " or more");
    if (limited)
        advice_say(
            advice,
            "Read in requests of %s, the largest that reach the drive in "
            "one piece: larger ones would be faster still.",
            text);
    else
        advice_say(advice,
                   "Read in requests of %s or more: then at least 90 %% of the "
                   "time goes into moving data.",
                   text);
}

static bool is_absent(const struct findings *findings, const char *name)
{
    const struct finding *finding = findings_get(findings, name);

    return finding && finding->verdict == VERDICT_ABSENT;
}

/* Where there is neither a page nor a log, no place is better than another:
 * that is known as well, and saves the reader the search for a stride. */
static void advise_nothing(const struct findings *findings,
                           struct advice_list *list)
{
    if (!is_absent(findings, "clustered_page") ||
        !is_absent(findings, "log_block") ||
        advice_value(findings, "clustered_block"))
        return;
    struct advice *advice =
        advice_add(list, "alignment", "clustered_page", "log_block");
    advice_brief(advice, "nothing needs alignment; defaults are fine");
    advice_say(advice,
               "Nothing needs alignment: a write costs the same at any offset, "
               "and writes to many places cause no merges. The defaults of "
               "partitioning tools and file systems are fine.");
}

/* How many places at once? */
static void advise_logs(const struct findings *findings,
                        struct advice_list *list)
{
    uint64_t logs = advice_value(findings, "log_list");
    uint64_t block = advice_value(findings, "log_block");
    char text[64] = "";

    if (logs == 0)
        return;
    struct advice *advice = advice_add(list, "files at once", "log_list",
                                       block ? "log_block" : NULL);
    if (block)
        snprintf(text, sizeof(text), " (areas of %s)", TEXT_BYTES(block));
    advice_brief(advice, "write to at most %" PRIu64 " file%s at once", logs,
                 logs == 1 ? "" : "s");
    advice_say(advice,
               "Write to at most %" PRIu64 " file%s at once%s: with one more, "
               "each write waits until the drive has merged a block.",
               logs, logs == 1 ? "" : "s", text);
    if (logs >= 2 && logs < 6) { /* f2fs has 2, 4 or 6 */
        advice_command(advice, "mount -t f2fs -o active_logs=%d PARTITION /mnt",
                       logs < 4 ? 2 : 4);
        advice_say(advice, " f2fs keeps six logs by default.");
    }
}

static void advise_open_units(const struct findings *findings,
                              struct advice_list *list)
{
    uint64_t linear = advice_value(findings, "open_units_linear");
    uint64_t random = advice_value(findings, "open_units_random");

    if (linear == 0 && random == 0)
        return;
    struct advice *advice =
        advice_add(list, "files at once",
                   linear ? "open_units_linear" : "open_units_random",
                   linear && random ? "open_units_random" : NULL);
    advice_brief(advice, "write to at most %" PRIu64 " files at once",
                 linear ? linear : random);
    advice_say(advice, "Write to");
    if (linear)
        advice_say(advice,
                   " at most %" PRIu64 " files at once when each is "
                   "written sequentially%s",
                   linear, random ? ", and" : "");
    if (random)
        advice_say(advice, " at most %" PRIu64 " when not", random);
    advice_say(advice,
               "; beyond that the card collects garbage at each write.");
}

static void advise_burst(const struct findings *findings,
                         struct advice_list *list)
{
    uint64_t buffer = advice_value(findings, "write_buffer");

    if (buffer == 0)
        return;
    struct advice *advice = advice_add(list, "bursts", "write_buffer", NULL);
    const char *text = TEXT_BYTES(buffer);
    advice_brief(advice, "keep bursts of writes below %s", text);
    advice_say(
        advice,
        "The drive absorbs bursts of up to %s without waiting for flash. "
        "Keep urgent writes below that, and let the drive rest or flush "
        "in between.",
        text);
}

static void advise_long_writes(const struct findings *findings,
                               struct advice_list *list)
{
    const uint64_t cache = advice_value(findings, "fast_cache");
    const uint64_t rate = advice_value(findings, "sustained_write_rate");
    const struct finding *rest = findings_get(findings, "fast_cache_recovery");

    if (cache == 0 || rate == 0)
        return;
    struct advice *advice =
        advice_add(list, "long writes", "fast_cache", "sustained_write_rate");
    const char *size = TEXT_CAPACITY(cache);
    const char *slow = TEXT_QUANTITY(rate, "bytes_per_second");
    advice_brief(advice, "keep long writes below %s, then it drops to %s", size,
                 slow);
    advice_say(advice,
               "Keep fast writes below %s; beyond that the "
               "drive writes %s.",
               size, slow);
    if (!rest || rest->verdict != VERDICT_FOUND)
        return;
    advice->from[2] = "fast_cache_recovery";
    advice_say(advice, " After a rest of %s it takes as much again.",
               TEXT_NS((uint64_t)rest->high.integer));
}

/* How many writes a second may one count on? */
static void advise_random_writes(const struct findings *findings,
                                 struct advice_list *list)
{
    const uint64_t steady_ns = advice_careful(findings, "steady_random_write");
    const uint64_t stall_ns = advice_careful(findings, "cleaning_stall");

    if (steady_ns == 0)
        return;
    struct advice *advice =
        advice_add(list, "random writes", "steady_random_write",
                   stall_ns ? "cleaning_stall" : NULL);
    advice_brief(advice, "count on %.0f random write IOPS, steady",
                 1e9 / (double)steady_ns);
    advice_say(advice,
               "Count on %.0f random 4 KiB writes a second: that is what "
               "lasts once garbage collection runs.",
               1e9 / (double)steady_ns);
    if (stall_ns == 0)
        return;
    advice_say(
        advice,
        " At a deep queue the p99.9 is %s. If that is too long, keep the "
        "queue shallow or use another drive.",
        TEXT_NS(stall_ns));
}

static void advise_hot_data(const struct findings *findings,
                            struct advice_list *list)
{
    const struct finding *apart = findings_get(findings, "hot_cold_separation");

    if (!apart || apart->verdict != VERDICT_FOUND || apart->value.boolean)
        return;
    struct advice *advice =
        advice_add(list, "hot data", "hot_cold_separation", NULL);
    advice_brief(advice, "leave space unused: cleaning mixes hot and cold");
    advice_say(
        advice,
        "Garbage collection mixes frequently written data with the rest "
        "and copies both. Leave part of the drive trimmed and unused, and "
        "let programs batch small updates.");
}

void advice_make(const struct findings *findings,
                 const struct device_info *device, struct advice_list *list)
{
    list->count = 0;
    if (!findings)
        return;
    if (advise_bad(findings, device, list))
        return;
    advise_layout(findings, device, list);
    advise_writing(findings, list);
    advise_nothing(findings, list);
    advise_requests(findings, device ? device->request_limit_bytes : 0, list);
    advise_logs(findings, list);
    advise_open_units(findings, list);
    advise_burst(findings, list);
    advise_long_writes(findings, list);
    advise_random_writes(findings, list);
    advise_hot_data(findings, list);
    advise_trust(findings, list);
    advise_recipes(findings, device, list);
}
