/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/report_twin.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/report/json.h"

enum { COLUMNS = 80 };

char *report_twin_off(double off, bool is_signed, char text[16])
{
    if (isfinite(off))
        snprintf(text, 16, is_signed ? "%+.0f %%" : "%.0f %%", 100 * off);
    else
        snprintf(text, 16, "-");
    return text;
}

static void print_errors(FILE *out, const struct report_twin *twin)
{
    char mean[16], p99[16];

    fprintf(out, "\n%-16s %5s  %9s  %8s  %8s\n", "KIND", "DEPTH", "REQUESTS",
            "MEAN OFF", "P99 OFF");
    for (size_t i = 0; i < twin->errors_count; i++) {
        const struct report_twin_error *one = &twin->errors[i];
        fprintf(out, "%-16s %5u  %9llu  %8s  %8s%s\n", one->kind, one->depth,
                (unsigned long long)one->requests_count,
                report_twin_off(one->mean_off, false, mean),
                report_twin_off(one->p99_off, true, p99),
                one->explains ? "" : "  does not explain");
    }
}

static void print_decisions(FILE *out, const struct report_twin *twin)
{
    fprintf(out, "\n%-26s %-12s %-12s %-14s %s\n", "KEY", "VALUE", "",
            "NEXT BEST", "Z");
    for (size_t i = 0; i < twin->decisions_count; i++) {
        const struct report_twin_decision *decision = &twin->decisions[i];
        fprintf(out, "%-26s %-12s %-12s", decision->key, decision->value,
                decision->origin);
        if (decision->rival[0])
            fprintf(out, " %-14s %.1f", decision->rival, decision->z);
        fputs("\n", out);
    }
}

/* "read at depth 1, 4; write at depth 1": those that it explains, or not. */
static void list_kinds(const struct report_twin *twin, bool explains,
                       char *text, size_t size)
{
    const char *kind = "";
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < twin->errors_count && used < size; i++) {
        const struct report_twin_error *one = &twin->errors[i];
        if (one->explains != explains)
            continue;
        used += (size_t)(strcmp(kind, one->kind) == 0
                             ? snprintf(text + used, size - used, ", %u",
                                        one->depth)
                             : snprintf(text + used, size - used,
                                        "%s%s at depth %u", used ? "; " : "",
                                        one->kind, one->depth));
        kind = one->kind;
    }
}

char *report_twin_sentence(const struct report_twin *twin, char *text,
                           size_t size)
{
    char good[REPORT_TWIN_MAX / 3], bad[REPORT_TWIN_MAX / 3];

    list_kinds(twin, true, good, sizeof(good));
    list_kinds(twin, false, bad, sizeof(bad));
    if (!twin->explains)
        snprintf(text, size,
                 "Do not use the twin: it does not explain this drive, for %s.",
                 twin->reason);
    else if (!good[0] && bad[0])
        snprintf(text, size,
                 "Do not use the twin: it does not explain any kind of request "
                 "that was measured.");
    else if (bad[0])
        snprintf(text, size,
                 "Use the twin for %s, where its mean is within 20 %%, but not "
                 "for %s, which it does not explain.",
                 good, bad);
    else
        snprintf(text, size,
                 "Use the twin for every kind of request that was measured: "
                 "its mean is within 20 %% for each.");
    return text;
}

int report_twin_text(FILE *out, const struct report_twin *twin,
                     const struct report_style *style)
{
    const unsigned columns =
        style->columns_count ? style->columns_count : COLUMNS;
    char text[REPORT_TWIN_MAX];

    errno = 0;
    report_wrap(out, report_twin_sentence(twin, text, sizeof(text)), 0,
                columns);
    print_errors(out, twin);
    if (twin->decisions_count)
        print_decisions(out, twin);
    return ferror(out) ? (errno ? -errno : -EIO) : 0;
}

static void add_real(struct json_object *object, const char *key, double real)
{
    char text[32];

    snprintf(text, sizeof(text), "%.4g", real);
    json_object_object_add(object, key,
                           isfinite(real) ? json_object_new_double_s(real, text)
                                          : NULL);
}

static struct json_object *errors_json(const struct report_twin *twin)
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; i < twin->errors_count; i++) {
        const struct report_twin_error *one = &twin->errors[i];
        struct json_object *item = json_object_new_object();
        json_add_text(item, "kind", one->kind);
        json_object_object_add(item, "depth",
                               json_object_new_int64(one->depth));
        json_object_object_add(
            item, "requests",
            json_object_new_int64((int64_t)one->requests_count));
        add_real(item, "mean_off", one->mean_off);
        add_real(item, "p99_off", one->p99_off);
        json_object_object_add(item, "explained",
                               json_object_new_boolean(one->explains));
        json_object_array_add(array, item);
    }
    return array;
}

static struct json_object *decisions_json(const struct report_twin *twin)
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; i < twin->decisions_count; i++) {
        const struct report_twin_decision *decision = &twin->decisions[i];
        struct json_object *item = json_object_new_object();
        json_add_text(item, "key", decision->key);
        json_add_text(item, "value", decision->value);
        json_add_text(item, "origin", decision->origin);
        json_add_text(item, "parameter", decision->parameter);
        json_add_text(item, "next_best", decision->rival);
        add_real(item, "difference", decision->difference);
        add_real(item, "z", decision->z);
        json_object_array_add(array, item);
    }
    return array;
}

struct json_object *report_twin_json(const struct report_twin *twin)
{
    struct json_object *object = json_object_new_object();

    json_object_object_add(object, "explains",
                           json_object_new_boolean(twin->explains));
    json_add_text(object, "reason", twin->reason);
    add_real(object, "explained_share", twin->explained_share);
    add_real(object, "difference", twin->over_null_difference);
    add_real(object, "z", twin->over_null_z);
    json_object_object_add(object, "errors", errors_json(twin));
    json_object_object_add(object, "decisions", decisions_json(twin));
    return object;
}
