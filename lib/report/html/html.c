/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/html/html.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/parameter.h"
#include "lib/report/advice/advice.h"
#include "lib/report/html/parts.h"
#include "lib/report/html/style.h"
#include "lib/report/known.h"
#include "lib/report/summary.h"

/* ---- the device -------------------------------------------------------- */

static void put_device(FILE *out, const struct report *report)
{
    const struct device_info *device = report->device;
    char line[256], limit[32];

    fputs("<dl class=\"facts\">\n", out);
    html_fact(out, "Path", device->path);
    if (!report->hide_serial)
        html_fact(out, "Serial number", device->serial);
    html_fact(out, "Firmware", device->firmware);
    snprintf(line, sizeof(line), "%s%s%s", device->bus,
             device->bus[0] && device->driver[0] ? ", driver " : "",
             device->driver);
    html_fact(out, "Bus", line);
    html_fact(out, "Capacity",
              report_capacity(device, false, line, sizeof(line)));
    if (device->request_limit_bytes)
        html_fact(
            out, "Largest request",
            format_bytes(device->request_limit_bytes, limit, sizeof(limit)));
    fputs("</dl>\n", out);
}

/* ---- what comes first -------------------------------------------------- */

static void put_warnings(FILE *out, const struct report_warnings *warnings)
{
    for (size_t i = 0; warnings && i < warnings->count; i++) {
        fputs("<p class=\"warning\"><strong>Warning:</strong> ", out);
        html_text(out, warnings->texts[i]);
        fputs("</p>\n", out);
    }
}

/* Measured under these, a value may be wrong: a reader must know it first. */
static void put_grade(FILE *out, const struct conditions *conditions)
{
    const enum condition_grade grade =
        conditions ? conditions_grade(conditions) : CONDITION_GREEN;
    char line[400];

    if (grade == CONDITION_GREEN)
        return;
    fprintf(out,
            "<p class=\"warning %s\"><strong>Conditions: %s.</strong> "
            "<a href=\"#conditions\">All of them</a></p>\n",
            condition_grade_name(grade), condition_grade_name(grade));
    for (size_t i = 0; i < conditions->count; i++) {
        const struct condition *item = &conditions->items[i];
        if (item->grade == CONDITION_GREEN)
            continue;
        snprintf(line, sizeof(line), "%s: %s is %s: %s",
                 condition_grade_name(item->grade), item->name, item->value,
                 item->reason);
        html_tag(out, "p class=\"warning\"", line);
    }
}

/* One line of them all, each a link to why. */
static void put_names(FILE *out, const char *label,
                      const struct findings *findings, enum verdict verdict)
{
    const struct finding *named[FINDINGS_MAX];
    size_t with_it[FINDINGS_MAX];
    const size_t count =
        findings ? report_of_verdict(findings, verdict, named, with_it) : 0;

    for (size_t i = 0; i < count; i++) {
        const char *parameter = named[i]->parameter;
        fprintf(out, "%s<a href=\"#%s\">", i ? ", " : label, parameter);
        html_name(out, parameter);
        fputs("</a>", out);
        if (with_it[i])
            fprintf(out, " and %zu with it", with_it[i]);
    }
    if (count)
        fputs(".</p>\n", out);
}

static void put_header(FILE *out, const struct report *report)
{
    const struct device_info *device = report->device;
    const char *name = device && device->model[0]  ? device->model
                       : device && device->path[0] ? device->path
                                                   : "a recording";
    char summary[REPORT_SUMMARY_BYTES], line[200];

    fputs("<header>\n", out);
    html_tag(out, "h1", name);
    if (report_summary(report, false, summary)[0])
        html_tag(out, "p class=\"lead\"", summary);
    put_grade(out, report->conditions);
    put_warnings(out, report->warnings);
    put_names(out, "<p>Asked, but not known: ", report->findings,
              VERDICT_INCONCLUSIVE);
    if (known_sentence(report->known, line, sizeof(line))[0])
        html_tag(out, "p", line);
    html_tag(out, summary[0] ? "p class=\"soft\"" : "p class=\"lead\"",
             "What is inside, found by timing requests. Each value stands with "
             "its interval and with how sure it is.");
    if (report->findings && report->findings->count)
        html_card(out, report);
    if (device)
        put_device(out, report);
    fputs("<nav aria-label=\"Sections\"><ul>"
          "<li><a href=\"#advice\">What to do about it</a></li>"
          "<li><a href=\"#glance\">At a glance</a></li>"
          "<li><a href=\"#findings\">Finding by finding</a></li>"
          "<li><a href=\"#conditions\">Conditions</a></li>"
          "<li><a href=\"#cost\">Cost</a></li>"
          "<li><a href=\"#how\">How it was decided</a></li>"
          "</ul></nav>\n</header>\n",
          out);
}

