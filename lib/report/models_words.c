/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/report/compare.h"
#include "lib/report/markdown.h"
#include "lib/report/models.h"
#include "lib/report/summary.h"

enum { COLUMNS_NORMAL = 80, INDENT = 4, NAMES_BYTES = 800 };

/* What the drives of a model call themselves: "A, B"; SIZE_MAX: all. */
static char *declared_text(const struct models *models, size_t model,
                           char text[NAMES_BYTES])
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < models->runs_count; i++) {
        const struct models_run *run = &models->runs[i];
        const struct device_info *device = run->report->device;
        const char *name = device ? device->model : "";
        if (run->kind != MODELS_GROUPED || run->model != model || !name[0] ||
            strstr(text, name))
            continue;
        snprintf(text + used, NAMES_BYTES - used, "%s%s", used ? ", " : "",
                 name);
        used = strlen(text);
    }
    return text;
}

static size_t size_of(const struct models *models, size_t model)
{
    size_t count = 0;

    for (size_t i = 0; i < models->runs_count; i++)
        count += models->runs[i].kind == MODELS_GROUPED &&
                 models->runs[i].model == model;
    return count;
}

static size_t kind_count(const struct models *models, enum models_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < models->runs_count; i++)
        count += models->runs[i].kind == kind;
    return count;
}

/* "a: unlikely to be of any model; nearest is model 2 (0.1 %)" */
static void single_text(const struct models_run *run, char line[NAMES_BYTES])
{
    const double percent = floor(run->one_model * 1000) / 10;
    const bool outlier = run->kind == MODELS_OUTLIER;

    if (run->model == SIZE_MAX)
        snprintf(line, NAMES_BYTES, "%s, there is no model to compare it with",
                 outlier ? "outlier" : "undecided");
    else
        snprintf(line, NAMES_BYTES, "%s: the nearest is model %zu, %s %.1f %%",
                 outlier ? "outlier" : "undecided", run->model + 1,
                 outlier ? "with a probability of only"
                         : "with a probability of",
                 percent);
}

/* Which findings speak against the run that is most like it; "" where there is
 * none. */
static char *difference_text(const struct models *models,
                             const struct models_run *run, char *text,
                             size_t size)
{
    struct comparison *pair = malloc(sizeof(*pair));
    size_t used = 0;

    text[0] = '\0';
    if (!pair)
        return text;
    compare_reports(models->runs[run->nearest].report, run->report, pair);
    for (size_t i = 0; i < pair->rows_count && used < size; i++) {
        const struct compare_row *row = &pair->rows[i];
        if (row->kind != COMPARE_DIFFERENT)
            continue;
        snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                 row->a->parameter);
        used = strlen(text);
    }
    free(pair);
    return text;
}

static void counts_text(const struct models *models, char line[NAMES_BYTES])
{
    const size_t outliers = kind_count(models, MODELS_OUTLIER);
    const size_t undecided = kind_count(models, MODELS_UNDECIDED);

    snprintf(line, NAMES_BYTES,
             "%zu run%s: %zu model%s of two runs or more, %zu outlier%s, %zu "
             "undecided.",
             models->runs_count, models->runs_count == 1 ? "" : "s",
             models->models_count, models->models_count == 1 ? "" : "s",
             outliers, outliers == 1 ? "" : "s", undecided);
}

static void put_model(FILE *out, const struct models *models, size_t model,
                      const struct report_style *style, unsigned columns)
{
    const struct models_run *typical = models_typical(models, model);
    char declared[NAMES_BYTES], line[2 * NAMES_BYTES];

    declared_text(models, model, declared);
    snprintf(line, sizeof(line), "%-6zu %4zu   %s", model + 1,
             size_of(models, model), declared[0] ? declared : "-");
    report_utf8(line, line, sizeof(line));
    fprintf(out, "%s\n", line);
    report_summary(typical->report, style->plain_bytes, line);
    report_wrap(out, line, INDENT, columns);
    for (size_t i = 0; i < models->runs_count; i++)
        if (models->runs[i].kind == MODELS_GROUPED &&
            models->runs[i].model == model)
            report_wrap(out, models->runs[i].name, INDENT + INDENT, columns);
}

static void put_single(FILE *out, const struct models *models,
                       const struct models_run *run, unsigned columns)
{
    char line[NAMES_BYTES], differs[NAMES_BYTES];

    fputc('\n', out);
    report_wrap(out, run->name, 0, columns);
    single_text(run, line);
    report_wrap(out, line, INDENT, columns);
    if (!difference_text(models, run, differs, sizeof(differs))[0])
        return;
    fprintf(out, "%*smost like %s, but differs in:\n", INDENT, "",
            report_utf8(models->runs[run->nearest].name, line, sizeof(line)));
    report_wrap(out, differs, INDENT + INDENT, columns);
}

/* ---- Markdown ---------------------------------------------------------- */

