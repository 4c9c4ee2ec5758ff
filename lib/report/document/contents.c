/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/document/contents.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/base/visible.h"
#include "lib/infer/parameter.h"
#include "lib/report/advice/advice.h"
#include "lib/report/card/card.h"
#include "lib/report/figure.h"
#include "lib/report/report_twin.h"
#include "lib/report/summary.h"

/* ---- the device ---------------------------------------------------------- */

/* A fact; nothing where there is nothing to say. */
static void put_fact(struct document *document, const char *name,
                     const char *text)
{
    if (text[0])
        document_named(document, PART_TERM, name, text);
}

/* "uas at 5000 Mb/s, 152d:0578 JMicron Generic" */
static void put_usb(struct document *document, const struct device_usb *usb)
{
    char speed[32] = "";

    if (usb->speed_megabits_per_second)
        snprintf(speed, sizeof(speed), " at %" PRIu32 " Mb/s",
                 usb->speed_megabits_per_second);
    put_fact(document, "USB",
             document_format(document, "%s%s%s%s", usb->driver, speed,
                             usb->driver[0] && usb->bridge[0] ? ", " : "",
                             usb->bridge));
}

static void put_capacity(const struct contents *contents,
                         struct document *document,
                         const struct device_info *device)
{
    char size[112], limit[32];
    const struct value most = value_integer(device->request_limit_bytes);

    report_capacity(device, contents->plain_bytes, size, sizeof(size));
    report_amount(&most, "bytes", contents->plain_bytes, limit, sizeof(limit));
    put_fact(
        document, "Capacity",
        document_format(document, "%s%s%s", size,
                        device->request_limit_bytes ? ", requests up to " : "",
                        device->request_limit_bytes ? limit : ""));
}

static void put_device(const struct contents *contents,
                       struct document *document)
{
    const struct report *report = contents->report;
    const struct device_info *device = report->device;

    if (!device)
        return;
    document_section(document, "drive", "Drive");
    put_fact(document, "Model", device->model);
    if (!contents->shared)
        put_fact(document, "Device", device->path);
    if (!contents->shared && !report->hide_serial)
        put_fact(document, "Serial number", device->serial);
    put_fact(document, "Firmware", device->firmware);
    put_fact(
        document, "Bus",
        document_format(document, "%s%s%s", device->bus,
                        device->bus[0] && device->driver[0] ? ", driver " : "",
                        device->driver));
    put_usb(document, &device->usb);
    put_capacity(contents, document, device);
    put_fact(document, "Write cache", device->write_cache);
    if (report->health_before)
        put_fact(document, "Health before", report->health_before->text);
    if (report->health_after)
        put_fact(document, "Health after", report->health_after->text);
}

/* ---- what to do ---------------------------------------------------------- */

static void put_advice(const struct contents *contents,
                       struct document *document)
{
    struct advice_list list;

    advice_make(contents->report->findings, contents->report->device, &list);
    if (list.count == 0)
        return;
    document_section(document, "advice", "What to do");
    document_add(document, PART_TEXT, LOOK_SOFT,
                 "Replace DEVICE by the whole disk and PARTITION by its "
                 "partition. The commands erase what is there.");
    for (size_t i = 0; i < list.count; i++) {
        const struct advice *advice = &list.items[i];
        char names[120] = "";
        document_named(document, PART_ITEM, advice->topic, advice->text);
        if (advice->command[0])
            document_add(document, PART_CODE, LOOK_PLAIN, advice->command);
        for (size_t j = 0; j < ADVICE_FROM_MAX && advice->from[j]; j++)
            text_add(names, sizeof(names), "%s%s", j ? " " : "",
                     advice->from[j]);
        document_named(document, PART_NAMES, names, "From ")->look = LOOK_SOFT;
    }
}

/* ---- findings ------------------------------------------------------------ */

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

static void put_row(const struct contents *contents, struct document *document,
                    struct table_row *row, const struct finding *finding)
{
    static const char word[] = "declared: ";
    const bool plain = contents->plain_bytes;
    char text[400];

    row->finding = finding;
    row->cells[0] = document_text(document, finding->parameter);
    row->cells[1] = document_text(
        document, report_amount(&finding->value, report_unit(finding), plain,
                                text, sizeof(text)));
    row->cells[2] = document_text(
        document, report_interval(finding, plain, text, sizeof(text)));
    row->cells[3] =
        document_text(document, report_confidence(finding, text, sizeof(text)));
    row->cells[4] = document_text(document, report_verdict(finding));
    if (report_declared(contents->report->device, finding->parameter, plain,
                        text, sizeof(text))[0])
        row->cells[5] = document_text(document, text + sizeof(word) - 1);
}

