/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/whole_verdict.h"
#include "lib/infer/parameter.h"
#include "lib/report/advice/advice.h"
#include "lib/report/json.h"
#include "lib/report/known.h"
#include "lib/report/report_twin.h"
#include "lib/report/summary.h"

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
    const char *meaning = parameter_meaning(finding->parameter);

    json_add_text(object, "parameter", finding->parameter);
    if (meaning)
        json_add_text(object, "meaning", meaning);
    json_add_text(object, "verdict", verdict_name(finding->verdict));
    json_object_object_add(object, "value", json_value(&finding->value, unit));
    json_object_object_add(object, "unit", json_object_new_string(unit));
    json_object_object_add(object, "low", json_value(&finding->low, unit));
    json_object_object_add(object, "high", json_value(&finding->high, unit));
    json_add_real(object, "confidence", finding->confidence, 6);
    json_add_text(object, "why", finding->why);
    json_add_text(object, "probe", finding->probe);
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

static struct json_object *declared_of(const struct device_info *device)
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; i < device->declared_count; i++)
        json_object_array_add(array,
                              json_of(&device->declared[i], json_declared));
    return array;
}

static struct json_object *json_if(bool known, uint64_t number)
{
    return known ? json_object_new_uint64(number) : NULL;
}

/* Before the first request, or after the last. */
static void add_health(struct json_object *array,
                       const struct device_health *health, const char *when)
{
    struct json_object *o = json_object_new_object();

    if (!health) {
        json_object_put(o);
        return;
    }
    json_add_text(o, "when", when);
    json_add_text(o, "source", health->source);
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
    json_add_text(o, "text", health->text);
    json_object_array_add(array, o);
}

static struct json_object *device_of(const struct report *report)
{
    struct json_object *healths = json_object_new_array(), *o;
    struct device_info device = *report->device;
    const struct device_usb *usb = &device.usb;

    if (report->hide_serial)
        device.serial[0] = '\0';
    o = json_of(&device, json_device);
    json_object_object_add(o, "declared", declared_of(&device));
    json_object_object_add(
        o, "usb",
        usb->bridge[0] || usb->driver[0] ? json_of(usb, json_usb) : NULL);
    json_add_text(o, "write_cache", device.write_cache);
    add_health(healths, report->health_before, "before");
    add_health(healths, report->health_after, "after");
    json_object_object_add(o, "health", healths);
    return o;
}

struct json_object *report_json_disk(const struct device_info *disk,
                                     bool hide_serial, const char *interlock,
                                     const char *text)
{
    struct json_object *o = json_object_new_object();
    const uint64_t bytes = disk->capacity_bytes;

    json_add_text(o, "path", disk->path);
    json_add_text(o, "model", disk->model);
    json_add_text(o, "serial", hide_serial ? "" : disk->serial);
    json_add_text(o, "bus", disk->bus);
    json_object_object_add(o, "capacity_bytes", json_if(bytes > 0, bytes));
    json_add_text(o, "partitions", disk->partitions);
    json_add_text(o, "verdict", interlock ? "refuse" : "pass");
    json_add_text(o, "interlock", interlock ? interlock : "");
    json_add_text(o, "text", text);
    return o;
}

/* A list of what was planned, or of what was done of it. */
static struct json_object *json_parts(const struct cost_plan *plan, bool done)
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; plan && i < plan->parts_count; i++) {
        const struct cost_part *part = &plan->parts[i];
        struct json_object *object;
        if (done && !part->began)
            continue;
        object = json_object_new_object();
        json_add_text(object, "probe", part->name);
        json_write(object, part, done ? json_done : json_planned);
        json_object_array_add(array, object);
    }
    return array;
}

static struct json_object *plan_of(const struct cost_plan *plan)
{
    struct json_object *object = json_of(plan, json_plan);

    json_object_object_add(object, "probes", json_parts(plan, false));
    return object;
}

static struct json_object *cost_of(const struct cost_total *cost,
                                   const struct cost_plan *plan)
{
    struct json_object *object = json_of(cost, json_cost);

    json_object_object_add(
        object, "wall_seconds",
        cost->wall_seconds < 0 ? NULL : json_real(cost->wall_seconds, 3));
    json_object_object_add(object, "bytes_put_back",
                           json_if(cost->preserved, cost->bytes_put_back));
    json_object_object_add(
        object, "pilot",
        cost->pilot.requests ? json_of(&cost->pilot, json_expectation) : NULL);
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
        json_add_text(object, "name", outcome->name);
        json_add_text(object, "verdict",
                      interlock_verdict_name(outcome->verdict));
        json_add_text(object, "text", outcome->text);
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
        json_add_text(o, "topic", advice->topic);
        json_add_text(o, "text", advice->text);
        json_add_text(o, "command", advice->command);
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

    json_add_text(document, "verdict", verdict ? verdict : "");
    json_add_text(document, "summary", report_summary(report, false, summary));
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

    json_add_text(object, "grade",
                  condition_grade_name(conditions_grade(conditions)));
    json_object_object_add(object, "items", array);
    for (size_t i = 0; i < conditions->count; i++) {
        const struct condition *condition = &conditions->items[i];
        const bool green = condition->grade == CONDITION_GREEN;
        struct json_object *item = json_object_new_object();
        json_add_text(item, "name", condition->name);
        json_add_text(item, "value", condition->value);
        json_add_text(item, "grade", condition_grade_name(condition->grade));
        json_add_text(item, "reason", green ? "" : condition->reason);
        json_object_array_add(array, item);
    }
    return object;
}

void report_json(struct json_object *document, const struct report *report)
{
    json_object_object_add(document, "run",
                           report->run ? json_of(report->run, json_run) : NULL);
    json_object_object_add(document, "device",
                           report->device ? device_of(report) : NULL);
    json_object_object_add(document, "conditions",
                           report->conditions && report->conditions->count
                               ? json_conditions(report->conditions)
                               : NULL);
    json_object_object_add(document, "plan",
                           report->plan ? plan_of(report->plan) : NULL);
    report_json_conclusions(document, report);
    json_object_object_add(document, "cost",
                           report->cost ? cost_of(report->cost, report->plan)
                                        : NULL);
    if (report->interlocks && report->interlocks->count)
        json_object_object_add(document, "interlocks",
                               json_interlocks(report->interlocks));
}
