/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates: CrystalDiskMark, KDiskMark, iozone, dd, hdparm. */
#include <stdio.h>
#include <string.h>

#include "lib/infer/results/tool.h"

/* ---- CrystalDiskMark, KDiskMark ---- */

static bool is_diskmark(const char *text)
{
    return strstr(text, "DiskMark") && strstr(text, "MB/s");
}

/* "SEQ 1MiB (Q= 8, T= 1): 7000.000 MB/s [ 6675.7 IOPS] < 1198.37 us>"; versions
 * up to 7 "Random Read 4KiB (Q= 32,T= 1) : ...", up to 4 "Random Read 4KB
 * (QD=32) : ...". False: it is no such line. */
static bool read_line(const char *line, struct result_point *point)
{
    const char *at = line + strspn(line, " \t>*");
    const char *threads = result_after(line, "T="), *rate, *size;
    const char *queue = result_after(line, "Q=");
    double count;

    point->random = strncmp(at, "RND", 3) == 0 || strncmp(at, "Random", 6) == 0;
    if (!point->random && strncmp(at, "SEQ", 3) != 0 &&
        strncmp(at, "Sequential", 10) != 0)
        return false;
    rate = result_after(threads ? threads : at, ":");
    if (!rate || !(rate = result_number(rate, &point->bytes_per_second)) ||
        !result_after(rate, "MB/s"))
        return false;
    point->bytes_per_second *= 1e6;
    size = at + strcspn(at, "0123456789(\n");
    if (*size == '(' || !result_bytes(size, 1024, &point->block_bytes))
        point->block_bytes = 1 << 20; /* which "Sequential" alone means */
    point->depth = 1;
    if (!queue)
        queue = result_after(line, "QD=");
    if (queue)
        (void)result_number(queue, &point->depth);
    if (threads && result_number(threads, &count))
        point->depth *= count;
    point->requests_per_second = point->bytes_per_second / point->block_bytes;
    const char *time = result_after(line, "<");
    if (time)
        (void)result_ns(time, &point->mean_ns);
    if (point->mean_ns <= 0 && point->requests_per_second > 0)
        point->mean_ns = 1e9 * point->depth / point->requests_per_second;
    return true;
}

static int read_diskmark(const struct result_text *source)
{
    const bool is_k = strstr(source->text, "KDiskMark") != NULL;
    enum { READS, WRITES, MIXED } part = MIXED;
    bool headed = false;
    int error = 0;

    for (const char *line = source->text; line && !error;
         line = result_next_line(line)) {
        struct result_point point = {.tool =
                                         is_k ? "KDiskMark" : "CrystalDiskMark",
                                     .cache = CACHE_BYPASSED};
        if (result_after(line, "[Read]"))
            part = READS;
        else if (result_after(line, "[Write]"))
            part = WRITES;
        else if (result_after(line, "[Mix]"))
            part = MIXED;
        headed = headed || part != MIXED;
        if (!read_line(line, &point)) {
            if (result_after(line, "(Q=") && result_after(line, "T="))
                return RESULT_REFUSE(source, line, "expected 'MB/s' in '%.*s'",
                                     (int)strcspn(line, "\n") > 80
                                         ? 80
                                         : (int)strcspn(line, "\n"),
                                     line);
            continue;
        }
        const char *at = line + strspn(line, " \t>*");
        const bool reads = result_after(at, " Read ") != NULL;
        const bool writes = result_after(at, " Write ") != NULL;
        point.writes = headed ? part == WRITES : writes;
        if ((headed && part == MIXED) || (!headed && reads == writes))
            continue; /* of both, or nobody says of which */
        if (point.bytes_per_second > 0)
            error = result_add(source->results, &point);
    }
    return error;
}

/* ---- iozone ---- */

static bool is_iozone(const char *text)
{
    return (strstr(text, "reclen") && strstr(text, "rewrite")) ||
           strstr(text, "Iozone: Performance Test");
}

enum { COLUMNS = 8, HEAD_COLUMNS = 16, CLOSE_COLUMNS = 4 };

/* Where each word of a line ends, with tabs as blanks; how many there are. */
static size_t word_ends(const char *line, size_t ends[], double numbers[])
{
    size_t count = 0, at = 0;
    const size_t length = strcspn(line, "\n");

    while (count < HEAD_COLUMNS) {
        at += strspn(line + at, " \t");
        if (at >= length)
            break;
        if (numbers && !result_number(line + at, &numbers[count]))
            return 0;
        at += strcspn(line + at, " \t\n");
        ends[count++] = at;
    }
    return count;
}

/* Tests that were not run leave their columns empty: a number belongs to the
 * word above its end. False: it is no line of numbers, or its blanks are lost,
 * so that a number has no word or two have one. */
static bool take_columns(const char *line, const size_t head[],
                         size_t head_count, double values[COLUMNS])
{
    size_t ends[HEAD_COLUMNS];
    double numbers[HEAD_COLUMNS];
    bool taken[HEAD_COLUMNS] = {false};
    const size_t count = word_ends(line, ends, numbers);

    memset(values, 0, COLUMNS * sizeof(values[0]));
    for (size_t i = 0; i < count; i++) {
        size_t column = 0;
        while (column < head_count &&
               (ends[i] + CLOSE_COLUMNS <= head[column] ||
                ends[i] >= head[column] + CLOSE_COLUMNS))
            column++;
        if (column == head_count || taken[column])
            return false;
        taken[column] = true;
        if (column < COLUMNS)
            values[column] = numbers[i];
    }
    return count >= 3 && values[0] > 0 && values[1] > 0;
}

