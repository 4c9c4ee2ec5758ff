/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/study/experiment.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_at(const struct experiment_value *value,
                  const struct experiment_place *place)
{
    return strcmp(value->panel, place->panel) == 0 &&
           strcmp(value->series, place->series) == 0 &&
           strcmp(value->column, place->column) == 0;
}

static const struct experiment_value *find(const struct experiment_table *table,
                                           const struct experiment_place *place)
{
    for (size_t i = 0; i < table->values_count; i++)
        if (is_at(&table->values[i], place))
            return &table->values[i];
    return NULL;
}

void experiment_add(struct experiment_table *table,
                    const struct experiment_value *value)
{
    const struct experiment_place place = {value->panel, value->series,
                                           value->column};

    assert(table->values_count < EXPERIMENT_VALUES_MAX);
    assert(!find(table, &place));
    assert(!strpbrk(value->panel, ",\"") && !strpbrk(value->series, ",\"") &&
           !strpbrk(value->column, ",\""));
    table->values[table->values_count++] = *value;
}

const struct experiment_value *
experiment_at(const struct experiment_table *table,
              const struct experiment_place *place)
{
    const struct experiment_value *value = find(table, place);

    assert(value);
    return value;
}

void experiment_check(struct experiment_table *table,
                      const struct experiment_trend *trend)
{
    assert(table->trends_count < EXPERIMENT_TRENDS_MAX);
    table->trends[table->trends_count++] = *trend;
}

static double percent_less(double from, double to)
{
    return 100 * (1 - to / from);
}

void experiment_compare(struct experiment_table *table,
                        const struct experiment_change *change)
{
    const struct experiment_value *from = experiment_at(table, &change->from);
    const struct experiment_value *to = experiment_at(table, &change->to);
    struct experiment_trend trend = {.unit = "% less",
                                     .paper =
                                         percent_less(from->paper, to->paper),
                                     .ours = percent_less(from->ours, to->ours),
                                     .low = change->low,
                                     .high = change->high,
                                     .reason = change->reason};

    snprintf(trend.claim, sizeof(trend.claim), "%s", change->claim);
    experiment_check(table, &trend);
}

enum experiment_verdict experiment_judge(const struct experiment_trend *trend)
{
    if (trend->ours >= trend->low && trend->ours <= trend->high)
        return EXPERIMENT_HOLDS;
    return trend->reason ? EXPERIMENT_NOT_REPRODUCED : EXPERIMENT_MISSED;
}
