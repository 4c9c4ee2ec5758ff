/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/report.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/whole_verdict.h"
#include "lib/infer/parameter.h"
#include "lib/report/advice/advice.h"
#include "lib/report/known.h"
#include "lib/report/report_twin.h"
#include "lib/report/summary.h"

static struct json_object *json_text(const char *text)
{
    char copy[REPORT_SUMMARY_BYTES];

    return text[0]
               ? json_object_new_string(report_utf8(text, copy, sizeof(copy)))
               : NULL;
}

/* What a device does not say is null, not 0. */
static struct json_object *json_known(uint64_t number)
{
    return number ? json_object_new_uint64(number) : NULL;
}

/* json-c would print 17 digits, most of them noise. */
static struct json_object *json_real(double real, int digits)
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

static struct json_object *json_list(const struct value *value)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < value->list.count; i++)
        json_object_array_add(list,
                              json_object_new_int64(value->list.items[i]));
    return list;
}

/* Sizes, times and counts are integers whatever a probe computed in. */
static struct json_object *json_value(const struct value *value,
                                      const char *unit)
{
    char text[32];

    switch (value->kind) {
    case VALUE_NONE:
        return NULL;
    case VALUE_INTEGER:
        return json_object_new_int64(value->integer);
    case VALUE_REAL:
        if (unit[0])
            return json_object_new_int64(nearest_integer(value->real));
        return json_object_new_double_s(
            value->real, value_format(value, text, sizeof(text)));
    case VALUE_TEXT:
        return json_text(value->text);
    case VALUE_BOOLEAN:
        return json_object_new_boolean(value->boolean);
    case VALUE_LIST:
        return json_list(value);
    }
    return NULL;
}

/* One type a column, for engines that make tables of documents. */
static void add_typed(struct json_object *object, const struct finding *finding)
{
    const struct value *value = &finding->value;
    char text[96];

    if (value->kind == VALUE_INTEGER || value->kind == VALUE_REAL)
        json_object_object_add(object, "value_number",
                               json_value(value, finding->unit));
    else if (value->kind != VALUE_NONE)
        json_object_object_add(
            object, "value_text",
            json_text(value_format(value, text, sizeof(text))));
}

struct json_object *report_json_finding(const struct finding *finding)
{
    if (!finding)
        return NULL;
    struct json_object *object = json_object_new_object();
    const char *unit = finding->unit;

    json_object_object_add(object, "parameter", json_text(finding->parameter));
    if (parameter_meaning(finding->parameter))
        json_object_object_add(
            object, "meaning",
            json_object_new_string(parameter_meaning(finding->parameter)));
    json_object_object_add(
        object, "verdict",
        json_object_new_string(verdict_name(finding->verdict)));
    json_object_object_add(object, "value", json_value(&finding->value, unit));
    json_object_object_add(object, "unit", json_object_new_string(unit));
    json_object_object_add(object, "low", json_value(&finding->low, unit));
    json_object_object_add(object, "high", json_value(&finding->high, unit));
    json_object_object_add(object, "confidence",
                           json_real(finding->confidence, 6));
    json_object_object_add(object, "why", json_text(finding->why));
    json_object_object_add(object, "probe", json_text(finding->probe));
    add_typed(object, finding);
    if (finding_assumed(finding))
        json_object_object_add(object, "assumed",
                               json_object_new_boolean(true));
    for (size_t i = 0; i < finding->extras_count; i++)
        json_object_object_add(object, finding->extras[i].name,
                               json_value(&finding->extras[i].value, unit));
    return object;
}

struct json_object *report_json_findings(const struct findings *findings)
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; findings && i < findings->count; i++)
        json_object_array_add(array, report_json_finding(&findings->items[i]));
    return array;
}

static struct json_object *json_declared(const struct device_info *device)
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; i < device->declared_count; i++) {
        const struct device_declared *row = &device->declared[i];
        struct json_object *o = json_object_new_object();
        json_object_object_add(o, "name", json_text(row->name));
        json_object_object_add(o, "bytes", json_object_new_uint64(row->bytes));
        json_object_object_add(o, "source", json_text(row->source));
        json_object_array_add(array, o);
    }
    return array;
}

static struct json_object *json_usb(const struct device_usb *usb)
{
    struct json_object *o;

