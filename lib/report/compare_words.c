/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "lib/infer/parameter.h"
#include "lib/report/compare.h"
#include "lib/report/summary.h"

enum { COLUMNS_NORMAL = 80, TABLE_COLUMNS = 72, INDENT = 4, NAME_BYTES = 64 };

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
    const size_t used = strlen(text);
    if (finding && finding_assumed(finding))
        snprintf(text + used, size - used, " assumed");
    return text;
}

static const char *name_of(const struct compare_row *row)
{
    return row->a ? row->a->parameter : row->b->parameter;
}

/* What heads its column: the name of the drive, where the other has another. */
static void name_runs(const struct comparison *comparison,
                      char names[2][NAME_BYTES])
{
    const struct report *const reports[] = {comparison->a, comparison->b};

    for (size_t i = 0; i < 2; i++) {
        const struct device_info *device = reports[i]->device;
        report_utf8(device ? device->model : "", names[i], NAME_BYTES);
    }
    if (names[0][0] && names[1][0] && strcmp(names[0], names[1]) != 0)
        return;
    snprintf(names[0], NAME_BYTES, "first");
    snprintf(names[1], NAME_BYTES, "second");
}

static void put_row(FILE *out, const struct compare_row *row,
                    const struct report_style *style, unsigned columns)
{
    char a[96], b[96], ratio[32] = "", line[320];

    answer_text(row->a, style->plain_bytes, a, sizeof(a));
    answer_text(row->b, style->plain_bytes, b, sizeof(b));
    if (row->kind == COMPARE_DIFFERENT && row->ratio >= 1)
        snprintf(ratio, sizeof(ratio), ", %.3g times", row->ratio);
    else if (row->kind == COMPARE_DIFFERENT && row->ratio > 0)
        snprintf(ratio, sizeof(ratio), ", 1/%.3g of it", 1 / row->ratio);
    if (columns >= TABLE_COLUMNS) {
        fprintf(out, "%-21s %13s %c %13s %c %s%s\n", name_of(row), a,
                row->better == 1 ? '*' : ' ', b, row->better == 2 ? '*' : ' ',
                compare_kind_name(row->kind), ratio);
        return;
    }
    snprintf(line, sizeof(line), "%s: %s, %s: %s%s", name_of(row), a, b,
             compare_kind_name(row->kind), ratio);
    report_wrap(out, line, 0, columns);
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
static bool put_gains(FILE *out, const struct comparison *comparison,
                      int better, const char *name, unsigned columns)
{
    enum { SAID_MOST = 3 };
    double below = INFINITY;
    char line[400];
    size_t used = (size_t)snprintf(line, sizeof(line), "%s is better:", name);

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
        used += (size_t)snprintf(line + used, sizeof(line) - used,
                                 "%s %s %.3g times", said ? "," : "",
                                 parameter_label(best->a->parameter), below);
    }
    if (!isfinite(below))
        return false;
    snprintf(line + used, sizeof(line) - used, ".");
    report_wrap(out, line, 0, columns);
    return true;
}

/* Which of them is for whom; before that, what is bad. */
static void put_choice(FILE *out, const struct comparison *comparison,
                       char names[2][NAME_BYTES], unsigned columns)
{
    const struct report *const reports[] = {comparison->a, comparison->b};
    char banner[REPORT_BANNER_BYTES], line[REPORT_BANNER_BYTES + NAME_BYTES];
    bool any = false;

    for (size_t i = 0; i < 2; i++) {
        if (!report_banner(reports[i], false, banner)[0])
            continue;
        snprintf(line, sizeof(line), "%s: %s", names[i], banner);
        report_wrap(out, line, 0, columns);
    }
    for (int i = 2; i >= 1; i--)
        any |= report_banner(reports[i - 1], false, banner)[0] != '\0' ||
               put_gains(out, comparison, i, names[i - 1], columns);
    if (!any)
        report_wrap(out, "Neither is better beyond the intervals.", 0, columns);
}

