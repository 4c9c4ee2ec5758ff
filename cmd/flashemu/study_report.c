/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What came out of a study, as text, JSON and CSV. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/common/options.h"
#include "cmd/flashemu/study.h"

enum {
    LINE_COLUMNS = 80,
    SERIES_COLUMNS = 24, /* and then "paper" or "ours" */
    SOURCE_COLUMNS = 6,
    NUMBER_COLUMNS = 9,
    NUMBERS_A_LINE =
        (LINE_COLUMNS - SERIES_COLUMNS - SOURCE_COLUMNS) / NUMBER_COLUMNS,
    CLAIM_COLUMNS = 42,
    REASON_INDENT = 6
};

static const char *const verdicts[] = {
    [EXPERIMENT_HOLDS] = "holds",
    [EXPERIMENT_CALIBRATED] = "calibrated",
    [EXPERIMENT_BY_SEED] = "by seed",
    [EXPERIMENT_MISSED] = "missed",
    [EXPERIMENT_DOES_NOT_HOLD] = "does not hold",
    [EXPERIMENT_CANNOT_FOLLOW] = "cannot follow",
};

/* About four digits; "-" when there is none. */
static const char *number(double value, char text[32])
{
    double size = fabs(value);
    if (!isfinite(value))
        snprintf(text, 32, "-");
    else if (size >= 1000)
        snprintf(text, 32, "%.0f", value);
    else
        snprintf(text, 32, "%.*f", size >= 100 ? 1 : size >= 10 ? 2 : 3, value);
    return text;
}

/* ---- the values -------------------------------------------------------- */

static bool is_shown(const struct study_job *job,
                     const struct experiment_value *value)
{
    return job->settings.full || !value->detail;
}

/* The distinct texts at `offset` of a panel's values, in the order in which
 * they came; how many. */
static size_t distinct(const struct experiment_table *table, const char *panel,
                       size_t offset, const char *texts[])
{
    size_t count = 0;
    for (size_t i = 0; i < table->values_count; i++) {
        const struct experiment_value *value = &table->values[i];
        const char *text = (const char *)value + offset;
        size_t at = 0;
        if (strcmp(value->panel, panel) != 0)
            continue;
        while (at < count && strcmp(texts[at], text) != 0)
            at++;
        if (at == count)
            texts[count++] = text;
    }
    return count;
}

static const struct experiment_value *value_at(const struct study_job *job,
                                               struct experiment_place place)
{
    for (size_t i = 0; i < job->table.values_count; i++) {
        const struct experiment_value *value = &job->table.values[i];
        if (strcmp(value->panel, place.panel) == 0 &&
            strcmp(value->series, place.series) == 0 &&
            strcmp(value->column, place.column) == 0)
            return value;
    }
    return NULL;
}

/* One line of numbers, of the paper or ours; nothing where all are missing. */
static void print_numbers(const struct study_job *job,
                          struct experiment_place place,
                          const char *const columns[], size_t count,
                          bool of_paper)
{
    bool some = false;
    char line[LINE_COLUMNS + 32] = "", text[32];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        place.column = columns[i];
        const struct experiment_value *value = value_at(job, place);
        double shown = !value ? NAN : of_paper ? value->paper : value->ours;
        some = some || isfinite(shown);
        used += (size_t)snprintf(line + used, sizeof(line) - used, "%*s",
                                 NUMBER_COLUMNS, number(shown, text));
    }
    if (some)
        printf("%-*.*s%-*s%s\n", SERIES_COLUMNS, SERIES_COLUMNS, place.series,
               SOURCE_COLUMNS, of_paper ? "paper" : "ours", line);
}

static void print_panel(const struct study_job *job, const char *panel,
                        const char *unit)
{
    const char *series[EXPERIMENT_VALUES_MAX], *columns[EXPERIMENT_VALUES_MAX];
    size_t series_count = distinct(
        &job->table, panel, offsetof(struct experiment_value, series), series);
    size_t columns_count = distinct(
        &job->table, panel, offsetof(struct experiment_value, column), columns);
    for (size_t from = 0; from < columns_count; from += NUMBERS_A_LINE) {
        size_t left = columns_count - from;
        size_t count = left < NUMBERS_A_LINE ? left : (size_t)NUMBERS_A_LINE;
        char heading[80];
        snprintf(heading, sizeof(heading), "%s, %s", panel, unit);
        printf("\n%-*s", SERIES_COLUMNS + SOURCE_COLUMNS, heading);
        for (size_t i = 0; i < count; i++)
            printf("%*s", NUMBER_COLUMNS, columns[from + i]);
        putchar('\n');
        for (size_t i = 0; i < series_count; i++) {
            struct experiment_place place = {panel, series[i], NULL};
            print_numbers(job, place, columns + from, count, true);
            print_numbers(job, place, columns + from, count, false);
        }
    }
}

static void print_panels(const struct study_job *job)
{
    const struct experiment_table *table = &job->table;
    for (size_t i = 0; i < table->values_count; i++) {
        bool first = is_shown(job, &table->values[i]);
        for (size_t j = 0; j < i; j++)
            first = first &&
                    strcmp(table->values[j].panel, table->values[i].panel) != 0;
        if (first)
            print_panel(job, table->values[i].panel, table->values[i].unit);
    }
}

/* ---- the trends -------------------------------------------------------- */

/* A reason for what holds is not shown. */
static bool has_reason(const struct experiment_trend *trend)
{
    enum experiment_verdict verdict = experiment_judge(trend);

    return trend->reason && verdict != EXPERIMENT_HOLDS &&
           verdict != EXPERIMENT_CALIBRATED;
}

