/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/parameter.h"
#include "lib/report/advice/advice.h"
#include "lib/report/known.h"
#include "lib/report/report_twin.h"
#include "lib/report/summary.h"

enum {
    COLUMNS_NORMAL = 80,
    COLUMNS_LEAST = 20,
    TABLE_COLUMNS = 80, /* fewer do not hold the table */
    ITEM_INDENT = 2,
    WHY_INDENT = 4,
    COMMAND_INDENT = 6,
    LABEL_COLUMNS = 12
};

struct page {
    FILE *out;
    struct report_style style;
};

static char *size_text(const struct page *page, uint64_t bytes, char *text,
                       size_t size)
{
    struct value value = value_integer(bytes > INT64_MAX ? INT64_MAX : bytes);

    return report_amount(&value, "bytes", page->style.plain_bytes, text, size);
}

static void print_labelled(const struct page *page, const char *label,
                           const char *text)
{
    char line[300];

    if (page->style.columns_count >= TABLE_COLUMNS) {
        fprintf(page->out, "  %-*s%s\n", LABEL_COLUMNS, label, text);
        return;
    }
    snprintf(line, sizeof(line), "%s: %s", label, text);
    report_wrap(page->out, line, 0, page->style.columns_count);
}

/* "  capacity    64 GiB"; nothing when there is nothing to say. */
static void print_fact(const struct page *page, const char *label,
                       const char *text)
{
    char copy[256];

    if (text[0])
        print_labelled(page, label, report_utf8(text, copy, sizeof(copy)));
}

static void print_geometry(const struct page *page,
                           const struct device_info *device)
{
    char size[112], limit[32], line[160];

    report_capacity(device, page->style.plain_bytes, size, sizeof(size));
    size_text(page, device->request_limit_bytes, limit, sizeof(limit));
    snprintf(line, sizeof(line), "%s%s%s", size,
             device->request_limit_bytes ? ", requests up to " : "",
             device->request_limit_bytes ? limit : "");
    print_fact(page, "capacity", line);
}

/* Was what the drive saw what the probes asked for? */
static void print_requests(const struct page *page,
                           const struct cost_total *cost)
{
    char line[200];

    if (!cost || cost->requests_count == 0)
        return;
    if (cost->split_count)
        snprintf(line, sizeof(line),
                 "%" PRIu64 ", of which %" PRIu64 " reached the drive in parts",
                 cost->requests_count, cost->split_count);
    else
        snprintf(line, sizeof(line), "%" PRIu64 ", none of them split",
                 cost->requests_count);
    print_fact(page, "requests", line);
}

/* "uas at 5000 Mb/s, 152d:0578 JMicron Generic" */
static void print_usb(const struct page *page, const struct device_usb *usb)
{
    char line[256], speed[32] = "";

    if (usb->speed_megabits_per_second)
        snprintf(speed, sizeof(speed), " at %" PRIu32 " Mb/s",
                 usb->speed_megabits_per_second);
    snprintf(line, sizeof(line), "%s%s%s%s", usb->driver, speed,
             usb->driver[0] && usb->bridge[0] ? ", " : "", usb->bridge);
    print_fact(page, "usb", line);
}

static void print_health(const struct page *page, const struct report *report)
{
    const struct device_health *before = report->health_before;
    const struct device_health *after = report->health_after;
    char line[256];

    /* Before a run it is the interlock that says so. */
    if (!before || !after)
        return;
    snprintf(line, sizeof(line), "%s", before->text);
    if (before->has_temperature && after->has_temperature)
        snprintf(line, sizeof(line), "%s; %d C after the run", before->text,
                 (int)after->temperature_celsius);
    print_fact(page, "health", line);
}

