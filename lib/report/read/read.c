/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/read/read.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/parameter.h"
#include "lib/report/read/numbers.h"

enum { VERSION_KNOWN = 1 };

static struct json_object *get(struct json_object *object, const char *key)
{
    struct json_object *member = NULL;

    if (!json_object_is_type(object, json_type_object))
        return NULL;
    json_object_object_get_ex(object, key, &member);
    return member;
}

static void get_text(struct json_object *object, const char *key, char *text,
                     size_t size)
{
    struct json_object *member = get(object, key);

    if (json_object_is_type(member, json_type_string))
        report_utf8(json_object_get_string(member), text, size);
}

static uint64_t get_count(struct json_object *object, const char *key)
{
    struct json_object *member = get(object, key);
    int64_t number = json_object_is_type(member, json_type_int)
                         ? json_object_get_int64(member)
                         : 0;

    return number > 0 ? (uint64_t)number : 0;
}

static uint32_t get_count_32(struct json_object *object, const char *key)
{
    return (uint32_t)smaller_of(get_count(object, key), UINT32_MAX);
}

static double get_real(struct json_object *object, const char *key,
                       double otherwise)
{
    struct json_object *member = get(object, key);

    const bool is_number = json_object_is_type(member, json_type_double) ||
                           json_object_is_type(member, json_type_int);
    const double real = is_number ? json_object_get_double(member) : otherwise;

    return isfinite(real) ? real : otherwise;
}

static bool get_flag(struct json_object *object, const char *key)
{
    return json_object_get_boolean(get(object, key));
}

static void read_declared(struct json_object *array, struct device_info *device)
{
    size_t count = json_object_is_type(array, json_type_array)
                       ? json_object_array_length(array)
                       : 0;

    for (size_t i = 0; i < count && device->declared_count < DECLARED_MAX;
         i++) {
        struct json_object *row = json_object_array_get_idx(array, i);
        struct device_declared *to = &device->declared[device->declared_count];
        get_text(row, "name", to->name, sizeof(to->name));
        get_text(row, "source", to->source, sizeof(to->source));
        to->bytes = get_count(row, "bytes");
        device->declared_count++;
    }
}

static void read_device(struct json_object *o, struct device_info *device)
{
    get_text(o, "path", device->path, sizeof(device->path));
    get_text(o, "model", device->model, sizeof(device->model));
    get_text(o, "serial", device->serial, sizeof(device->serial));
    get_text(o, "firmware", device->firmware, sizeof(device->firmware));
    get_text(o, "bus", device->bus, sizeof(device->bus));
    get_text(o, "driver", device->driver, sizeof(device->driver));
    get_text(o, "engine", device->engine, sizeof(device->engine));
    get_text(o, "flush", device->flush, sizeof(device->flush));
    get_text(o, "write_cache", device->write_cache,
             sizeof(device->write_cache));
    device->capacity_bytes = get_count(o, "capacity_bytes");
    device->logical_block_bytes = get_count_32(o, "logical_block_bytes");
    device->physical_block_bytes = get_count_32(o, "physical_block_bytes");
    device->request_limit_bytes = get_count_32(o, "request_limit_bytes");
    device->optimal_io_bytes = get_count_32(o, "optimal_io_bytes");
    device->read_only = get_flag(o, "read_only");
    device->removable = get_flag(o, "removable");
    device->rotational = get_flag(o, "rotational");
    device->virtual_disk = get_flag(o, "virtual_disk");
    device->virtual_clock = get_flag(o, "virtual_clock");
    read_declared(get(o, "declared"), device);
}

static void read_usb(struct json_object *o, struct device_usb *usb)
{
    get_text(o, "driver", usb->driver, sizeof(usb->driver));
    get_text(o, "bridge", usb->bridge, sizeof(usb->bridge));
    usb->speed_megabits_per_second =
        get_count_32(o, "speed_megabits_per_second");
}

static void read_health(struct json_object *o, struct device_health *health)
{
    struct json_object *failing = get(o, "failing");
    struct json_object *temperature = get(o, "temperature_celsius");

    get_text(o, "source", health->source, sizeof(health->source));
    get_text(o, "text", health->text, sizeof(health->text));
    health->answered = failing != NULL;
    health->failing = json_object_get_boolean(failing);
    health->has_temperature = json_object_is_type(temperature, json_type_int);
    health->temperature_celsius = json_object_get_int(temperature);
    health->has_power_on = get(o, "power_on_hours") != NULL;
    health->power_on_hours = get_count(o, "power_on_hours");
    health->has_life_used = get(o, "life_used_percent") != NULL;
    health->life_used_percent = get_count_32(o, "life_used_percent");
}

