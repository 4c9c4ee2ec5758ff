/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/study/experiment.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
                                     .reason = change->reason,
                                     .bound_is_ours = change->bound_is_ours,
                                     .cannot_follow = change->cannot_follow,
                                     .calibrated = change->calibrated,
                                     .by_seed = change->by_seed};

    snprintf(trend.claim, sizeof(trend.claim), "%s", change->claim);
    if (change->of_text)
        trend.paper = NAN;
    experiment_check(table, &trend);
}

static bool is_inside(const struct experiment_trend *trend)
{
    return trend->ours >= trend->low && trend->ours <= trend->high;
}

enum experiment_verdict experiment_judge(const struct experiment_trend *trend)
{
    if (trend->cannot_follow)
        return EXPERIMENT_CANNOT_FOLLOW;
    if (trend->calibrated && (trend->by_seed || is_inside(trend)))
        return EXPERIMENT_CALIBRATED;
    if (trend->by_seed)
        return EXPERIMENT_BY_SEED;
    if (is_inside(trend))
        return EXPERIMENT_HOLDS;
    return trend->reason ? EXPERIMENT_DOES_NOT_HOLD : EXPERIMENT_MISSED;
}

/* ---- with several seeds ------------------------------------------------- */

/* Counts the claims of `other` that hold. `table` has the same. */
static void count_held(struct experiment_table *table,
                       const struct experiment_table *other)
{
    /* What only `full` judges comes last, and has no other seeds. */
    assert(table->trends_count >= other->trends_count);
    for (size_t i = 0; i < other->trends_count; i++) {
        assert(strcmp(table->trends[i].claim, other->trends[i].claim) == 0);
        table->trends[i].seeds_count++;
        table->trends[i].held_count += is_inside(&other->trends[i]);
    }
}

static bool one_decides(const struct experiment_table *table)
{
    for (size_t i = 0; i < table->trends_count; i++)
        if (table->trends[i].by_seed)
            return true;
    return false;
}

int experiment_run(const struct experiment *experiment,
                   const struct experiment_settings *settings,
                   struct experiment_table *table, struct fault *why)
{
    struct experiment_settings next = *settings;
    int error = experiment->run(experiment, settings, table, why);

    if (error)
        return error;
    count_held(table, table);
    if (settings->one_seed || !one_decides(table))
        return 0;
    struct experiment_table *other = malloc(sizeof(*other));
    if (!other)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "no memory for a study");
    if (experiment->test_scale > 0 && next.scale > experiment->test_scale)
        next.scale = experiment->test_scale;
    next.full = false;
    for (unsigned i = 1; i < EXPERIMENT_SEEDS && !error; i++) {
        next.seed++;
        other->values_count = other->trends_count = 0;
        error = experiment->run(experiment, &next, other, why);
        if (!error)
            count_held(table, other);
    }
    free(other);
    return error;
}
