/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/trace/trace.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/flash/trace/format.h"
#include "lib/flash/trace/lines.h"

enum { LOOK_LINES = 200, SECTOR_BYTES = 512, TOLD_MAX = 3, TOLD_BYTES = 160 };

/* No drive is larger; an offset beyond it is a damaged line. */
static const uint64_t address_most_bytes = UINT64_C(1) << 60;

struct trace {
    trace_make_fn *make; /* NULL: it is read from the file */
    void *context;
    struct lines *lines;
    char *path;
    struct trace_settings settings;
    const struct trace_format_row *row;
    struct trace_state state;
    struct trace_counts counts;
    uint64_t first_ns, last_ns;
    bool has_first;
    bool ended; /* a summary follows that is no trace */
    bool has_times;
    bool has_pending; /* a request that one line asked for with another one */
    struct trace_request pending;
    char devices[TRACE_DEVICES_MAX][TRACE_DEVICE_BYTES];
    char told[TOLD_MAX][TOLD_BYTES];
    size_t told_count;
};

static const struct trace_format_row *find_row(const char *name)
{
    for (const struct trace_format_row *row = trace_formats; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

bool trace_format_known(const char *name)
{
    return find_row(name) != NULL;
}

char *trace_format_names(char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (const struct trace_format_row *row = trace_formats; row->name; row++) {
        int more = snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                            row->name);
        if (more > 0 && used + (size_t)more < size)
            used += (size_t)more;
    }
    return text;
}

static bool says_nothing(const char *line)
{
    line += strspn(line, " \t");
    return *line == '\0' || *line == '#';
}

/* ---- the first lines --------------------------------------------------- */

struct look {
    unsigned lines_count, fits_count;
    struct trace_evidence evidence;
};

/* Reads them as one format, and begins again. */
static int look_as(struct trace *trace, const struct trace_format_row *row,
                   struct look *look, struct fault *why)
{
    const struct trace_units *own = &row->units;
    struct trace_state *state = &trace->state;
    char *line;
    int status = 0;

    assert(row);
    memset(look, 0, sizeof(*look));
    memset(state, 0, sizeof(*state));
    state->pattern = trace->settings.blkparse_format;
    state->units = trace->settings.units;
    if (!state->units.time_ns)
        state->units.time_ns = own->time_ns ? own->time_ns : 1000000;
    if (!state->units.block_bytes)
        state->units.block_bytes = own->block_bytes ? own->block_bytes : 512;
    while (look->lines_count < LOOK_LINES && lines_can_look(trace->lines) &&
           (status = lines_next(trace->lines, &line, why)) > 0) {
        struct trace_line parsed;
        if (says_nothing(line))
            continue;
        enum trace_parsed found = row->parse(row, line, state, &parsed);
        look->lines_count++;
        look->fits_count += found != TRACE_BAD;
        if (found == TRACE_SUMMARY)
            break;
        if (found == TRACE_REQUEST)
            evidence_add(&look->evidence, row, &state->units, &parsed,
                         trace->settings.capacity_bytes);
    }
    lines_again(trace->lines);
    return status < 0 ? status : 0;
}

/* Which format can read the most of the first lines? NULL: none reads half. */
static int choose_row(struct trace *trace, struct fault *why)
{
    struct look look;
    unsigned most = 0, lines_count = 0;
    char names[200];

    for (const struct trace_format_row *row = trace_formats; row->name; row++) {
        int error = look_as(trace, row, &look, why);
        if (error)
            return error;
        if (look.fits_count > most && 2 * look.fits_count >= look.lines_count) {
            most = look.fits_count;
            trace->row = row;
        }
        if (look.lines_count > lines_count)
            lines_count = look.lines_count;
    }
    if (trace->row)
        return 0;
    return fault_set(why, FAULT_OPEN, -EINVAL,
                     "%s: %s of a format known here (%s); what 'blkparse -f' "
                     "printed needs --blkparse-format=",
                     trace->path,
                     lines_count ? "its first lines are not"
                                 : "it is empty, not",
                     trace_format_names(names, sizeof(names)));
}

static char *tell(struct trace *trace)
{
    return trace->told[trace->told_count++];
}

/* What the first lines said is kept; where they had come to is not. */
static void decide(struct trace *trace, const struct trace_units *units)
{
    struct trace_state *state = &trace->state;

    state->units = *units;
    state->decided = true;
    state->fraction_digits = 0;
    trace->has_times = state->version != 2 || state->waits;
    state->version = 0;
    state->clock_ns = 0;
    if (state->seen_at == '\0')
        state->seen_at = 'Q';
    if (state->seen_at == 'C')
        snprintf(tell(trace), TOLD_BYTES,
                 "each request is sent when it was recorded as complete: when "
                 "it began is not there");
    if (state->files.are_many)
        snprintf(tell(trace), TOLD_BYTES,
                 "files have no place on a drive: each GiB of one lies where "
                 "the next is free when it is first touched");
}

static int look(struct trace *trace, struct fault *why)
{
    struct trace_units units;
    struct look look;
    int error = 0;

    trace->row = NULL;
    if (trace->settings.format)
        trace->row = find_row(trace->settings.format);
    else if (trace->settings.blkparse_format)
        trace->row = find_row("blkparse");
    if (!trace->row)
        error = choose_row(trace, why);
    if (!error)
        error = look_as(trace, trace->row, &look, why);
    if (!error)
        error = evidence_decide(&look.evidence, trace->path, trace->row,
                                &trace->settings, &trace->state, &units,
                                trace->told[0], TOLD_BYTES, why);
    if (error)
        return error;
    trace->told_count = trace->told[0][0] != '\0';
    decide(trace, &units);
    return 0;
}

int trace_open(const char *path, const struct trace_settings *settings,
               struct trace **result, struct fault *why)
{
    struct trace *trace = calloc(1, sizeof(*trace));

    if (!trace || !(trace->path = strdup(
                        strcmp(path, "-") == 0 ? "standard input" : path))) {
        trace_close(trace);
        return fault_set(why, FAULT_OPEN, -ENOMEM, "no memory for a trace");
    }
    trace->settings = *settings;
    int error = lines_open(path, &trace->lines, why);
    if (!error)
        error = look(trace, why);
    if (error) {
        trace_close(trace);
        return error;
    }
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
    lines_close(trace->lines);
    free(trace->path);
    free(trace);
}

const char *trace_format_of(const struct trace *trace)
{
    return trace->row->name;
}

const char *trace_told(const struct trace *trace, size_t index)
{
    return index < trace->told_count ? trace->told[index] : NULL;
}

bool trace_has_times(const struct trace *trace)
{
    return trace->has_times;
}

void trace_counts(const struct trace *trace, struct trace_counts *counts)
{
    *counts = trace->counts;
    if (!trace->lines)
        return;
    counts->lines_count = lines_count(trace->lines);
    counts->read_bytes = lines_bytes(trace->lines);
    counts->size_bytes = lines_size_bytes(trace->lines);
}

char *trace_devices(const struct trace *trace, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (uint64_t i = 0; i < trace->counts.devices_count; i++) {
        int more = snprintf(text + used, size - used, "%s%s", i ? " " : "",
                            trace->devices[i]);
        if (more > 0 && used + (size_t)more < size)
            used += (size_t)more;
    }
    return text;
}

/* ---- requests ---------------------------------------------------------- */

static void note_device(struct trace *trace, const char *device)
{
    uint64_t count = trace->counts.devices_count;

    for (uint64_t i = count; i-- > 0;)
        if (strcmp(trace->devices[i], device) == 0)
            return;
    if (count < TRACE_DEVICES_MAX) {
        snprintf(trace->devices[count], TRACE_DEVICE_BYTES, "%s", device);
        trace->counts.devices_count++;
    }
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
        .fua = line->fua,
        .offset_bytes = line->operation == FLASH_FLUSH ? 0 : first,
        .length_bytes = line->operation == FLASH_FLUSH ? 0 : end - first};
    trace->counts.requests_count++;
    trace->counts.zones_count += trace->state.zones;
    if (line->flush_first) {
        trace->pending = *request;
        trace->has_pending = true;
        *request = (struct trace_request){.arrive_ns = request->arrive_ns,
                                          .operation = FLASH_FLUSH};
    }
    return true;
}