static void mark_model(FILE *out, const struct models *models, size_t model,
                       bool plain_bytes)
{
    char text[NAMES_BYTES];
    const char *before = "";

    fprintf(out, "| %zu | %zu | ", model + 1, size_of(models, model));
    markdown_text(out, declared_text(models, model, text));
    fputs(" | ", out);
    markdown_text(out, report_summary(models_typical(models, model)->report,
                                      plain_bytes, text));
    fputs(" | ", out);
    for (size_t i = 0; i < models->runs_count; i++)
        if (models->runs[i].kind == MODELS_GROUPED &&
            models->runs[i].model == model) {
            fputs(before, out);
            markdown_text(out, models->runs[i].name);
            before = ", ";
        }
    fputs(" |\n", out);
}

static void mark_all(FILE *out, const struct models *models, bool plain_bytes)
{
    char line[NAMES_BYTES], differs[NAMES_BYTES];

    counts_text(models, line);
    fprintf(out,
            "%s\n\n| Model | Runs | Declared as | What it is | Which |\n"
            "| ---: | ---: | --- | --- | --- |\n",
            line);
    for (size_t model = 0; model < models->models_count; model++)
        mark_model(out, models, model, plain_bytes);
    fputc('\n', out);
    for (size_t i = 0; i < models->runs_count; i++) {
        const struct models_run *run = &models->runs[i];
        if (run->kind == MODELS_GROUPED)
            continue;
        fputs("- **", out);
        markdown_text(out, run->name);
        fputs("**: ", out);
        single_text(run, line);
        markdown_text(out, line);
        if (difference_text(models, run, differs, sizeof(differs))[0]) {
            fputs("; most like ", out);
            markdown_text(out, models->runs[run->nearest].name);
            fputs(", but differs in ", out);
            markdown_text(out, differs);
        }
        fputc('\n', out);
    }
}

int models_text(FILE *out, const struct models *models,
                const struct report_style *style)
{
    const unsigned columns =
        style->columns_count ? style->columns_count : COLUMNS_NORMAL;
    char line[NAMES_BYTES];

    errno = 0;
    if (style->markdown) {
        mark_all(out, models, style->plain_bytes);
    } else {
        counts_text(models, line);
        report_wrap(out, line, 0, columns);
        if (models->models_count)
            fputs("\nMODEL  RUNS   DECLARED AS\n", out);
        for (size_t model = 0; model < models->models_count; model++)
            put_model(out, models, model, style, columns);
        for (size_t i = 0; i < models->runs_count; i++)
            if (models->runs[i].kind != MODELS_GROUPED)
                put_single(out, models, &models->runs[i], columns);
    }
    if (fflush(out) != 0 || ferror(out))
        return errno ? -errno : -EIO;
    return 0;
}

/* ---- JSON -------------------------------------------------------------- */

static struct json_object *json_words(const char *text)
{
    char copy[NAMES_BYTES];

    return text[0]
               ? json_object_new_string(report_utf8(text, copy, sizeof(copy)))
               : NULL;
}

static struct json_object *json_share(double share)
{
    char text[40];

    snprintf(text, sizeof(text), "%.6f", share);
    return json_object_new_double_s(share, text);
}

static struct json_object *json_model(const struct models *models, size_t model)
{
    struct json_object *object = json_object_new_object();
    struct json_object *runs = json_object_new_array();
    const struct models_run *typical = models_typical(models, model);
    char text[NAMES_BYTES];

    json_object_object_add(object, "model",
                           json_object_new_int64((int64_t)model + 1));
    json_object_object_add(object, "declared",
                           json_words(declared_text(models, model, text)));
    json_object_object_add(
        object, "summary",
        json_words(report_summary(typical->report, false, text)));
    json_object_object_add(object, "typical", json_words(typical->name));
    json_object_object_add(object, "one_model", json_share(typical->one_model));
    for (size_t i = 0; i < models->runs_count; i++)
        if (models->runs[i].kind == MODELS_GROUPED &&
            models->runs[i].model == model)
            json_object_array_add(runs, json_words(models->runs[i].name));
    json_object_object_add(object, "runs", runs);
    return object;
}

static struct json_object *json_single(const struct models *models,
                                       const struct models_run *run)
{
    struct json_object *object = json_object_new_object();
    char text[NAMES_BYTES];

    json_object_object_add(object, "run", json_words(run->name));
    json_object_object_add(object, "kind",
                           json_object_new_string(models_kind_name(run->kind)));
    json_object_object_add(
        object, "nearest_model",
        run->model == SIZE_MAX
            ? NULL
            : json_object_new_int64((int64_t)run->model + 1));
    json_object_object_add(object, "one_model",
                           run->model == SIZE_MAX ? NULL
                                                  : json_share(run->one_model));
    json_object_object_add(object, "most_like",
                           models->runs_count > 1
                               ? json_words(models->runs[run->nearest].name)
                               : NULL);
    json_object_object_add(
        object, "differs_in",
        json_words(difference_text(models, run, text, sizeof(text))));
    return object;
}

void models_json(struct json_object *document, const struct models *models)
{
    struct json_object *array = json_object_new_array();
    struct json_object *singles = json_object_new_array();

    for (size_t model = 0; model < models->models_count; model++)
        json_object_array_add(array, json_model(models, model));
    for (size_t i = 0; i < models->runs_count; i++)
        if (models->runs[i].kind != MODELS_GROUPED)
            json_object_array_add(singles,
                                  json_single(models, &models->runs[i]));
    json_object_object_add(document, "models", array);
    json_object_object_add(document, "outliers", singles);
}
