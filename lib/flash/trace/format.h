/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_TRACE_FORMAT_H
#define SSDPROBE_FLASH_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/flash/trace/trace.h"

/*
 * How each format writes a line: one reader and one row a format. Only the
 * files of this folder use it.
 */

enum { TRACE_FORMATS_MAX = 24, TRACE_DEVICE_BYTES = 64, STACKED_MAX = 16 };

/* One line, as it was recorded. */
struct trace_line {
    uint64_t time_ns;
    enum flash_operation operation;
    uint64_t offset_bytes, length_bytes;
    bool flush_first, fua;
    char device[TRACE_DEVICE_BYTES];
};

enum trace_parsed {
    TRACE_REQUEST,
    TRACE_OTHER,   /* well formed, but no request */
    TRACE_ZONE,    /* a zone command that moves no data: nothing to send */
    TRACE_STACKED, /* a request that is seen again on the device below */
    TRACE_SUMMARY, /* the trace is over */
    TRACE_BAD
};

/* Files of a trace that have no place on the drive: each part of one, of
 * TRACE_PART_BYTES, takes the next free place when it is first touched. */
enum { TRACE_PARTS_MAX = 4096 };
#define TRACE_PART_BYTES (UINT64_C(1) << 30)
struct trace_files {
    uint64_t first_file; /* hash of its name; 0: none yet */
    bool are_many;       /* else the only one lies at the drive's beginning */
    uint32_t parts_count;
    struct trace_part {
        uint64_t key;
        uint32_t place; /* from 1; 0: free */
    } parts[2 * TRACE_PARTS_MAX];
};

/* What the lines so far told. `decided`: the first lines were looked at. */
struct trace_state {
    struct trace_units units;
    const char *pattern; /* of blkparse -f; NULL: its default */
    bool decided;
    /* Kernel traces: requests are seen where they enter the queue (Q), are
     * issued (D), or complete (C): the first of these that there is. */
    char seen_at;
    uint64_t stacked[STACKED_MAX]; /* devices above others, by hash */
    size_t stacked_count;
    unsigned fraction_digits; /* most of any time */
    /* fio */
    unsigned version;
    bool waits;
    uint64_t clock_ns;
    struct trace_files files;
    bool zones; /* a request of the last line was a zone command */
};

struct trace_format_row {
    const char *name;
    const char *expected; /* what a line looks like, for errors */
    enum trace_parsed (*parse)(const struct trace_format_row *row,
                               const char *line, struct trace_state *state,
                               struct trace_line *parsed);
    /* What a time and a place count in; 0: the format does not say. */
    struct trace_units units;
    bool of_kernel;  /* printed by a tool that has one unit */
    bool named_only; /* several programs write it, each in units of its own:
                        these hold where the user named the format */
    /* Its clock began with an epoch: the times that there can be. 0, 0: with
     * the trace. */
    uint64_t clock_least_ns, clock_most_ns;
    /* columns.c: its separator, and a letter a column. */
    char separator;
    const char *columns;
};

/* Ends with a row without a name. */
extern const struct trace_format_row trace_formats[];

/* Readers. */
enum trace_parsed parse_columns(const struct trace_format_row *row,
                                const char *line, struct trace_state *state,
                                struct trace_line *parsed);
enum trace_parsed parse_iolog(const struct trace_format_row *row,
                              const char *line, struct trace_state *state,
                              struct trace_line *parsed);
enum trace_parsed parse_blkparse(const struct trace_format_row *row,
                                 const char *line, struct trace_state *state,
                                 struct trace_line *parsed);
enum trace_parsed parse_ftrace(const struct trace_format_row *row,
                               const char *line, struct trace_state *state,
                               struct trace_line *parsed);
enum trace_parsed parse_biosnoop(const struct trace_format_row *row,
                                 const char *line, struct trace_state *state,
                                 struct trace_line *parsed);

const char *trace_time_unit_name(uint64_t ns);

/* Before the fields of a line are taken: nothing but what no column says. */
static inline void begin_line(struct trace_line *line)
{
    line->device[0] = '\0';
    line->flush_first = line->fua = false;
    line->operation = FLASH_READ;
    line->time_ns = line->offset_bytes = line->length_bytes = 0;
}

/* Copies a device's name; false: it is too long. */
bool set_device(struct trace_line *line, const char *name);

/* Names of columns, as some recorders write them first? */
bool trace_is_header(const char *line);

/*
 * What the first lines say of the units, in the numbers of the file, and which
 * units can be meant. Where none or more than one can, -EINVAL with a question
 * that an option answers. `told` is for the user: which units were taken; empty
 * where the format leaves no choice.
 */
struct trace_evidence {
    uint64_t requests_count, transfers_count; /* transfers: no flush, discard */
    double first_time, last_time;             /* in units.time_ns */
    double most_blocks, sum_blocks;           /* of one request, of all */
    uint64_t beyond_as_sectors_count;
    uint64_t odd_count;     /* not whole 512 */
    uint64_t aligned_count; /* multiples of `of_kernel` ? 4096 : 512 */
};
void evidence_add(struct trace_evidence *evidence,
                  const struct trace_format_row *row,
                  const struct trace_units *read_with,
                  const struct trace_line *line, uint64_t capacity_bytes);
int evidence_decide(const struct trace_evidence *evidence, const char *path,
                    const struct trace_format_row *row,
                    const struct trace_settings *settings,
                    const struct trace_state *state, struct trace_units *units,
                    char *told, size_t told_size, struct fault *why);

#endif
