/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_REPLAY_H
#define SSDPROBE_CMD_FLASHEMU_REPLAY_H

#include <stdbool.h>
#include <stdio.h>

#include <json-c/json.h>

#include "lib/base/replace.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/flash.h"
#include "lib/flash/trace/trace.h"
#include "lib/flash/trace/replay.h"

/* What `flashemu replay` was asked for, and what came out. */

enum replay_progress { PROGRESS_NONE, PROGRESS_BAR, PROGRESS_PLAIN };

/* A table with a row for each request. */
struct replay_rows {
    const char *path; /* NULL: not wanted */
    bool to_stdout;
    FILE *file;
    struct replace replace; /* what it is, if it is not stdout */
};

struct replay_job {
    struct drive drive;
    struct flash *flash;
    struct flash_statistics statistics;

    const char *trace_path;
    struct trace *trace;
    struct trace_settings trace_settings;
    struct trace_counts counts;

    struct replay_settings settings;
    struct replay_result result;

    struct replay_rows csv, why;
    enum replay_progress progress;
    int percent; /* shown last; -1: none */
};

/* Opens the tables that are wanted and writes their heads. -errno with a
 * sentence. */
int replay_rows_open(struct replay_job *job, struct fault *why);
/* The `on_done` of a replay whose context is a job. */
int replay_rows_put(void *context, const struct replay_done *done);
/* `keep`: they are whole, and take the place of older ones. */
int replay_rows_close(struct replay_job *job, bool keep, struct fault *why);

/* The report as text, on standard output. */
void replay_print(const struct replay_job *job);

/* Adds the report to `document` and returns it; accepts NULL. */
struct json_object *replay_json(struct json_object *document,
                                const struct replay_job *job);

#endif
