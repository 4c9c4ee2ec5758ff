/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_OUTPUT_H
#define SSDPROBE_CMD_SSDPROBE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd/common/options.h"
#include "lib/base/replace.h"
#include "cmd/ssdprobe/console/settings.h"
#include "lib/base/fault.h"
#include "lib/report/report.h"
#include "lib/report/report_hide.h"

struct json_object;
struct run_dir;

/*
 * Where results go. Messages are said on stderr at once and kept for the
 * document; whatever happens, a document that was asked for is written exactly
 * once, by output_finish().
 */
struct output {
    struct json_object *document;
    bool json_wanted;
    const char *json_path;     /* NULL: stdout */
    const struct run_dir *dir; /* keeps the document too; NULL: there is none */
    const char *csv_path;      /* "-": stdout; NULL: not asked for */
    FILE *csv_file;            /* NULL: not asked for, or not begun */
    struct replace csv;        /* what csv_file is, if it is not stdout */
    bool csv_begun;            /* it holds samples; else the old file stays */
    FILE *text;                /* the report; NULL: none */
    bool text_done;            /* output_finish() need not print it */
    struct json_object *findings; /* in place of the report's, owned */
    struct report_style style;
    struct report_secrets secrets; /* never shown */
    const char *program;
};

/* How `argv` asks for a document: whether, and in which file (NULL: stdout).
 * Works on command lines that are otherwise wrong. */
struct json_wish {
    bool wanted;
    const char *path;
};
struct json_wish output_json_wish(int argc, char **argv);

/* Begins, with nothing but the document. 0, or -errno with `why`: then messages
 * still work, and output_finish() too. */
int output_begin(struct output *output, const struct json_wish *wish, int argc,
                 char **argv, struct fault *why);

/* Settles what goes where, and whether it could be written. Nothing that exists
 * is touched. 0, or -errno with `why`. */
int output_open(struct output *output, const struct settings *settings,
                struct fault *why);

/* Opens the file of samples that was asked for, once the run is to begin. What
 * was there before stays until output_finish(). 0, or -errno with `why`. */
int output_begin_samples(struct output *output, struct fault *why);

/* Says it on stderr, and in the document. `severity`: note, warning, error. */
void output_message(struct output *output, const char *severity,
                    const char *text);

/* Is `path` the file that the document goes to? */
bool output_is_json_file(const struct output *output, const char *path);

/* Leaves the file of the document as it is: there will be no document. */
void output_drop_document(struct output *output);

/*
 * Writes report and document and closes everything. Returns the exit status:
 * `status`, or 2 where an output could not be written.
 */
int output_finish(struct output *output, const struct report *report,
                  int status);

/* Are these standard streams open at all? If not, a disk could come to sit
 * where messages are printed. */
void output_secure_standard_files(void);

#endif
