/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/advice/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"

uint64_t advice_value(const struct findings *findings, const char *name)
{
    const struct finding *finding = findings_get(findings, name);

    if (!finding || finding->verdict != VERDICT_FOUND)
        return 0;
    if (finding->value.kind == VALUE_INTEGER && finding->value.integer > 0)
        return (uint64_t)finding->value.integer;
    if (finding->value.kind == VALUE_REAL && finding->value.real >= 0.5)
        return (uint64_t)nearest_integer(finding->value.real);
    return 0;
}

uint64_t advice_careful(const struct findings *findings, const char *name)
{
    const struct finding *finding = findings_found(findings, name);

    if (!finding || finding->value.kind != VALUE_NONE)
        return advice_value(findings, name);
    return (uint64_t)fmax(0, value_number(strcmp(finding->unit, "ns") == 0
                                              ? &finding->high
                                              : &finding->low));
}

struct advice *advice_add(struct advice_list *list, const char *topic,
                          const char *from, const char *also)
{
    struct advice *advice = &list->items[list->count++];

    memset(advice, 0, sizeof(*advice));
    advice->topic = topic;
    advice->from[0] = from;
    advice->from[1] = also;
    return advice;
}
