/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which units are meant: what the first lines rule out. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/flash/trace/format.h"

enum {
    MANY_REQUESTS = 16,    /* from here on a mean gap says something */
    ALIGNED_KERNEL = 4096, /* of whole MiB there are honest traces */
    ALIGNED = 512,
    LEAST_ALIGNED = 2
};

/* No drive does more: 20 million requests, 64 GB, a second. */
static const double gap_least_ns = 50, bytes_per_ns_most = 64;
/* Nobody records a trace to see a request in so long. */
static const double gap_most_ns = 1e9;
/* The kernel splits what is longer. */
static const double request_most_bytes = 32.0 * 1024 * 1024;

static const struct {
    const char *name;
    uint64_t ns;
    unsigned digits_most; /* no clock shows parts of a ns */
} time_units[] = {{"s", UINT64_C(1000000000), 9},
                  {"ms", 1000000, 6},
                  {"us", 1000, 3},
                  {"100ns", 100, 2},
                  {"ns", 1, 0}};
enum { TIME_UNITS = sizeof(time_units) / sizeof(time_units[0]) };

bool trace_time_unit(const char *name, uint64_t *ns)
{
    for (size_t i = 0; i < TIME_UNITS; i++)
        if (strcmp(name, time_units[i].name) == 0) {
            *ns = time_units[i].ns;
            return true;
        }
    return false;
}

bool trace_block_unit(const char *name, uint64_t *bytes)
{
    *bytes = strcmp(name, "byte") == 0 ? 1 : 512;
    return *bytes == 1 || strcmp(name, "sector") == 0;
}

const char *trace_time_unit_name(uint64_t ns)
{
    for (size_t i = 0; i < TIME_UNITS; i++)
        if (time_units[i].ns == ns)
            return time_units[i].name;
    return "s";
}

void evidence_add(struct trace_evidence *evidence,
                  const struct trace_format_row *row,
                  const struct trace_units *read_with,
                  const struct trace_line *line, uint64_t capacity_bytes)
{
    const double unit = (double)read_with->block_bytes;
    const bool blocks = !row->columns || !strchr(row->columns, 'B');
    const uint64_t aligned = row->of_kernel ? ALIGNED_KERNEL : ALIGNED;
    const uint64_t offset = line->offset_bytes / read_with->block_bytes;
    const uint64_t length =
        blocks ? line->length_bytes / read_with->block_bytes : 0;
    const double time = (double)line->time_ns / (double)read_with->time_ns;

    if (evidence->requests_count++ == 0)
        evidence->first_time = evidence->last_time = time;
    if (time > evidence->last_time)
        evidence->last_time = time;
    if (line->operation != FLASH_READ && line->operation != FLASH_WRITE)
        return;
    evidence->transfers_count++;
    evidence->sum_blocks += (double)line->length_bytes / (blocks ? unit : 1);
    if ((double)length > evidence->most_blocks)
        evidence->most_blocks = (double)length;
    evidence->odd_count += offset % 512 != 0 || length % 512 != 0;
    /* As sectors each would be as long, or lie as regularly, as 256 KiB. */
    evidence->aligned_count +=
        offset % aligned == 0 &&
        (blocks ? length % aligned == 0 : line->length_bytes < 512 * aligned);
    evidence->beyond_as_sectors_count +=
        capacity_bytes &&
        ((double)offset + (double)length) * 512 > (double)capacity_bytes;
}

/* ---- times ---- */

/* NULL: it can be; else why not. */
static const char *against_time(const struct trace_evidence *evidence,
                                const struct trace_state *state, size_t unit)
{
    const double ns = (double)time_units[unit].ns;
    const double span_ns = (evidence->last_time - evidence->first_time) * ns;
    const double gaps = (double)evidence->requests_count - 1;

    if (state->fraction_digits > time_units[unit].digits_most)
        return "no clock has so many digits";
    if (evidence->requests_count < MANY_REQUESTS)
        return NULL;
    if (evidence->last_time > evidence->first_time &&
        (span_ns / gaps < gap_least_ns ||
         evidence->sum_blocks / span_ns > bytes_per_ns_most))
        return "no drive is so fast";
    return NULL;
}

