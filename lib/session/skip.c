/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/skip.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/parameter.h"

const char skip_not_begun[] = "the run ended before this probe began";

bool skip_reason(const struct probe *probe, const struct setting *setting,
                 const struct findings *known, char *text, size_t size)
{
    char least[24], region[24];

    if (probe->writes && setting->read_only) {
        if (text)
            snprintf(text, size, "it needs to write, and this run only reads");
        return true;
    }
    if (setting->region_length_bytes < probe->region_min_bytes) {
        if (text)
            snprintf(
                text, size,
                "it needs a region of at least %s, and this one has %s",
                format_bytes(probe->region_min_bytes, least, sizeof(least)),
                format_bytes(setting->region_length_bytes, region,
                             sizeof(region)));
        return true;
    }
    for (int i = 0; i < PROBE_NEEDS_MAX && probe->needs[i]; i++) {
        const struct finding *need = findings_get(known, probe->needs[i]);
        if (need && need->verdict == VERDICT_FOUND)
            continue;
        if (text)
            snprintf(text, size,
                     "it needs %s, which this run did not find; if you know "
                     "it, pass --assume=%s=VALUE",
                     probe->needs[i], probe->needs[i]);
        return true;
    }
    return false;
}

bool skip_budget(const struct probe *probe, const struct setting *setting,
                 uint64_t written_bytes, char *text, size_t size)
{
    const uint64_t budget_bytes = setting->write_budget_bytes;
    const uint64_t left_bytes =
        budget_bytes > written_bytes ? budget_bytes - written_bytes : 0;
    struct probe_plan plan = {0};
    char needed[24], left[24];

    probe->plan(setting, &plan);
    if (plan.bytes_written <= left_bytes)
        return false;
    snprintf(text, size,
             "it is to write %s, and of the write budget %s are left; "
             "--write-budget allows more",
             format_bytes(plan.bytes_written, needed, sizeof(needed)),
             format_bytes(left_bytes, left, sizeof(left)));
    return true;
}

void skip_probe(const struct probe *probe, const char *reason,
                struct findings *findings)
{
    for (int i = 0; i < PROBE_NEEDS_MAX && probe->answers[i]; i++) {
        struct finding *finding =
            findings_add(findings, probe->name, probe->answers[i]);
        finding->verdict = VERDICT_SKIPPED;
        finding_why(finding, "%s", reason);
    }
}

void skip_hope(const struct probe *probe, struct findings *findings)
{
    for (int i = 0; i < PROBE_NEEDS_MAX && probe->answers[i]; i++)
        findings_add(findings, probe->name, probe->answers[i])->verdict =
            VERDICT_FOUND;
}

/* The value of a parameter of this unit: sizes, times and counts are numbers,
 * what has no unit is a truth value or a word. */
static int parse_value(const char *unit, const char *text, struct value *value)
{
    uint64_t number;

    if (*unit) {
        int error = strcmp(unit, "ns") == 0 ? parse_ns(text, &number)
                                            : parse_bytes(text, &number);
        if (error || number > INT64_MAX)
            return -EINVAL;
        *value = value_integer(number);
        return 0;
    }
    if (!*text || strlen(text) >= sizeof(value->text))
        return -EINVAL;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        *value = value_boolean(text[0] == 't');
    else
        *value = value_text(text);
    return 0;
}

int skip_assume(struct findings *findings, const char *parameter,
                const char *text, struct fault *why)
{
    const char *unit = parameter_unit(parameter);
    struct value value;

    if (!unit || findings_get(findings, parameter))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--assume=%s=%s: no such parameter, or assumed twice",
                         parameter, text);
    if (parse_value(unit, text, &value))
        return fault_set(
            why, FAULT_USAGE, -EINVAL,
            "--assume=%s=%s: that is no value of this parameter%s", parameter,
            text, *unit ? ", which is a number such as 8, 16KiB or 25us" : "");
    struct finding *finding = findings_add(findings, "assumed", parameter);
    finding->verdict = VERDICT_FOUND;
    finding->value = finding->low = finding->high = value;
    finding->confidence = 1;
    finding_why(finding, "assumed by the user, not measured");
    return 0;
}

void skip_disturbed(struct findings *findings, size_t first, const char *cause)
{
    for (size_t i = first; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        if (finding->verdict == VERDICT_SKIPPED)
            continue;
        finding_withdraw(finding);
        finding_why(finding,
                    "the probe was disturbed, and again when it was "
                    "repeated: %s",
                    cause);
    }
}

void skip_times(struct findings *findings, const char *cause)
{
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        char value[24];
        if (finding->verdict != VERDICT_FOUND ||
            strcmp(finding->unit, "ns") != 0 ||
            strcmp(finding->probe, "assumed") == 0)
            continue;
        format_ns((uint64_t)finding->value.integer, value, sizeof(value));
        finding_withdraw(finding);
        finding_why(finding,
                    "it took %s when it was measured, but the drive did not "
                    "keep its speed: %s; let it cool down, end what else uses "
                    "it, and measure again",
                    value, cause);
    }
}

static bool only_reads(const struct probe *const probes[], const char *name)
{
    for (; *probes; probes++)
        if (strcmp((*probes)->name, name) == 0)
            return !(*probes)->writes;
    return false;
}

void skip_unwritten(struct findings *findings,
                    const struct probe *const probes[], const char *cause)
{
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        const bool denies =
            finding->verdict == VERDICT_ABSENT ||
            (finding->verdict == VERDICT_FOUND &&
             finding->value.kind == VALUE_BOOLEAN && !finding->value.boolean);
        const bool states = finding->verdict == VERDICT_FOUND &&
                            (strcmp(finding->unit, "ns") == 0 ||
                             only_reads(probes, finding->probe));
        if ((!denies && !states) || strcmp(finding->probe, "assumed") == 0)
            continue;
        finding_withdraw(finding);
        finding_why(finding,
                    "%s; write all of it once ('ssdprobe run fill DEVICE' "
                    "does), and measure again",
                    cause);
    }
}
