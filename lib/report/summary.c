/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/parameter.h"

const double report_sure = 0.99;
/* What is as likely wrong as right tells a reader nothing. */
static const double even = 0.5;
/* A wider interval is shown in place of the value: its middle says too much. */
static const double interval_wide = 1.1;

struct sentence {
    const struct findings *findings;
    char *text;
    bool plain_bytes;
};

__attribute__((format(printf, 2, 3))) static void add(struct sentence *sentence,
                                                      const char *format, ...)
{
    const size_t used = strlen(sentence->text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence->text + used, REPORT_SUMMARY_BYTES - used, format,
              arguments);
    va_end(arguments);
}

/* NULL: not found, not measured, or too doubtful to be said. */
static const struct finding *said_in(const struct findings *findings,
                                     const char *parameter)
{
    const struct finding *finding = findings_get(findings, parameter);

    return finding && finding->verdict == VERDICT_FOUND &&
                   !finding_assumed(finding) && finding->confidence > even
               ? finding
               : NULL;
}

static const struct finding *said_of(const struct sentence *sentence,
                                     const char *parameter)
{
    return said_in(sentence->findings, parameter);
}

static bool is_sure(const struct finding *finding)
{
    return finding->confidence >= report_sure;
}

static const char *probably(const struct finding *finding)
{
    return is_sure(finding) ? "" : "probably ";
}

/* " (75 %)" of what is not sure; whole percents, rounded down. */
static const char *how_sure(const struct finding *finding, char text[16])
{
    text[0] = '\0';
    if (!is_sure(finding))
        snprintf(text, 16, " (%d %%)",
                 (int)floor(finding->confidence * 100 + 1e-9));
    return text;
}

static double number_of(const struct value *value)
{
    return value->kind == VALUE_INTEGER ? (double)value->integer
           : value->kind == VALUE_REAL  ? value->real
                                        : 0;
}

/* "110 MB/s", "90 MB/s to 140 MB/s", "at least 2". */
static const char *amount_of(const struct sentence *sentence,
                             const struct finding *finding, char text[160])
{
    const double low = number_of(&finding->low);
    const double high = number_of(&finding->high);
    char ends[2][64];

    if (finding->value.kind == VALUE_NONE)
        return report_interval(finding, sentence->plain_bytes, text, 160);
    if (low <= 0 || high <= low * interval_wide)
        return report_amount(&finding->value, finding->unit,
                             sentence->plain_bytes, text, 160);
    report_amount(&finding->low, finding->unit, sentence->plain_bytes, ends[0],
                  sizeof(ends[0]));
    report_amount(&finding->high, finding->unit, sentence->plain_bytes, ends[1],
                  sizeof(ends[1]));
    snprintf(text, 160, "%s to %s", ends[0], ends[1]);
    return text;
}

static const char *capacity_text(const struct sentence *sentence,
                                 uint64_t bytes, char text[64])
{
    if (sentence->plain_bytes)
        snprintf(text, 64, "%" PRIu64 " B", bytes);
    else
        format_capacity(bytes, text, 64);
    return text;
}

static const struct finding *less_sure(const struct finding *a,
                                       const struct finding *b)
{
    return a->confidence < b->confidence ? a : b;
}

/* A drive that holds less than it says is no drive of that capacity. */
static bool add_fake(struct sentence *sentence, uint64_t declared_bytes)
{
    const struct finding *kind = said_of(sentence, "capacity_kind");
    const struct finding *real = said_of(sentence, "real_capacity");
    char says[64], holds[64], sure[16];

    if (!kind || kind->value.kind != VALUE_TEXT ||
        strcmp(kind->value.text, "genuine") == 0)
        return false;
    if (declared_bytes == 0 || !real || number_of(&real->value) <= 0) {
        add(sentence, "A drive that %sholds less than it says%s",
            probably(kind), how_sure(kind, sure));
        return true;
    }
    const struct finding *least = less_sure(real, kind);
    add(sentence, "A drive that says %s and %sholds no more than %s%s",
        capacity_text(sentence, declared_bytes, says), probably(least),
        capacity_text(sentence, (uint64_t)number_of(&real->value), holds),
        how_sure(least, sure));
    return true;
}

static void add_drive(struct sentence *sentence,
                      const struct device_info *device)
{
    const uint64_t bytes = device ? device->capacity_bytes : 0;
    const bool emulated = device && device->virtual_clock;
    char size[64] = "";

    if (add_fake(sentence, bytes))
        return;
    if (bytes)
        capacity_text(sentence, bytes, size);
    add(sentence, "A%s %s%sdrive", emulated ? "n emulated" : "", size,
        bytes ? " " : "");
}

static void add_flash(struct sentence *sentence)
{
    const struct finding *type = said_of(sentence, "nand_type");
    char text[160], sure[16];

    if (!type)
        return;
    report_amount(&type->value, type->unit, false, text, sizeof(text));
    add(sentence, "%s %sof %s flash%s%s", is_sure(type) ? "" : ",",
        probably(type), text, how_sure(type, sure), is_sure(type) ? "" : ",");
}

