/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/report.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/base/visible.h"
#include "lib/report/summary.h"

enum {
    WORD_BYTES = 256, /* no text that is wrapped has a longer word */
    MARKUP_BYTES = 1024
};

/* Beside rates in MB/s a size in MiB would be another unit system. */
static const char bytes_as_sold[] = "bytes as sold";

const char *report_unit(const struct finding *finding)
{
    return strcmp(finding->parameter, "fast_cache") == 0 ? bytes_as_sold
                                                         : finding->unit;
}

static void format_amount(uint64_t amount, const char *unit, bool plain_bytes,
                          char *text, size_t size)
{
    const bool as_sold = strcmp(unit, bytes_as_sold) == 0;

    if (plain_bytes && (as_sold || strcmp(unit, "bytes") == 0))
        snprintf(text, size, "%" PRIu64 " B", amount);
    else if (as_sold)
        format_capacity(amount, text, size);
    else
        format_quantity(amount, unit, text, size);
}

static void format_amounts(const struct value *value, const char *unit,
                           bool plain_bytes, char *text, size_t size)
{
    char item[32];

    text[0] = '\0';
    for (size_t i = 0; i < value->list.count; i++) {
        format_amount((uint64_t)value->list.items[i], unit, plain_bytes, item,
                      sizeof(item));
        text_add(text, size, "%s%s", i ? ", " : "", item);
    }
}

char *report_amount(const struct value *value, const char *unit,
                    bool plain_bytes, char *text, size_t size)
{
    bool has_unit = strcmp(unit, "bytes") == 0 ||
                    strcmp(unit, bytes_as_sold) == 0 || strcmp(unit, "ns") == 0;

    if (value->kind == VALUE_INTEGER && value->integer >= 0)
        format_amount((uint64_t)value->integer, unit, plain_bytes, text, size);
    else if (value->kind == VALUE_REAL && has_unit && value->real >= 0)
        format_amount((uint64_t)nearest_integer(value->real), unit, plain_bytes,
                      text, size);
    else if (value->kind == VALUE_TEXT)
        text_visible(value->text, text, size);
    else if (value->kind == VALUE_BOOLEAN)
        snprintf(text, size, "%s", value->boolean ? "yes" : "no");
    else if (value->kind == VALUE_LIST)
        format_amounts(value, unit, plain_bytes, text, size);
    else
        value_format(value, text, size);
    return text;
}

char *report_capacity(const struct device_info *device, bool plain_bytes,
                      char *text, size_t size)
{
    char exact[32], block[32];

    format_amount(device->capacity_bytes, "bytes", plain_bytes, exact,
                  sizeof(exact));
    format_amount(device->logical_block_bytes, "bytes", plain_bytes, block,
                  sizeof(block));
    if (plain_bytes)
        snprintf(text, size, "%s in blocks of %s", exact, block);
    else
        snprintf(text, size, "%s (%s) in blocks of %s",
                 TEXT_CAPACITY(device->capacity_bytes), exact, block);
    return text;
}

/* One in ten such statements is wrong. */
static const double probably_least = 0.9;

bool report_is_probable(double confidence)
{
    return confidence >= probably_least;
}

const char *report_likely(double confidence)
{
    return confidence >= report_sure        ? ""
           : report_is_probable(confidence) ? "probably"
                                            : "perhaps";
}

bool report_is_likely(const struct finding *finding)
{
    return finding->confidence < report_sure && !finding_assumed(finding) &&
           (finding->verdict == VERDICT_FOUND ||
            finding->verdict == VERDICT_ABSENT);
}

const char *report_verdict(const struct finding *finding)
{
    if (finding_assumed(finding))
        return "assumed";
    if (report_is_likely(finding) && finding->verdict == VERDICT_ABSENT)
        return report_is_probable(finding->confidence) ? "probably absent"
                                                       : "perhaps absent";
    if (report_is_likely(finding)) /* 75 % is not said as 99.9 % is */
        return report_likely(finding->confidence);
    return verdict_name(finding->verdict);
}

/* How far the ends of the interval are from its middle. */
static double percent_of(const struct finding *finding)
{
    const double low = value_number(&finding->low);
    const double high = value_number(&finding->high);

    return low + high > 0 ? 100 * (high - low) / (high + low) : 0;
}