/* "19 parameters: 16 found, 3 absent." */
static void put_counts(struct document *document,
                       const struct findings *findings)
{
    size_t counts[VERDICT_SKIPPED + 1] = {0}, assumed_count = 0;
    char text[160];

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        const bool assumed = finding_assumed(finding);
        assumed_count += assumed;
        counts[finding->verdict] += !assumed;
    }
    snprintf(text, sizeof(text), "%zu parameter%s", findings->count,
             findings->count == 1 ? "" : "s");
    for (enum verdict v = 0; v <= VERDICT_SKIPPED; v++)
        if (counts[v])
            text_add(text, sizeof(text), "%s %zu %s",
                     strchr(text, ':') ? "," : ":", counts[v], verdict_name(v));
    if (assumed_count)
        text_add(text, sizeof(text), "%s %zu assumed",
                 strchr(text, ':') ? "," : ":", assumed_count);
    document_add(document, PART_TEXT, LOOK_PLAIN,
                 text_add(text, sizeof(text), "."));
}

static void put_glance(const struct contents *contents,
                       struct document *document)
{
    const struct findings *findings = contents->report->findings;
    struct report_group groups[PARAMETER_GROUPS];
    const size_t count = report_groups(findings, groups);
    char skipped[1024] = "";

    document_section(document, "glance", "At a glance");
    put_counts(document, findings);
    struct part *part = document_add(
        document, PART_TABLE, LOOK_PLAIN,
        "Found: measured. Absent: shown not to be there. Probably: with less "
        "than 99 % confidence. Inconclusive: the evidence does not carry an "
        "answer. Skipped: not tried. Assumed: given by the user.");
    const char *const columns[] = {
        "Parameter", "Value",
        "Interval",  "Confidence",
        "Verdict",   declares(contents->report) ? "Declared" : NULL};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        part->table.columns[i] = columns[i];
    for (size_t i = 0; i < count; i++) {
        struct table_row *head = document_row(document, part);
        head->heads = true;
        head->cells[0] = document_text(document, groups[i].name);
        for (size_t j = 0; j < groups[i].count; j++)
            put_row(contents, document, document_row(document, part),
                    groups[i].items[j]);
    }
    const struct finding *named[FINDINGS_MAX];
    size_t with_it[FINDINGS_MAX];
    const size_t skipped_count =
        report_of_verdict(findings, VERDICT_SKIPPED, named, with_it);
    for (size_t i = 0; i < skipped_count; i++)
        text_add(skipped, sizeof(skipped), "%s%s", i ? " " : "",
                 named[i]->parameter);
    if (skipped_count)
        document_named(document, PART_NAMES, skipped, "Skipped: ");
}

static const struct report_figure *figure_of(const struct report_page *page,
                                             const char *name)
{
    for (size_t i = 0; page && i < page->figures_count; i++)
        if (strcmp(page->figures[i].probe, name) == 0)
            return &page->figures[i];
    return NULL;
}

/* The figure that a page begins with: the first that leads and is drawn; one
 * that answers its question is preferred. */
static const char *leading_figure(const struct contents *contents)
{
    const struct findings *findings = contents->report->findings;
    const char *first = "";

    for (size_t i = 0; figure_kinds[i].name; i++) {
        const struct figure_kind *kind = &figure_kinds[i];
        if (!kind->leads || !figure_of(contents->page, kind->name) ||
            figure_folds(findings, kind->name))
            continue;
        if (findings_found(findings, kind->subject))
            return kind->name;
        first = first[0] ? first : kind->name;
    }
    return first;
}

/* What a figure shows, for who cannot see it. */
static void put_figure(const struct contents *contents,
                       struct document *document, const char *name)
{
    const struct findings *findings = contents->report->findings;
    const char *probe = figure_probe(name);
    char text[1000] = "Figure:";

    for (size_t i = 0; findings && i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        char value[96];
        if (strcmp(finding->probe, probe) != 0)
            continue;
        report_amount(&finding->value, report_unit(finding), false, value,
                      sizeof(value));
        text_add(text, sizeof(text), " %s: %s%s%s.",
                 parameter_label(finding->parameter), value,
                 value[0] ? ", " : "", report_verdict(finding));
    }
    document_add(document, PART_FIGURE, LOOK_PLAIN, text)->id =
        document_text(document, name);
}