const struct finding *report_erase_unit(const struct findings *findings)
{
    const struct finding *block = said_in(findings, "clustered_block");
    const struct finding *unit = said_in(findings, "read_boundary");

    if (block && unit && number_of(&block->value) != number_of(&unit->value))
        return NULL;
    if (block && unit)
        return block->confidence > unit->confidence ? block : unit;
    return block ? block : unit;
}

/* " with 16 KiB pages, 4 MiB erase units and probably 8 open units (80 %)" */
static void add_layout(struct sentence *sentence)
{
    const struct {
        const struct finding *finding;
        const char *one, *many;
    } parts[] = {
        {said_of(sentence, "clustered_page"), "write unit", "write units"},
        {report_erase_unit(sentence->findings), "erase unit", "erase units"},
        {said_of(sentence, "log_list"), "open unit", "open units"}};
    enum { PARTS = sizeof(parts) / sizeof(parts[0]) };
    size_t left_count = 0;
    const char *before = " with ";
    char amount[160], sure[16];

    for (size_t i = 0; i < PARTS; i++)
        left_count += parts[i].finding != NULL;
    for (size_t i = 0; i < PARTS; i++) {
        const struct finding *finding = parts[i].finding;
        if (!finding)
            continue;
        const bool one = finding->unit[0] == 'c' &&
                         fabs(number_of(&finding->value) - 1) < even;
        add(sentence, "%s%s%s %s%s", before, probably(finding),
            amount_of(sentence, finding, amount),
            one ? parts[i].one : parts[i].many, how_sure(finding, sure));
        before = --left_count == 1 ? " and " : ", ";
    }
}

/* "; reads 110 MB/s": the verb and the amount. */
static bool add_clause(struct sentence *sentence, const char *verb,
                       const char *parameter)
{
    const struct finding *finding = said_of(sentence, parameter);
    char amount[160], sure[16];

    if (!finding)
        return false;
    add(sentence, "; %s%s %s%s", probably(finding), verb,
        amount_of(sentence, finding, amount), how_sure(finding, sure));
    return true;
}

/* "; writes 450 MB/s for 4 GiB, then 80 MB/s": a rate that does not last is not
 * the drive's. */
static bool add_long_writes(struct sentence *sentence)
{
    const struct finding *cache = said_of(sentence, "fast_cache");
    const struct finding *fast = said_of(sentence, "fast_write_rate");
    const struct finding *slow = said_of(sentence, "sustained_write_rate");
    char amounts[3][160], sure[16];

    if (!slow)
        return false;
    if (!cache || !fast)
        return add_clause(sentence, "writes", "sustained_write_rate");
    const struct finding *least = less_sure(less_sure(cache, fast), slow);
    add(sentence, "; %swrites %s for %s, then %s%s", probably(least),
        amount_of(sentence, fast, amounts[0]),
        amount_of(sentence, cache, amounts[1]),
        amount_of(sentence, slow, amounts[2]), how_sure(least, sure));
    return true;
}

/* Up to the lower end: what lies between the ends may wait. */
static void add_bursts(struct sentence *sentence)
{
    const struct finding *buffer = said_of(sentence, "write_buffer");
    char amount[160], sure[16];

    if (!buffer || number_of(&buffer->value) <= 0)
        return;
    const struct value *most =
        number_of(&buffer->low) > 0 ? &buffer->low : &buffer->value;
    report_amount(most, buffer->unit, sentence->plain_bytes, amount,
                  sizeof(amount));
    if (is_sure(buffer))
        add(sentence, "; keep bursts below %s", amount);
    else
        add(sentence, "; probably absorbs bursts below %s%s", amount,
            how_sure(buffer, sure));
}

char *report_summary(const struct report *report, bool plain_bytes,
                     char text[REPORT_SUMMARY_BYTES])
{
    struct sentence sentence = {report->findings, text, plain_bytes};

    text[0] = '\0';
    if (!report->findings || report->findings->count == 0)
        return text;
    add_drive(&sentence, report->device);
    const size_t named = strlen(text);
    add_flash(&sentence);
    add_layout(&sentence);
    const size_t length = strlen(text);
    if (length && text[length - 1] == ',') /* nothing came after the flash */
        text[length - 1] = '\0';
    if (!add_clause(&sentence, "reads", "sequential_read_rate"))
        add_clause(&sentence, "a random read of 4 KiB takes", "random_read");
    if (!add_long_writes(&sentence))
        add_clause(&sentence, "writes", "sequential_write_rate");
    add_bursts(&sentence);
    if (strlen(text) == named)
        add(&sentence, "; nothing more can be said in a sentence");
    add(&sentence, ".");
    if (report->conditions &&
        conditions_grade(report->conditions) == CONDITION_RED)
        add(&sentence, " Conditions were red: its times and rates may be "
                       "wrong.");
    return text;
}

