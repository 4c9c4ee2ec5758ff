/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/read/numbers.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/infer/parameter.h"
#include "lib/report/report.h"

/* 2^63: above what any quantity of ours can hold. */
static const double beyond_integers = 9223372036854775808.0;

enum { NAME_BYTES = 96, DEPTH_MAX = 8 };

struct check {
    const char *path;
    struct fault *why;
};

static bool is_number(struct json_object *o)
{
    return json_object_is_type(o, json_type_int) ||
           json_object_is_type(o, json_type_double);
}

/* "cost.wall_seconds is -1, but ...": words of others are made harmless. */
static int refuse(const struct check *check, const char *name,
                  struct json_object *number, const char *range)
{
    const char *text = json_object_to_json_string(number);
    char path[256], clean[2 * NAME_BYTES], amount[64];

    return fault_set(check->why, FAULT_OPEN, -ERANGE,
                     "%.150s: %.80s is %.40s, but %.120s; the file is damaged "
                     "or not from ssdprobe, so use the original",
                     report_utf8(check->path, path, sizeof(path)),
                     report_utf8(name, clean, sizeof(clean)),
                     report_utf8(text, amount, sizeof(amount)), range);
}

/* Temperatures alone may lie below 0. */
static bool may_be_negative(const char *name)
{
    static const char ending[] = "_celsius";
    const size_t length = strlen(name), end = strlen(ending);

    return length > end && strcmp(name + length - end, ending) == 0;
}

/* Every number of an object or an array, and of those in it. */
static int check_all(const struct check *check, const char *name,
                     struct json_object *o, int depth)
{
    char inner[NAME_BYTES];
    int error = 0;

    if (is_number(o)) {
        const double number = json_object_get_double(o);
        const bool fits = isfinite(number) && number < beyond_integers &&
                          (number >= 0 || may_be_negative(name));
        return fits ? 0
                    : refuse(check, name, o,
                             "it must be a number from 0 to 2^63");
    }
    if (depth == DEPTH_MAX)
        return 0;
    if (json_object_is_type(o, json_type_array))
        for (size_t i = 0; i < json_object_array_length(o) && !error; i++) {
            snprintf(inner, sizeof(inner), "%.70s[%zu]", name, i);
            error = check_all(check, inner, json_object_array_get_idx(o, i),
                              depth + 1);
        }
    if (!json_object_is_type(o, json_type_object))
        return error;
    json_object_object_foreach(o, key, member)
    {
        snprintf(inner, sizeof(inner), "%.45s.%.45s", name, key);
        if (!error)
            error = check_all(check, inner, member, depth + 1);
    }
    return error;
}

/* A number of this unit, or a list of them. What has no unit is text or a truth
 * value as a rule; a number is then as good as any. */
static int check_amount(const struct check *check, const char *name,
                        struct json_object *o, const char *unit)
{
    const double most = unit_most(unit);
    char range[120];
    int error = 0;

    if (json_object_is_type(o, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(o) && !error; i++)
            error = check_amount(check, name, json_object_array_get_idx(o, i),
                                 unit);
        return error;
    }
    if (!o || (!unit[0] && !is_number(o)))
        return 0;
    const double number = json_object_get_double(o);
    if (is_number(o) && isfinite(number) && number >= 0 && number <= most)
        return 0;
    snprintf(range, sizeof(range), "its unit%s%s allows numbers from 0 to %.4g",
             unit[0] ? " " : "", unit, most);
    return refuse(check, name, o, range);
}

static struct json_object *get(struct json_object *object, const char *key)
{
    struct json_object *member = NULL;

    if (json_object_is_type(object, json_type_object))
        json_object_object_get_ex(object, key, &member);
    return member;
}

/* Low, value and high rise, as far as they are there. */
static int check_order(const struct check *check, const char *parameter,
                       struct json_object *finding)
{
    static const char *const rising[] = {"low", "value", "high"};
    char name[NAME_BYTES];
    double most = 0;

    for (size_t i = 0; i < sizeof(rising) / sizeof(rising[0]); i++) {
        struct json_object *o = get(finding, rising[i]);
        if (!is_number(o))
            continue;
        snprintf(name, sizeof(name), "'%s' of %.60s", rising[i], parameter);
        if (json_object_get_double(o) < most)
            return refuse(check, name, o,
                          "low, value and high must rise in this order");
        most = json_object_get_double(o);
    }
    return 0;
}

static int check_finding(const struct check *check, struct json_object *finding)
{
    static const char *const amounts[] = {"value", "low", "high"};
    struct json_object *named = get(finding, "parameter");
    struct json_object *confidence = get(finding, "confidence");
    const char *parameter = json_object_is_type(named, json_type_string)
                                ? json_object_get_string(named)
                                : "";
    const char *unit = parameter_unit(parameter_now(parameter));
    char name[NAME_BYTES];
    int error = 0;

    if (!unit)
        return 0;
    for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]) && !error;
         i++) {
        snprintf(name, sizeof(name), "'%s' of %.60s", amounts[i], parameter);
        error = check_amount(check, name, get(finding, amounts[i]), unit);
    }
    json_object_object_foreach(finding, key, member)
    {
        snprintf(name, sizeof(name), "'%.30s' of %.60s", key, parameter);
        if (!error && member != confidence &&
            (is_number(member) || json_object_is_type(member, json_type_array)))
            error = check_amount(check, name, member, unit);
    }
    if (error || !confidence)
        return error ? error : check_order(check, parameter, finding);
    const double sure =
        is_number(confidence) ? json_object_get_double(confidence) : -1;
    snprintf(name, sizeof(name), "'confidence' of %.60s", parameter);
    return sure >= 0 && sure <= 1 ? check_order(check, parameter, finding)
                                  : refuse(check, name, confidence,
                                           "it must be a number from 0 to 1");
}

int report_check_numbers(struct json_object *document, const char *path,
                         struct fault *why)
{
    static const char *const parts[] = {"device", "plan", "cost"};
    const struct check check = {path, why};
    struct json_object *findings = get(document, "findings");
    int error = 0;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !error; i++)
        error = check_all(&check, parts[i], get(document, parts[i]), 0);
    if (!json_object_is_type(findings, json_type_array))
        return error;
    for (size_t i = 0; i < json_object_array_length(findings) && !error; i++)
        error = check_finding(&check, json_object_array_get_idx(findings, i));
    return error;
}