/* ---- at a glance ------------------------------------------------------- */

static void put_cell(FILE *out, const char *kind, const char *text)
{
    fprintf(out, "<td class=\"%s\">", kind);
    html_text(out, strcmp(text, "-") == 0 ? "" : text);
    fputs("</td>", out);
}

static bool declares(const struct report *report)
{
    char declared[400];

    for (size_t i = 0; i < report->findings->count; i++)
        if (report_declared(report->device,
                            report->findings->items[i].parameter, false,
                            declared, sizeof(declared))[0])
            return true;
    return false;
}

static void put_row(FILE *out, const struct report *report,
                    const struct finding *finding)
{
    const char *meaning = parameter_meaning(finding->parameter);
    char value[96], interval[160], sure[16], declared[400];
    static const char declared_word[] = "declared: ";

    report_amount(&finding->value, finding->unit, false, value, sizeof(value));
    report_confidence(finding, sure, sizeof(sure));
    report_declared(report->device, finding->parameter, false, declared,
                    sizeof(declared));
    fprintf(out, "<tr><th scope=\"row\"><a href=\"#%s\">", finding->parameter);
    html_name(out, finding->parameter);
    fputs("</a>", out);
    if (meaning)
        html_tag(out, "small", meaning);
    fputs("</th>", out);
    put_cell(out, "value", value);
    put_cell(out, "interval",
             html_interval(finding, interval, sizeof(interval)));
    put_cell(out, "sure", sure);
    html_verdict(out, "td", finding);
    if (declares(report))
        put_cell(out, "declared",
                 declared[0] ? declared + sizeof(declared_word) - 1 : "");
    fputs("</tr>\n", out);
}

/* "19 parameters: 16 found, 3 absent." */
static void put_summary(FILE *out, const struct findings *findings)
{
    size_t counts[VERDICT_SKIPPED + 1] = {0}, assumed_count = 0;
    const char *before = ": ";

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        const bool assumed = finding_assumed(finding);
        assumed_count += assumed;
        counts[finding->verdict] += !assumed;
    }
    fprintf(out, "<p><strong>%zu parameter%s", findings->count,
            findings->count == 1 ? "" : "s");
    for (enum verdict v = 0; v <= VERDICT_SKIPPED; v++) {
        if (counts[v] == 0)
            continue;
        fprintf(out, "%s%zu %s", before, counts[v], verdict_name(v));
        before = ", ";
    }
    if (assumed_count)
        fprintf(out, "%s%zu assumed", before, assumed_count);
    fputs(".</strong></p>\n", out);
}

/* A part of the table for each group. */
static void put_rows(FILE *out, const struct report *report)
{
    struct report_group groups[PARAMETER_GROUPS];
    const size_t count = report_groups(report->findings, groups);
    const int columns_count = declares(report) ? 6 : 5;

    for (size_t i = 0; i < count; i++) {
        fprintf(out,
                "<tbody>\n<tr><th scope=\"rowgroup\" class=\"group\" "
                "colspan=\"%d\">%s</th></tr>\n",
                columns_count, groups[i].name);
        for (size_t j = 0; j < groups[i].count; j++)
            put_row(out, report, groups[i].items[j]);
        fputs("</tbody>\n", out);
    }
}