/* How long the first lines last by each unit that is possible. */
static void list_spans(const struct trace_evidence *evidence,
                       const bool possible[], char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < TIME_UNITS; i++) {
        char span[32];
        if (!possible[i])
            continue;
        format_ns((uint64_t)((evidence->last_time - evidence->first_time) *
                             (double)time_units[i].ns),
                  span, sizeof(span));
        int more = snprintf(text + used, size - used, "%sin %s they last %s",
                            used ? ", " : "", time_units[i].name, span);
        if (more > 0 && used + (size_t)more < size)
            used += (size_t)more;
    }
}

static int ask_time(const struct trace_evidence *evidence, const char *path,
                    const char *because, const bool possible[],
                    struct fault *why)
{
    const bool lasts = evidence->last_time > evidence->first_time;
    char spans[200], first[240] = "";

    list_spans(evidence, possible, spans, sizeof(spans));
    if (lasts)
        snprintf(first, sizeof(first), " Its first %lu requests: %s.",
                 (unsigned long)evidence->requests_count, spans);
    return fault_set(why, FAULT_OPEN, -EINVAL,
                     "%s: %s.%s --time-unit= says which it is (s, ms, us, "
                     "100ns or ns)",
                     path, because, first);
}

/* Is the unit that the format says the one that was written? */
static const char *doubt_time(const struct trace_evidence *evidence,
                              const struct trace_format_row *row,
                              const struct trace_state *state, size_t unit)
{
    const double ns = (double)time_units[unit].ns;
    const double gaps = (double)evidence->requests_count - 1;

    if (row->clock_most_ns &&
        (evidence->first_time * ns < (double)row->clock_least_ns ||
         evidence->first_time * ns > (double)row->clock_most_ns))
        return "its clock would begin at no time that this format can have";
    if (!row->clock_most_ns && !row->of_kernel &&
        evidence->requests_count >= MANY_REQUESTS &&
        (evidence->last_time - evidence->first_time) * ns / gaps > gap_most_ns)
        return "its requests would be seconds apart";
    return against_time(evidence, state, unit);
}

static int decide_time(const struct trace_evidence *evidence, const char *path,
                       const struct trace_format_row *row, bool is_named,
                       const struct trace_state *state, uint64_t *ns,
                       struct fault *why)
{
    bool possible[TIME_UNITS];
    size_t count = 0;

    for (size_t i = 0; i < TIME_UNITS; i++) {
        /* Simulators write one of three. */
        possible[i] = !against_time(evidence, state, i) &&
                      !(row->named_only && (time_units[i].ns == 100 || i == 0));
        count += possible[i];
        if (possible[i])
            *ns = time_units[i].ns;
    }
    if (row->units.time_ns && (is_named || !row->named_only)) {
        size_t unit = 0;
        while (unit + 1 < TIME_UNITS &&
               time_units[unit].ns != row->units.time_ns)
            unit++;
        const char *doubt = doubt_time(evidence, row, state, unit);
        char because[160];
        *ns = row->units.time_ns;
        possible[unit] = false;
        snprintf(because, sizeof(because),
                 "as %s its times are in %s, but %s: perhaps they are in "
                 "another unit",
                 row->name, time_units[unit].name, doubt ? doubt : "");
        return doubt ? ask_time(evidence, path, because, possible, why) : 0;
    }
    if (count == 1 && evidence->requests_count > 1)
        return 0;
    return ask_time(evidence, path,
                    "a trace of five columns does not say the unit of its "
                    "times",
                    possible, why);
}

/* ---- places ---- */

/* Most of them say so. */
static bool most(uint64_t count, const struct trace_evidence *evidence)
{
    return 2 * count > evidence->transfers_count;
}

