/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/random.h"
#include "lib/flash/trace/format.h"

enum { LINE_MAX_BYTES = 4096, LOOK_LINES = 200, SECTOR_BYTES = 512 };

/* No drive is larger; an offset beyond it is a damaged line. */
static const uint64_t address_most_bytes = UINT64_C(1) << 60;

struct trace {
    trace_make_fn *make; /* NULL: it is read from the file */
    void *context;
    FILE *file;
    char *path;
    struct trace_settings settings;
    const struct trace_format_row *row;
    struct trace_look look; /* what the first lines said */
    struct trace_counts counts;
    uint64_t first_ns, last_ns;
    bool has_first;
    bool ended; /* a summary follows that is no trace */
    uint64_t devices[TRACE_DEVICES_MAX];
    char line[LINE_MAX_BYTES];
};

bool trace_format_parse(const char *name, enum trace_format *format)
{
    if (strcmp(name, "auto") == 0) {
        *format = TRACE_AUTO;
        return true;
    }
    for (const struct trace_format_row *row = trace_formats; row->name; row++)
        if (strcmp(row->name, name) == 0) {
            *format = row->format;
            return true;
        }
    return false;
}

const char *trace_format_name(enum trace_format format)
{
    for (const struct trace_format_row *row = trace_formats; row->name; row++)
        if (row->format == format)
            return row->name;
    return "auto";
}

/* ---- lines ------------------------------------------------------------- */

/* 1: a line, without its end; 0: no more; -errno. */
static int read_line(struct trace *trace, struct fault *why)
{
    if (!fgets(trace->line, sizeof(trace->line), trace->file)) {
        if (ferror(trace->file))
            return fault_set(why, FAULT_OPEN, -EIO, "cannot read %s",
                             trace->path);
        return 0;
    }
    size_t length = strlen(trace->line);
    trace->counts.lines_count++;
    trace->counts.read_bytes += length;
    if (length + 1 == sizeof(trace->line) && trace->line[length - 1] != '\n')
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s:%" PRIu64 ": a line of more than %d bytes is no "
                         "trace",
                         trace->path, trace->counts.lines_count,
                         LINE_MAX_BYTES - 2);
    while (length &&
           (trace->line[length - 1] == '\n' || trace->line[length - 1] == '\r'))
        trace->line[--length] = '\0';
    return 1;
}

static bool says_nothing(const char *line)
{
    line += strspn(line, " \t");
    return *line == '\0' || *line == '#';
}

/* Which format can read the most of the first lines? */
static const struct trace_format_row *best_format(const unsigned fits[],
                                                  unsigned lines_count)
{
    const struct trace_format_row *best = NULL;
    unsigned most = 0;

    for (const struct trace_format_row *row = trace_formats; row->name; row++)
        if (fits[row - trace_formats] > most) {
            most = fits[row - trace_formats];
            best = row;
        }
    return 2 * most >= lines_count ? best : NULL;
}

/* Reads a few lines, and goes back to the beginning. */
static int look(struct trace *trace, struct fault *why)
{
    unsigned fits[TRACE_FORMATS_MAX] = {0}, lines_count = 0;
    int status = 0;

    while (lines_count < LOOK_LINES && (status = read_line(trace, why)) > 0) {
        struct trace_line parsed;
        if (says_nothing(trace->line))
            continue;
        lines_count++;
        for (const struct trace_format_row *row = trace_formats; row->name;
             row++)
            fits[row - trace_formats] +=
                row->parse(trace->line, &trace->look, &parsed) != TRACE_BAD;
    }
    if (status < 0)
        return status;
    trace->look.decided = true;
    if (fseek(trace->file, 0, SEEK_SET))
        return fault_set(why, FAULT_OPEN, -errno,
                         "%s cannot be read twice: --format= says what it is",
                         trace->path);
    memset(&trace->counts, 0, sizeof(trace->counts));
    if (trace->settings.format == TRACE_AUTO) {
        trace->row = best_format(fits, lines_count);
        if (!trace->row)
            return fault_set(why, FAULT_OPEN, -EINVAL,
                             "%s: %s of a format known here (disksim, spc, "
                             "msr, blkparse)",
                             trace->path,
                             lines_count ? "its first lines are not"
                                         : "it is empty, not");
    }
    return 0;
}

int trace_open(const char *path, const struct trace_settings *settings,
               struct trace **result, struct fault *why)
{
    struct stat status = {.st_mode = 0};
    struct trace *trace = calloc(1, sizeof(*trace));

