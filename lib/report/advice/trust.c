/* SPDX-License-Identifier: GPL-3.0-or-later */
/* May the drive be trusted: its capacity, its flush, its discards? And in which
 * sectors is it addressed best? */
#include "lib/report/advice/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"

/* etcd asks for it (FAQ, "what does the etcd warning ... mean"), and others
 * likewise: 99 of 100 small writes with their flush in less than that. */
static const uint64_t database_write_ns = 10000000;
/* With fewer writes, none of which is longer, one in a hundred may still be,
 * once in twenty drives: 0.99 to the power of this is less. */
static const uint64_t p99_writes_least = 299;
/* zpoolprops(7): sectors of 2^9 to 2^16 bytes. Those of 2^13 are in use with
 * records of databases that are as large. */
enum { SHIFT_LEAST = 12, SHIFT_CHEAP = 13, SHIFT_MOST = 16 };

static const char *text_of(const struct findings *findings, const char *name)
{
    const struct finding *finding = findings_get(findings, name);

    return finding && finding->verdict == VERDICT_FOUND &&
                   finding->value.kind == VALUE_TEXT
               ? finding->value.text
               : "";
}

/* Where the good part begins to be used, as partitioning tools do. */
static const uint64_t good_start_bytes = MIB;
/* Two ways to sync a write differ by so much, or are as good. */
static const double quicker_least = 1.5;

/* A partition table that ends within the good part: that of a GPT has a copy at
 * the end that the drive claims. */
static void use_good_part(uint64_t bytes, const struct device_info *device,
                          struct advice *advice)
{
    const uint64_t sector = device && device->logical_block_bytes
                                ? device->logical_block_bytes
                                : 512;

    if (bytes < 2 * good_start_bytes)
        return;
    const char *size = TEXT_BYTES(bytes);
    advice_say(advice,
               " If you must use it, use only its first %s: the command makes "
               "one partition of that size and erases the drive.",
               size);
    advice_brief(advice, "return it, or use only its first %s", size);
    advice_command(advice,
                   "echo 'start=%" PRIu64 ", size=%" PRIu64
                   ", type=c' | sfdisk --label dos DEVICE",
                   good_start_bytes / sector,
                   (bytes - good_start_bytes) / sector);
}

/* A drive that loses data in places. */
static bool advise_save(const struct findings *findings,
                        struct advice_list *list)
{
    if (!advice_value(findings, "bad_places"))
        return false;
    struct advice *advice =
        advice_add(list, "replace this drive", "bad_places", NULL);
    advice_brief(advice, "copy what can still be read, and replace it");
    advice_say(advice,
               "Replace this drive: some places lose data, and others will. "
               "ddrescue copies what can still be read, and notes what cannot; "
               "run it before anything writes to the drive.");
    advice_command(advice, "ddrescue -d DEVICE IMAGE MAPFILE");
    return true;
}

bool advise_bad(const struct findings *findings,
                const struct device_info *device, struct advice_list *list)
{
    const char *kind = text_of(findings, "capacity_kind");
    const uint64_t bytes = advice_value(findings, "real_capacity");

    if (!*kind || strcmp(kind, "genuine") == 0)
        return advise_save(findings, list);
    struct advice *advice =
        advice_add(list, "return this drive", "capacity_kind",
                   bytes ? "real_capacity" : NULL);
    advice_brief(advice, "return it");
    advice_say(
        advice,
        "Return this drive: it is counterfeit or broken. What is written "
        "beyond its real capacity %s. Copy its files to another drive, "
        "and compare them with the originals.",
        strcmp(kind, "wraps") == 0 ? "overwrites other data" : "is lost");
    use_good_part(bytes, device, advice);
    return true;
}

/* A number that stands beside a finding; 0: there is none. */
static uint64_t extra_of(const struct finding *finding, const char *name)
{
    for (size_t i = 0; finding && i < finding->extras_count; i++)
        if (strcmp(finding->extras[i].name, name) == 0 &&
            finding->extras[i].value.kind == VALUE_INTEGER &&
            finding->extras[i].value.integer > 0)
            return (uint64_t)finding->extras[i].value.integer;
    return 0;
}