/* NULL: it can be; else why not. */
static const char *against_block(const struct trace_evidence *evidence,
                                 uint64_t block_bytes)
{
    if (block_bytes == 1)
        return most(evidence->odd_count, evidence)
                   ? "places and lengths are no multiples of 512 bytes"
                   : NULL;
    if (most(evidence->beyond_as_sectors_count, evidence) &&
        !most(evidence->odd_count, evidence))
        return "most lie beyond the end of the drive";
    return evidence->most_blocks * 512 > request_most_bytes
               ? "requests are longer than 32 MiB"
               : NULL;
}

static int ask_block(const char *path, const struct trace_format_row *row,
                     const char *because, struct fault *why)
{
    return fault_set(why, FAULT_OPEN, -EINVAL,
                     "%s: %s%s%s. --block-unit=sector or --block-unit=byte "
                     "says what its places and lengths are counted in",
                     path, because ? "as " : "",
                     because ? row->name
                             : "a trace of five columns does not "
                               "say the unit of its places",
                     because ? because : "");
}

static int decide_block(const struct trace_evidence *evidence, const char *path,
                        const struct trace_format_row *row, bool is_named,
                        uint64_t *block_bytes, const char **reason,
                        struct fault *why)
{
    const char *bytes_no = against_block(evidence, 1);
    const char *sectors_no = against_block(evidence, 512);
    char because[160];

    if (evidence->transfers_count == 0 && !row->named_only) {
        *block_bytes = row->units.block_bytes;
        return 0;
    }
    if (!row->units.block_bytes || (!is_named && row->named_only)) {
        *block_bytes = sectors_no ? 1 : 512;
        *reason = sectors_no ? sectors_no : bytes_no;
        if (!bytes_no == !sectors_no)
            return ask_block(path, row, NULL, why);
        return 0;
    }
    *block_bytes = row->units.block_bytes;
    if (*block_bytes == 512 && !sectors_no &&
        evidence->transfers_count >= LEAST_ALIGNED &&
        evidence->aligned_count == evidence->transfers_count)
        sectors_no = "every place and length is a multiple of 512";
    const char *doubt = *block_bytes == 1 ? bytes_no : sectors_no;
    snprintf(because, sizeof(because), " they would be in %s, but %s",
             *block_bytes == 1 ? "bytes" : "sectors", doubt ? doubt : "");
    return doubt ? ask_block(path, row, because, why) : 0;
}

int evidence_decide(const struct trace_evidence *evidence, const char *path,
                    const struct trace_format_row *row,
                    const struct trace_settings *settings,
                    const struct trace_state *state, struct trace_units *units,
                    char *told, size_t told_size, struct fault *why)
{
    const bool is_named = settings->format != NULL;
    const char *as_named = is_named ? "as this simulator writes them"
                                    : "no other unit is possible";
    const char *block_reason =
        settings->units.block_bytes ? "as --block-unit= says" : as_named;
    int error = 0;

    *units = settings->units;
    told[0] = '\0';
    if (evidence->requests_count == 0)
        *units = row->units.block_bytes
                     ? row->units
                     : (struct trace_units){UINT64_C(1000000), 512};
    if (!units->time_ns && settings->timeless)
        units->time_ns = 1;
    if (!units->time_ns)
        error = decide_time(evidence, path, row, is_named, state,
                            &units->time_ns, why);
    if (!error && !units->block_bytes)
        error = decide_block(evidence, path, row, is_named, &units->block_bytes,
                             &block_reason, why);
    if (!error && row->named_only)
        snprintf(told, told_size, "times in %s (%s), places in %s (%s)",
                 trace_time_unit_name(units->time_ns),
                 settings->units.time_ns ? "as --time-unit= says"
                 : settings->timeless    ? "which --depth= ignores"
                                         : as_named,
                 units->block_bytes == 1 ? "bytes" : "sectors", block_reason);
    return error;
}