/* All that are drawn of a probe's rows, but for the one at the top of the page.
 * Where what it would show is absent, a line says so. */
static void put_figures(const struct contents *contents,
                        struct document *document, const struct probe *probe)
{
    const struct report_page *page = contents->page;
    const char *leading = leading_figure(contents);
    bool folded = false;

    for (size_t i = 0; i < page->figures_count; i++) {
        const char *name = page->figures[i].probe;
        if (strcmp(figure_probe(name), probe->name) != 0 ||
            strcmp(name, leading) == 0)
            continue;
        if (!figure_folds(contents->report->findings, name))
            put_figure(contents, document, name);
        else if (!folded)
            document_add(document, PART_TEXT, LOOK_SOFT,
                         "No figure: what it would show is absent.");
        folded |= figure_folds(contents->report->findings, name);
    }
}

/* Why a probe has no figure while others have. */
static void put_no_figure(const struct contents *contents,
                          struct document *document, const struct probe *probe)
{
    const struct report_page *page = contents->page;
    bool tried = false;

    if (page->figures_count == 0 || page->figures_missing)
        return;
    for (size_t i = 0; i < contents->report->findings->count; i++) {
        const struct finding *finding = &contents->report->findings->items[i];
        if (strcmp(finding->probe, probe->name) == 0)
            tried |= finding->verdict != VERDICT_SKIPPED;
    }
    document_add(document, PART_TEXT, LOOK_SOFT,
                 tried ? "No figure: it sent no requests of its own."
                       : "No figure: it was skipped.");
}

static void put_finding(struct document *document,
                        const struct finding *finding)
{
    struct part *part =
        document_add(document, PART_FINDING, LOOK_PLAIN, finding->why);

    part->finding = finding;
    part->id = finding->parameter;
    part->name = finding->parameter;
}

static bool answers(const struct findings *findings, const char *probe)
{
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->items[i].probe, probe) == 0)
            return true;
    return false;
}

static bool is_drawn(const struct report_page *page, const struct probe *probe)
{
    for (size_t i = 0; i < page->figures_count; i++)
        if (strcmp(figure_probe(page->figures[i].probe), probe->name) == 0)
            return true;
    return false;
}

static void put_probe(const struct contents *contents,
                      struct document *document, const struct probe *probe)
{
    const struct findings *findings = contents->report->findings;

    document_add(document, PART_HEADING, LOOK_PLAIN, "")->name =
        probe->question;
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->items[i].probe, probe->name) == 0)
            put_finding(document, &findings->items[i]);
    document->place = PLACE_PAGE;
    document_add(document, PART_TEXT, LOOK_SOFT, probe->idea);
    if (contents->page && is_drawn(contents->page, probe))
        put_figures(contents, document, probe);
    else if (contents->page)
        put_no_figure(contents, document, probe);
    document->place = PLACE_FULL | PLACE_PAGE;
}

static bool is_in(const struct probe *const *probes, const char *name)
{
    for (size_t i = 0; probes && probes[i]; i++)
        if (strcmp(probes[i]->name, name) == 0)
            return true;
    return false;
}

static void put_findings(const struct contents *contents,
                         struct document *document)
{
    const struct findings *findings = contents->report->findings;
    const struct probe *const *probes = contents->report->probes;
    const struct finding *ordered[FINDINGS_MAX];
    const size_t count = report_order(findings, ordered);
    bool headed = probes == NULL;

    document_section(document, "findings", "Why");
    document->place = PLACE_PAGE;
    if (contents->page && contents->page->figures_count)
        document_add(
            document, PART_TEXT, LOOK_SOFT,
            "In the figures every mark is a request; marks that would overlap "
            "are drawn once. Lines are medians and fits. The upright line is "
            "the value found, its shade the interval. Ticks along the bottom "
            "are rejected candidates.");
    if (contents->page && contents->page->figures_missing)
        document_add(document, PART_TEXT, LOOK_PLAIN,
                     contents->page->figures_missing);
    document->place = PLACE_FULL | PLACE_PAGE;
    for (size_t i = 0; probes && probes[i]; i++)
        if (answers(findings, probes[i]->name) ||
            figure_of(contents->page, probes[i]->name))
            put_probe(contents, document, probes[i]);
    /* What no probe measured: assumed, or from a recording of another tool. */
    for (size_t i = 0; i < count; i++) {
        if (is_in(probes, ordered[i]->probe))
            continue;
        if (!headed)
            document_add(document, PART_HEADING, LOOK_PLAIN, "")->name =
                "Not measured by this run";
        headed = true;
        put_finding(document, ordered[i]);
    }
}

