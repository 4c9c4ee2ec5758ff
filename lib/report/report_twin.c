/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/report_twin.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>

enum { COLUMNS = 80 };

static void print_probes(FILE *out, const struct report_twin *twin)
{
    fprintf(out, "\n%-24s %9s  %9s  %7s  %6s\n", "PROBE", "REQUESTS",
            "EXPLAINED", "FITTING", "ERROR");
    for (size_t i = 0; i < twin->probes_count; i++) {
        const struct report_twin_probe *probe = &twin->probes[i];
        fprintf(out, "%-24s %9llu  %7.1f %%  %5.0f %%  %4.1f %%\n",
                probe->probe, (unsigned long long)probe->requests_count,
                100 * probe->explained_share, 100 * probe->fitting_share,
                100 * probe->middle_error);
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

char *report_twin_sentence(const struct report_twin *twin, char *text,
                           size_t size)
{
    if (twin->explains)
        snprintf(text, size,
                 "The twin explains %.1f %% of the variance of times, and "
                 "predicts the level of %.0f %% of the requests.",
                 100 * twin->explained_share, 100 * twin->fitting_share);
    else
        snprintf(text, size, "The twin does not explain this drive: %s.",
                 twin->reason);
    return text;
}

int report_twin_text(FILE *out, const struct report_twin *twin,
                     const struct report_style *style)
{
    const unsigned columns =
        style->columns_count ? style->columns_count : COLUMNS;
    char text[400];

    errno = 0;
    report_wrap(out, report_twin_sentence(twin, text, sizeof(text)), 0,
                columns);
    print_probes(out, twin);
    if (twin->decisions_count)
        print_decisions(out, twin);
    return ferror(out) ? (errno ? -errno : -EIO) : 0;
}

static void add_text(struct json_object *object, const char *key,
                     const char *text)
{
    json_object_object_add(object, key,
                           text[0] ? json_object_new_string(text) : NULL);
}

static void add_real(struct json_object *object, const char *key, double real)
{
    char text[32];

    snprintf(text, sizeof(text), "%.4g", real);
    json_object_object_add(object, key, json_object_new_double_s(real, text));
}

static struct json_object *probes_json(const struct report_twin *twin)
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; i < twin->probes_count; i++) {
        const struct report_twin_probe *probe = &twin->probes[i];
        struct json_object *item = json_object_new_object();
        add_text(item, "probe", probe->probe);
        json_object_object_add(
            item, "requests",
            json_object_new_int64((int64_t)probe->requests_count));
        add_real(item, "explained_share", probe->explained_share);
        add_real(item, "fitting_share", probe->fitting_share);
        add_real(item, "middle_error", probe->middle_error);
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
        add_text(item, "key", decision->key);
        add_text(item, "value", decision->value);
        add_text(item, "origin", decision->origin);
        add_text(item, "parameter", decision->parameter);
        add_text(item, "next_best", decision->rival);
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
    add_text(object, "reason", twin->reason);
    add_real(object, "explained_share", twin->explained_share);
    add_real(object, "fitting_share", twin->fitting_share);
    add_real(object, "difference", twin->over_null_difference);
    add_real(object, "z", twin->over_null_z);
    json_object_object_add(object, "probes", probes_json(twin));
    json_object_object_add(object, "decisions", decisions_json(twin));
    return object;
}