static void print_bound(const struct experiment_trend *trend)
{
    char low[32], high[32];

    if (isinf(trend->low) && isinf(trend->high))
        return;
    if (isinf(trend->low))
        printf("      <= %s", number(trend->high, high));
    else if (isinf(trend->high))
        printf("      >= %s", number(trend->low, low));
    else
        printf("      %s .. %s", number(trend->low, low),
               number(trend->high, high));
    printf(" %s%s", trend->unit,
           trend->bound_is_ours ? ", a bound set by this project" : "");
    if (trend->by_seed)
        printf(", with %u of %u seeds", trend->held_count, trend->seeds_count);
    putchar('\n');
    if (trend->bound_is_ours)
        options_print_wrapped(stdout, 0, REASON_INDENT, trend->bound_is_ours);
}

static void print_trend(const struct experiment_trend *trend)
{
    char paper[32], ours[32];
    enum experiment_verdict verdict = experiment_judge(trend);

    printf("  %-*s %8s %8s  %s\n", CLAIM_COLUMNS, trend->claim,
           number(trend->paper, paper), number(trend->ours, ours),
           verdicts[verdict]);
    print_bound(trend);
    if (has_reason(trend))
        options_print_wrapped(stdout, 0, REASON_INDENT, trend->reason);
}

void study_print(const struct study_job *job)
{
    const struct experiment *experiment = job->experiment;
    printf("%s: %s\n", experiment->name, experiment->question);
    options_print_wrapped(stdout, 0, 2, experiment->source);
    options_print_wrapped(stdout, 0, 2, experiment->setting);
    print_panels(job);
    if (job->table.trends_count)
        printf("\n%-*s %8s %8s\n", CLAIM_COLUMNS + 2, "What must come out",
               "paper", "ours");
    for (size_t i = 0; i < job->table.trends_count; i++)
        print_trend(&job->table.trends[i]);
    double stable = experiment->test_scale > 0 ? experiment->test_scale : 1;
    if (job->settings.scale < stable)
        printf("\nThis workload is short: the bounds are meant for a scale of "
               "%g or more.\n",
               stable);
}

/* ---- for programs ------------------------------------------------------ */

static void add_text(struct json_object *object, const char *key,
                     const char *text)
{
    json_object_object_add(object, key, json_object_new_string(text));
}

/* null: there is none. */
static void add_number(struct json_object *object, const char *key,
                       double value)
{
    json_object_object_add(
        object, key, isfinite(value) ? json_object_new_double(value) : NULL);
}

static struct json_object *value_json(const struct experiment_value *value)
{
    struct json_object *object = json_object_new_object();
    add_text(object, "panel", value->panel);
    add_text(object, "series", value->series);
    add_text(object, "column", value->column);
    add_text(object, "unit", value->unit);
    add_number(object, "paper", value->paper);
    add_number(object, "ours", value->ours);
    return object;
}

static struct json_object *trend_json(const struct experiment_trend *trend)
{
    struct json_object *object = json_object_new_object();
    add_text(object, "claim", trend->claim);
    add_text(object, "unit", trend->unit);
    add_number(object, "paper", trend->paper);
    add_number(object, "ours", trend->ours);
    add_number(object, "low", trend->low);
    add_number(object, "high", trend->high);
    add_text(object, "verdict", verdicts[experiment_judge(trend)]);
    if (has_reason(trend))
        add_text(object, "reason", trend->reason);
    if (trend->bound_is_ours)
        add_text(object, "bound_is_ours", trend->bound_is_ours);
    if (trend->by_seed) {
        json_object_object_add(object, "seeds",
                               json_object_new_int((int)trend->seeds_count));
        json_object_object_add(object, "held",
                               json_object_new_int((int)trend->held_count));
    }
    return object;
}

struct json_object *study_json(struct json_object *document,
                               const struct study_job *job)
{
    struct json_object *study = json_object_new_object();
    struct json_object *values = json_object_new_array();
    struct json_object *trends = json_object_new_array();
    add_text(study, "name", job->experiment->name);
    add_text(study, "question", job->experiment->question);
    add_text(study, "source", job->experiment->source);
    add_text(study, "setting", job->experiment->setting);
    json_object_object_add(study, "seed",
                           json_object_new_uint64(job->settings.seed));
    add_number(study, "scale", job->settings.scale);
    for (size_t i = 0; i < job->table.values_count; i++)
        if (is_shown(job, &job->table.values[i]))
            json_object_array_add(values, value_json(&job->table.values[i]));
    for (size_t i = 0; i < job->table.trends_count; i++)
        json_object_array_add(trends, trend_json(&job->table.trends[i]));
    json_object_object_add(document, "study", study);
    json_object_object_add(document, "values", values);
    json_object_object_add(document, "trends", trends);
    return document;
}

void study_rows(const struct study_job *job, FILE *out)
{
    fprintf(out,
            "# flashemu study, format 1\n# %s, seed %" PRIu64 ", scale %g\n"
            "panel,series,column,unit,paper,ours\n",
            job->experiment->name, job->settings.seed, job->settings.scale);
    for (size_t i = 0; i < job->table.values_count; i++) {
        const struct experiment_value *value = &job->table.values[i];
        if (!is_shown(job, value))
            continue;
        fprintf(out, "%s,%s,%s,%s,", value->panel, value->series, value->column,
                value->unit);
        /* Not published: an empty field, which gnuplot takes for missing. */
        if (isfinite(value->paper))
            fprintf(out, "%.9g", value->paper);
        fprintf(out, ",%.9g\n", value->ours);
    }
}