/* ---- the twin ------------------------------------------------------------ */

static void put_decision(struct document *document,
                         const struct report_twin_decision *decision)
{
    const char *origin = decision->origin, *text;

    if (strcmp(origin, "contradicted") == 0)
        text = document_format(document,
                               "the probes found %s, and %s explains the "
                               "requests better (z %.1f)",
                               decision->value, decision->rival, -decision->z);
    else if (strcmp(origin, "decided") == 0)
        text = document_format(
            document, "%s, which explains the requests better than %s (z %.1f)",
            decision->value, decision->rival, decision->z);
    else if (strcmp(origin, "tied") == 0)
        text =
            document_format(document, "%s and %s explain the requests equally",
                            decision->value, decision->rival);
    else
        return;
    document_named(document, PART_ITEM, decision->key, text);
}

static void put_twin_errors(struct document *document,
                            const struct report_twin *twin)
{
    static const char *const columns[] = {"Requests", "Depth", "Number",
                                          "Mean off", "p99 off"};
    struct part *part = document_add(
        document, PART_TABLE, LOOK_PLAIN,
        "How far the twin is off on requests that it was not fitted to.");

    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        part->table.columns[i] = columns[i];
    for (size_t i = 0; i < twin->errors_count; i++) {
        const struct report_twin_error *one = &twin->errors[i];
        char cell[32];
        struct table_row *row = document_row(document, part);
        row->cells[0] = document_text(document, one->kind);
        row->cells[1] = document_format(document, "%u", one->depth);
        row->cells[2] =
            document_format(document, "%" PRIu64, one->requests_count);
        row->cells[3] = document_text(
            document, report_twin_off(one->mean_off, false, cell));
        row->cells[4] =
            document_text(document, report_twin_off(one->p99_off, true, cell));
    }
}

static void put_twin(const struct contents *contents, struct document *document)
{
    const struct report_twin *twin = contents->report->twin;
    char text[REPORT_TWIN_MAX];

    if (!twin)
        return;
    document_section(document, "twin", "Twin");
    document_add(document, PART_TEXT, LOOK_PLAIN,
                 report_twin_sentence(twin, text, sizeof(text)));
    document_add(document, PART_TEXT, LOOK_SOFT,
                 "The twin is an emulated drive for flashemu and sim:. It is "
                 "the file twin.ini in the run directory.");
    if (figure_of(contents->page, "twin")) {
        document->place = PLACE_PAGE;
        document_add(document, PART_FIGURE, LOOK_PLAIN,
                     "Median of each kind of request: measured, and of the "
                     "twin")
            ->id = "twin";
        document->place = PLACE_FULL | PLACE_PAGE;
    }
    put_twin_errors(document, twin);
    for (size_t i = 0; i < twin->decisions_count; i++)
        put_decision(document, &twin->decisions[i]);
}

/* ---- the run ------------------------------------------------------------- */

static void put_run(const struct contents *contents, struct document *document)
{
    const struct report_run *run = contents->report->run;

    if (!run)
        return;
    if (!contents->shared) {
        put_fact(document, "Run", run->id);
        put_fact(document, "Host", run->host);
    }
    put_fact(document, "Started", run->started);
    put_fact(document, "Kernel", run->kernel);
    put_fact(document, "ssdprobe", run->version);
}

static void put_conditions(const struct contents *contents,
                           struct document *document)
{
    const struct report *report = contents->report;
    const struct conditions *conditions = report->conditions;
    const struct device_info *device = report->device;
    char name[sizeof(conditions->items[0].name)];

    document_section(document, "conditions", "Conditions");
    put_run(contents, document);
    if (device) {
        put_fact(document, "Requests sent by", device->engine);
        put_fact(document, "Flushed by", device->flush);
    }
    for (size_t i = 0; conditions && i < conditions->count; i++) {
        const struct condition *item = &conditions->items[i];
        const bool green = item->grade == CONDITION_GREEN;
        snprintf(name, sizeof(name), "%s", item->name);
        name[0] = (char)toupper((unsigned char)name[0]);
        put_fact(document, name,
                 green ? item->value
                       : document_format(document, "%s (%s): %s", item->value,
                                         condition_grade_name(item->grade),
                                         item->reason));
    }
}

