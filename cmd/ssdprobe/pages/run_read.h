/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_RUN_READ_H
#define SSDPROBE_CMD_SSDPROBE_RUN_READ_H

#include <limits.h>
#include <stdio.h>

#include "lib/base/fault.h"
#include "lib/report/read/read.h"
#include "lib/session/keep/run_dir.h"

/* A run that lies in its directory. */
struct run_read {
    struct run_dir dir; /* locked; not open when only a document was named */
    struct json_object *document;
    struct report_store store;
};

/* Opens a run directory and reads its document. 0, or -errno with a sentence in
 * `why`; run_read_close() either way. */
int run_read_open(const char *path, struct run_read *run, struct fault *why);

/* The same, but a run that was killed, and has samples without a document, is
 * none to refuse: then `document` is NULL, and the store empty. */
int run_read_begun(const char *path, struct run_read *run, struct fault *why);

/* A folder with a document or samples is a run, whatever else is in it. */
bool run_read_is_run(const char *path);

/* The same, of a run directory, of a file that --json wrote, or of results of
 * other tools, in a file or a folder: these have no document. */
int run_read_any(const char *path, struct run_read *run, struct fault *why);

/* What results of other tools say of several depths: `*matrix` holds it as rows
 * of plots/matrix.gp, which are read at the path `rows` until the caller closes
 * it; NULL: they are no results. 0, or -errno with `why`. */
int run_read_matrix(const char *path, struct findings *findings, FILE **matrix,
                    char rows[PATH_MAX], struct fault *why);

void run_read_close(struct run_read *run);

#endif