static int add_columns(const struct result_text *source,
                       const double values[COLUMNS])
{
    /* write rewrite read reread random-read random-write */
    static const struct {
        size_t column;
        bool writes, random;
    } kinds[] = {
        {2, true, false}, {4, false, false}, {6, false, true}, {7, true, true}};
    const bool direct = strstr(source->text, "O_DIRECT feature enabled");
    int error = 0;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !error; i++) {
        struct result_point point = {
            .tool = "iozone",
            .writes = kinds[i].writes,
            .random = kinds[i].random,
            .cache = direct ? CACHE_BYPASSED : CACHE_USED,
            .depth = 1,
            .block_bytes = values[1] * 1024,
            .bytes_per_second = values[kinds[i].column] * 1024};
        if (point.bytes_per_second <= 0)
            continue;
        point.requests_per_second = point.bytes_per_second / point.block_bytes;
        point.mean_ns = 1e9 / point.requests_per_second;
        error = result_add(source->results, &point);
    }
    return error;
}

static int read_iozone(const struct result_text *source)
{
    size_t head[HEAD_COLUMNS], head_count = 0;
    int error = 0;

    if (!strstr(source->text, "Output is in kBytes/sec") &&
        !strstr(source->text, "Output is in Kbytes/sec")) {
        result_note(source->results,
                    "%.120s: iozone's unit is not there ('Output is in "
                    "kBytes/sec'): no finding follows",
                    source->path);
        return 0;
    }
    for (const char *line = source->text; line && !error;
         line = result_next_line(line)) {
        double values[COLUMNS];
        if (result_after(line, "reclen") && result_after(line, "rewrite"))
            head_count = word_ends(line, head, NULL);
        else if (head_count && take_columns(line, head, head_count, values))
            error = add_columns(source, values);
    }
    return error;
}

/* ---- dd ---- */

static bool is_dd(const char *text)
{
    return (strstr(text, "records in") && strstr(text, "records out")) ||
           strstr(text, " copied, ") || strstr(text, " kopiert, ");
}

/* The command is there where a whole terminal was pasted. */
static bool is_said(const char *text, const char *key, const char *one,
                    const char *two)
{
    const char *at = result_find(text, key);

    if (!at)
        return false;
    const char *found = strstr(at, one);
    const char *other = two ? strstr(at, two) : NULL;
    const char *end = at + strcspn(at, " \n");
    return (found && found < end) || (other && other < end);
}

static int read_dd(const struct result_text *source)
{
    const char *text = source->text;
    const char *word = strstr(text, " kopiert, ") ? " kopiert, " : " copied, ";
    const char *at = result_find(text, word);
    const char *line = at;
    struct result_point point = {.tool = "dd", .block_bytes = 1 << 20};
    double bytes, seconds;
    int count = 0;

    for (const char *next = text; (next = result_find(next, word));)
        count++;
    while (line && line > text && line[-1] != '\n')
        line--;
    if (!at)
        return 0;
    if (count > 1) {
        result_note(source->results,
                    "%.120s: of %d results of dd each takes a file of its own, "
                    "with its command: no finding follows",
                    source->path, count);
        return 0;
    }
    if (!result_number(line, &bytes) || !result_number(at, &seconds) ||
        seconds <= 0 || bytes <= 0)
        return RESULT_REFUSE(source, line, "%s",
                             "expected dd's 'BYTES bytes (...) copied, SECONDS "
                             "s, RATE'");
    const bool writes = is_said(text, "of=", "/", NULL) &&
                        !is_said(text, "of=", "/dev/null", NULL);
    const bool direct = is_said(text, "oflag=", "direct", "sync") ||
                        is_said(text, "conv=", "fdatasync", "fsync") ||
                        is_said(text, "iflag=", "direct", NULL);
    if (!direct || !is_said(text, "if=", "/", NULL)) {
        result_note(source->results,
                    "%.120s: dd moved %.4g MB/s, as it says; whether past the "
                    "page cache it does not say, so no finding follows. Give "
                    "its command too, with oflag=direct or iflag=direct",
                    source->path, bytes / seconds / 1e6);
        return 0;
    }
    point.writes = writes;
    point.cache = CACHE_BYPASSED;
    point.depth = 1;
    point.bytes_per_second = bytes / seconds;
    return result_add(source->results, &point);
}

/* ---- hdparm ---- */

static bool is_hdparm(const char *text)
{
    return strstr(text, "Timing cached reads:") ||
           strstr(text, "Timing buffered disk reads:") ||
           strstr(text, "Timing O_DIRECT disk reads:") ||
           strstr(text, "Timing buffer-cache reads:");
}

static int read_hdparm(const struct result_text *source)
{
    int error = 0;

    for (const char *at = source->text;
         (at = result_find(at, "disk reads")) && !error;) {
        const char *rate = result_after(at, "= ");
        struct result_point point = {
            .tool = "hdparm", .cache = CACHE_BYPASSED, .block_bytes = 2 << 20};
        if (!rate || !(rate = result_number(rate, &point.bytes_per_second)))
            return RESULT_REFUSE(source, at, "%s",
                                 "expected hdparm's '... MB in ... seconds = "
                                 "RATE'");
        /* Its MB are of 1024. */
        point.bytes_per_second *=
            result_after(rate - 1, "kB/sec") ? 1024 : 1 << 20;
        error = result_add(source->results, &point);
    }
    if (!strstr(source->text, "disk reads"))
        result_note(source->results,
                    "%.120s: hdparm -T reads from memory alone: no finding "
                    "follows",
                    source->path);
    return error;
}

const struct result_tool tools_rates[] = {
    {"CrystalDiskMark or KDiskMark", is_diskmark, read_diskmark},
    {"iozone", is_iozone, read_iozone},
    {"dd", is_dd, read_dd},
    {"hdparm", is_hdparm, read_hdparm},
    {NULL, NULL, NULL}};