static void print_device(const struct page *page, const struct report *report)
{
    const struct device_info *device = report->device;
    char line[256];

    if (!device)
        return;
    snprintf(line, sizeof(line), "%s%s%s", device->model,
             device->model[0] && device->path[0] ? ", " : "", device->path);
    print_fact(page, "device", line);
    if (!report->hide_serial)
        print_fact(page, "serial", device->serial);
    print_fact(page, "firmware", device->firmware);
    snprintf(line, sizeof(line), "%s%s%s", device->bus,
             device->bus[0] && device->driver[0] ? ", driver " : "",
             device->driver);
    print_fact(page, "bus", line);
    print_usb(page, &device->usb);
    print_geometry(page, device);
    print_fact(page, "cache", device->write_cache);
    print_fact(page, "engine", device->engine);
    print_fact(page, "flush", device->flush);
    print_health(page, report);
    print_requests(page, report->cost);
}

static const char *colour_of(const struct finding *finding)
{
    static const char *const colours[] = {
        [VERDICT_FOUND] = "\033[32m",
        [VERDICT_ABSENT] = "\033[36m",
        [VERDICT_INCONCLUSIVE] = "\033[33m",
        [VERDICT_SKIPPED] = "\033[2m",
    };
    if (report_is_likely(finding))
        return colours[VERDICT_INCONCLUSIVE];
    return colours[finding_assumed(finding) ? VERDICT_SKIPPED
                                            : finding->verdict];
}

static void print_extras(const struct page *page, const struct finding *finding)
{
    char line[320];

    report_extras(finding, page->style.plain_bytes, line, sizeof(line));
    report_wrap(page->out, line, WHY_INDENT, page->style.columns_count);
}

/* What the drive says of the same thing. */
static void print_declared(const struct page *page,
                           const struct device_info *device,
                           const struct finding *finding)
{
    char line[400];

    report_declared(device, finding->parameter, page->style.plain_bytes, line,
                    sizeof(line));
    if (line[0])
        report_wrap(page->out, line, WHY_INDENT, page->style.columns_count);
}

/* What it is, for who meets the name for the first time; then the evidence. */
static void print_why(const struct page *page, const struct report *report,
                      const struct finding *finding)
{
    const char *meaning = parameter_meaning(finding->parameter);
    char line[320], value[96];

    report_amount(&finding->value, finding->unit, page->style.plain_bytes,
                  value, sizeof(value));
    if (!value[0] &&
        (finding->verdict == VERDICT_FOUND || finding_up_to(finding)))
        report_interval(finding, page->style.plain_bytes, value, sizeof(value));
    snprintf(line, sizeof(line), "%s: %s%s%s%s", finding->parameter,
             value[0] ? value : report_verdict(finding), meaning ? " (" : "",
             meaning ? meaning : "", meaning ? ")" : "");
    report_wrap(page->out, line, ITEM_INDENT, page->style.columns_count);
    report_wrap(page->out, finding->why, WHY_INDENT, page->style.columns_count);
    print_extras(page, finding);
    print_declared(page, report->device, finding);
}

/* Too narrow for a table: a line for the value, one for how sure it is. */
static void print_narrow(const struct page *page, const struct finding *finding,
                         const char *value, const char *interval,
                         const char *confidence)
{
    char line[320];

    snprintf(line, sizeof(line), "%s: %s%s%s", finding->parameter, value,
             value[0] ? ", " : "", report_verdict(finding));
    report_wrap(page->out, line, 0, page->style.columns_count);
    if (finding->confidence <= 0 || finding_assumed(finding))
        return;
    snprintf(line, sizeof(line), "%s%s%s sure",
             interval[0] == '-' ? "" : interval, interval[0] == '-' ? "" : ", ",
             confidence);
    report_wrap(page->out, line, WHY_INDENT, page->style.columns_count);
}

/* One line, or two. */
static void print_answer(const struct page *page, const struct finding *finding)
{
    char value[96], interval[160], confidence[16];
    bool colour = page->style.colour;

    report_amount(&finding->value, finding->unit, page->style.plain_bytes,
                  value, sizeof(value));
    report_interval(finding, page->style.plain_bytes, interval,
                    sizeof(interval));
    report_confidence(finding, confidence, sizeof(confidence));
    if (page->style.columns_count < TABLE_COLUMNS)
        print_narrow(page, finding, value, interval, confidence);
    else
        fprintf(page->out, "%-21s %13s  %-22s %6s %s%s%s\n", finding->parameter,
                value[0] ? value : "-", interval, confidence,
                colour ? colour_of(finding) : "", report_verdict(finding),
                colour ? "\033[0m" : "");
}