    if (!usb->bridge[0] && !usb->driver[0])
        return NULL;
    o = json_object_new_object();
    json_object_object_add(o, "driver", json_text(usb->driver));
    json_object_object_add(o, "bridge", json_text(usb->bridge));
    json_object_object_add(o, "speed_megabits_per_second",
                           json_known(usb->speed_megabits_per_second));
    return o;
}

static struct json_object *json_if(bool known, uint64_t number)
{
    return known ? json_object_new_uint64(number) : NULL;
}

static struct json_object *json_health(const struct device_health *health,
                                       const char *when)
{
    struct json_object *o = json_object_new_object();

    json_object_object_add(o, "when", json_object_new_string(when));
    json_object_object_add(o, "source", json_text(health->source));
    json_object_object_add(
        o, "failing",
        health->answered ? json_object_new_boolean(health->failing) : NULL);
    json_object_object_add(
        o, "temperature_celsius",
        health->has_temperature
            ? json_object_new_int(health->temperature_celsius)
            : NULL);
    json_object_object_add(
        o, "power_on_hours",
        json_if(health->has_power_on, health->power_on_hours));
    json_object_object_add(
        o, "life_used_percent",
        json_if(health->has_life_used, health->life_used_percent));
    json_object_object_add(o, "text", json_text(health->text));
    return o;
}

/* Before the first request, and after the last. */
static struct json_object *json_healths(const struct report *report)
{
    struct json_object *array = json_object_new_array();

    if (report->health_before)
        json_object_array_add(array,
                              json_health(report->health_before, "before"));
    if (report->health_after)
        json_object_array_add(array,
                              json_health(report->health_after, "after"));
    return array;
}

static struct json_object *json_device(const struct report *report)
{
    const struct device_info *device = report->device;
    struct json_object *o;
    const char *serial;

    if (!device)
        return NULL;
    o = json_object_new_object();
    serial = report->hide_serial ? "" : device->serial;

    json_object_object_add(o, "path", json_text(device->path));
    json_object_object_add(o, "model", json_text(device->model));
    json_object_object_add(o, "serial", json_text(serial));
    json_object_object_add(o, "firmware", json_text(device->firmware));
    json_object_object_add(o, "bus", json_text(device->bus));
    json_object_object_add(o, "driver", json_text(device->driver));
    json_object_object_add(o, "capacity_bytes",
                           json_known(device->capacity_bytes));
    json_object_object_add(o, "logical_block_bytes",
                           json_known(device->logical_block_bytes));
    json_object_object_add(o, "physical_block_bytes",
                           json_known(device->physical_block_bytes));
    json_object_object_add(o, "request_limit_bytes",
                           json_known(device->request_limit_bytes));
    json_object_object_add(o, "optimal_io_bytes",
                           json_known(device->optimal_io_bytes));
    json_object_object_add(o, "read_only",
                           json_object_new_boolean(device->read_only));
    json_object_object_add(o, "removable",
                           json_object_new_boolean(device->removable));
    json_object_object_add(o, "rotational",
                           json_object_new_boolean(device->rotational));
    json_object_object_add(o, "virtual_disk",
                           json_object_new_boolean(device->virtual_disk));
    json_object_object_add(o, "virtual_clock",
                           json_object_new_boolean(device->virtual_clock));
    json_object_object_add(o, "engine", json_text(device->engine));
    json_object_object_add(o, "flush", json_text(device->flush));
    json_object_object_add(o, "declared", json_declared(device));
    json_object_object_add(o, "usb", json_usb(&device->usb));
    json_object_object_add(o, "write_cache", json_text(device->write_cache));
    json_object_object_add(o, "health", json_healths(report));
    return o;
}

struct json_object *report_json_disk(const struct device_info *disk,
                                     bool hide_serial, const char *interlock,
                                     const char *text)
{
    struct json_object *o = json_object_new_object();

    json_object_object_add(o, "path", json_text(disk->path));
    json_object_object_add(o, "model", json_text(disk->model));
    json_object_object_add(o, "serial",
                           json_text(hide_serial ? "" : disk->serial));
    json_object_object_add(o, "bus", json_text(disk->bus));
    json_object_object_add(o, "capacity_bytes",
                           json_known(disk->capacity_bytes));
    json_object_object_add(o, "partitions", json_text(disk->partitions));
    json_object_object_add(
        o, "verdict", json_object_new_string(interlock ? "refuse" : "pass"));
    json_object_object_add(o, "interlock",
                           json_text(interlock ? interlock : ""));
    json_object_object_add(o, "text", json_text(text));
    return o;
}