char *report_interval(const struct finding *finding, bool plain_bytes,
                      char *text, size_t size)
{
    char low[64], high[64];

    if (finding_assumed(finding)) {
        snprintf(text, size, "-");
        return text;
    }
    if (finding_up_to(finding)) {
        report_amount(finding_up_to(finding), report_unit(finding), plain_bytes,
                      high, sizeof(high));
        snprintf(text, size, "up to %s", high);
        return text;
    }
    value_format(&finding->low, low, sizeof(low));
    value_format(&finding->high, high, sizeof(high));
    if (low[0] && strcmp(low, high) == 0) {
        const bool is_number = finding->value.kind == VALUE_INTEGER ||
                               finding->value.kind == VALUE_REAL;
        snprintf(text, size, "%s", is_number ? "+-0" : "-");
        return text;
    }
    report_amount(&finding->low, report_unit(finding), plain_bytes, low,
                  sizeof(low));
    report_amount(&finding->high, report_unit(finding), plain_bytes, high,
                  sizeof(high));
    if (finding->low.kind == VALUE_INTEGER && strstr(high, ".5 KiB") &&
        !strstr(low, "KiB"))
        snprintf(low, sizeof(low), "%" PRId64 " KiB",
                 finding->low.integer / 1024); /* of "3 MiB .. 3072.5 KiB" */
    if (low[0] && strcmp(low, high) == 0)
        snprintf(text, size, "+-%.1g %%", fmax(percent_of(finding), 0.1));
    else if (low[0] && high[0]) {
        /* "256 .. 512 KiB": a unit that both have is written once. */
        const char *unit = strrchr(low, ' '), *other = strrchr(high, ' ');
        const bool same = unit && other && strcmp(unit, other) == 0;
        snprintf(text, size, "%.*s .. %s",
                 (int)(same ? (size_t)(unit - low) : strlen(low)), low, high);
    } else if (low[0])
        snprintf(text, size, "at least %s", low);
    else if (high[0])
        snprintf(text, size, "at most %s", high);
    else
        snprintf(text, size, "-");
    return text;
}

/* "376 us", of which the last two letters are at `at`? */
static bool is_micro(const char *text, const char *at)
{
    return at >= text + 2 && at[-1] == ' ' && isdigit((unsigned char)at[-2]) &&
           at[0] == 'u' && at[1] == 's' && !isalnum((unsigned char)at[2]);
}

/* Do a number and its unit meet here, "16" and " KiB"? No line ends between
 * them. `space` is in a text that began at `text`. */
static bool is_amount(const char *text, const char *space)
{
    static const char *const units[] = {"B",  "KiB", "MiB", "GiB",  "TiB", "KB",
                                        "MB", "GB",  "TB",  "ns",   "us",  "ms",
                                        "s",  "min", "%",   "times"};

    if (*space != ' ' || space == text || space[-1] < '0' || space[-1] > '9')
        return false;
    const char *word = space + 1;
    const size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ%");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strlen(units[i]) == length && strncmp(word, units[i], length) == 0)
            return true;
    return false;
}

void report_markup(FILE *out, const char *text, const char *space)
{
    char copy[MARKUP_BYTES];

    for (const char *c = report_utf8(text, copy, sizeof(copy)); *c; c++) {
        if (*c == '&')
            fputs("&amp;", out);
        else if (*c == '<')
            fputs("&lt;", out);
        else if (*c == '>')
            fputs("&gt;", out);
        else if (*c == '"')
            fputs("&quot;", out);
        else if (is_micro(copy, c))
            fputs("\xc2\xb5", out);
        else if (is_amount(copy, c))
            fputs(space, out);
        else if ((unsigned char)*c >= ' ')
            fputc(*c, out);
        else
            fputc(' ', out);
    }
}

/* One decimal never rounds a doubt away: 99.97 % is "99.9 %". */
char *report_confidence(const struct finding *finding, char *text, size_t size)
{
    double percent = floor(finding->confidence * 1000.0 + 1e-9) / 10.0;

    if (finding->confidence > 0 && !finding_assumed(finding))
        snprintf(text, size, "%.1f %%", percent);
    else
        snprintf(text, size, "-");
    return text;
}

/* Which declared sizes speak of which parameter. */
static const struct {
    const char *parameter, *declared;
} same_matter[] = {
    {"clustered_page", "physical_block_size"},
    {"clustered_page", "minimum_io_size"},
    {"clustered_page", "preferred_write_granularity"},
    {"clustered_page", "preferred_write_alignment"},
    {"clustered_page", "better_lba_format"},
    {"clustered_block", "discard_granularity"},
    {"clustered_block", "preferred_discard_granularity"},
    {"clustered_block", "erase_size"},
    {"clustered_block", "preferred_erase_size"},
    {"clustered_block", "allocation_unit"},
    {"write_cost_4k", "optimal_io_size"},
    {"write_cost_4k", "optimal_write_size"},
};