/* One line of them all: there is no value to be shown. */
static void print_names(const struct page *page, const char *label,
                        const struct findings *findings, enum verdict verdict)
{
    char line[FINDINGS_MAX * sizeof(findings->items[0].parameter)];
    const size_t breaks_count = strspn(label, "\n");
    const int used = snprintf(line, sizeof(line), "%s", label + breaks_count);

    if (!report_names(findings, verdict, line + used,
                      sizeof(line) - (size_t)used)[0])
        return;
    fprintf(page->out, "%.*s", (int)breaks_count, label);
    report_wrap(page->out, line, 0, page->style.columns_count);
}

static void print_table(const struct page *page,
                        const struct findings *findings)
{
    struct report_group groups[PARAMETER_GROUPS];
    const size_t count = report_groups(findings, groups);

    if (page->style.columns_count >= TABLE_COLUMNS)
        fprintf(page->out, "\n%-21s %13s  %-22s %6s %s\n", "PARAMETER", "VALUE",
                "INTERVAL", "SURE", "VERDICT");
    for (size_t i = 0; i < count; i++) {
        fprintf(page->out, "\n%s:\n", groups[i].name);
        for (size_t j = 0; j < groups[i].count; j++)
            print_answer(page, groups[i].items[j]);
    }
}

static void print_findings(const struct page *page, const struct report *report)
{
    const struct finding *ordered[FINDINGS_MAX];
    const size_t count = report_order(report->findings, ordered);

    print_table(page, report->findings);
    print_names(page, "\nSkipped: ", report->findings, VERDICT_SKIPPED);
    fputs("\nWhy:\n", page->out);
    for (size_t i = 0; i < count; i++)
        print_why(page, report, ordered[i]);
}

/* Commands are not wrapped: they are there to be copied. */
static void print_advice(const struct page *page, const struct report *report)
{
    struct advice_list list;

    advice_make(report->findings, report->device, &list);
    if (list.count)
        fprintf(page->out, "\nWhat to do about it:\n");
    for (size_t i = 0; i < list.count; i++) {
        const struct advice *advice = &list.items[i];
        char line[160];
        int used = snprintf(line, sizeof(line), "%s, from %s", advice->topic,
                            advice->from[0]);
        for (size_t j = 1; j < ADVICE_FROM_MAX && advice->from[j]; j++)
            used += snprintf(line + used, sizeof(line) - (size_t)used,
                             " and %s", advice->from[j]);
        snprintf(line + used, sizeof(line) - (size_t)used, ":");
        report_wrap(page->out, line, ITEM_INDENT, page->style.columns_count);
        report_wrap(page->out, advice->text, WHY_INDENT,
                    page->style.columns_count);
        if (advice->command[0])
            fprintf(page->out, "%*s%s\n", COMMAND_INDENT, "", advice->command);
    }
}

static void print_cost(const struct page *page, const struct cost_total *cost)
{
    char written[32], read[32], time[32], line[160];

    if (!cost)
        return;
    size_text(page, cost->bytes_written, written, sizeof(written));
    size_text(page, cost->bytes_read, read, sizeof(read));
    format_ns((uint64_t)nearest_integer(cost->device_seconds * 1e9), time,
              sizeof(time));
    snprintf(line, sizeof(line),
             "Cost: %s written, %s read, %s of device time.", written, read,
             time);
    fputc('\n', page->out);
    report_wrap(page->out, line, 0, page->style.columns_count);
}

