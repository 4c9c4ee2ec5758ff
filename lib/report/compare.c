/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/whole_verdict.h"
#include "lib/infer/parameter.h"

/* Two drives of one model: a batch may differ, and a finding be wrong. */
static const double batch_differs = 0.02;
/* An interval says how well one run knows a time; from run to run warmth and
 * load move the time itself, by so much. */
static const double between_runs = 0.05;
/* Log ratio of times: of two drives of one model, and of two models. */
static const double same_spread = 0.12, other_spread = 1.2;
static const double loudest = 4.6; /* log of a hundred to one */
/* All of this is a model of drives, so it is never surer than so. */
static const double surest = 0.999;

/* How often two models agree: of 378 pairs of 28 emulated drives, 24 of them
 * drawn at random. A parameter that is not here: as often as not. */
static const struct {
    const char *parameter;
    double share;
} coincidence[] = {{"clustered_page", 0.12},  {"read_modify_write", 0.70},
                   {"clustered_block", 0.10}, {"nand_type", 0.35},
                   {"read_buffer", 0.37},     {"write_buffer", 0.25},
                   {"log_block", 0.15},       {"log_list", 0.20},
                   {"segment_groups", 0.65},  {"content_dependence", 0.82},
                   {"content_unit", 0.82}};

static double coincidence_of(const char *parameter)
{
    for (size_t i = 0; i < sizeof(coincidence) / sizeof(coincidence[0]); i++)
        if (strcmp(coincidence[i].parameter, parameter) == 0)
            return coincidence[i].share;
    return 0.5;
}

const char *compare_kind_name(enum compare_kind kind)
{
    static const char *const names[] = {[COMPARE_SAME] = "same",
                                        [COMPARE_DIFFERENT] = "different",
                                        [COMPARE_UNKNOWN] = "unknown"};
    return names[kind];
}

/* ---- findings ---------------------------------------------------------- */

static bool number_of(const struct value *value, double *number)
{
    if (value->kind == VALUE_INTEGER)
        *number = (double)value->integer;
    else if (value->kind == VALUE_REAL)
        *number = value->real;
    else
        return false;
    return true;
}

static bool is_answer(const struct finding *finding)
{
    return finding && (finding->verdict == VERDICT_FOUND ||
                       finding->verdict == VERDICT_ABSENT);
}

/* Values that are no numbers: in their plain form. */
static bool same_words(const struct finding *a, const struct finding *b)
{
    char first[48], second[48];

    value_format(&a->value, first, sizeof(first));
    value_format(&b->value, second, sizeof(second));
    return strcmp(first, second) == 0;
}

static bool intervals_meet(const struct finding *a, const struct finding *b)
{
    const double slack = unit_is_of_speed(a->unit) ? 1 + between_runs : 1;
    double value, a_low, a_high, b_low, b_high;

    if (!number_of(&a->value, &value))
        value = 0;
    if (!number_of(&a->low, &a_low))
        a_low = value;
    if (!number_of(&a->high, &a_high))
        a_high = number_of(&a->value, &value) ? value : INFINITY;
    if (!number_of(&b->value, &value))
        value = 0;
    if (!number_of(&b->low, &b_low))
        b_low = value;
    if (!number_of(&b->high, &b_high))
        b_high = number_of(&b->value, &value) ? value : INFINITY;
    return a_low <= b_high * slack && b_low <= a_high * slack;
}

static bool has_numbers(const struct finding *a, const struct finding *b)
{
    double ignored;

    return (number_of(&a->value, &ignored) || number_of(&a->low, &ignored)) &&
           (number_of(&b->value, &ignored) || number_of(&b->low, &ignored));
}

/* Of a time the smaller is better, of a rate or a capacity the larger. */
static int better_of(const struct compare_row *row)
{
    static const char *const capacities[] = {"real_capacity", "fast_cache",
                                             "log_list", "write_buffer"};
    const bool more = row->ratio > 1;

    if (strcmp(row->a->parameter, "sleep_after") == 0)
        return 0;
    if (strcmp(row->a->unit, "ns") == 0 ||
        strcmp(row->a->unit, "thousandths") == 0)
        return more ? 1 : 2;
    if (unit_is_of_speed(row->a->unit))
        return more ? 2 : 1;
    for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++)
        if (strcmp(row->a->parameter, capacities[i]) == 0)
            return more ? 2 : 1;
    return 0;
}

static void compare_findings(struct compare_row *row)
{
    const struct finding *a = row->a, *b = row->b;
    double first, second;
    bool same;

    row->kind = COMPARE_UNKNOWN;
    row->ratio = 0;
    if (!is_answer(a) || !is_answer(b))
        return;
    if (a->verdict != b->verdict)
        same = false;
    else if (a->verdict == VERDICT_ABSENT)
        same = true;
    else
        same = has_numbers(a, b) ? intervals_meet(a, b) : same_words(a, b);
    row->kind = same ? COMPARE_SAME : COMPARE_DIFFERENT;
    if (a->verdict == VERDICT_FOUND && b->verdict == VERDICT_FOUND &&
        number_of(&a->value, &first) && number_of(&b->value, &second) &&
        first > 0 && second > 0)
        row->ratio = second / first;
    if (row->ratio > 0 && !same && a->verdict == VERDICT_FOUND)
        row->better = better_of(row);
}