static void put_conditions(FILE *out, const struct comparison *comparison,
                           unsigned columns)
{
    if (comparison->conditions_count == 0) {
        report_wrap(out, "Conditions: the same, as far as they were recorded.",
                    0, columns);
        return;
    }
    fputs("Conditions that differ:\n", out);
    for (size_t i = 0; i < comparison->conditions_count; i++) {
        const struct compare_condition *row = &comparison->conditions[i];
        char line[320], text[320];
        snprintf(line, sizeof(line), "%s: %s, %s", row->name, row->a, row->b);
        report_wrap(out, report_utf8(line, text, sizeof(text)), INDENT,
                    columns);
    }
}

static void put_model(FILE *out, const struct comparison *comparison,
                      unsigned columns)
{
    const double p = comparison->one_model;
    char line[320];

    fputc('\n', out);
    if (comparison->probes_count == 0)
        snprintf(line, sizeof(line),
                 "One model? Unknown: the runs share no answer.");
    else
        snprintf(line, sizeof(line),
                 "One model? %s: %.1f %%, by what %zu probe%s found in both "
                 "runs.",
                 p >= likely     ? "Likely"
                 : p <= unlikely ? "Unlikely"
                                 : "Cannot tell",
                 floor(p * 1000) / 10, comparison->probes_count,
                 comparison->probes_count == 1 ? "" : "s");
    report_wrap(out, line, 0, columns);
}

int compare_text(FILE *out, const struct comparison *comparison,
                 const struct report_style *style)
{
    const unsigned columns =
        style->columns_count ? style->columns_count : COLUMNS_NORMAL;

    errno = 0;
    char names[2][NAME_BYTES];
    name_runs(comparison, names);
    put_choice(out, comparison, names, columns);
    fputc('\n', out);
    if (columns >= TABLE_COLUMNS && comparison->rows_count)
        fprintf(out, "%-21s %13.13s   %13.13s   %s\n", "Parameter", names[0],
                names[1], "Beyond the intervals");
    for (size_t i = 0; i < comparison->rows_count; i++)
        put_row(out, &comparison->rows[i], style, columns);
    fputs(comparison->rows_count ? "(* the better one)\n\n" : "", out);
    put_conditions(out, comparison, columns);
    put_model(out, comparison, columns);
    if (fflush(out) != 0 || ferror(out))
        return errno ? -errno : -EIO;
    return 0;
}

/* ---- JSON -------------------------------------------------------------- */

static void add_text(struct json_object *object, const char *key,
                     const char *text)
{
    char copy[512];

    json_object_object_add(
        object, key,
        json_object_new_string(report_utf8(text, copy, sizeof(copy))));
}

static struct json_object *json_real(double real)
{
    char text[40];

    snprintf(text, sizeof(text), "%.6f", real);
    return json_object_new_double_s(real, text);
}

static struct json_object *json_row(const struct compare_row *row)
{
    struct json_object *object = json_object_new_object();

    add_text(object, "parameter", name_of(row));
    add_text(object, "comparison", compare_kind_name(row->kind));
    json_object_object_add(object, "first", report_json_finding(row->a));
    json_object_object_add(object, "second", report_json_finding(row->b));
    json_object_object_add(object, "ratio",
                           row->ratio > 0 ? json_real(row->ratio) : NULL);
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
        add_text(item, "name", row->name);
        add_text(item, "first", row->a);
        add_text(item, "second", row->b);
        json_object_array_add(conditions, item);
    }
    for (size_t i = 0; i < comparison->rows_count; i++)
        json_object_array_add(rows, json_row(&comparison->rows[i]));
    json_object_object_add(object, "conditions", conditions);
    json_object_object_add(object, "findings", rows);
    json_object_object_add(
        object, "one_model",
        comparison->probes_count ? json_real(comparison->one_model) : NULL);
    json_object_object_add(
        object, "probes",
        json_object_new_int64((int64_t)comparison->probes_count));
    return object;
}