static void add_count(struct json_object *object, const char *name,
                      uint64_t count)
{
    json_object_object_add(object, name, json_object_new_uint64(count));
}

static struct json_object *json_planned(const struct cost_part *part)
{
    struct json_object *object = json_object_new_object();

    json_object_object_add(object, "probe", json_text(part->name));
    json_object_object_add(object, "fits", json_object_new_boolean(part->fits));
    add_count(object, "bytes_written", part->plan.bytes_written);
    add_count(object, "bytes_written_max", part->plan.bytes_written_max);
    add_count(object, "bytes_read", part->plan.bytes_read);
    add_count(object, "bytes_read_max", part->plan.bytes_read_max);
    add_count(object, "requests", part->plan.requests);
    add_count(object, "requests_max", part->plan.requests_max);
    json_object_object_add(object, "seconds", json_real(part->seconds, 3));
    return object;
}

static struct json_object *
json_expectation(const struct cost_expectation *expected)
{
    struct json_object *object = json_object_new_object();

    add_count(object, "bytes_written", expected->bytes_written);
    add_count(object, "bytes_read", expected->bytes_read);
    add_count(object, "requests", expected->requests);
    json_object_object_add(object, "seconds", json_real(expected->seconds, 3));
    return object;
}

static struct json_object *json_done(const struct cost_part *part)
{
    struct json_object *object = json_object_new_object();

    json_object_object_add(object, "probe", json_text(part->name));
    add_count(object, "bytes_written", part->bytes_written);
    add_count(object, "bytes_read", part->bytes_read);
    add_count(object, "requests", part->requests_count);
    json_object_object_add(object, "device_seconds",
                           json_real(part->device_seconds, 9));
    json_object_object_add(object, "foreseen",
                           json_expectation(&part->foreseen));
    json_object_object_add(object, "expected",
                           json_expectation(&part->expected));
    return object;
}

/* A list of what was planned, or of what was done of it. */
static struct json_object *json_parts(const struct cost_plan *plan, bool done)
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; plan && i < plan->parts_count; i++)
        if (!done || plan->parts[i].began)
            json_object_array_add(array, done ? json_done(&plan->parts[i])
                                              : json_planned(&plan->parts[i]));
    return array;
}

static struct json_object *json_plan(const struct cost_plan *plan)
{
    struct json_object *object = json_object_new_object();

    add_count(object, "bytes_written", plan->bytes_written);
    add_count(object, "bytes_written_max", plan->bytes_written_max);
    add_count(object, "bytes_read", plan->bytes_read);
    add_count(object, "bytes_read_max", plan->bytes_read_max);
    add_count(object, "requests", plan->requests);
    add_count(object, "requests_max", plan->requests_max);
    add_count(object, "region_offset_bytes", plan->region_offset_bytes);
    add_count(object, "region_length_bytes", plan->region_length_bytes);
    json_object_object_add(object, "seconds", json_real(plan->seconds, 3));
    add_count(object, "budget_bytes", plan->budget_bytes);
    json_object_object_add(object, "probes", json_parts(plan, false));
    return object;
}

static struct json_object *json_cost(const struct cost_total *cost,
                                     const struct cost_plan *plan)
{
    struct json_object *object = json_object_new_object();

    add_count(object, "bytes_written", cost->bytes_written);
    add_count(object, "bytes_read", cost->bytes_read);
    add_count(object, "requests", cost->requests_count);
    add_count(object, "requests_split", cost->split_count);
    json_object_object_add(object, "device_seconds",
                           json_real(cost->device_seconds, 9));
    json_object_object_add(
        object, "wall_seconds",
        cost->wall_seconds < 0 ? NULL : json_real(cost->wall_seconds, 3));
    json_object_object_add(
        object, "bytes_put_back",
        cost->preserved ? json_object_new_uint64(cost->bytes_put_back) : NULL);
    json_object_object_add(object, "pilot",
                           cost->pilot.requests ? json_expectation(&cost->pilot)
                                                : NULL);
    json_object_object_add(object, "probes", json_parts(plan, true));
    return object;
}

