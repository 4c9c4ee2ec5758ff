/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_SAMPLE_CSV_H
#define SSDPROBE_INFER_SAMPLE_CSV_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>

#include "lib/base/fault.h"
#include "lib/infer/probe.h"

/*
 * Samples as CSV. `#` lines first: format version, run, the hash of the
 * device's identity, and the whole setting, so that the file alone suffices to
 * conclude again; one header line with units in the names; a row a request;
 * a probe that was disturbed twice is named by `# disturbed probe=NAME
 * cause=TEXT`, where NAME is "times" for all that are times, of a drive that
 * did not keep its speed, and "places" for what does not hold for a drive that
 * is not written all over; after the rows `# end count=N digest=HEX`, so that a
 * cut or edited file is noticed.
 */

struct csv_header {
    char run[40];           /* any unique text [A-Za-z0-9-] */
    char device[20];        /* hash of the identity; never the serial itself */
    char flush[16];         /* the flush method in use */
    char probes[400];       /* asked for, in order: "basic write-buffer"; also
                               those that have no rows because they were
                               skipped. Empty: not known */
    struct setting setting; /* `parameters` are not written: defaults apply */
    char assume[256];       /* "clustered_page=16384 ..." or empty */
};

struct csv_writer {
    FILE *file;
    char run[40]; /* repeated in every row */
    uint64_t count, digest;
    int minor; /* version 1.MINOR of the format, which sets the columns */
    int error; /* sticky: the first -errno */
};

/* Writes header lines to `file` (owned by the caller). 0 or -errno. */
int csv_begin(struct csv_writer *writer, FILE *file,
              const struct csv_header *header);
/* One row. `sequence` counts from 0 over the run. 0 or -errno. */
int csv_row(struct csv_writer *writer, const char *probe,
            const struct sample *sample);
/* Tells that what a probe found from the rows above is not to be trusted:
 * `cause` says why; what is not printable ASCII becomes '?'. 0 or
 * -errno. */
int csv_disturbed(struct csv_writer *writer, const char *probe,
                  const char *cause);
/* The closing line, flushed to the file. 0 or -errno (a full disk). */
int csv_end(struct csv_writer *writer);

enum { CSV_DISTURBED_MAX = 32 };

struct csv_rows {
    struct csv_header header;
    struct csv_row_item {
        char probe[32];
        struct sample sample;
    } * items;
    size_t count;
    struct csv_disturbance {
        char probe[32], cause[200];
    } disturbed[CSV_DISTURBED_MAX];
    size_t disturbed_count;
    bool complete;   /* the closing line was there and agreed */
    size_t cut_line; /* else where the file ends, its run having been killed */
    int minor;       /* version 1.MINOR of the format */
};

/*
 * Reads a whole file, compressed or not (packed.h). 0, also where it is cut off
 * behind its header: then with the rows that are whole, and not `complete`; or
 * -EINVAL with file and line in `why` when it is malformed, out of order,
 * edited or damaged; -ENOENT, -EIO, -ENOMEM, -ENOTSUP. Frees with
 * csv_rows_free, which accepts an empty struct.
 */
int csv_read(const char *path, struct csv_rows *rows, struct fault *why);
void csv_rows_free(struct csv_rows *rows);

#endif
