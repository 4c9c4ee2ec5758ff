/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/json.h"

#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/report/report.h"
#include "lib/report/summary.h"

struct json_object *json_text(const char *text)
{
    char copy[REPORT_SUMMARY_BYTES];

    return text[0]
               ? json_object_new_string(report_utf8(text, copy, sizeof(copy)))
               : NULL;
}

struct json_object *json_real(double real, int digits)
{
    char text[64];

    const int used = snprintf(text, sizeof(text), "%.*f", digits, real);
    if (!isfinite(real) || used < 0 || (size_t)used >= sizeof(text))
        return json_object_new_double(isfinite(real) ? real : 0);
    if (strchr(text, '.')) {
        size_t length = strlen(text);
        while (text[length - 1] == '0' && text[length - 2] != '.')
            text[--length] = '\0';
    }
    return json_object_new_double_s(real, text);
}

void json_add_text(struct json_object *object, const char *key,
                   const char *text)
{
    json_object_object_add(object, key, json_text(text));
}

void json_add_real(struct json_object *object, const char *key, double real,
                   int digits)
{
    json_object_object_add(object, key, json_real(real, digits));
}

static struct json_object *json_member(const void *at,
                                       const struct json_field *field)
{
    const uint64_t count =
        field->kind != JSON_COUNT && field->kind != JSON_KNOWN ? 0
        : field->size == sizeof(uint32_t) ? *(const uint32_t *)at
                                          : *(const uint64_t *)at;

    switch (field->kind) {
    case JSON_TEXT:
        return json_text(at);
    case JSON_COUNT:
        return json_object_new_uint64(count);
    case JSON_KNOWN:
        return count ? json_object_new_uint64(count) : NULL;
    case JSON_FLAG:
        return json_object_new_boolean(*(const bool *)at);
    case JSON_SECONDS:
        return json_real(*(const double *)at, 3);
    case JSON_NANOSECONDS:
        return json_real(*(const double *)at, 9);
    case JSON_EXPECTATION:
        return json_of(at, json_expectation);
    }
    return NULL;
}

void json_write(struct json_object *object, const void *from,
                const struct json_field fields[])
{
    for (; fields->name; fields++)
        json_object_object_add(
            object, fields->name,
            json_member((const char *)from + fields->offset, fields));
}

struct json_object *json_of(const void *from, const struct json_field fields[])
{
    struct json_object *object = json_object_new_object();

    json_write(object, from, fields);
    return object;
}

void json_read(struct json_object *object, void *to,
               const struct json_field fields[])
{
    for (; fields->name; fields++) {
        void *at = (char *)to + fields->offset;
        struct json_object *member = json_get(object, fields->name);
        const uint64_t count = json_get_count(object, fields->name);
        if (fields->kind == JSON_TEXT)
            json_get_text(object, fields->name, at, fields->size);
        else if (fields->kind == JSON_FLAG)
            *(bool *)at = json_object_get_boolean(member);
        else if (fields->kind == JSON_SECONDS ||
                 fields->kind == JSON_NANOSECONDS)
            *(double *)at = json_get_real(object, fields->name, 0);
        else if (fields->kind == JSON_EXPECTATION)
            json_read(member, at, json_expectation);
        else if (fields->size == sizeof(uint32_t))
            *(uint32_t *)at = (uint32_t)smaller_of(count, UINT32_MAX);
        else
            *(uint64_t *)at = count;
    }
}

struct json_object *json_get(struct json_object *object, const char *key)
{
    struct json_object *member = NULL;

    if (json_object_is_type(object, json_type_object))
        json_object_object_get_ex(object, key, &member);
    return member;
}

void json_get_text(struct json_object *object, const char *key, char *text,
                   size_t size)
{
    struct json_object *member = json_get(object, key);

    if (json_object_is_type(member, json_type_string))
        report_utf8(json_object_get_string(member), text, size);
}

uint64_t json_get_count(struct json_object *object, const char *key)
{
    struct json_object *member = json_get(object, key);
    const int64_t number = json_object_is_type(member, json_type_int)
                               ? json_object_get_int64(member)
                               : 0;

    return number > 0 ? (uint64_t)number : 0;
}

double json_get_real(struct json_object *object, const char *key,
                     double otherwise)
{
    struct json_object *member = json_get(object, key);
    const bool is_number = json_object_is_type(member, json_type_double) ||
                           json_object_is_type(member, json_type_int);
    const double real = is_number ? json_object_get_double(member) : otherwise;

    return isfinite(real) ? real : otherwise;
}