/* Before the run, and after it. */
static void read_healths(struct json_object *array, struct report_store *store)
{
    size_t count = json_object_is_type(array, json_type_array)
                       ? json_object_array_length(array)
                       : 0;

    for (size_t i = 0; i < count; i++) {
        struct json_object *o = json_object_array_get_idx(array, i);
        char when[16] = "";
        get_text(o, "when", when, sizeof(when));
        if (strcmp(when, "before") == 0) {
            read_health(o, &store->health_before);
            store->report.health_before = &store->health_before;
        } else {
            read_health(o, &store->health_after);
            store->report.health_after = &store->health_after;
        }
    }
}

static void read_plan(struct json_object *o, struct cost_plan *plan)
{
    plan->bytes_written = get_count(o, "bytes_written");
    plan->bytes_written_max = get_count(o, "bytes_written_max");
    plan->bytes_read = get_count(o, "bytes_read");
    plan->bytes_read_max = get_count(o, "bytes_read_max");
    plan->requests = get_count(o, "requests");
    plan->requests_max = get_count(o, "requests_max");
    plan->region_offset_bytes = get_count(o, "region_offset_bytes");
    plan->region_length_bytes = get_count(o, "region_length_bytes");
    plan->seconds = get_real(o, "seconds", 0);
    plan->budget_bytes = get_count(o, "budget_bytes");
}

static struct cost_expectation read_expectation(struct json_object *o)
{
    return (struct cost_expectation){.bytes_written =
                                         get_count(o, "bytes_written"),
                                     .bytes_read = get_count(o, "bytes_read"),
                                     .requests = get_count(o, "requests"),
                                     .seconds = get_real(o, "seconds", 0)};
}

static size_t list_length(struct json_object *array)
{
    return json_object_is_type(array, json_type_array)
               ? json_object_array_length(array)
               : 0;
}

/* What was planned, probe by probe. */
static void read_planned(struct json_object *array, struct report_store *store)
{
    struct cost_plan *plan = &store->plan;
    const size_t count = list_length(array);

    for (size_t i = 0; i < count && i < COST_PARTS_MAX; i++) {
        struct json_object *o = json_object_array_get_idx(array, i);
        get_text(o, "probe", store->probes[i], sizeof(store->probes[i]));
        plan->parts[plan->parts_count++] = (struct cost_part){
            .name = store->probes[i],
            .plan = {.bytes_written = get_count(o, "bytes_written"),
                     .bytes_written_max = get_count(o, "bytes_written_max"),
                     .bytes_read = get_count(o, "bytes_read"),
                     .bytes_read_max = get_count(o, "bytes_read_max"),
                     .requests = get_count(o, "requests"),
                     .requests_max = get_count(o, "requests_max")},
            .seconds = get_real(o, "seconds", 0),
            .fits = get_flag(o, "fits")};
    }
}

/* And done of it. */
static void read_done(struct json_object *array, struct cost_plan *plan)
{
    const size_t count = list_length(array);

    for (size_t i = 0; i < count; i++) {
        struct json_object *o = json_object_array_get_idx(array, i);
        char probe[REPORT_PROBE_BYTES];
        size_t at = 0;
        get_text(o, "probe", probe, sizeof(probe));
        while (at < plan->parts_count &&
               strcmp(plan->parts[at].name, probe) != 0)
            at++;
        if (at == plan->parts_count)
            continue;
        struct cost_part *part = &plan->parts[at];
        part->began = true;
        part->bytes_written = get_count(o, "bytes_written");
        part->bytes_read = get_count(o, "bytes_read");
        part->requests_count = get_count(o, "requests");
        part->device_seconds = get_real(o, "device_seconds", 0);
        part->foreseen = read_expectation(get(o, "foreseen"));
        part->expected = read_expectation(get(o, "expected"));
    }
}

static void read_cost(struct json_object *o, struct cost_total *cost)
{
    cost->bytes_written = get_count(o, "bytes_written");
    cost->bytes_read = get_count(o, "bytes_read");
    cost->requests_count = get_count(o, "requests");
    cost->split_count = get_count(o, "requests_split");
    cost->preserved = get(o, "bytes_put_back") != NULL;
    cost->bytes_put_back = get_count(o, "bytes_put_back");
    cost->device_seconds = get_real(o, "device_seconds", 0);
    cost->wall_seconds = get_real(o, "wall_seconds", -1);
    cost->pilot = read_expectation(get(o, "pilot"));
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

    get_text(o, "verdict", name, sizeof(name));
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

    get_text(o, "parameter", parameter, sizeof(parameter));
    get_text(o, "probe", probe, sizeof(probe));
    get_text(o, "why", why, sizeof(why));
    if (!parameter_unit(parameter_now(parameter))) /* of a later version */
        return;
    struct finding *finding =
        findings_add(findings, probe, parameter_now(parameter));
    finding->verdict = read_verdict(o);
    finding->value = read_value(get(o, "value"));
    finding->low = read_value(get(o, "low"));
    finding->high = read_value(get(o, "high"));
    finding->confidence = fmin(fmax(get_real(o, "confidence", 0), 0), 1);
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
    size_t count = json_object_is_type(array, json_type_array)
                       ? json_object_array_length(array)
                       : 0;

    for (size_t i = 0; i < count && findings->count < FINDINGS_MAX; i++) {
        struct json_object *o = json_object_array_get_idx(array, i);
        if (json_object_is_type(o, json_type_object))
            read_finding(o, findings);
    }
}

