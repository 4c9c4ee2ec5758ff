/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/finding.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/infer/parameter.h"
#include "lib/infer/statistics/stats.h"

const double confidence_most = 0.999;

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[] = {
        [VERDICT_FOUND] = "found",
        [VERDICT_ABSENT] = "absent",
        [VERDICT_INCONCLUSIVE] = "inconclusive",
        [VERDICT_SKIPPED] = "skipped",
    };

    assert((size_t)verdict < sizeof(names) / sizeof(names[0]));
    return names[verdict];
}

struct value value_none(void)
{
    return (struct value){.kind = VALUE_NONE};
}

struct value value_integer(uint64_t integer)
{
    /* 8 EiB and 292 years: a probe that exceeds them has a bug. */
    assert(integer <= INT64_MAX);
    return (struct value){.kind = VALUE_INTEGER, .integer = (int64_t)integer};
}

struct value value_real(double real)
{
    return (struct value){.kind = VALUE_REAL, .real = real};
}

struct value value_boolean(bool boolean)
{
    return (struct value){.kind = VALUE_BOOLEAN, .boolean = boolean};
}

/* Copies what fits and says whether that was all of it. */
static bool copy_text(char *target, size_t size, const char *text)
{
    size_t length = strnlen(text, size);
    bool fits = length < size;

    if (!fits)
        length = size - 1;
    memcpy(target, text, length);
    target[length] = '\0';
    return fits;
}

struct value value_text(const char *text)
{
    struct value value = {.kind = VALUE_TEXT};
    bool fits = copy_text(value.text, sizeof(value.text), text);

    assert(fits);
    (void)fits;
    return value;
}

struct finding *findings_add(struct findings *findings, const char *probe,
                             const char *parameter)
{
    const char *unit = parameter_unit(parameter);

    assert(findings->count < FINDINGS_MAX);
    assert(unit);

    struct finding *finding = &findings->items[findings->count++];
    memset(finding, 0, sizeof(*finding));
    finding->verdict = VERDICT_INCONCLUSIVE;

    bool fits = copy_text(finding->probe, sizeof(finding->probe), probe);
    fits &=
        copy_text(finding->parameter, sizeof(finding->parameter), parameter);
    fits &= copy_text(finding->unit, sizeof(finding->unit), unit);
    assert(fits);
    (void)fits;
    return finding;
}

void finding_found(struct finding *finding, struct value value,
                   double confidence)
{
    finding->verdict = VERDICT_FOUND;
    finding->value = finding->low = finding->high = value;
    finding->confidence = fmin(confidence, confidence_most);
}

void finding_measured(struct finding *finding, double value,
                      const struct interval *interval, double confidence)
{
    finding_found(finding, value_integer((uint64_t)llround(value)), confidence);
    finding->low = value_integer((uint64_t)floor(interval->low));
    finding->high = value_integer((uint64_t)ceil(interval->high));
}

static const double narrow_most = 1.3, range_most = 2;

bool finding_between(struct finding *finding, double value,
                     const struct interval *interval, double confidence)
{
    if (interval->low <= 0 || interval->high > range_most * interval->low)
        return false;
    finding_measured(finding, value, interval, confidence);
    if (interval->high > narrow_most * interval->low)
        finding->value = value_none();
    return true;
}

void finding_absent(struct finding *finding, double confidence)
{
    finding->verdict = VERDICT_ABSENT;
    finding->confidence = fmin(confidence, confidence_most);
}

static const char up_to[] = "up_to";

void findings_up_to(struct findings *findings, const char *parameter,
                    uint64_t most)
{
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        if (strcmp(finding->parameter, parameter) == 0 &&
            finding->verdict == VERDICT_ABSENT)
            finding_extra(finding, up_to, value_integer(most));
    }
}

const struct value *finding_up_to(const struct finding *finding)
{
    for (size_t i = 0; i < finding->extras_count; i++)
        if (strcmp(finding->extras[i].name, up_to) == 0 &&
            finding->verdict == VERDICT_ABSENT)
            return &finding->extras[i].value;
    return NULL;
}

bool finding_assumed(const struct finding *finding)
{
    return strcmp(finding->probe, "assumed") == 0;
}

bool finding_denies(const struct finding *finding)
{
    return finding->verdict == VERDICT_ABSENT ||
           (finding->verdict == VERDICT_FOUND &&
            finding->value.kind == VALUE_BOOLEAN && !finding->value.boolean);
}

void finding_withdraw(struct finding *finding)
{
    finding->verdict = VERDICT_INCONCLUSIVE;
    finding->value = finding->low = finding->high = value_none();
    finding->confidence = 0;
    finding->extras_count = 0;
}

void findings_doubt(struct findings *findings, const char *parameter,
                    const char *why)
{
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        if (strcmp(finding->parameter, parameter) != 0 ||
            finding->verdict != VERDICT_ABSENT)
            continue;
        finding_withdraw(finding);
        finding_why(finding, "%s", why);
    }
}

const struct finding *findings_get(const struct findings *findings,
                                   const char *parameter)
{
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->items[i].parameter, parameter) == 0)
            return &findings->items[i];
    return NULL;
}

double value_number(const struct value *value)
{
    return value->kind == VALUE_INTEGER ? (double)value->integer
           : value->kind == VALUE_REAL  ? value->real
                                        : 0;
}

const struct finding *findings_found(const struct findings *findings,
                                     const char *parameter)
{
    const struct finding *finding = findings_get(findings, parameter);

    return finding && finding->verdict == VERDICT_FOUND ? finding : NULL;
}

uint64_t findings_integer(const struct findings *findings,
                          const char *parameter)
{
    const struct finding *finding = findings_found(findings, parameter);

    return finding && finding->value.kind == VALUE_INTEGER &&
                   finding->value.integer > 0
               ? (uint64_t)finding->value.integer
               : 0;
}

void finding_why(struct finding *finding, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(finding->why, sizeof(finding->why), format, arguments);
    va_end(arguments);
}

void finding_extra(struct finding *finding, const char *name,
                   struct value value)
{
    assert(finding->extras_count < FINDING_EXTRAS_MAX);

    struct finding_extra *extra = &finding->extras[finding->extras_count++];
    bool fits = copy_text(extra->name, sizeof(extra->name), name);
    assert(fits);
    (void)fits;
    extra->value = value;
}

/* "[1, 2]"; the list is short, so that it only needs a small text. */
static void format_list(const struct value *value, char *text, size_t size)
{
    size_t used = 0;

    assert(value->list.count <= VALUE_LIST_MAX);
    snprintf(text, size, "[");
    for (size_t i = 0; i < value->list.count; i++) {
        used = strlen(text);
        snprintf(text + used, size - used, "%s%" PRId64, i ? ", " : "",
                 value->list.items[i]);
    }
    used = strlen(text);
    snprintf(text + used, size - used, "]");
}

char *value_format(const struct value *value, char *text, size_t size)
{
    assert(size > 0);
    switch (value->kind) {
    case VALUE_NONE:
        text[0] = '\0';
        break;
    case VALUE_INTEGER:
        snprintf(text, size, "%" PRId64, value->integer);
        break;
    case VALUE_REAL:
        snprintf(text, size, "%.6g", value->real);
        break;
    case VALUE_TEXT:
        copy_text(text, size, value->text);
        break;
    case VALUE_BOOLEAN:
        copy_text(text, size, value->boolean ? "true" : "false");
        break;
    case VALUE_LIST:
        format_list(value, text, size);
        break;
    }
    return text;
}
