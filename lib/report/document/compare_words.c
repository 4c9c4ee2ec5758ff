/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/base/visible.h"
#include "lib/infer/parameter.h"
#include "lib/report/compare.h"
#include "lib/report/document/document.h"
#include "lib/report/figure.h"
#include "lib/report/json.h"
#include "lib/report/summary.h"

/* Beyond these the evidence is strong; between them it decides nothing. */
static const double likely = 0.95, unlikely = 0.05;

static const char *answer_text(const struct finding *finding, bool plain_bytes,
                               char *text, size_t size)
{
    if (!finding)
        snprintf(text, size, "not asked");
    else if (finding->verdict != VERDICT_FOUND)
        snprintf(text, size, "%s", verdict_name(finding->verdict));
    else if (finding->value.kind == VALUE_NONE)
        report_interval(finding, plain_bytes, text, size);
    else
        report_amount(&finding->value, report_unit(finding), plain_bytes, text,
                      size);
    return text_add(text, size, "%s",
                    finding && finding_assumed(finding) ? " assumed" : "");
}

static const char *name_of(const struct compare_row *row)
{
    return row->a ? row->a->parameter : row->b->parameter;
}

void compare_names(const struct comparison *comparison,
                   char names[2][COMPARE_NAME_BYTES])
{
    const struct report *const reports[] = {comparison->a, comparison->b};

    for (size_t i = 0; i < 2; i++) {
        const struct device_info *device = reports[i]->device;
        report_utf8(device ? device->model : "", names[i], COMPARE_NAME_BYTES);
    }
    if (names[0][0] && names[1][0] && strcmp(names[0], names[1]) != 0)
        return;
    snprintf(names[0], COMPARE_NAME_BYTES, "first");
    snprintf(names[1], COMPARE_NAME_BYTES, "second");
}

/* "different, 1.34 times" */
static void verdict_of(const struct compare_row *row, char *text, size_t size)
{
    snprintf(text, size, "%s", compare_kind_name(row->kind));
    if (row->kind == COMPARE_DIFFERENT && row->ratio >= 1)
        text_add(text, size, ", %.3g times", row->ratio);
    else if (row->kind == COMPARE_DIFFERENT && row->ratio > 0)
        text_add(text, size, ", 1/%.3g of it", 1 / row->ratio);
}

enum { CELL_NAME, CELL_A, CELL_B, CELL_VERDICT };

/* A value, with a mark behind it if it is the better one. */
static const char *add_value(struct document *document,
                             const struct finding *finding, bool is_better,
                             bool plain_bytes)
{
    char value[96];

    answer_text(finding, plain_bytes, value, sizeof(value));
    return document_format(document, "%s%s", value, is_better ? " *" : "");
}

static void add_row(struct document *document, struct part *table,
                    const struct compare_row *row, bool plain_bytes,
                    bool for_page)
{
    const char **cells = document_row(document, table)->cells;
    char verdict[64];

    verdict_of(row, verdict, sizeof(verdict));
    cells[CELL_NAME] = for_page ? parameter_label(name_of(row)) : name_of(row);
    cells[CELL_A] = add_value(document, row->a, row->better == 1, plain_bytes);
    cells[CELL_B] = add_value(document, row->b, row->better == 2, plain_bytes);
    cells[CELL_VERDICT] = document_text(document, verdict);
}

static void add_table(struct document *document,
                      const struct comparison *comparison,
                      char names[2][COMPARE_NAME_BYTES], bool plain_bytes,
                      bool for_page)
{
    if (comparison->rows_count == 0)
        return;
    struct part *table = document_add(document, PART_TABLE, LOOK_PLAIN,
                                      "* marks the better value.");
    table->table.columns[CELL_NAME] = "Parameter";
    table->table.columns[CELL_A] = document_text(document, names[0]);
    table->table.columns[CELL_B] = document_text(document, names[1]);
    table->table.columns[CELL_VERDICT] = "Beyond the intervals";
    for (size_t i = 0; i < comparison->rows_count; i++)
        add_row(document, table, &comparison->rows[i], plain_bytes, for_page);
}

/* By how much the better one is faster or holds more; 0: it is not better. */
static double gain_of(const struct compare_row *row, int better)
{
    return row->better != better ? 0
           : row->ratio > 1      ? row->ratio
                                 : 1 / row->ratio;
}

/* "usb-tlc: 251 times in steady random write, 2.02 times in sequential read
 * rate"; false where it is better in nothing. */
static bool add_gains(struct document *document,
                      const struct comparison *comparison, int better,
                      const char *name)
{
    enum { SAID_MOST = 3 };
    double below = INFINITY;
    char line[400];

    snprintf(line, sizeof(line), "%s is better:", name);
    for (size_t said = 0; said < SAID_MOST; said++) {
        const struct compare_row *best = NULL;
        for (size_t i = 0; i < comparison->rows_count; i++) {
            const struct compare_row *row = &comparison->rows[i];
            const double gain = gain_of(row, better);
            if (gain > 1 && gain < below &&
                (!best || gain > gain_of(best, better)))
                best = row;
        }
        if (!best)
            break;
        below = gain_of(best, better);
        text_add(line, sizeof(line), "%s %s %.3g times", said ? "," : "",
                 parameter_label(best->a->parameter), below);
    }
    if (!isfinite(below))
        return false;
    document_add(document, PART_TEXT, LOOK_LEAD,
                 text_add(line, sizeof(line), "."));
    return true;
}