static enum condition_grade read_grade(struct json_object *o)
{
    char name[16] = "";

    get_text(o, "grade", name, sizeof(name));
    for (enum condition_grade grade = CONDITION_YELLOW; grade <= CONDITION_RED;
         grade++)
        if (strcmp(condition_grade_name(grade), name) == 0)
            return grade;
    return CONDITION_GREEN;
}

static void read_conditions(struct json_object *array,
                            struct conditions *conditions)
{
    size_t count = json_object_is_type(array, json_type_array)
                       ? json_object_array_length(array)
                       : 0;

    for (size_t i = 0; i < count && conditions->count < CONDITIONS_MAX; i++) {
        struct json_object *o = json_object_array_get_idx(array, i);
        struct condition item = {.name = ""};
        if (!json_object_is_type(o, json_type_object))
            continue;
        get_text(o, "name", item.name, sizeof(item.name));
        get_text(o, "value", item.value, sizeof(item.value));
        get_text(o, "reason", item.reason, sizeof(item.reason));
        item.grade = read_grade(o);
        conditions->items[conditions->count++] = item;
    }
}

static bool is_known(struct json_object *document)
{
    struct json_object *version = get(document, "format_version");

    return json_object_is_type(version, json_type_array) &&
           json_object_array_length(version) == 2 &&
           json_object_get_int64(json_object_array_get_idx(version, 0)) ==
               VERSION_KNOWN &&
           json_object_is_type(get(document, "ssdprobe"), json_type_object);
}

void report_read_warnings(struct json_object *document,
                          struct report_warnings *warnings)
{
    struct json_object *messages = get(get(document, "ssdprobe"), "messages");
    size_t count = json_object_is_type(messages, json_type_array)
                       ? json_object_array_length(messages)
                       : 0;

    for (size_t i = 0; i < count && warnings->count < REPORT_WARNINGS_MAX;
         i++) {
        struct json_object *message = json_object_array_get_idx(messages, i);
        char severity[16] = "";
        if (!json_object_is_type(message, json_type_object))
            continue;
        get_text(message, "severity", severity, sizeof(severity));
        if (strcmp(severity, "warning") != 0 && strcmp(severity, "error") != 0)
            continue;
        get_text(message, "text", warnings->texts[warnings->count++],
                 sizeof(warnings->texts[0]));
    }
}

static void read_run(struct json_object *run, struct report_run *to)
{
    get_text(run, "id", to->id, sizeof(to->id));
    get_text(run, "started", to->started, sizeof(to->started));
    get_text(run, "host", to->host, sizeof(to->host));
    get_text(run, "kernel", to->kernel, sizeof(to->kernel));
    get_text(run, "version", to->version, sizeof(to->version));
}

int report_read(struct json_object *document, const char *path,
                struct report_store *store, struct fault *why)
{
    struct json_object *run = get(document, "run");
    struct json_object *device = get(document, "device");
    struct json_object *plan = get(document, "plan");
    struct json_object *cost = get(document, "cost");

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
        read_run(run, &store->run);
        store->report.run = &store->run;
    }
    if (device) {
        read_device(device, &store->device);
        read_usb(get(device, "usb"), &store->device.usb);
        read_healths(get(device, "health"), store);
        store->report.device = &store->device;
    }
    if (plan) {
        read_plan(plan, &store->plan);
        read_planned(get(plan, "probes"), store);
        store->report.plan = &store->plan;
    }
    if (cost) {
        read_cost(cost, &store->cost);
        read_done(get(cost, "probes"), &store->plan);
        store->report.cost = &store->cost;
    }
    read_conditions(get(get(document, "conditions"), "items"),
                    &store->conditions);
    store->report.conditions = &store->conditions;
    read_findings(get(document, "findings"), &store->findings);
    store->report.findings = &store->findings;
    report_read_warnings(document, &store->warnings);
    store->report.warnings = &store->warnings;
    return 0;
}