/* Is FUA, which O_DSYNC uses, quicker than a flush, or slower? */
static void say_quicker(const struct finding *p99, struct advice *advice)
{
    const double flush_ns = p99 ? value_number(&p99->high) : 0;
    const double fua_ns = (double)extra_of(p99, "fua");

    if (fua_ns > 0 && fua_ns < flush_ns / quicker_least)
        advice_say(advice,
                   " O_DSYNC (FUA) is quicker than fdatasync: open_datasync in "
                   "PostgreSQL.");
    else if (fua_ns > quicker_least * flush_ns && flush_ns > 0)
        advice_say(advice, " fdatasync is quicker than O_DSYNC (FUA).");
}

/* How long does one in a hundred take of the writes that must be on the flash?
 * The median says nothing of it, but that it is no less. */
static void advise_database(const struct findings *findings, uint64_t median_ns,
                            struct advice_list *list)
{
    const struct finding *fua = findings_found(findings, "fua_time");
    const struct finding *p99 = findings_found(findings, "sync_write_p99");
    const uint64_t p99_ns = p99 ? (uint64_t)value_number(&p99->high)
                                : extra_of(fua, "p99"); /* as tools record it */
    const bool known =
        p99 || (p99_ns && extra_of(fua, "requests") >= p99_writes_least);
    const uint64_t ns = known ? larger_of(p99_ns, median_ns) : median_ns;
    struct advice *advice = advice_add(list, "databases", "flush_honesty",
                                       p99 ? "sync_write_p99" : "fua_time");

    const char *time = TEXT_NS(ns);
    const char *up_to =
        p99 && p99->value.kind == VALUE_NONE && ns == p99_ns ? "up to " : "";
    advice_brief(advice, "databases: a synced write takes %s%s%s, %s", up_to,
                 time, known ? " (p99)" : "",
                 ns > database_write_ns ? "too slow"
                 : known                ? "fast enough"
                                        : "p99 not known");
    if (!known && ns <= database_write_ns)
        advice_say(
            advice,
            "Flushed data is in flash. The median synced write takes %s. "
            "Databases need a p99 below 10 ms; too few writes were timed "
            "to tell the p99.",
            time);
    else
        advice_say(advice,
                   "Flushed data is in flash. The %s of synced writes is %s%s. "
                   "Databases need a p99 below 10 ms: this drive is %s.",
                   known ? "p99" : "median", up_to, time,
                   ns <= database_write_ns
                       ? "fast enough"
                       : "too slow for a database that commits often");
    say_quicker(p99, advice);
}

static void advise_flush(const struct findings *findings,
                         struct advice_list *list)
{
    const char *honesty = text_of(findings, "flush_honesty");
    const struct finding *p99 = findings_found(findings, "sync_write_p99");
    const uint64_t fua_ns = advice_value(findings, "fua_time");
    const uint64_t ns = fua_ns ? fua_ns
                        : p99  ? (uint64_t)value_number(&p99->high)
                               : 0;

    if (strcmp(honesty, "free") == 0) {
        struct advice *advice =
            advice_add(list, "databases", "flush_honesty", NULL);
        advice_brief(advice, "databases: keep them elsewhere, flushes do not "
                             "wait for flash");
        advice_say(
            advice,
            "A flush returns before the data is in flash. Unless the "
            "maker states power-loss protection, a power cut may destroy "
            "committed data: keep databases elsewhere, or switch the "
            "write cache off.");
    } else if (*honesty && ns) {
        advise_database(findings, ns, list);
    }
}

static void advise_discard(const struct findings *findings,
                           struct advice_list *list)
{
    const struct finding *finding = findings_get(findings, "trim_reads");
    const char *reads = text_of(findings, "trim_reads");

    if (finding && finding->verdict == VERDICT_ABSENT) {
        struct advice *none = advice_add(list, "TRIM", "trim_reads", NULL);
        advice_brief(none, "leave a tenth unpartitioned: it ignores TRIM");
        advice_say(
            none,
            "The drive ignores TRIM: leave discards off, and leave a part "
            "of a new drive unpartitioned as over-provisioning.");
        return;
    }
    if (!*reads)
        return;
    struct advice *advice = advice_add(list, "TRIM", "trim_reads", NULL);
    advice_brief(advice, "run fstrim weekly, not mount -o discard");
    advice_say(advice,
               "Run TRIM periodically rather than with every deletion. %s",
               strcmp(reads, "zeros") == 0 ? "Discarded data reads as zeros."
               : strcmp(reads, "ones") == 0
                   ? "Discarded data reads as ones."
                   : "Discarded data may still be readable: overwrite it to "
                     "erase it.");
    advice_command(advice, "systemctl enable --now fstrim.timer");
}

