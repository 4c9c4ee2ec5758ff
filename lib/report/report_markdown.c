/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/report.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/parameter.h"
#include "lib/report/advice/advice.h"
#include "lib/report/known.h"
#include "lib/report/markdown.h"
#include "lib/report/report_hide.h"
#include "lib/report/summary.h"

enum { TEXT_MAX = 1024 };

struct sheet {
    FILE *out;
    const struct report *report;
    struct report_secrets secrets;
    bool plain_bytes;
};

/* What would be read as a mark. An underscore within a word is none. */
static bool is_mark(const char *text, const char *c)
{
    if (*c == '_')
        return c == text || !isalnum((unsigned char)c[-1]) ||
               !isalnum((unsigned char)c[1]);
    return strchr("\\`*[]|~!", *c) != NULL;
}

void markdown_text(FILE *out, const char *text)
{
    char copy[TEXT_MAX];

    report_utf8(text, copy, sizeof(copy));
    for (const char *c = copy; *c; c++) {
        if (*c == '<')
            fputs("&lt;", out);
        else if (*c == '&')
            fputs("&amp;", out);
        else if (*c == '@' || *c == '#') /* a person, an issue */
            fprintf(out, "&#%d;", *c);
        else
            fprintf(out, is_mark(copy, c) ? "\\%c" : "%c", *c);
    }
}

/* The same without what nobody is to see. */
static void put(const struct sheet *sheet, const char *text)
{
    char copy[TEXT_MAX];

    snprintf(copy, sizeof(copy), "%s", text);
    markdown_text(sheet->out, report_hide(copy, &sheet->secrets));
}

static void put_cell(const struct sheet *sheet, const char *text)
{
    put(sheet, strcmp(text, "-") == 0 ? "" : text);
    fputs(" | ", sheet->out);
}

static void put_fact(const struct sheet *sheet, const char *name,
                     const char *text)
{
    if (!text[0])
        return;
    fprintf(sheet->out, "- %s: ", name);
    put(sheet, text);
    fputc('\n', sheet->out);
}

static void put_summary(const struct sheet *sheet)
{
    char text[REPORT_SUMMARY_BYTES];

    if (!report_summary(sheet->report, sheet->plain_bytes, text)[0])
        return;
    fputs("**", sheet->out);
    put(sheet, text);
    fputs("**\n\n", sheet->out);
}

/* What makes the values doubtful comes before them. */
static void put_doubts(const struct sheet *sheet)
{
    const struct report_warnings *warnings = sheet->report->warnings;
    const struct conditions *conditions = sheet->report->conditions;
    char line[400];

    for (size_t i = 0; warnings && i < warnings->count; i++) {
        fputs("> **Warning:** ", sheet->out);
        put(sheet, warnings->texts[i]);
        fputs("\n>\n", sheet->out);
    }
    for (size_t i = 0; conditions && i < conditions->count; i++) {
        const struct condition *item = &conditions->items[i];
        if (item->grade == CONDITION_GREEN)
            continue;
        snprintf(line, sizeof(line), "%s is %s: %s", item->name, item->value,
                 item->reason);
        fprintf(sheet->out, "> **%s:** ", condition_grade_name(item->grade));
        put(sheet, line);
        fputs("\n>\n", sheet->out);
    }
    if ((warnings && warnings->count) ||
        (conditions && conditions_grade(conditions) != CONDITION_GREEN))
        fputc('\n', sheet->out);
}

/* Neither path nor serial number: the text is to be shared. */
static void put_device(const struct sheet *sheet)
{
    const struct device_info *device = sheet->report->device;
    char line[160];

    if (!device)
        return;
    if (device->capacity_bytes) {
        report_capacity(device, sheet->plain_bytes, line, sizeof(line));
        put_fact(sheet, "capacity", line);
    }
    put_fact(sheet, "firmware", device->firmware);
    put_fact(sheet, "bus", device->bus);
    put_fact(sheet, "driver", device->driver);
    put_fact(sheet, "USB bridge", device->usb.bridge);
    put_fact(sheet, "write cache", device->write_cache);
    put_fact(sheet, "requests sent by", device->engine);
    put_fact(sheet, "flushed by", device->flush);
    fputc('\n', sheet->out);
}