static void add_row(struct comparison *comparison, const struct finding *a,
                    const struct finding *b)
{
    if (comparison->rows_count == FINDINGS_MAX)
        return;
    struct compare_row *row = &comparison->rows[comparison->rows_count++];
    *row = (struct compare_row){.a = a, .b = b};
    compare_findings(row);
}

static void pair_findings(const struct findings *a, const struct findings *b,
                          struct comparison *comparison)
{
    for (size_t i = 0; i < a->count; i++)
        add_row(comparison, &a->items[i],
                findings_get(b, a->items[i].parameter));
    for (size_t i = 0; i < b->count; i++)
        if (!findings_get(a, b->items[i].parameter))
            add_row(comparison, NULL, &b->items[i]);
}

/* ---- one model? -------------------------------------------------------- */

static double log_density(double x, double spread)
{
    return -0.5 * (x / spread) * (x / spread) - log(spread);
}

/* Other tools name no drive: two of their results may be of one, on hosts whose
 * processors or links are slower. Then what many requests at once reach
 * differs, and what one takes does not. */
static bool may_be_of_hosts(const struct comparison *comparison,
                            const struct compare_row *row)
{
    static const char *const limited[] = {
        "sequential_read_rate", "sequential_write_rate", "random_read_rate",
        "read_parallelism"};

    if (comparison->a->device && comparison->b->device)
        return false;
    for (size_t i = 0; i < sizeof(limited) / sizeof(limited[0]); i++)
        if (strcmp(limited[i], row->a->parameter) == 0)
            return row->kind == COMPARE_DIFFERENT;
    return false;
}

/* For one model against two, as a log; 0: it says nothing. */
static double evidence_of(const struct comparison *comparison,
                          const struct compare_row *row)
{
    double wrong, share, evidence;

    if (row->kind == COMPARE_UNKNOWN || may_be_of_hosts(comparison, row))
        return 0;
    if (unit_is_of_speed(row->a->unit)) {
        if (row->ratio <= 0)
            return 0; /* a switch that is absent: the groups say so */
        double distance = log(row->ratio);
        evidence = log_density(distance, same_spread) -
                   log_density(distance, other_spread);
    } else {
        share = coincidence_of(row->a->parameter);
        wrong =
            1 - row->a->confidence * row->b->confidence * (1 - batch_differs);
        evidence = row->kind == COMPARE_SAME ? log((1 - wrong) / share)
                                             : log(wrong / (1 - share));
    }
    return fmax(-loudest, fmin(loudest, evidence));
}

/* Findings of one probe come from the same rows, and often say the same: what
 * speaks against one model counts before what speaks for it. */
static double evidence_of_probe(const struct comparison *comparison,
                                const char *probe)
{
    double against = 0, in_favour = 0;

    for (size_t i = 0; i < comparison->rows_count; i++) {
        const struct compare_row *row = &comparison->rows[i];
        if (!row->a || strcmp(row->a->probe, probe) != 0)
            continue;
        double evidence = evidence_of(comparison, row);
        against = fmin(against, evidence);
        in_favour = fmax(in_favour, evidence);
    }
    return against < 0 ? against : in_favour;
}

static bool is_first_of_probe(const struct comparison *comparison, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (comparison->rows[i].a &&
            strcmp(comparison->rows[i].a->probe,
                   comparison->rows[index].a->probe) == 0)
            return false;
    return true;
}

static void weigh(struct comparison *comparison)
{
    double sum = 0;

    for (size_t i = 0; i < comparison->rows_count; i++) {
        const struct compare_row *row = &comparison->rows[i];
        comparison->is_of_hosts = comparison->is_of_hosts ||
                                  (row->a && may_be_of_hosts(comparison, row));
        if (!row->a || !is_first_of_probe(comparison, i))
            continue;
        double evidence = evidence_of_probe(comparison, row->a->probe);
        comparison->probes_count += fabs(evidence) > 0;
        sum += evidence;
    }
    comparison->one_model = fmax(1 - surest, fmin(surest, 1 / (1 + exp(-sum))));
}

/* ---- conditions -------------------------------------------------------- */

static void add_condition(struct comparison *comparison, const char *name,
                          const char *a, const char *b)
{
    if (strcmp(a, b) == 0 ||
        comparison->conditions_count == COMPARE_CONDITIONS_MAX)
        return;
    struct compare_condition *condition =
        &comparison->conditions[comparison->conditions_count++];
    condition->name = name;
    snprintf(condition->a, sizeof(condition->a), "%s", a[0] ? a : "not known");
    snprintf(condition->b, sizeof(condition->b), "%s", b[0] ? b : "not known");
}