/* Which of them is for whom; before that, what is bad. */
static void add_choice(struct document *document,
                       const struct comparison *comparison,
                       char names[2][COMPARE_NAME_BYTES])
{
    const struct report *const reports[] = {comparison->a, comparison->b};
    char banner[REPORT_BANNER_BYTES];
    bool any = false;

    for (size_t i = 0; i < 2; i++) {
        if (!report_banner(reports[i], false, banner)[0])
            continue;
        document_add(document, PART_TEXT, LOOK_BANNER,
                     document_format(document, "%s: %s", names[i], banner));
    }
    for (int i = 2; i >= 1; i--)
        any |= report_banner(reports[i - 1], false, banner)[0] != '\0' ||
               add_gains(document, comparison, i, names[i - 1]);
    if (!any)
        document_add(document, PART_TEXT, LOOK_LEAD,
                     "Neither is better beyond the intervals.");
}

static void add_conditions(struct document *document,
                           const struct comparison *comparison)
{
    if (comparison->conditions_count == 0) {
        document_add(document, PART_TEXT, LOOK_PLAIN,
                     "Conditions: the same, as far as they were recorded.");
        return;
    }
    document_add(document, PART_TEXT, LOOK_PLAIN, "Conditions that differ:");
    for (size_t i = 0; i < comparison->conditions_count; i++) {
        const struct compare_condition *row = &comparison->conditions[i];
        char a[sizeof(row->a)], b[sizeof(row->b)];
        document_named(document, PART_TERM, row->name,
                       document_format(document, "%s, %s",
                                       report_utf8(row->a, a, sizeof(a)),
                                       report_utf8(row->b, b, sizeof(b))));
    }
}

static void add_model(struct document *document,
                      const struct comparison *comparison)
{
    const double p = comparison->one_model;
    const char *line = "One model? Unknown: the runs share no answer.";

    if (comparison->probes_count)
        line = document_format(
            document,
            "One model? %s: %.1f %%, by what %zu probe%s found in both "
            "runs.%s",
            p >= likely     ? "Likely"
            : p <= unlikely ? "Unlikely"
                            : "Cannot tell",
            floor(p * 1000) / 10, comparison->probes_count,
            comparison->probes_count == 1 ? "" : "s",
            comparison->is_of_hosts
                ? " Rates that differ do not count: the hosts may have "
                  "set them."
                : "");
    document_add(document, PART_TEXT, LOOK_PLAIN, line);
}

void compare_page(const struct comparison *comparison, const char *missing,
                  struct document *document)
{
    char names[2][COMPARE_NAME_BYTES];

    *document = (struct document){.place = PLACE_PAGE};
    compare_names(comparison, names);
    document_add(document, PART_TITLE, LOOK_PLAIN,
                 document_format(document, "%s and %s", names[0], names[1]));
    add_choice(document, comparison, names);
    add_model(document, comparison);
    add_conditions(document, comparison);
    document_section(document, "both", "Both drives")->look = LOOK_LEAD;
    if (missing)
        document_add(document, PART_TEXT, LOOK_WARNING, missing);
    for (size_t i = 0; figure_compared[i]; i++)
        document_add(document, PART_FIGURE, LOOK_PLAIN,
                     document_format(document, "Figure: %s of %s and %s",
                                     figure_compared[i], names[0], names[1]))
            ->id = figure_compared[i];
    document_section(document, "compared", "All findings")->look = LOOK_LEAD;
    add_table(document, comparison, names, false, true);
}

int compare_text(FILE *out, const struct comparison *comparison,
                 const struct report_style *style)
{
    struct document document = {.place = PLACE_FULL};
    char names[2][COMPARE_NAME_BYTES];

    errno = 0;
    compare_names(comparison, names);
    add_choice(&document, comparison, names);
    add_table(&document, comparison, names, style->plain_bytes, false);
    document_add(&document, PART_TEXT, LOOK_SOFT, "* marks the better value.");
    add_conditions(&document, comparison);
    add_model(&document, comparison);
    document_print(out, &document, style, PLACE_FULL, comparison->a);
    return document_end(out, &document);
}

/* ---- JSON -------------------------------------------------------------- */

static struct json_object *json_row(const struct compare_row *row)
{
    struct json_object *object = json_object_new_object();

    json_add_text(object, "parameter", name_of(row));
    json_add_text(object, "comparison", compare_kind_name(row->kind));
    json_object_object_add(object, "first", report_json_finding(row->a));
    json_object_object_add(object, "second", report_json_finding(row->b));
    json_object_object_add(object, "ratio",
                           row->ratio > 0 ? json_real(row->ratio, 6) : NULL);
    return object;
}

struct json_object *compare_json(const struct comparison *comparison)
{
    struct json_object *object = json_object_new_object();
    struct json_object *conditions = json_object_new_array();
    struct json_object *rows = json_object_new_array();

    for (size_t i = 0; i < comparison->conditions_count; i++) {
        const struct compare_condition *row = &comparison->conditions[i];
        struct json_object *item = json_object_new_object();
        json_add_text(item, "name", row->name);
        json_add_text(item, "first", row->a);
        json_add_text(item, "second", row->b);
        json_object_array_add(conditions, item);
    }
    for (size_t i = 0; i < comparison->rows_count; i++)
        json_object_array_add(rows, json_row(&comparison->rows[i]));
    json_object_object_add(object, "conditions", conditions);
    json_object_object_add(object, "findings", rows);
    json_object_object_add(
        object, "one_model",
        comparison->probes_count ? json_real(comparison->one_model, 6) : NULL);
    json_object_object_add(
        object, "probes",
        json_object_new_int64((int64_t)comparison->probes_count));
    return object;
}
