/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of capacity: f3probe, f3write and f3read, h2testw, CapacityTester. */
#include <stdio.h>
#include <string.h>

#include "lib/infer/results/tool.h"

/* A drive that lost data did; one that did not may do so elsewhere. */
static const double lost_confidence = 0.99, kept_confidence = 0.95;

/* A file system takes less than that for itself. */
static const double file_overhead = 1.1, whole_least = 0.98;

enum { SECTOR_BYTES = 512 };

/* No drive holds so much. */
static const double bytes_limit = 1e18;

static bool can_be(const struct result_text *source, double bytes)
{
    const bool can = bytes < bytes_limit;

    if (!can)
        result_note(source->results,
                    "%.120s: no drive holds %.3g bytes, so the file is damaged",
                    source->path, bytes);
    return can;
}

/* What is worse counts: a drive is as good as its worst test. */
static void say(const struct result_text *source, const char *kind,
                double bytes, double bytes_most, double confidence,
                const char *why)
{
    struct result_capacity *capacity = &source->results->capacity;
    const bool was_bad =
        capacity->kind[0] && strcmp(capacity->kind, "genuine") != 0;

    if (!can_be(source, bytes_most) ||
        (was_bad && strcmp(kind, "genuine") == 0))
        return;
    snprintf(capacity->kind, sizeof(capacity->kind), "%s", kind);
    snprintf(capacity->why, sizeof(capacity->why), "%s", why);
    capacity->bytes = (uint64_t)bytes;
    capacity->bytes_most = (uint64_t)bytes_most;
    capacity->confidence = confidence;
}

static int add_rate(const struct result_text *source, const char *tool,
                    bool writes, const char *word)
{
    const char *at = result_find(source->text, word);
    struct result_point point = {.tool = tool,
                                 .writes = writes,
                                 .cache = CACHE_BYPASSED,
                                 .block_bytes = 1 << 20};

    /* f3 and h2testw print units of 1024. */
    if (!at || !result_bytes(at, 1024, &point.bytes_per_second))
        return 0;
    return result_add(source->results, &point);
}

/* ---- f3probe ---- */

static bool is_f3probe(const char *text)
{
    return strstr(text, "Good news: The device") ||
           strstr(text, "Bad news: The device") || strstr(text, "F3 probe ");
}

/* "*Usable* size: 14.77 GB (30983328 blocks)": blocks of the size named. */
static bool size_of(const char *text, const char *word, double *bytes)
{
    const char *at = result_find(text, word);
    const char *block = result_find(text, "block size:");
    double blocks, block_bytes = SECTOR_BYTES;

    at = at ? result_after(at, "(") : NULL;
    if (block)
        (void)result_bytes(block, 1024, &block_bytes);
    if (!at || !(at = result_number(at, &blocks)) ||
        strncmp(at, " block", 6) != 0)
        return false;
    *bytes = blocks * block_bytes;
    return true;
}

static int read_f3probe(const struct result_text *source)
{
    const char *good = strstr(source->text, "Good news: The device");
    const char *type = result_find(source->text, "counterfeit of type ");
    double usable = 0, announced = 0;
    char why[300];

    if (!good && !type)
        return 0; /* cut off */
    if ((!size_of(source->text, "*Usable* size:", &usable) &&
         !size_of(source->text, "*Real* size:", &usable)) ||
        !size_of(source->text, "Announced size:", &announced) ||
        usable > announced)
        return RESULT_REFUSE(source, good ? good : type, "%s",
                             "f3probe's sizes in blocks are missing or do not "
                             "fit each other; give its whole output");
    if (good) {
        say(source, "genuine", usable, usable, kept_confidence,
            "f3probe found all of the announced blocks");
        return 0;
    }
    const int length = (int)strcspn(type, " \n");
    snprintf(why, sizeof(why),
             "f3probe found a counterfeit of type %.*s: %.0f of %.0f bytes are "
             "there",
             length > 20 ? 20 : length, type, usable, announced);
    say(source, strncmp(type, "wraparound", 10) == 0 ? "wraps" : "drops",
        usable, usable, lost_confidence, why);
    return 0;
}

/* ---- f3write, f3read ---- */

static bool is_f3read(const char *text)
{
    return strstr(text, "F3 read ") ||
           (strstr(text, "Data OK:") && strstr(text, "Data LOST:"));
}

/* "Data OK: 7.30 GB (15309552 sectors)" */
static const char *sectors_of(const char *text, const char *word,
                              double *sectors)
{
    const char *at = result_find(text, word);

    at = at ? result_after(at, "(") : NULL;
    return at ? result_number(at, sectors) : NULL;
}

/* All that was written came back; whether that was all there is is another
 * question. */
static void say_kept(const struct result_text *source, const char *tool,
                     double bytes)
{
    struct result_capacity *capacity = &source->results->capacity;

    if (capacity->kind[0] || !can_be(source, bytes))
        return;
    if ((uint64_t)bytes > capacity->bytes_least)
        capacity->bytes_least = (uint64_t)bytes;
    snprintf(capacity->why, sizeof(capacity->why),
             "%s read back all %.0f MB that had been written; that the drive "
             "claims no more its output does not say",
             tool, bytes / 1e6);
}

static int say_files(const struct result_text *source, const char *tool,
                     double kept, double lost, double overwritten)
{
    char why[300];

    if (kept + lost <= 0)
        return 0;
    if (lost > 0) {
        snprintf(why, sizeof(why),
                 "%s lost %.0f of %.0f sectors; %.0f held what was written "
                 "elsewhere",
                 tool, lost, kept + lost, overwritten);
        say(source, 2 * overwritten > lost ? "wraps" : "drops",
            kept * SECTOR_BYTES, kept * SECTOR_BYTES * file_overhead,
            lost_confidence, why);
        return 0;
    }
    say_kept(source, tool, kept * SECTOR_BYTES);
    return 0;
}

