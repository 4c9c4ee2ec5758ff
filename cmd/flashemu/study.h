/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_STUDY_H
#define SSDPROBE_CMD_FLASHEMU_STUDY_H

#include <stdio.h>

#include <json-c/json.h>

#include "lib/study/experiment.h"

/* A study on its way: what was asked for, and its table. */
struct study_job {
    const struct experiment *experiment;
    struct experiment_settings settings;
    const char *rows_path; /* NULL: none; "-": standard output */
    char plot_path[512];   /* "": none */
    struct experiment_table table;
};

/* The paper's table beside ours, and what must come out. */
void study_print(const struct study_job *job);

/* Adds "study", "values" and "trends" to the document, and returns it. */
struct json_object *study_json(struct json_object *document,
                               const struct study_job *job);

/* Every value as a row; what fails is seen in ferror(). */
void study_rows(const struct study_job *job, FILE *out);

/*
 * Draws the table into job->plot_path. 0, or -errno with a sentence: -ENOENT
 * when there is no gnuplot.
 */
int study_plot(const struct study_job *job, struct fault *why);

#endif