static void put_glance(FILE *out, const struct report *report)
{
    const struct findings *findings = report->findings;

    fputs("<section id=\"glance\"><h2>At a glance</h2>\n", out);
    if (!findings || findings->count == 0) {
        html_tag(out, "p", "There is no finding.");
        fputs("</section>\n", out);
        return;
    }
    put_summary(out, findings);
    fputs("<table><caption>Found: measured. Absent: shown not to be there. "
          "Likely: the same to less than 99&nbsp;%. "
          "Inconclusive: the evidence does not carry an answer. Skipped: not "
          "tried. Assumed: given by the user, not "
          "measured.</caption>\n<thead><tr>"
          "<th scope=\"col\">Parameter</th><th scope=\"col\">Value</th>"
          "<th scope=\"col\">Interval</th><th scope=\"col\">Sure</th>"
          "<th scope=\"col\">Verdict</th>",
          out);
    if (declares(report))
        fputs("<th scope=\"col\">Declared by the drive</th>", out);
    fputs("</tr></thead>\n", out);
    put_rows(out, report);
    fputs("</table>\n", out);
    put_names(out, "<p class=\"soft\">Skipped: ", findings, VERDICT_SKIPPED);
    fputs("</section>\n", out);
}

/* ---- the rest ---------------------------------------------------------- */

static void put_advice(FILE *out, const struct report *report)
{
    struct advice_list list;

    advice_make(report->findings, report->device, &list);
    fputs("<section id=\"advice\"><h2>What to do about it</h2>\n", out);
    if (list.count == 0) {
        html_tag(out, "p", "Nothing follows from these findings.");
        fputs("</section>\n", out);
        return;
    }
    html_tag(
        out, "p class=\"soft\"",
        "Commands are for you to run: replace DEVICE by the whole disk and "
        "PARTITION by its partition. They erase what is there.");
    fputs("<ul class=\"do\">\n", out);
    for (size_t i = 0; i < list.count; i++) {
        const struct advice *advice = &list.items[i];
        fputs("<li>", out);
        /* A file system keeps its name. */
        const bool is_name = strncmp(advice->command, "mkfs.", 5) == 0;
        fprintf(out, "<h3>%c",
                is_name ? advice->topic[0]
                        : toupper((unsigned char)advice->topic[0]));
        html_text(out, advice->topic + 1);
        fputs("</h3>\n", out);
        html_tag(out, "p", advice->text);
        if (advice->command[0])
            html_tag(out, "pre", advice->command);
        fputs("<p class=\"soft\">From ", out);
        for (size_t j = 0; j < ADVICE_FROM_MAX && advice->from[j]; j++) {
            fprintf(out, "%s<a href=\"#%s\">", j ? " and " : "",
                    advice->from[j]);
            html_name(out, advice->from[j]);
            fputs("</a>", out);
        }
        fputs(".</p></li>\n", out);
    }
    fputs("</ul></section>\n", out);
}

/* Which run it was; empty facts are left out. */
static void put_run(FILE *out, const struct report_run *run)
{
    html_fact(out, "Run", run->id);
    html_fact(out, "Started", run->started);
    html_fact(out, "Host", run->host);
    html_fact(out, "Kernel", run->kernel);
    html_fact(out, "Measured by ssdprobe", run->version);
}