static int read_f3read(const struct result_text *source)
{
    double kept = 0, lost = 0, overwritten = 0;

    if (!strstr(source->text, "Data OK:"))
        return 0; /* cut off */
    if (!sectors_of(source->text, "Data OK:", &kept) ||
        !sectors_of(source->text, "Data LOST:", &lost))
        return RESULT_REFUSE(source, strstr(source->text, "Data OK:"), "%s",
                             "f3read's counts of sectors are missing");
    (void)sectors_of(source->text, "Overwritten:", &overwritten);
    int error = say_files(source, "f3read", kept, lost, overwritten);
    return error ? error
                 : add_rate(source, "f3read", false, "Average reading speed:");
}

static bool is_f3write(const char *text)
{
    return strstr(text, "F3 write ") ||
           (strstr(text, "Creating file ") && strstr(text, ".h2w"));
}

static int read_f3write(const struct result_text *source)
{
    const char *first = result_find(source->text, "Free space:"), *last = first;
    double before, after;

    for (const char *at = first; at; at = result_find(at, "Free space:"))
        last = at;
    if (first && last != first && result_bytes(first, 1024, &before) &&
        result_bytes(last, 1024, &after) && after <= before * (1 - whole_least))
        source->results->capacity.wrote_all = true;
    result_note(source->results,
                "%.120s: f3write says how fast it wrote; whether the data is "
                "kept, only f3read says",
                source->path);
    return add_rate(source, "f3write", true, "Average writing speed:");
}

/* ---- h2testw ---- */

static bool is_h2testw(const char *text)
{
    return strstr(text, "H2testw") || strstr(text, "h2testw") ||
           strstr(text, "Test finished without errors") ||
           strstr(text, "kein Fehler aufgetreten") ||
           strstr(text, "is likely to be defective") ||
           strstr(text, "wahrscheinlich defekt");
}

/* "Only 31450 of 31451 MByte tested", "Nur 31450 von 31451 MByte getestet"; it
 * says nothing where it tested all. */
static bool tested_of(const char *text, double *tested, double *all)
{
    const char *at = result_find(text, "Only ");

    at = at ? at : result_find(text, "Nur ");
    at = at ? result_number(at, tested) : NULL;
    at = at ? at + strcspn(at, "0123456789\n") : NULL;
    return at && result_number(at, all);
}

static bool is_whole(const char *text)
{
    double tested, all;

    return !tested_of(text, &tested, &all) || tested >= whole_least * all;
}

static double tested_bytes(const char *text)
{
    double tested, all;

    return tested_of(text, &tested, &all) ? tested * (1 << 20) : 0;
}

/* "7.8 GByte OK (16413568 sectors)": the word stands before the count. */
static int read_h2testw(const struct result_text *source)
{
    const char *text = source->text;
    const bool fine = strstr(text, "Test finished without errors") ||
                      strstr(text, "kein Fehler aufgetreten");
    const bool bad = strstr(text, "likely to be defective") ||
                     strstr(text, "wahrscheinlich defekt");
    const char *writing =
        strstr(text, "Schreibrate") ? "Schreibrate:" : "Writing speed:";
    const char *reading =
        strstr(text, "Leserate") ? "Leserate:" : "Reading speed:";
    double kept = 0, lost = 0, overwritten = 0;
    int error = 0;

    if (fine && is_whole(text)) {
        say(source, "genuine", 0, 0, kept_confidence,
            "h2testw filled the drive and read all of it without an error");
    } else if (fine) {
        say_kept(source, "h2testw", tested_bytes(text));
    } else if (bad) {
        if (!sectors_of(text, "Byte OK", &kept) ||
            (!sectors_of(text, "DATA LOST", &lost) &&
             !sectors_of(text, "DATEN VERLOREN", &lost)))
            return RESULT_REFUSE(source, text, "%s",
                                 "h2testw's counts of sectors are missing: "
                                 "give all that it said");
        if (!sectors_of(text, "overwritten", &overwritten))
            (void)sectors_of(text, "berschrieben", &overwritten);
        error = say_files(source, "h2testw", kept, lost, overwritten);
    }
    if (!error)
        error = add_rate(source, "h2testw", true, writing);
    return error ? error : add_rate(source, "h2testw", false, reading);
}

/* ---- CapacityTester ---- */

static bool is_tester(const char *text)
{
    return strstr(text, "CapacityTester") != NULL ||
           strstr(text, "Starting volume test") != NULL;
}

static int read_tester(const struct result_text *source)
{
    const char *text = source->text;

    if (strstr(text, "Test completed successfully, no errors found"))
        say(source, "genuine", 0, 0, kept_confidence,
            "CapacityTester read all that it had written without an error");
    else if (strstr(text, "Verification failed"))
        say(source, "drops", 0, 0, lost_confidence,
            "CapacityTester read something other than it had written; how much "
            "the drive keeps it does not say");
    else if (strstr(text, "Test failed"))
        result_note(source->results,
                    "%.120s: CapacityTester ended without comparing data, so "
                    "nothing follows for the capacity",
                    source->path);
    return 0;
}

const struct result_tool tools_capacity[] = {
    {"f3probe", is_f3probe, read_f3probe},
    {"f3read", is_f3read, read_f3read},
    {"f3write", is_f3write, read_f3write},
    {"h2testw", is_h2testw, read_h2testw},
    {"CapacityTester", is_tester, read_tester},
    {NULL, NULL, NULL}};