static struct json_object *
json_interlocks(const struct interlock_outcomes *outcomes)
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; i < outcomes->count; i++) {
        const struct interlock_outcome *outcome = &outcomes->items[i];
        struct json_object *object = json_object_new_object();
        json_object_object_add(object, "name", json_text(outcome->name));
        json_object_object_add(
            object, "verdict",
            json_object_new_string(interlock_verdict_name(outcome->verdict)));
        json_object_object_add(object, "text", json_text(outcome->text));
        json_object_array_add(array, object);
    }
    return array;
}

static struct json_object *json_advice(const struct advice_list *list)
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; i < list->count; i++) {
        const struct advice *advice = &list->items[i];
        struct json_object *o = json_object_new_object();
        struct json_object *from = json_object_new_array();
        json_object_object_add(o, "topic", json_text(advice->topic));
        json_object_object_add(o, "text", json_text(advice->text));
        json_object_object_add(o, "command", json_text(advice->command));
        for (size_t j = 0; j < ADVICE_FROM_MAX && advice->from[j]; j++)
            json_object_array_add(from, json_text(advice->from[j]));
        json_object_object_add(o, "from", from);
        json_object_array_add(array, o);
    }
    return array;
}

void report_json_conclusions(struct json_object *document,
                             const struct report *report)
{
    struct advice_list advice;
    char summary[REPORT_SUMMARY_BYTES];

    const char *verdict =
        drive_state_name(whole_verdict(report->findings).state);

    json_object_object_add(document, "verdict",
                           verdict ? json_text(verdict) : NULL);
    json_object_object_add(document, "summary",
                           json_text(report_summary(report, false, summary)));
    json_object_object_add(document, "findings",
                           report_json_findings(report->findings));
    advice_make(report->findings, report->device, &advice);
    json_object_object_add(document, "advice", json_advice(&advice));
    if (report->known)
        json_object_object_add(document, "resembles",
                               known_json(report->known));
    if (report->twin)
        json_object_object_add(document, "twin",
                               report_twin_json(report->twin));
}

static struct json_object *json_conditions(const struct conditions *conditions)
{
    struct json_object *object = json_object_new_object();
    struct json_object *array = json_object_new_array();

    json_object_object_add(object, "grade",
                           json_object_new_string(condition_grade_name(
                               conditions_grade(conditions))));
    json_object_object_add(object, "items", array);
    for (size_t i = 0; i < conditions->count; i++) {
        const struct condition *condition = &conditions->items[i];
        const bool green = condition->grade == CONDITION_GREEN;
        struct json_object *item = json_object_new_object();
        json_object_object_add(item, "name", json_text(condition->name));
        json_object_object_add(item, "value", json_text(condition->value));
        json_object_object_add(
            item, "grade",
            json_object_new_string(condition_grade_name(condition->grade)));
        json_object_object_add(item, "reason",
                               json_text(green ? "" : condition->reason));
        json_object_array_add(array, item);
    }
    return object;
}

static struct json_object *json_run(const struct report_run *run)
{
    struct json_object *object = json_object_new_object();

    json_object_object_add(object, "id", json_text(run->id));
    json_object_object_add(object, "started", json_text(run->started));
    json_object_object_add(object, "host", json_text(run->host));
    json_object_object_add(object, "kernel", json_text(run->kernel));
    json_object_object_add(object, "version", json_text(run->version));
    return object;
}

void report_json(struct json_object *document, const struct report *report)
{
    json_object_object_add(document, "run",
                           report->run ? json_run(report->run) : NULL);
    json_object_object_add(document, "device", json_device(report));
    json_object_object_add(document, "conditions",
                           report->conditions && report->conditions->count
                               ? json_conditions(report->conditions)
                               : NULL);
    json_object_object_add(document, "plan",
                           report->plan ? json_plan(report->plan) : NULL);
    report_json_conclusions(document, report);
    json_object_object_add(document, "cost",
                           report->cost ? json_cost(report->cost, report->plan)
                                        : NULL);
    if (report->interlocks && report->interlocks->count)
        json_object_object_add(document, "interlocks",
                               json_interlocks(report->interlocks));
}