static void put_conditions(FILE *out, const struct report *report)
{
    const struct device_info *device = report->device;
    const struct cost_total *cost = report->cost;
    char line[400], name[sizeof(report->conditions->items[0].name)];

    fputs("<section id=\"conditions\"><h2>Conditions</h2>\n"
          "<dl class=\"facts\">\n",
          out);
    if (report->run)
        put_run(out, report->run);
    if (device) {
        html_fact(out, "Requests sent by", device->engine);
        html_fact(out, "Flushed by", device->flush);
        html_fact(out, "Write cache", device->write_cache);
        html_fact(out, "USB", device->usb.driver);
        html_fact(out, "Bridge", device->usb.bridge);
    }
    if (report->health_before)
        html_fact(out, "Health before", report->health_before->text);
    if (report->health_after)
        html_fact(out, "Health after", report->health_after->text);
    if (cost && cost->requests_count) {
        snprintf(line, sizeof(line),
                 cost->split_count ? "%" PRIu64 ", of which %" PRIu64
                                     " reached the drive in parts"
                                   : "%" PRIu64 ", none of them split",
                 cost->requests_count, cost->split_count);
        html_fact(out, "Requests", line);
    }
    for (size_t i = 0; report->conditions && i < report->conditions->count;
         i++) {
        const struct condition *item = &report->conditions->items[i];
        const bool green = item->grade == CONDITION_GREEN;
        snprintf(line, sizeof(line), "%s%s%s%s%s", item->value,
                 green ? "" : " (",
                 green ? "" : condition_grade_name(item->grade),
                 green ? "" : "): ", green ? "" : item->reason);
        snprintf(name, sizeof(name), "%s", item->name);
        name[0] = (char)toupper((unsigned char)name[0]);
        html_fact(out, name, line);
    }
    fputs("</dl></section>\n", out);
}

static void put_cost(FILE *out, const struct report *report)
{
    const struct cost_total *cost = report->cost;
    char text[32];

    fputs("<section id=\"cost\"><h2>Cost</h2>\n", out);
    if (!cost) {
        html_tag(out, "p", "Nothing was sent to the drive.");
        fputs("</section>\n", out);
        return;
    }
    fputs("<dl class=\"facts\">\n", out);
    html_fact(out, "Written",
              format_bytes(cost->bytes_written, text, sizeof(text)));
    html_fact(out, "Read", format_bytes(cost->bytes_read, text, sizeof(text)));
    html_fact(out, "Time on the drive",
              format_ns((uint64_t)nearest_integer(cost->device_seconds * 1e9),
                        text, sizeof(text)));
    if (report->plan)
        html_fact(
            out, "Planned to be written",
            format_bytes(report->plan->bytes_written, text, sizeof(text)));
    fputs("</dl></section>\n", out);
}

static void put_how(FILE *out)
{
    static const char *const points[] = {
        "A value is a claim that must pass tests which it could fail. None is "
        "printed because it fitted best.",
        "A test compares two kinds of request, measured side by side in random "
        "order, so that drift and other load hit both.",
        "What counts is the interval of their ratio, from order statistics, "
        "which assume nothing about the shape of the noise.",
        "The search for candidates and the proof use different measurements. "
        "Absence is proved in the same way.",
        "How sure: one minus the rate of errors at which the claim would still "
        "have passed."};

    fputs("<section id=\"how\"><h2>How it was decided</h2>\n<ul>\n", out);
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
        html_tag(out, "li", points[i]);
    fputs("</ul>\n", out);
    html_tag(out, "p",
             "The samples lie beside this page in samples.csv: a request a "
             "row. 'ssdprobe report' makes this page from them again, with the "
             "same findings.");
    fputs("</section>\n", out);
}

int report_html(FILE *out, const struct report_page *page)
{
    const struct report *report = page->report;

    errno = 0;
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
          "content=\"width=device-width, initial-scale=1\">\n<title>",
          out);
    html_text(out, report->device && report->device->model[0]
                       ? report->device->model
                       : "ssdprobe");
    fputs(": what is inside</title>\n<style>\n", out);
    for (size_t i = 0; report_html_style[i]; i++)
        fputs(report_html_style[i], out);
    fputs("</style>\n</head>\n<body>\n", out);
    put_header(out, report);
    fputs("<main>\n", out);
    put_advice(out, report);
    put_glance(out, report);
    html_findings(out, page);
    html_twin(out, page);
    put_conditions(out, report);
    put_cost(out, report);
    put_how(out);
    fputs("</main>\n<footer>", out);
    fprintf(out, "ssdprobe %s", page->version);
    fputs("</footer>\n</body>\n</html>\n", out);
    if (fflush(out) != 0 || ferror(out))
        return errno ? -errno : -EIO;
    return 0;
}