static bool is_open(const struct findings *findings, const char *parameter)
{
    const struct finding *finding = findings_get(findings, parameter);

    return finding && finding->verdict == VERDICT_INCONCLUSIVE;
}

/* Does another finding answer the same question, or say that it is open? */
static bool is_said_elsewhere(const struct findings *findings,
                              const struct finding *finding)
{
    static const char by_writes[] = "clustered_block",
                      by_reads[] = "read_boundary";
    const bool reads = strcmp(finding->parameter, by_reads) == 0;

    if (finding->verdict != VERDICT_INCONCLUSIVE ||
        (!reads && strcmp(finding->parameter, by_writes) != 0))
        return false;
    return report_erase_unit(findings) ||
           (reads && is_open(findings, by_writes));
}

/* The finding whose value would help this one, by its own words; NULL: none of
 * those that are open. */
static const struct finding *waits_for(const struct findings *findings,
                                       const struct finding *finding)
{
    static const char words[] = "--assume=";
    const char *at = strstr(finding->why, words);
    char name[sizeof(finding->parameter)];

    if (!at)
        return NULL;
    at += strlen(words);
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "="), at);
    const struct finding *cause = findings_get(findings, name);
    return is_open(findings, name) && cause != finding &&
                   !is_said_elsewhere(findings, cause)
               ? cause
               : NULL;
}

/* By which of them an open finding stands in the list. */
static const struct finding *first_of_reason(const struct findings *findings,
                                             const struct finding *finding)
{
    const struct finding *cause = waits_for(findings, finding);

    if (cause && !waits_for(findings, cause))
        finding = cause;
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].verdict == VERDICT_INCONCLUSIVE &&
            !is_said_elsewhere(findings, &findings->items[i]) &&
            strcmp(findings->items[i].why, finding->why) == 0)
            return &findings->items[i];
    return finding;
}

size_t report_of_verdict(const struct findings *findings, enum verdict verdict,
                         const struct finding *named[FINDINGS_MAX],
                         size_t with_it[FINDINGS_MAX])
{
    const bool folds = verdict == VERDICT_INCONCLUSIVE;
    const struct finding *first[FINDINGS_MAX];
    size_t of_reason[FINDINGS_MAX] = {0}, count = 0;

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        first[i] = NULL;
        if (finding->verdict != verdict || is_said_elsewhere(findings, finding))
            continue;
        first[i] = folds ? first_of_reason(findings, finding) : finding;
        of_reason[first[i] - findings->items]++;
    }
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if (!first[i])
            continue;
        const size_t others = of_reason[first[i] - findings->items] - 1;
        if (others > 1 && first[i] != finding)
            continue;
        with_it[count] = others > 1 ? others : 0;
        named[count++] = finding;
    }
    return count;
}

char *report_names(const struct findings *findings, enum verdict verdict,
                   char *text, size_t size)
{
    const struct finding *named[FINDINGS_MAX];
    size_t with_it[FINDINGS_MAX];
    const size_t count = report_of_verdict(findings, verdict, named, with_it);
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        char name[32];
        parameter_everyday(named[i]->parameter, name);
        snprintf(text + used, size - used, "%s%s%s%s%s", used ? ", " : "",
                 named[i]->parameter, name[0] ? " (" : "", name,
                 name[0] ? ")" : "");
        used = strlen(text);
        if (with_it[i])
            snprintf(text + used, size - used, " and %zu with it", with_it[i]);
        used = strlen(text);
    }
    return text;
}

size_t report_order(const struct findings *findings,
                    const struct finding *ordered[FINDINGS_MAX])
{
    size_t count = 0;

    for (int group = 0; group < PARAMETER_GROUPS; group++)
        for (size_t i = 0; i < findings->count; i++)
            if ((int)parameter_group(findings->items[i].parameter) == group)
                ordered[count++] = &findings->items[i];
    return count;
}

/* Those of one group, by verdict. */
static void fill_group(const struct findings *findings,
                       enum parameter_group which, struct report_group *group)
{
    group->name = parameter_group_name(which);
    group->count = 0;
    for (enum verdict v = VERDICT_FOUND; v < VERDICT_SKIPPED; v++)
        for (size_t i = 0; i < findings->count; i++) {
            const struct finding *finding = &findings->items[i];
            if (finding->verdict == v &&
                parameter_group(finding->parameter) == which)
                group->items[group->count++] = finding;
        }
}

size_t report_groups(const struct findings *findings,
                     struct report_group groups[PARAMETER_GROUPS])
{
    size_t count = 0;

    for (int i = 0; i < PARAMETER_GROUPS; i++) {
        fill_group(findings, (enum parameter_group)i, &groups[count]);
        count += groups[count].count > 0;
    }
    return count;
}
