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

/* A partition table that ends within the good part: that of a GPT has a copy at
 * the end that the drive claims. */
static void use_good_part(uint64_t bytes, const struct device_info *device,
                          struct advice *advice)
{
    const uint64_t sector = device && device->logical_block_bytes
                                ? device->logical_block_bytes
                                : 512;
    const size_t used = strlen(advice->text);
    char size[32];

    if (bytes < 2 * good_start_bytes)
        return;
    snprintf(advice->text + used, sizeof(advice->text) - used,
             " If it must be used, use its first %s only: the command below "
             "makes one partition of that, and all that is on it is lost.",
             format_bytes(bytes, size, sizeof(size)));
    snprintf(advice->command, sizeof(advice->command),
             "echo 'start=%" PRIu64 ", size=%" PRIu64
             ", type=c' | sfdisk --label dos DEVICE",
             good_start_bytes / sector, (bytes - good_start_bytes) / sector);
}

bool advise_bad(const struct findings *findings,
                const struct device_info *device, struct advice_list *list)
{
    const char *kind = text_of(findings, "capacity_kind");
    const uint64_t bytes = advice_value(findings, "real_capacity");

    if (!*kind || strcmp(kind, "genuine") == 0)
        return false;
    struct advice *advice =
        advice_add(list, "return this drive", "capacity_kind",
                   bytes ? "real_capacity" : NULL);
    snprintf(advice->text, sizeof(advice->text),
             "Return this drive: it does not keep what it says it holds, and "
             "what is written beyond that %s. Copy what it holds to another "
             "drive, and compare that with its source.",
             strcmp(kind, "wraps") == 0 ? "overwrites the rest" : "is lost");
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

/* Of a write that must be on the flash: how long does one in a hundred take?
 * The median says nothing of it, but that it is no less. */
static void advise_database(const struct findings *findings, uint64_t median_ns,
                            struct advice_list *list)
{
    const struct finding *fua = findings_found(findings, "fua_time");
    const uint64_t p99_ns = extra_of(fua, "p99");
    const bool known = p99_ns && extra_of(fua, "requests") >= p99_writes_least;
    const uint64_t ns = known ? larger_of(p99_ns, median_ns) : median_ns;
    struct advice *advice =
        advice_add(list, "databases", "flush_honesty", "fua_time");
    char time[32];

    format_ns(ns, time, sizeof(time));
    if (!known && ns <= database_write_ns)
        snprintf(advice->text, sizeof(advice->text),
                 "What was flushed is on the flash. Half of the small writes "
                 "that must be there take %s or less. Databases ask for 10 ms "
                 "in 99 of 100, and whether it does that is not known: too few "
                 "writes were timed.",
                 time);
    else
        snprintf(advice->text, sizeof(advice->text),
                 "What was flushed is on the flash. %s of the small writes "
                 "that must be there takes %s or longer, and databases ask for "
                 "10 ms or less in 99 of 100: it %s.",
                 known ? "One in a hundred" : "Each second one", time,
                 ns <= database_write_ns
                     ? "will do"
                     : "is too slow for one that commits often");
}

static void advise_flush(const struct findings *findings,
                         struct advice_list *list)
{
    const char *honesty = text_of(findings, "flush_honesty");
    const uint64_t ns = advice_value(findings, "fua_time");

    if (strcmp(honesty, "free") == 0)
        snprintf(advice_add(list, "databases", "flush_honesty", NULL)->text,
                 sizeof(list->items->text),
                 "Its flush returns before the flash is written. Unless its "
                 "maker states protection against loss of power, a power cut "
                 "may take what a database or a journal takes for safe: keep "
                 "these elsewhere, or switch its write cache off.");
    else if (*honesty && ns)
        advise_database(findings, ns, list);
}

static void advise_discard(const struct findings *findings,
                           struct advice_list *list)
{
    const struct finding *finding = findings_get(findings, "trim_reads");
    const char *reads = text_of(findings, "trim_reads");

    if (finding && finding->verdict == VERDICT_ABSENT) {
        snprintf(advice_add(list, "discard", "trim_reads", NULL)->text,
                 sizeof(list->items->text),
                 "It takes no discards: leave them off, and leave a part of "
                 "the drive unpartitioned that was never written.");
        return;
    }
    if (!*reads)
        return;
    struct advice *advice = advice_add(list, "discard", "trim_reads", NULL);
    snprintf(advice->text, sizeof(advice->text),
             "Discard what is deleted now and then, rather than at once. %s",
             strcmp(reads, "zeros") == 0
                 ? "What was discarded reads as zeros."
                 : "What was discarded may still be read: to erase "
                   "data, overwrite it.");
    snprintf(advice->command, sizeof(advice->command),
             "systemctl enable --now fstrim.timer");
}

static void advise_sectors(const struct findings *findings,
                           struct advice_list *list)
{
    const struct finding *rmw = findings_get(findings, "read_modify_write");
    const uint64_t page = advice_value(findings, "clustered_page");
    unsigned shift = SHIFT_LEAST;
    char size[32];

    if (!rmw || rmw->verdict != VERDICT_FOUND ||
        rmw->value.kind != VALUE_BOOLEAN || page == 0 || (page & (page - 1)))
        return;
    while (rmw->value.boolean && shift < SHIFT_MOST &&
           (UINT64_C(1) << shift) < page)
        shift++;
    struct advice *advice =
        advice_add(list, "sector size", "clustered_page", "read_modify_write");
    format_bytes(UINT64_C(1) << shift, size, sizeof(size));
    snprintf(advice->text, sizeof(advice->text),
             "Let ZFS take sectors of %s (ashift=%u)%s. ", size, shift,
             rmw->value.boolean ? ", so that no write covers a part of a page"
                                : ": parts of pages cost nothing more");
    size_t used = strlen(advice->text);
    if (shift > SHIFT_CHEAP)
        snprintf(advice->text + used, sizeof(advice->text) - used,
                 "That costs space: nothing is smaller than %s then, so that "
                 "a record of 4 KiB takes %u times its size; ashift=%d costs "
                 "time instead.",
                 size, 1U << (shift - SHIFT_LEAST), SHIFT_LEAST);
    else
        snprintf(advice->text + used, sizeof(advice->text) - used,
                 "Other file systems are made with blocks of 4 KiB.");
    snprintf(advice->command, sizeof(advice->command),
             "zpool create -o ashift=%u POOL DEVICE", shift);
}

void advise_trust(const struct findings *findings, struct advice_list *list)
{
    advise_flush(findings, list);
    advise_discard(findings, list);
    advise_sectors(findings, list);
}