static bool fits(const struct trace_line *line)
{
    return line->offset_bytes <= address_most_bytes &&
           line->length_bytes <= address_most_bytes;
}

/* 1: a request; 0: none in this line; -errno. */
static int take_line(struct trace *trace, const char *text,
                     struct trace_request *request, struct fault *why)
{
    struct trace_line line;
    enum trace_parsed parsed =
        trace->row->parse(trace->row, text, &trace->state, &line);

    switch (parsed) {
    case TRACE_REQUEST:
        if (fits(&line))
            return take(trace, &line, request);
        break;
    case TRACE_OTHER:
        return 0;
    case TRACE_ZONE:
        trace->counts.zones_left_count++;
        return 0;
    case TRACE_STACKED:
        trace->counts.stacked_count++;
        return 0;
    case TRACE_SUMMARY:
        trace->ended = true;
        return 0;
    case TRACE_BAD:
        break;
    }
    if (parsed == TRACE_BAD && !trace->has_first && trace_is_header(text))
        return 0;
    if (!trace->settings.lenient)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s:%" PRIu64 ": expected %s, not '%.80s'",
                         trace->path, lines_count(trace->lines),
                         trace->row->expected, text);
    trace->counts.malformed_count++;
    return 0;
}

int trace_next(struct trace *trace, struct trace_request *request, bool *end,
               struct fault *why)
{
    char *text;
    int status = 1;

    *end = false;
    if (trace->make) {
        *end = !trace->make(trace->context, request);
        trace->counts.requests_count += !*end;
        return 0;
    }
    if (trace->has_pending) {
        *request = trace->pending;
        trace->has_pending = false;
        trace->counts.requests_count++;
        return 0;
    }
    while (!trace->ended &&
           (status = lines_next(trace->lines, &text, why)) > 0) {
        if (says_nothing(text))
            continue;
        status = take_line(trace, text, request, why);
        if (status != 0)
            return status < 0 ? status : 0;
    }
    *end = status >= 0;
    return status < 0 ? status : 0;
}