static void advise_sectors(const struct findings *findings,
                           struct advice_list *list)
{
    const struct finding *rmw = findings_get(findings, "read_modify_write");
    const uint64_t page = advice_value(findings, "clustered_page");
    unsigned shift = SHIFT_LEAST;

    if (!rmw || rmw->verdict != VERDICT_FOUND ||
        rmw->value.kind != VALUE_BOOLEAN || page == 0 || (page & (page - 1)))
        return;
    while (rmw->value.boolean && shift < SHIFT_MOST &&
           (UINT64_C(1) << shift) < page)
        shift++;
    struct advice *advice =
        advice_add(list, "sector size", "clustered_page", "read_modify_write");
    const char *size = TEXT_BYTES(UINT64_C(1) << shift);
    advice_brief(advice, "ZFS: ashift=%u", shift);
    advice_say(advice, "Create ZFS pools with sectors of %s (ashift=%u): %s. ",
               size, shift,
               rmw->value.boolean
                   ? "then no write covers only part of a page"
                   : "writing part of a page costs nothing extra");
    if (shift > SHIFT_CHEAP)
        advice_say(
            advice,
            "That costs space: a record of 4 KiB then takes %s, %u times "
            "its size. ashift=%d costs time instead.",
            size, 1U << (shift - SHIFT_LEAST), SHIFT_LEAST);
    else
        advice_say(advice, "Other file systems use blocks of 4 KiB.");
    advice_command(advice, "zpool create -o ashift=%u POOL DEVICE", shift);
}

/* Cells that lost charge are read again and again until they are written. */
static void advise_refresh(const struct findings *findings,
                           struct advice_list *list)
{
    if (!advice_value(findings, "slow_places_share"))
        return;
    struct advice *advice =
        advice_add(list, "slow places", "slow_places_share", NULL);
    advice_brief(advice, "rewrite what is there: slow places lost charge");
    advice_say(
        advice,
        "Places that stay slow hold data that was written long ago. Make "
        "a copy, then rewrite everything in place, unmounted; scan again. "
        "If they are as slow then, the drive wears out: replace it.");
    advice_command(advice, "badblocks -nsv -b 4096 DEVICE");
}

static void advise_logger(const struct findings *findings,
                          struct advice_list *list)
{
    const uint64_t bytes = advice_value(findings, "logger_buffer");
    const uint64_t ns = advice_value(findings, "longest_write");

    if (!bytes || !ns)
        return;
    struct advice *advice =
        advice_add(list, "loggers", "logger_buffer", "longest_write");
    const char *size = TEXT_BYTES(bytes);
    advice_brief(advice, "loggers and cameras: buffer %s or more", size);
    advice_say(
        advice,
        "A program that records at a steady rate needs a buffer: at half "
        "of the sustained rate, or the one of --rate, single writes took "
        "up to %s. Keep twice %s, since rarer waits may be longer.",
        TEXT_NS(ns), size);
}

static void advise_pauses(const struct findings *findings,
                          struct advice_list *list)
{
    const uint64_t pause_ns = advice_careful(findings, "pause_time");
    const uint64_t period_ns = advice_value(findings, "pause_period");

    if (!pause_ns || !period_ns)
        return;
    struct advice *advice =
        advice_add(list, "deadlines", "pause_time", "pause_period");
    const char *pause = TEXT_NS(pause_ns);
    const char *period = TEXT_NS(period_ns);
    advice_brief(advice, "allow for a pause of %s every %s", pause, period);
    advice_say(
        advice,
        "The drive answers nothing for %s every %s, whatever is asked of "
        "it. A program with a shorter deadline must hold its data in "
        "memory meanwhile, or use another drive.",
        pause, period);
}

void advise_trust(const struct findings *findings, struct advice_list *list)
{
    advise_flush(findings, list);
    advise_discard(findings, list);
    advise_sectors(findings, list);
    advise_refresh(findings, list);
    advise_logger(findings, list);
    advise_pauses(findings, list);
}
