/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/pages/figures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/report/figure.h"
#include "probes/probes.h"

/* Did it measure? Then one of its findings is more than skipped. */
static bool has_measured(const struct findings *findings, const char *probe)
{
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->items[i].probe, probe) == 0 &&
            findings->items[i].verdict != VERDICT_SKIPPED)
            return true;
    return false;
}

/* Adds one; false where gnuplot is missing, so that none can be drawn. */
static bool add(struct figures *figures, const struct gnuplot_job *job)
{
    struct gnuplot_picture *picture = &figures->pictures[figures->count];
    struct fault why = {FAULT_NONE, ""};

    if (figures->count == FIGURES_MAX)
        return true;
    const int error = gnuplot_draw(job, picture, &why);
    if (!error)
        figures->items[figures->count++] =
            (struct report_figure){job->probe, picture->bytes};
    else if (error != -ENODATA && figures->missing.kind == FAULT_NONE)
        figures->missing = why;
    return error != -ENOENT;
}

void figures_draw(struct figures *figures, const char *samples,
                  const struct findings *findings, const char *suffix,
                  unsigned columns_count)
{
    struct gnuplot_job job = {.samples = samples,
                              .findings = findings,
                              .suffix = suffix,
                              .columns_count = columns_count};

    memset(figures, 0, sizeof(*figures));
    for (size_t i = 0; probes_all[i]; i++) {
        job.probe = probes_all[i]->name;
        if ((probes_all[i]->prepares || has_measured(findings, job.probe)) &&
            !add(figures, &job))
            return;
    }
    for (const struct figure_kind *kind = figure_kinds; kind->name; kind++) {
        job.probe = kind->name;
        job.rows_of = kind->probe;
        if (strcmp(kind->name, kind->probe) != 0 &&
            has_measured(findings, kind->probe) && !add(figures, &job))
            return;
    }
}

void figures_draw_both(struct figures *figures, char samples[2][PATH_MAX],
                       const char *const names[2])
{
    struct gnuplot_job job = {.samples = samples[0],
                              .other = samples[1],
                              .names = {names[0], names[1]},
                              .suffix = ".svg"};

    memset(figures, 0, sizeof(*figures));
    for (size_t i = 0; figure_compared[i]; i++) {
        job.probe = figure_compared[i];
        job.rows_of = figure_probe(job.probe);
        if (!add(figures, &job))
            return;
    }
}

void figures_draw_rows(struct figures *figures, const char *name,
                       const char *rows, const struct findings *findings,
                       const char *suffix, unsigned columns_count)
{
    const struct gnuplot_job job = {.samples = rows,
                                    .probe = name,
                                    .findings = findings,
                                    .suffix = suffix,
                                    .columns_count = columns_count};

    add(figures, &job);
}

void figures_free(struct figures *figures)
{
    for (size_t i = 0; i < figures->count; i++)
        free(figures->pictures[i].bytes);
    figures->count = 0;
}

char *figures_file(const char *probe, const char *suffix, char *name,
                   size_t size)
{
    snprintf(name, size, "%s%s", probe, suffix);
    for (char *c = name; *c; c++)
        if (*c == '-')
            *c = '_';
    return name;
}