static void put_amount(const struct contents *contents,
                       struct document *document, const char *name,
                       uint64_t bytes)
{
    const struct value value = value_integer(bytes);
    char text[32];

    put_fact(document, name,
             report_amount(&value, "bytes", contents->plain_bytes, text,
                           sizeof(text)));
}

/* What was expected beside what was done: of the probes that ran. */
static void put_expected(const struct contents *contents,
                         struct document *document)
{
    const struct cost_plan *plan = contents->report->plan;
    const struct cost_total *cost = contents->report->cost;
    char bytes[3][32], times[3][32];
    double seconds[3] = {0};
    uint64_t sums[3] = {0};

    if (!plan || !cost || !cost->pilot.requests)
        return;
    for (size_t i = 0; i < plan->parts_count; i++) {
        const struct cost_part *part = &plan->parts[i];
        if (!part->began)
            continue;
        sums[0] += part->bytes_written;
        sums[1] += part->foreseen.bytes_written;
        sums[2] += part->expected.bytes_written;
        seconds[0] += part->device_seconds;
        seconds[1] += part->foreseen.seconds;
        seconds[2] += part->expected.seconds;
    }
    for (int i = 0; i < 3; i++) {
        const struct value value = value_integer(sums[i]);
        report_amount(&value, "bytes", contents->plain_bytes, bytes[i],
                      sizeof(bytes[i]));
        format_ns((uint64_t)nearest_integer(seconds[i] * 1e9), times[i],
                  sizeof(times[i]));
    }
    put_fact(document, "Written by probes",
             document_format(document, "%s in %s", bytes[0], times[0]));
    put_fact(document, "Expected",
             document_format(document,
                             "%s in %s after the pilot, %s in %s as each "
                             "probe began",
                             bytes[1], times[1], bytes[2], times[2]));
}

static void put_cost(const struct contents *contents, struct document *document)
{
    const struct cost_total *cost = contents->report->cost;

    if (!cost)
        return;
    document_section(document, "cost", "Cost");
    put_amount(contents, document, "Written", cost->bytes_written);
    put_amount(contents, document, "Read", cost->bytes_read);
    put_fact(document, "Device time",
             TEXT_NS((uint64_t)nearest_integer(cost->device_seconds * 1e9)));
    if (cost->requests_count)
        put_fact(document, "Requests",
                 document_format(document,
                                 cost->split_count
                                     ? "%" PRIu64 ", of which %" PRIu64
                                       " reached the drive in parts"
                                     : "%" PRIu64 ", none of them split",
                                 cost->requests_count, cost->split_count));
    put_expected(contents, document);
}

static void put_how(struct document *document)
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
        "Confidence: one minus the rate of errors at which the claim would "
        "still have passed.",
        "The samples are in the run directory (samples.csv, compressed as "
        "samples.csv.zst), one request a row. 'ssdprobe report' makes this "
        "page from them again."};

    document->place = PLACE_PAGE;
    document_section(document, "how", "How it was decided");
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
        document_add(document, PART_ITEM, LOOK_PLAIN, points[i]);
}

/* ---- pictures ------------------------------------------------------------ */

/* The drive in one picture, and the figure that matters most. */
static void put_pictures(const struct contents *contents,
                         struct document *document)
{
    const char *leading = leading_figure(contents);

    document->place = PLACE_PAGE;
    document_add(document, PART_FIGURE, LOOK_PLAIN, report_card_alternative)
        ->id = "card";
    if (leading[0])
        put_figure(contents, document, leading);
}

void contents_make(const struct contents *contents, struct document *document)
{
    const struct findings *findings = contents->report->findings;
    const bool found = findings && findings->count;

    *document = (struct document){.parts = NULL};
    contents_brief(contents, document);
    if (found && contents->page)
        put_pictures(contents, document);
    document->place = PLACE_FULL | PLACE_PAGE;
    if (found)
        put_advice(contents, document);
    if (found)
        put_glance(contents, document);
    if (found)
        put_findings(contents, document);
    put_twin(contents, document);
    put_device(contents, document);
    put_conditions(contents, document);
    put_cost(contents, document);
    if (contents->page)
        put_how(document);
}
