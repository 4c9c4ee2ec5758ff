/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/read/read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/parameter.h"
#include "lib/report/json.h"
#include "lib/report/read/numbers.h"

enum { VERSION_KNOWN = 1 };

static void read_device(struct json_object *o, struct device_info *device)
{
    struct json_object *declared = json_get(o, "declared");
    const size_t count = json_length(declared);

    json_read(o, device, json_device);
    json_read(json_get(o, "usb"), &device->usb, json_usb);
    json_get_text(o, "write_cache", device->write_cache,
                  sizeof(device->write_cache));
    for (size_t i = 0; i < count && i < DECLARED_MAX; i++)
        json_read(json_object_array_get_idx(declared, i),
                  &device->declared[device->declared_count++], json_declared);
}

static void read_health(struct json_object *o, struct device_health *health)
{
    struct json_object *failing = json_get(o, "failing");
    struct json_object *temperature = json_get(o, "temperature_celsius");

    json_get_text(o, "source", health->source, sizeof(health->source));
    json_get_text(o, "text", health->text, sizeof(health->text));
    health->answered = failing != NULL;
    health->failing = json_object_get_boolean(failing);
    health->has_temperature = json_object_is_type(temperature, json_type_int);
    health->temperature_celsius = json_object_get_int(temperature);
    health->has_power_on = json_get(o, "power_on_hours") != NULL;
    health->power_on_hours = json_get_count(o, "power_on_hours");
    health->has_life_used = json_get(o, "life_used_percent") != NULL;
    health->life_used_percent = (uint32_t)smaller_of(
        json_get_count(o, "life_used_percent"), UINT32_MAX);
}

/* Before the run, and after it. */
static void read_healths(struct json_object *array, struct report_store *store)
{
    const size_t count = json_length(array);

    for (size_t i = 0; i < count; i++) {
        struct json_object *o = json_object_array_get_idx(array, i);
        char when[16] = "";
        json_get_text(o, "when", when, sizeof(when));
        if (strcmp(when, "before") == 0) {
            read_health(o, &store->health_before);
            store->report.health_before = &store->health_before;
        } else {
            read_health(o, &store->health_after);
            store->report.health_after = &store->health_after;
        }
    }
}

/* What was planned, probe by probe. */
static void read_planned(struct json_object *array, struct report_store *store)
{
    struct cost_plan *plan = &store->plan;
    const size_t count = json_length(array);

    for (size_t i = 0; i < count && i < COST_PARTS_MAX; i++) {
        struct json_object *o = json_object_array_get_idx(array, i);
        struct cost_part *part = &plan->parts[plan->parts_count++];
        json_get_text(o, "probe", store->probes[i], sizeof(store->probes[i]));
        part->name = store->probes[i];
        json_read(o, part, json_planned);
    }
}

/* And done of it. */
static void read_done(struct json_object *array, struct cost_plan *plan)
{
    const size_t count = json_length(array);

    for (size_t i = 0; i < count; i++) {
        struct json_object *o = json_object_array_get_idx(array, i);
        char probe[REPORT_PROBE_BYTES];
        size_t at = 0;
        json_get_text(o, "probe", probe, sizeof(probe));
        while (at < plan->parts_count &&
               strcmp(plan->parts[at].name, probe) != 0)
            at++;
        if (at == plan->parts_count)
            continue;
        plan->parts[at].began = true;
        json_read(o, &plan->parts[at], json_done);
    }
}

static void read_cost(struct json_object *o, struct cost_total *cost)
{
    json_read(o, cost, json_cost);
    cost->preserved = json_get(o, "bytes_put_back") != NULL;
    cost->bytes_put_back = json_get_count(o, "bytes_put_back");
    cost->wall_seconds = json_get_real(o, "wall_seconds", -1);
    json_read(json_get(o, "pilot"), &cost->pilot, json_expectation);
}

/* A document may hold any number, 1e300 among them. */
static int64_t read_integer(struct json_object *member)
{
    if (json_object_is_type(member, json_type_double))
        return nearest_integer(json_object_get_double(member));
    return json_object_is_type(member, json_type_int)
               ? json_object_get_int64(member)
               : 0;
}

static struct value read_list(struct json_object *array)
{
    struct value value = {.kind = VALUE_LIST};
    size_t count = json_object_array_length(array);

    for (size_t i = 0; i < count && i < VALUE_LIST_MAX; i++)
        value.list.items[value.list.count++] =
            read_integer(json_object_array_get_idx(array, i));
    return value;
}

static struct value read_value(struct json_object *member)
{
    struct value value = value_none();
    char text[sizeof(value.text)];

    switch (json_object_get_type(member)) {
    case json_type_int:
        value.kind = VALUE_INTEGER;
        value.integer = json_object_get_int64(member);
        break;
    case json_type_double:
        if (isfinite(json_object_get_double(member)))
            value = value_real(json_object_get_double(member));
        break;
    case json_type_boolean:
        value = value_boolean(json_object_get_boolean(member));
        break;
    case json_type_string:
        report_utf8(json_object_get_string(member), text, sizeof(text));
        value = value_text(text);
        break;
    case json_type_array:
        value = read_list(member);
        break;
    default:
        break;
    }
    return value;
}

static enum verdict read_verdict(struct json_object *o)
{
    char name[16] = "";

    json_get_text(o, "verdict", name, sizeof(name));
    for (int i = VERDICT_FOUND; i <= VERDICT_SKIPPED; i++)
        if (strcmp(verdict_name((enum verdict)i), name) == 0)
            return (enum verdict)i;
    return VERDICT_INCONCLUSIVE;
}

