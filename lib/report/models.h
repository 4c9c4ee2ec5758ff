/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_MODELS_H
#define SSDPROBE_REPORT_MODELS_H

#include "lib/report/report.h"

/*
 * Many runs, grouped into models. Each pair of runs is compared as `diff` does
 * (compare.h). Groups grow by the mean log odds of their pairs: the two groups
 * with the highest mean become one, as long as that mean says "likely" (95 %).
 * A run that is in no group is an outlier where it is unlikely (5 %) to be of
 * any model, and undecided where that cannot be told. Declared names do not
 * count.
 */

enum models_kind {
    MODELS_GROUPED,
    MODELS_OUTLIER,  /* unlikely to be of any model, or of another run's */
    MODELS_UNDECIDED /* of one or more of them it cannot be told */
};
const char *models_kind_name(enum models_kind kind);

struct models_run {
    const char *name;            /* as the user gave it */
    const struct report *report; /* with its findings */
    enum models_kind kind;
    size_t model;     /* from 0; of a run in no group the nearest one */
    size_t nearest;   /* the run that is most like it */
    double one_model; /* probability, from the mean of log odds: with the other
                         runs of its model, or with the nearest model */
};

struct models {
    struct models_run *runs;
    size_t runs_count;
    size_t models_count; /* numbered by their first run */
    double *log_odds;    /* of each pair: runs_count squared */
};

/* Groups `runs`, whose name and report are set. 0 or -ENOMEM; models_free() in
 * either case. The runs stay the caller's. */
int models_group(struct models_run *runs, size_t runs_count,
                 struct models *models);
void models_free(struct models *models);

/* The run that stands for a model: the one most like all the others of it. */
const struct models_run *models_typical(const struct models *models,
                                        size_t model);

/* As text, or where the style says so as Markdown; 0 or -errno. */
int models_text(FILE *out, const struct models *models,
                const struct report_style *style);

/* Adds "models" and "outliers". */
struct json_object;
void models_json(struct json_object *document, const struct models *models);

#endif
