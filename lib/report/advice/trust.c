/* SPDX-License-Identifier: GPL-3.0-or-later */
/* May the drive be trusted: its capacity, its flush, its discards? And in which
 * sectors is it addressed best? */
#include "lib/report/advice/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"

/* etcd asks for it (FAQ, "what does the etcd warning ... mean"), and others
 * likewise: a small write with its flush in less than that. */
static const uint64_t database_write_ns = 10000000;
/* zpoolprops(7): sectors of 2^9 to 2^16 bytes. */
enum { SHIFT_LEAST = 12, SHIFT_MOST = 16 };

static const char *text_of(const struct findings *findings, const char *name)
{
    const struct finding *finding = findings_get(findings, name);

    return finding && finding->verdict == VERDICT_FOUND &&
                   finding->value.kind == VALUE_TEXT
               ? finding->value.text
               : "";
}

void advise_fake(const struct findings *findings, struct advice_list *list)
{
    const char *kind = text_of(findings, "capacity_kind");
    const uint64_t bytes = advice_value(findings, "real_capacity");
    const bool wraps = strcmp(kind, "wraps") == 0;
    char real[80] = "";

    if (!wraps && strcmp(kind, "drops") != 0)
        return;
    struct advice *advice =
        advice_add(list, "return this drive", "capacity_kind",
                   bytes ? "real_capacity" : NULL);
    if (bytes) {
        char size[32];
        snprintf(real, sizeof(real), " It has no more than %s.",
                 format_bytes(bytes, size, sizeof(size)));
    }
    snprintf(advice->text, sizeof(advice->text),
             "Return this drive: it is smaller than it says, and what is "
             "written beyond that %s.%s Copy what it holds to another drive, "
             "and compare it with its source.",
             wraps ? "overwrites what was written before" : "is lost", real);
}

static void advise_flush(const struct findings *findings,
                         struct advice_list *list)
{
    const char *honesty = text_of(findings, "flush_honesty");
    const uint64_t ns = advice_value(findings, "fua_time");
    char time[32];

    if (strcmp(honesty, "free") == 0) {
        snprintf(advice_add(list, "databases", "flush_honesty", NULL)->text,
                 sizeof(list->items->text),
                 "Its flush returns before the flash is written. Unless its "
                 "maker states protection against loss of power, a power cut "
                 "may take what a database or a journal takes for safe: keep "
                 "these elsewhere, or switch its write cache off.");
        return;
    }
    if (!*honesty || ns == 0)
        return;
    struct advice *advice =
        advice_add(list, "databases", "flush_honesty", "fua_time");
    snprintf(advice->text, sizeof(advice->text),
             "What was flushed is on the flash. A small write that must be "
             "there takes %s, and databases ask for 10 ms or less: it %s.",
             format_ns(ns, time, sizeof(time)),
             ns <= database_write_ns
                 ? "will do"
                 : "is too slow for one that commits often");
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
    snprintf(advice->text, sizeof(advice->text),
             "Let ZFS take sectors of %s (ashift=%u)%s. Other file systems are "
             "made with blocks of 4 KiB.",
             format_bytes(UINT64_C(1) << shift, size, sizeof(size)), shift,
             rmw->value.boolean ? ", so that no write covers a part of a page"
                                : ": parts of pages cost nothing more");
    snprintf(advice->command, sizeof(advice->command),
             "zpool create -o ashift=%u POOL DEVICE", shift);
}

void advise_trust(const struct findings *findings, struct advice_list *list)
{
    advise_flush(findings, list);
    advise_discard(findings, list);
    advise_sectors(findings, list);
}