static bool speaks_of(const struct device_declared *row, const char *parameter)
{
    for (size_t i = 0; i < sizeof(same_matter) / sizeof(same_matter[0]); i++)
        if (strcmp(same_matter[i].parameter, parameter) == 0 &&
            strcmp(same_matter[i].declared, row->name) == 0)
            return true;
    return false;
}

/* 65535 sectors are how much a bridge takes at once, and no drive's unit. */
static bool is_bogus(const struct device_declared *row)
{
    return row->bytes > 4096 && row->bytes % 4096 != 0;
}

/* Of how many requests its percentiles are; 0: it does not say. */
static double requests_of(const struct finding *finding)
{
    for (size_t i = 0; i < finding->extras_count; i++)
        if (strcmp(finding->extras[i].name, "requests") == 0 &&
            finding->extras[i].value.kind == VALUE_INTEGER)
            return (double)finding->extras[i].value.integer;
    return 0;
}

/* A percentile is told where some request lies beyond it, but for one time in
 * twenty. The p99 takes 299 requests, p5 and p95 take 59. */
static bool is_told(const char *name, double requests)
{
    const double most = 0.05;
    double within = 0;

    if (strcmp(name, "p99") == 0)
        within = 0.99;
    else if (strcmp(name, "p95") == 0 || strcmp(name, "p5") == 0)
        within = 0.95;
    return strcmp(name, "requests") != 0 &&
           (requests <= 0 || pow(within, requests) <= most);
}

double report_extra(const struct finding *finding, const char *name)
{
    for (size_t i = 0; finding && i < finding->extras_count; i++)
        if (strcmp(finding->extras[i].name, name) == 0 &&
            is_told(name, requests_of(finding)))
            return value_number(&finding->extras[i].value);
    return 0;
}

char *report_extras(const struct finding *finding, bool plain_bytes, char *text,
                    size_t size)
{
    const double requests = requests_of(finding);

    text[0] = '\0';
    for (size_t i = 0; i < finding->extras_count; i++) {
        const struct finding_extra *extra = &finding->extras[i];
        char amount[96], of[32] = "";
        if (!is_told(extra->name, requests) ||
            &extra->value == finding_up_to(finding))
            continue; /* the interval says that one */
        if (requests > 0 && strcmp(extra->name, "slowest") == 0)
            snprintf(of, sizeof(of), " of %.0f:", requests);
        report_amount(&extra->value, finding->unit, plain_bytes, amount,
                      sizeof(amount));
        text_add(text, size, "%s%s%s %s", text[0] ? "; " : "", extra->name, of,
                 amount);
    }
    return text;
}

char *report_declared(const struct device_info *device, const char *parameter,
                      bool plain_bytes, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; device && i < device->declared_count; i++) {
        const struct device_declared *row = &device->declared[i];
        char amount[32];
        if (!speaks_of(row, parameter))
            continue;
        format_amount(row->bytes, "bytes", plain_bytes, amount, sizeof(amount));
        text_add(text, size, "%s%s %s (%s%s)",
                 text[0] ? ", " : "declared: ", row->name, amount, row->source,
                 is_bogus(row) ? "; bogus, for it is no multiple of 4 KiB"
                               : "");
    }
    return text;
}

char *report_utf8(const char *text, char *copy, size_t size)
{
    return text_visible(text, copy, size);
}

/* Up to where a line may end. */
static size_t word_length(const char *text)
{
    size_t length = strcspn(text, " ");

    while (is_amount(text, text + length))
        length += 1 + strcspn(text + length + 1, " ");
    return length;
}

/* Words may be of others: a reason that a run directory gives. */
static void put_word(FILE *out, const char *text, size_t length)
{
    char copy[WORD_BYTES];

    while (length > 0) {
        const size_t most = length < sizeof(copy) ? length : sizeof(copy) - 1;
        snprintf(copy, sizeof(copy), "%.*s", (int)most, text);
        fputs(text_visible(copy, copy, sizeof(copy)), out);
        text += most;
        length -= most;
    }
}

void report_wrap(FILE *out, const char *text, unsigned indent,
                 unsigned columns_count)
{
    unsigned column = 0;

    while (*text) {
        unsigned length = (unsigned)word_length(text);
        if (column == 0) {
            fprintf(out, "%*s", (int)indent, "");
            column = indent;
        } else if (column + 1 + length > columns_count) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else {
            fputc(' ', out);
            column++;
        }
        put_word(out, text, length);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    if (column)
        fputc('\n', out);
}

char *report_depth(const struct finding *depth, char *text, size_t size)
{
    snprintf(text, size, "QD %.0f", value_number(&depth->low));
    if (value_number(&depth->high) > value_number(&depth->low))
        text_add(text, size, " to %.0f", value_number(&depth->high));
    return text;
}