    if (!trace || !(trace->path = strdup(path))) {
        trace_close(trace);
        return fault_set(why, FAULT_OPEN, -ENOMEM, "no memory for a trace");
    }
    trace->settings = *settings;
    trace->file = fopen(path, "re");
    int error = trace->file ? 0 : -errno;
    if (!error && fstat(fileno(trace->file), &status) == 0 &&
        S_ISDIR(status.st_mode))
        error = -EISDIR;
    if (error) {
        trace_close(trace);
        return fault_set(why, FAULT_OPEN, error, "cannot open the trace %s: %s",
                         path, strerror(-error));
    }
    for (const struct trace_format_row *row = trace_formats; row->name; row++)
        if (row->format == settings->format)
            trace->row = row;
    if (settings->format != TRACE_AUTO && !S_ISREG(status.st_mode))
        trace->look = (struct trace_look){.decided = true, .queued = true};
    else
        error = look(trace, why);
    if (error) {
        trace_close(trace);
        return error;
    }
    if (S_ISREG(status.st_mode))
        trace->counts.size_bytes = (uint64_t)status.st_size;
    *result = trace;
    return 0;
}

int trace_of(trace_make_fn *make, void *context, struct trace **trace)
{
    *trace = calloc(1, sizeof(**trace));
    if (!*trace)
        return -ENOMEM;
    (*trace)->make = make;
    (*trace)->context = context;
    return 0;
}

void trace_close(struct trace *trace)
{
    if (!trace)
        return;
    if (trace->file)
        fclose(trace->file);
    free(trace->path);
    free(trace);
}

enum trace_format trace_format_of(const struct trace *trace)
{
    return trace->row->format;
}

void trace_counts(const struct trace *trace, struct trace_counts *counts)
{
    *counts = trace->counts;
}

/* ---- requests ---------------------------------------------------------- */

static void note_device(struct trace *trace, const char *device)
{
    uint64_t hash = random_hash(device);

    for (uint64_t i = 0; i < trace->counts.devices_count; i++)
        if (trace->devices[i] == hash)
            return;
    if (trace->counts.devices_count < TRACE_DEVICES_MAX)
        trace->devices[trace->counts.devices_count++] = hash;
}

/* False: there is nothing in it to send. */
static bool take(struct trace *trace, const struct trace_line *line,
                 struct trace_request *request)
{
    uint64_t first = line->offset_bytes / SECTOR_BYTES * SECTOR_BYTES;
    uint64_t end = line->offset_bytes + line->length_bytes;

    note_device(trace, line->device);
    if (trace->settings.device &&
        strcmp(trace->settings.device, line->device) != 0)
        return false;
    if (line->length_bytes == 0 && line->operation != FLASH_FLUSH) {
        trace->counts.empty_count++;
        return false;
    }
    if (!trace->has_first)
        trace->first_ns = trace->last_ns = line->time_ns;
    trace->has_first = true;
    if (line->time_ns < trace->last_ns)
        trace->counts.backward_count++;
    else
        trace->last_ns = line->time_ns;
    end = (end + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
    if (end - first != line->length_bytes)
        trace->counts.rounded_count++;
    *request = (struct trace_request){
        .arrive_ns = trace->last_ns - trace->first_ns,
        .operation = line->operation,
        .offset_bytes = line->operation == FLASH_FLUSH ? 0 : first,
        .length_bytes = line->operation == FLASH_FLUSH ? 0 : end - first};
    trace->counts.requests_count++;
    return true;
}

static bool fits(const struct trace_line *line)
{
    return line->offset_bytes <= address_most_bytes &&
           line->length_bytes <= address_most_bytes;
}

int trace_next(struct trace *trace, struct trace_request *request, bool *end,
               struct fault *why)
{
    int status;

    *end = false;
    if (trace->make) {
        *end = !trace->make(trace->context, request);
        trace->counts.requests_count += !*end;
        return 0;
    }
    while (!trace->ended && (status = read_line(trace, why)) != 0) {
        struct trace_line line;
        if (status < 0)
            return status;
        if (says_nothing(trace->line))
            continue;
        enum trace_parsed parsed =
            trace->row->parse(trace->line, &trace->look, &line);
        if (parsed == TRACE_REQUEST && fits(&line)) {
            if (take(trace, &line, request))
                return 0;
        } else if (parsed == TRACE_SUMMARY) {
            trace->ended = true;
        } else if (parsed == TRACE_BAD || parsed == TRACE_REQUEST) {
            if (parsed == TRACE_BAD && trace->counts.lines_count == 1 &&
                trace_is_header(trace->line))
                continue;
            if (!trace->settings.lenient)
                return fault_set(why, FAULT_OPEN, -EINVAL,
                                 "%s:%" PRIu64 ": expected %s, not '%.80s'",
                                 trace->path, trace->counts.lines_count,
                                 trace->row->expected, trace->line);
            trace->counts.malformed_count++;
        }
    }
    *end = true;
    return 0;
}
