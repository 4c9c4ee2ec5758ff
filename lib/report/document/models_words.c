/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/visible.h"
#include "lib/report/compare.h"
#include "lib/report/document/document.h"
#include "lib/report/json.h"
#include "lib/report/models.h"
#include "lib/report/summary.h"

enum { NAMES_BYTES = 800 };

/* What the drives of a model call themselves: "A, B"; SIZE_MAX: all. */
static char *declared_text(const struct models *models, size_t model,
                           char text[NAMES_BYTES])
{
    text[0] = '\0';
    for (size_t i = 0; i < models->runs_count; i++) {
        const struct models_run *run = &models->runs[i];
        const struct device_info *device = run->report->device;
        const char *name = device ? device->model : "";
        if (run->kind != MODELS_GROUPED || run->model != model || !name[0] ||
            strstr(text, name))
            continue;
        text_add(text, NAMES_BYTES, "%s%s", text[0] ? ", " : "", name);
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

    text[0] = '\0';
    if (!pair)
        return text;
    compare_reports(models->runs[run->nearest].report, run->report, pair);
    for (size_t i = 0; i < pair->rows_count; i++)
        if (pair->rows[i].kind == COMPARE_DIFFERENT)
            text_add(text, size, "%s%s", text[0] ? ", " : "",
                     pair->rows[i].a->parameter);
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

/* ", but differs in ..." */
static void add_single(struct document *document, const struct models *models,
                       const struct models_run *run)
{
    char line[3 * NAMES_BYTES], differs[NAMES_BYTES];

    single_text(run, line);
    if (difference_text(models, run, differs, sizeof(differs))[0])
        text_add(line, sizeof(line), "; most like %s, but differs in %s",
                 models->runs[run->nearest].name, differs);
    document_named(document, PART_ITEM, run->name, line);
}

static void add_model(struct document *document, const struct models *models,
                      size_t model, bool plain_bytes)
{
    char names[NAMES_BYTES], text[2 * NAMES_BYTES];

    declared_text(models, model, names);
    snprintf(text, sizeof(text), "Model %zu (%zu runs%s%s)", model + 1,
             size_of(models, model), names[0] ? ", declared as " : "", names);
    document_section(document, "", report_utf8(text, text, sizeof(text)));
    document_add(document, PART_TEXT, LOOK_PLAIN,
                 report_summary(models_typical(models, model)->report,
                                plain_bytes, text));
    for (size_t i = 0; i < models->runs_count; i++)
        if (models->runs[i].kind == MODELS_GROUPED &&
            models->runs[i].model == model)
            document_add(document, PART_ITEM, LOOK_PLAIN, models->runs[i].name);
}

int models_text(FILE *out, const struct models *models,
                const struct report_style *style)
{
    struct document document = {.place = PLACE_FULL};
    bool any = false;
    char line[NAMES_BYTES];

    errno = 0;
    counts_text(models, line);
    document_add(&document, PART_TEXT, LOOK_PLAIN, line);
    for (size_t model = 0; model < models->models_count; model++)
        add_model(&document, models, model, style->plain_bytes);
    for (size_t i = 0; i < models->runs_count; i++) {
        if (models->runs[i].kind == MODELS_GROUPED)
            continue;
        if (!any)
            document_section(&document, "", "Runs of no model");
        any = true;
        add_single(&document, models, &models->runs[i]);
    }
    document_print(out, &document, style, PLACE_FULL, NULL);
    return document_end(out, &document);
}

/* ---- JSON -------------------------------------------------------------- */

static struct json_object *json_model(const struct models *models, size_t model)
{
    struct json_object *object = json_object_new_object();
    struct json_object *runs = json_object_new_array();
    const struct models_run *typical = models_typical(models, model);
    char text[NAMES_BYTES];

    json_object_object_add(object, "model",
                           json_object_new_int64((int64_t)model + 1));
    json_add_text(object, "declared", declared_text(models, model, text));
    json_add_text(object, "summary",
                  report_summary(typical->report, false, text));
    json_add_text(object, "typical", typical->name);
    json_object_object_add(object, "one_model",
                           json_real(typical->one_model, 6));
    for (size_t i = 0; i < models->runs_count; i++)
        if (models->runs[i].kind == MODELS_GROUPED &&
            models->runs[i].model == model)
            json_object_array_add(runs, json_text(models->runs[i].name));
    json_object_object_add(object, "runs", runs);
    return object;
}

static struct json_object *json_single(const struct models *models,
                                       const struct models_run *run)
{
    struct json_object *object = json_object_new_object();
    char text[NAMES_BYTES];

    json_add_text(object, "run", run->name);
    json_add_text(object, "kind", models_kind_name(run->kind));
    json_object_object_add(
        object, "nearest_model",
        run->model == SIZE_MAX
            ? NULL
            : json_object_new_int64((int64_t)run->model + 1));
    json_object_object_add(
        object, "one_model",
        run->model == SIZE_MAX ? NULL : json_real(run->one_model, 6));
    json_add_text(object, "most_like",
                  models->runs_count > 1 ? models->runs[run->nearest].name
                                         : "");
    json_add_text(object, "differs_in",
                  difference_text(models, run, text, sizeof(text)));
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
