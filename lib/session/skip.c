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

void skip_probe(const struct probe *probe, const char *reason,
                struct findings *findings)
{
    for (int i = 0; i < PROBE_NEEDS_MAX && probe->answers[i]; i++) {
        struct finding *finding =
            findings_add(findings, probe->name, probe->answers[i],
                         parameter_unit(probe->answers[i]));
        finding->verdict = VERDICT_SKIPPED;
        finding_why(finding, "%s", reason);
    }
}

void skip_hope(const struct probe *probe, struct findings *findings)
{
    for (int i = 0; i < PROBE_NEEDS_MAX && probe->answers[i]; i++)
        findings_add(findings, probe->name, probe->answers[i],
                     parameter_unit(probe->answers[i]))
            ->verdict = VERDICT_FOUND;
}

int skip_assume(struct findings *findings, const char *parameter,
                const char *value, struct fault *why)
{
    const char *unit = parameter_unit(parameter);
    uint64_t number;

    if (!unit || findings_get(findings, parameter))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--assume=%s=%s: no such parameter, or assumed twice",
                         parameter, value);
    if (strlen(value) >= sizeof(findings->items[0].value.text) || !*value)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--assume=%s: the value is empty or too long",
                         parameter);
    struct finding *finding = findings_add(findings, "assumed", parameter, "");
    finding->verdict = VERDICT_FOUND;
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
        finding->value = value_boolean(value[0] == 't');
    else if (parse_bytes(value, &number) == 0)
        finding->value = value_integer(number);
    else
        finding->value = value_text(value);
    finding->low = finding->high = finding->value;
    finding->confidence = 1;
    finding_why(finding, "assumed by the user, not measured");
    return 0;
}