size_t json_length(struct json_object *array)
{
    return json_object_is_type(array, json_type_array)
               ? json_object_array_length(array)
               : 0;
}

/* ---- what a document keeps ----------------------------------------------- */

/* Members of struct OF. */
#define NAMED(kind, name, member)                                              \
    {                                                                          \
        (name), JSON_##kind, offsetof(struct OF, member),                      \
            sizeof(((struct OF *)0)->member)                                   \
    }
#define FIELD(kind, member) NAMED(kind, #member, member)

#define OF report_run
const struct json_field json_run[] = {
    FIELD(TEXT, id),     FIELD(TEXT, started), FIELD(TEXT, host),
    FIELD(TEXT, kernel), FIELD(TEXT, version), {0}};

#undef OF
#define OF device_info
const struct json_field json_device[] = {FIELD(TEXT, path),
                                         FIELD(TEXT, model),
                                         FIELD(TEXT, serial),
                                         FIELD(TEXT, firmware),
                                         FIELD(TEXT, bus),
                                         FIELD(TEXT, driver),
                                         FIELD(KNOWN, capacity_bytes),
                                         FIELD(KNOWN, logical_block_bytes),
                                         FIELD(KNOWN, physical_block_bytes),
                                         FIELD(KNOWN, request_limit_bytes),
                                         FIELD(KNOWN, optimal_io_bytes),
                                         FIELD(FLAG, read_only),
                                         FIELD(FLAG, removable),
                                         FIELD(FLAG, rotational),
                                         FIELD(FLAG, virtual_disk),
                                         FIELD(FLAG, virtual_clock),
                                         FIELD(TEXT, engine),
                                         FIELD(TEXT, flush),
                                         {0}};

#undef OF
#define OF device_declared
const struct json_field json_declared[] = {
    FIELD(TEXT, name), FIELD(COUNT, bytes), FIELD(TEXT, source), {0}};

#undef OF
#define OF device_usb
const struct json_field json_usb[] = {FIELD(TEXT, driver),
                                      FIELD(TEXT, bridge),
                                      FIELD(KNOWN, speed_megabits_per_second),
                                      {0}};

#undef OF
#define OF cost_plan
const struct json_field json_plan[] = {FIELD(COUNT, bytes_written),
                                       FIELD(COUNT, bytes_written_max),
                                       FIELD(COUNT, bytes_read),
                                       FIELD(COUNT, bytes_read_max),
                                       FIELD(COUNT, requests),
                                       FIELD(COUNT, requests_max),
                                       FIELD(COUNT, region_offset_bytes),
                                       FIELD(COUNT, region_length_bytes),
                                       FIELD(SECONDS, seconds),
                                       FIELD(COUNT, budget_bytes),
                                       {0}};

#undef OF
#define OF cost_expectation
const struct json_field json_expectation[] = {FIELD(COUNT, bytes_written),
                                              FIELD(COUNT, bytes_read),
                                              FIELD(COUNT, requests),
                                              FIELD(SECONDS, seconds),
                                              {0}};

#undef OF
#define OF cost_part
const struct json_field json_planned[] = {
    FIELD(FLAG, fits),
    NAMED(COUNT, "bytes_written", plan.bytes_written),
    NAMED(COUNT, "bytes_written_max", plan.bytes_written_max),
    NAMED(COUNT, "bytes_read", plan.bytes_read),
    NAMED(COUNT, "bytes_read_max", plan.bytes_read_max),
    NAMED(COUNT, "requests", plan.requests),
    NAMED(COUNT, "requests_max", plan.requests_max),
    FIELD(SECONDS, seconds),
    {0}};

const struct json_field json_done[] = {FIELD(COUNT, bytes_written),
                                       FIELD(COUNT, bytes_read),
                                       NAMED(COUNT, "requests", requests_count),
                                       FIELD(NANOSECONDS, device_seconds),
                                       FIELD(EXPECTATION, foreseen),
                                       FIELD(EXPECTATION, expected),
                                       {0}};

#undef OF
#define OF cost_total
const struct json_field json_cost[] = {
    FIELD(COUNT, bytes_written),
    FIELD(COUNT, bytes_read),
    NAMED(COUNT, "requests", requests_count),
    NAMED(COUNT, "requests_split", split_count),
    FIELD(NANOSECONDS, device_seconds),
    {0}};
