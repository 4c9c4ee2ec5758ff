/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_SAMPLE_CSV_FORMAT_H
#define SSDPROBE_INFER_SAMPLE_CSV_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the writer and the reader of sample_csv.h must agree on; nobody else
 * includes this. */

#define CSV_TITLE "# ssdprobe samples"
/* The format is 1.MINOR; each minor version appends columns to the one before.
 * Files of earlier ones are read, too. */
#define CSV_VERSION_MAJOR "1."
#define CSV_COLUMNS_0                                                          \
    "run,sequence,probe,phase,cell,round,operation,offset_bytes,"              \
    "length_bytes,submit_ns,complete_ns,parts,error"
#define CSV_COLUMNS_1 CSV_COLUMNS_0 ",depth,fua,returned"
#define CSV_COLUMNS_2 CSV_COLUMNS_1 ",latency_ns"

enum csv_minor {
    CSV_MINOR_ALONE = 0,    /* every request was sent alone */
    CSV_MINOR_TOGETHER = 1, /* depth, fua, returned */
    CSV_MINOR_LATENCY = 2,
    CSV_MINOR = CSV_MINOR_LATENCY /* what is written */
};

enum {
    CSV_LINE_MAX = 640, /* every field at its longest takes 351 */
    CSV_ERRNO_MAX = 4095
};

/* The letters of a name, besides [a-z0-9-]. */
#define CSV_RUN_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define CSV_CELL_LETTERS "+"

enum csv_field_kind {
    CSV_FIELD_NAME, /* [a-z0-9-] and `letters` */
    CSV_FIELD_TEXT, /* printable ASCII */
    CSV_FIELD_U64,
    CSV_FIELD_U32,
    CSV_FIELD_BOOL,  /* 0 or 1 */
    CSV_FIELD_METHOD /* "adaptive" or "paper" */
};

/* One `# name=value` line: where it lives in struct csv_header. */
struct csv_field {
    const char *name;
    enum csv_field_kind kind;
    size_t offset, size;
    const char *letters;
    bool optional; /* left out where it is 0; a U64 */
};

/* In the order of the file; ends in a NULL name. */
extern const struct csv_field csv_fields[];
extern const char *const csv_method_names[2];
/* By minor version. */
extern const char *const csv_columns[CSV_MINOR + 1];

/* Does `text` (of `length`) consist of [a-z0-9-] and `letters` alone? */
bool csv_is_name(const char *text, size_t length, const char *letters);

/* Can a run have started with this header? */
bool csv_header_is_sane(const void *header);

/* FNV-1a, for noticing damage, not for security. */
uint64_t csv_digest_start(void);
uint64_t csv_digest(uint64_t digest, const char *bytes, size_t length);

/* "# disturbed probe=read-buffer cause=another process wrote ..." */
#define CSV_DISTURBED "# disturbed probe="
#define CSV_CAUSE " cause="

/* The closing line, with its line feed. */
void csv_end_line(uint64_t count, uint64_t digest, char line[CSV_LINE_MAX]);

#endif