static bool is_own_member(const char *key)
{
    static const char *const own[] = {
        "parameter", "meaning", "verdict",      "value",      "unit", "low",
        "high",      "probe",   "why",          "confidence", "file", "card",
        "run",       "assumed", "value_number", "value_text"};

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strcmp(own[i], key) == 0)
            return true;
    return false;
}

/* As parameters are named; a page puts it among its tags. */
static bool is_plain_name(const char *key)
{
    return key[0] && key[strspn(key, "abcdefghijklmnopqrstuvwxyz"
                                     "0123456789_")] == '\0';
}

static void read_finding(struct json_object *o, struct findings *findings)
{
    char parameter[sizeof(findings->items[0].parameter)] = "";
    char probe[sizeof(findings->items[0].probe)] = "", why[400] = "";

    json_get_text(o, "parameter", parameter, sizeof(parameter));
    json_get_text(o, "probe", probe, sizeof(probe));
    json_get_text(o, "why", why, sizeof(why));
    if (!parameter_unit(parameter_now(parameter))) /* of a later version */
        return;
    struct finding *finding =
        findings_add(findings, probe, parameter_now(parameter));
    finding->verdict = read_verdict(o);
    finding->value = read_value(json_get(o, "value"));
    finding->low = read_value(json_get(o, "low"));
    finding->high = read_value(json_get(o, "high"));
    finding->confidence = fmin(fmax(json_get_real(o, "confidence", 0), 0), 1);
    finding_why(finding, "%s", why);
    json_object_object_foreach(o, key, member)
    {
        if (!is_own_member(key) && is_plain_name(key) &&
            strlen(key) < sizeof(finding->extras[0].name) &&
            finding->extras_count < FINDING_EXTRAS_MAX)
            finding_extra(finding, key, read_value(member));
    }
}

static void read_findings(struct json_object *array, struct findings *findings)
{
    const size_t count = json_length(array);

    for (size_t i = 0; i < count && findings->count < FINDINGS_MAX; i++) {
        struct json_object *o = json_object_array_get_idx(array, i);
        if (json_object_is_type(o, json_type_object))
            read_finding(o, findings);
    }
}

static enum condition_grade read_grade(struct json_object *o)
{
    char name[16] = "";

    json_get_text(o, "grade", name, sizeof(name));
    for (enum condition_grade grade = CONDITION_YELLOW; grade <= CONDITION_RED;
         grade++)
        if (strcmp(condition_grade_name(grade), name) == 0)
            return grade;
    return CONDITION_GREEN;
}

static void read_conditions(struct json_object *array,
                            struct conditions *conditions)
{
    const size_t count = json_length(array);

    for (size_t i = 0; i < count && conditions->count < CONDITIONS_MAX; i++) {
        struct json_object *o = json_object_array_get_idx(array, i);
        struct condition item = {.name = ""};
        if (!json_object_is_type(o, json_type_object))
            continue;
        json_get_text(o, "name", item.name, sizeof(item.name));
        json_get_text(o, "value", item.value, sizeof(item.value));
        json_get_text(o, "reason", item.reason, sizeof(item.reason));
        item.grade = read_grade(o);
        conditions->items[conditions->count++] = item;
    }
}

static bool is_known(struct json_object *document)
{
    struct json_object *version = json_get(document, "format_version");

    return json_object_is_type(version, json_type_array) &&
           json_object_array_length(version) == 2 &&
           json_object_get_int64(json_object_array_get_idx(version, 0)) ==
               VERSION_KNOWN &&
           json_object_is_type(json_get(document, "ssdprobe"),
                               json_type_object);
}

void report_read_warnings(struct json_object *document,
                          struct report_warnings *warnings)
{
    struct json_object *messages =
        json_get(json_get(document, "ssdprobe"), "messages");
    const size_t count = json_length(messages);

    for (size_t i = 0; i < count && warnings->count < REPORT_WARNINGS_MAX;
         i++) {
        struct json_object *message = json_object_array_get_idx(messages, i);
        char severity[16] = "";
        if (!json_object_is_type(message, json_type_object))
            continue;
        json_get_text(message, "severity", severity, sizeof(severity));
        if (strcmp(severity, "warning") != 0 && strcmp(severity, "error") != 0)
            continue;
        json_get_text(message, "text", warnings->texts[warnings->count++],
                      sizeof(warnings->texts[0]));
    }
}

int report_read(struct json_object *document, const char *path,
                struct report_store *store, struct fault *why)
{
    struct json_object *run = json_get(document, "run");
    struct json_object *device = json_get(document, "device");
    struct json_object *plan = json_get(document, "plan");
    struct json_object *cost = json_get(document, "cost");

    memset(store, 0, sizeof(*store));
    if (!is_known(document))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%.200s is not a document of ssdprobe, or its version "
                         "is not supported",
                         path);
    const int error = report_check_numbers(document, path, why);
    if (error)
        return error;
    if (run) {
        json_read(run, &store->run, json_run);
        store->report.run = &store->run;
    }
    if (device) {
        read_device(device, &store->device);
        read_healths(json_get(device, "health"), store);
        store->report.device = &store->device;
    }
    if (plan) {
        json_read(plan, &store->plan, json_plan);
        read_planned(json_get(plan, "probes"), store);
        store->report.plan = &store->plan;
    }
    if (cost) {
        read_cost(cost, &store->cost);
        read_done(json_get(cost, "probes"), &store->plan);
        store->report.cost = &store->cost;
    }
    read_conditions(json_get(json_get(document, "conditions"), "items"),
                    &store->conditions);
    store->report.conditions = &store->conditions;
    read_findings(json_get(document, "findings"), &store->findings);
    store->report.findings = &store->findings;
    report_read_warnings(document, &store->warnings);
    store->report.warnings = &store->warnings;
    return 0;
}