/* What was expected beside what was done: of the probes that ran. */
static void print_expected(const struct page *page,
                           const struct cost_plan *plan,
                           const struct cost_total *cost)
{
    char bytes[3][32], times[3][32], line[400];
    double seconds[3] = {0};
    uint64_t sums[3] = {0};

    if (!page->style.verbose || !plan || !cost || !cost->pilot.requests)
        return;
    for (size_t i = 0; i < plan->parts_count; i++) {
        const struct cost_part *part = &plan->parts[i];
        if (!part->began)
            continue;
        sums[0] += part->foreseen.bytes_written;
        sums[1] += part->expected.bytes_written;
        sums[2] += part->bytes_written;
        seconds[0] += part->foreseen.seconds;
        seconds[1] += part->expected.seconds;
        seconds[2] += part->device_seconds;
    }
    for (int i = 0; i < 3; i++) {
        size_text(page, sums[i], bytes[i], sizeof(bytes[i]));
        format_ns((uint64_t)nearest_integer(seconds[i] * 1e9), times[i],
                  sizeof(times[i]));
    }
    snprintf(line, sizeof(line),
             "Of that the probes wrote %s in %s. Expected after the pilot: %s "
             "in %s; as each probe began: %s in %s.",
             bytes[2], times[2], bytes[0], times[0], bytes[1], times[1]);
    report_wrap(page->out, line, 0, page->style.columns_count);
}

/* The first line: what the drive is. */
static void print_summary(const struct page *page, const struct report *report)
{
    char text[REPORT_SUMMARY_BYTES];

    report_summary(report, page->style.plain_bytes, text);
    report_wrap(page->out, text, 0, page->style.columns_count);
}

/* Only what one should know; all of it is in the document. */
static void print_conditions(const struct page *page,
                             const struct conditions *conditions)
{
    char line[400];

    for (size_t i = 0; conditions && i < conditions->count; i++) {
        const struct condition *item = &conditions->items[i];
        if (item->grade == CONDITION_GREEN)
            continue;
        snprintf(line, sizeof(line), "Conditions are %s: %s is %s: %s.",
                 condition_grade_name(item->grade), item->name, item->value,
                 item->reason);
        report_wrap(page->out, line, 0, page->style.columns_count);
    }
}

/* What a reader must know before believing any of it. */
static void print_warnings(const struct page *page,
                           const struct report_warnings *warnings)
{
    char line[sizeof(warnings->texts[0]) + 16];

    for (size_t i = 0; warnings && i < warnings->count; i++) {
        const char *text = warnings->texts[i];
        const size_t length = strlen(text);
        snprintf(line, sizeof(line), "Warning: %s%s", text,
                 length && text[length - 1] == '.' ? "" : ".");
        report_wrap(page->out, line, 0, page->style.columns_count);
    }
}

/* What it is, how far that can be believed, and what it leaves open. */
static void print_top(const struct page *page, const struct report *report)
{
    char line[200];

    print_summary(page, report);
    print_conditions(page, report->conditions);
    print_warnings(page, report->warnings);
    if (report->findings)
        print_names(page, "Asked, but not known (see Why): ", report->findings,
                    VERDICT_INCONCLUSIVE);
    report_wrap(page->out, known_sentence(report->known, line, sizeof(line)), 0,
                page->style.columns_count);
    if (report->device && report->findings && report->findings->count)
        fputc('\n', page->out);
}

int report_text(FILE *out, const struct report *report,
                const struct report_style *style)
{
    struct page page = {.out = out, .style = *style};

    if (style->markdown)
        return report_markdown(out, report, style);
    if (page.style.columns_count == 0)
        page.style.columns_count = COLUMNS_NORMAL;
    if (page.style.columns_count < COLUMNS_LEAST)
        page.style.columns_count = COLUMNS_LEAST;
    errno = 0;
    print_top(&page, report);
    print_device(&page, report);
    print_advice(&page, report);
    if (report->findings && report->findings->count)
        print_findings(&page, report);
    report_twin_section(out, report->twin, &page.style);
    print_cost(&page, report->cost);
    print_expected(&page, report->plan, report->cost);
    if (fflush(out) != 0 || ferror(out))
        return errno ? -errno : -EIO;
    return 0;
}