static void put_row(const struct sheet *sheet, const struct finding *finding)
{
    const char *meaning = parameter_meaning(finding->parameter);
    char value[96], interval[160], confidence[16];

    report_amount(&finding->value, finding->unit, sheet->plain_bytes, value,
                  sizeof(value));
    report_interval(finding, sheet->plain_bytes, interval, sizeof(interval));
    report_confidence(finding, confidence, sizeof(confidence));
    fputs("| ", sheet->out);
    put_cell(sheet, finding->parameter);
    put_cell(sheet, meaning ? meaning : "");
    put_cell(sheet, value);
    put_cell(sheet, interval);
    put_cell(sheet, confidence);
    put_cell(sheet, report_verdict(finding));
    fputc('\n', sheet->out);
}

static void put_names(const struct sheet *sheet, const char *label,
                      enum verdict verdict)
{
    char line[TEXT_MAX];

    if (!sheet->report->findings ||
        !report_names(sheet->report->findings, verdict, line, sizeof(line))[0])
        return;
    fputs(label, sheet->out);
    put(sheet, line);
    fputs(".\n\n", sheet->out);
}

/* A table for each group. */
static void put_tables(const struct sheet *sheet)
{
    struct report_group groups[PARAMETER_GROUPS];
    const size_t count = report_groups(sheet->report->findings, groups);

    for (size_t i = 0; i < count; i++) {
        fprintf(sheet->out,
                "%s### %s\n\n| Parameter | Meaning | Value | Interval | "
                "Confidence | Verdict |\n"
                "| --- | --- | ---: | --- | ---: | --- |\n",
                i == 0 ? "" : "\n", groups[i].name);
        for (size_t j = 0; j < groups[i].count; j++)
            put_row(sheet, groups[i].items[j]);
    }
}

static void put_findings(const struct sheet *sheet)
{
    const struct findings *findings = sheet->report->findings;
    const struct finding *ordered[FINDINGS_MAX];

    if (!findings || findings->count == 0) {
        fputs("There is no finding.\n", sheet->out);
        return;
    }
    const size_t count = report_order(findings, ordered);
    put_tables(sheet);
    fputc('\n', sheet->out);
    put_names(sheet, "Skipped: ", VERDICT_SKIPPED);
    fputs("### Why\n\n", sheet->out);
    for (size_t i = 0; i < count; i++) {
        fputs("- **", sheet->out);
        put(sheet, ordered[i]->parameter);
        fputs("**: ", sheet->out);
        put(sheet, ordered[i]->why);
        fputc('\n', sheet->out);
    }
}

static void put_advice(const struct sheet *sheet)
{
    struct advice_list list;

    advice_make(sheet->report->findings, sheet->report->device, &list);
    if (list.count)
        fputs("### What to do about it\n\n", sheet->out);
    for (size_t i = 0; i < list.count; i++) {
        const struct advice *advice = &list.items[i];
        fputs("- **", sheet->out);
        put(sheet, advice->topic);
        fputs("**: ", sheet->out);
        put(sheet, advice->text);
        fputc('\n', sheet->out);
        if (advice->command[0])
            fprintf(sheet->out, "\n  ```sh\n  %s\n  ```\n", advice->command);
    }
    if (list.count)
        fputc('\n', sheet->out);
}

static void put_cost(const struct sheet *sheet)
{
    const struct cost_total *cost = sheet->report->cost;
    char written[32], read[32], time[32];

    if (!cost)
        return;
    format_ns((uint64_t)nearest_integer(cost->device_seconds * 1e9), time,
              sizeof(time));
    fprintf(sheet->out, "\nCost: %s written, %s read, %s of device time.\n",
            format_bytes(cost->bytes_written, written, sizeof(written)),
            format_bytes(cost->bytes_read, read, sizeof(read)), time);
}

int report_markdown(FILE *out, const struct report *report,
                    const struct report_style *style)
{
    const struct device_info *device = report->device;
    char line[200];
    struct sheet sheet = {
        .out = out, .report = report, .plain_bytes = style->plain_bytes};

    errno = 0;
    if (device)
        report_secret(&sheet.secrets, device->serial);
    fputs("## ", out);
    put(&sheet, device && device->model[0] ? device->model : "A recording");
    fputs("\n\n", out);
    put_summary(&sheet);
    put_doubts(&sheet);
    put_names(&sheet, "Asked, but not known (see Why): ", VERDICT_INCONCLUSIVE);
    if (known_sentence(report->known, line, sizeof(line))[0]) {
        put(&sheet, line);
        fputs("\n\n", out);
    }
    put_device(&sheet);
    put_advice(&sheet);
    put_findings(&sheet);
    put_cost(&sheet);
    if (report->run && report->run->version[0]) {
        fputs("\nMeasured by ssdprobe ", out);
        put(&sheet, report->run->version);
        fputs(".\n", out);
    }
    if (fflush(out) != 0 || ferror(out))
        return errno ? -errno : -EIO;
    return 0;
}