static void add_size(struct comparison *comparison, const char *name,
                     uint64_t a, uint64_t b)
{
    char first[32] = "", second[32] = "";

    if (a)
        format_bytes(a, first, sizeof(first));
    if (b)
        format_bytes(b, second, sizeof(second));
    if (a != b && strcmp(first, second) == 0) { /* only in the last digits */
        snprintf(first, sizeof(first), "%" PRIu64 " B", a);
        snprintf(second, sizeof(second), "%" PRIu64 " B", b);
    }
    add_condition(comparison, name, first, second);
}

static void compare_devices(const struct device_info *a,
                            const struct device_info *b,
                            struct comparison *comparison)
{
    add_condition(comparison, "model", a->model, b->model);
    add_condition(comparison, "firmware", a->firmware, b->firmware);
    add_size(comparison, "capacity", a->capacity_bytes, b->capacity_bytes);
    add_condition(comparison, "bus", a->bus, b->bus);
    add_condition(comparison, "driver", a->driver, b->driver);
    add_size(comparison, "logical block", a->logical_block_bytes,
             b->logical_block_bytes);
    add_size(comparison, "largest request", a->request_limit_bytes,
             b->request_limit_bytes);
    add_condition(comparison, "requests sent by", a->engine, b->engine);
    add_condition(comparison, "flushed by", a->flush, b->flush);
    add_condition(comparison, "write cache", a->write_cache, b->write_cache);
    add_condition(comparison, "USB bridge", a->usb.bridge, b->usb.bridge);
    add_condition(comparison, "USB driver", a->usb.driver, b->usb.driver);
}

static void compare_plans(const struct cost_plan *a, const struct cost_plan *b,
                          struct comparison *comparison)
{
    add_size(comparison, "region begins at", a->region_offset_bytes,
             b->region_offset_bytes);
    add_size(comparison, "region", a->region_length_bytes,
             b->region_length_bytes);
}

static void compare_splits(const struct cost_total *a,
                           const struct cost_total *b,
                           struct comparison *comparison)
{
    add_condition(comparison, "requests split by the system",
                  a->split_count ? "some" : "none",
                  b->split_count ? "some" : "none");
}

/* Numbers that are new in each run: only their grade is compared. */
static bool is_measured(const char *condition)
{
    static const char *const names[] = {
        "load",     "requests of others", "requests merged", "processor stolen",
        "baseline", "kernel log",         "silence"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], condition) == 0)
            return true;
    return false;
}

static const struct condition *find(const struct conditions *conditions,
                                    const char *name)
{
    for (size_t i = 0; i < conditions->count; i++)
        if (strcmp(conditions->items[i].name, name) == 0)
            return &conditions->items[i];
    return NULL;
}

/* By value; what is measured anew by grade. */
static void compare_items(const struct condition *a, const struct condition *b,
                          struct comparison *comparison)
{
    const char *first = a ? a->value : "", *second = b ? b->value : "";
    const enum condition_grade none = CONDITION_GREEN;
    char words[2][128];

    if (is_measured(a ? a->name : b->name)) {
        if ((a ? a->grade : none) == (b ? b->grade : none))
            return;
        const struct condition *const items[] = {a, b};
        for (size_t i = 0; i < 2; i++)
            snprintf(words[i], sizeof(words[i]), "%s%s%s",
                     condition_grade_name(items[i] ? items[i]->grade : none),
                     items[i] ? ": " : "", items[i] ? items[i]->value : "");
        first = words[0];
        second = words[1];
    }
    add_condition(comparison, a ? a->name : b->name, first, second);
}

static void compare_conditions(const struct conditions *a,
                               const struct conditions *b,
                               struct comparison *comparison)
{
    for (size_t i = 0; i < a->count; i++)
        compare_items(&a->items[i], find(b, a->items[i].name), comparison);
    for (size_t i = 0; i < b->count; i++)
        if (!find(a, b->items[i].name))
            compare_items(NULL, &b->items[i], comparison);
}

static bool is_bad(const struct report *report)
{
    const enum drive_state state = whole_verdict(report->findings).state;

    return state == DRIVE_FAKE || state == DRIVE_BROKEN;
}

void compare_reports(const struct report *a, const struct report *b,
                     struct comparison *comparison)
{
    *comparison = (struct comparison){.a = a, .b = b};
    if (a->device && b->device)
        compare_devices(a->device, b->device, comparison);
    if (a->conditions && b->conditions)
        compare_conditions(a->conditions, b->conditions, comparison);
    if (a->plan && b->plan)
        compare_plans(a->plan, b->plan, comparison);
    if (a->cost && b->cost)
        compare_splits(a->cost, b->cost, comparison);
    pair_findings(a->findings, b->findings, comparison);
    weigh(comparison);
    if (is_bad(a) == is_bad(b))
        return;
    /* A fake may be timed as the drive that it is made to look like. */
    comparison->one_model = 1 - surest;
    comparison->probes_count += comparison->probes_count == 0;
}
