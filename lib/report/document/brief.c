/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last screen of a run, which is the first of its page. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/base/visible.h"
#include "lib/infer/whole_verdict.h"
#include "lib/infer/parameter.h"
#include "lib/report/advice/advice.h"
#include "lib/report/document/contents.h"
#include "lib/report/known.h"
#include "lib/report/summary.h"

/* The screen has 22 lines: a banner of two, five of sentences, and these. */
enum {
    ADVICE_BRIEF = 3,
    DOUBTS_BRIEF = 1,
    ROWS_BRIEF = 6,
    ROWS_DOUBTFUL = 4,
    DOUBT_BYTES = 140,
    OPEN_BYTES = 100
};

/* ---- rates and latencies ------------------------------------------------- */

struct rows {
    const struct contents *contents;
    struct document *document;
    struct part *part;
    struct table_row *row; /* the one that is being filled; NULL: none yet */
    const char *label;
    size_t cell, most; /* so many rows at most */
    double least;      /* confidence in the row */
};

static const struct finding *said_of(const struct rows *rows,
                                     const char *parameter)
{
    const struct finding *finding =
        findings_found(rows->contents->report->findings, parameter);

    return finding && !finding_assumed(finding) && finding->confidence > 0.5
               ? finding
               : NULL;
}

static double number_of(const struct finding *finding)
{
    return finding ? value_number(&finding->value) : 0;
}

static void begin_row(struct rows *rows, const char *label)
{
    rows->label = label;
    rows->row = NULL;
    rows->cell = 1;
    rows->least = 1;
}

/* A row without cells is not printed. Its last cell ends with the lowest
 * confidence in the row (end_row). */
static void put_cell(struct rows *rows, const struct finding *of,
                     const char *text)
{
    if (!rows->row && rows->part->table.rows_count == rows->most)
        return;
    if (!rows->row) {
        rows->row = document_row(rows->document, rows->part);
        rows->row->cells[0] = rows->label;
    }
    rows->least = fmin(rows->least, of->confidence);
    rows->row->cells[rows->cell++] = document_text(rows->document, text);
}

static void end_row(struct rows *rows)
{
    if (!rows->row || rows->least >= report_sure)
        return;
    rows->row->cells[rows->cell - 1] = document_format(
        rows->document, "%s (%d %%)", rows->row->cells[rows->cell - 1],
        (int)floor(rows->least * 100 + 1e-9));
}

/* The value, between two words; an interval where the value is one. */
static void put_value(struct rows *rows, const char *before,
                      const char *parameter, const char *after)
{
    const struct finding *finding = said_of(rows, parameter);
    const bool plain = rows->contents->plain_bytes;
    char amount[64];

    if (!finding)
        return;
    report_amount(&finding->value, report_unit(finding), plain, amount,
                  sizeof(amount));
    if (!amount[0])
        report_interval(finding, plain, amount, sizeof(amount));
    put_cell(rows, finding,
             document_format(rows->document, "%s%s%s", before, amount, after));
}

/* A number that stands beside a finding, as a time. */
static void put_extra(struct rows *rows, const char *parameter,
                      const char *name)
{
    const struct finding *finding = said_of(rows, parameter);
    const double ns = report_extra(finding, name);

    if (ns > 0)
        put_cell(rows, finding,
                 document_format(rows->document, "%s %s", name,
                                 TEXT_NS((uint64_t)ns)));
}

/* Requests a second of one that waits for the other; of a range both ends. */
static void put_iops(struct rows *rows, const char *parameter,
                     const char *after)
{
    const struct finding *finding = said_of(rows, parameter);
    const bool is_range = finding && finding->value.kind == VALUE_NONE;
    const double ns =
        is_range ? value_number(&finding->high) : number_of(finding);

    if (ns <= 0)
        return;
    const char *most =
        is_range ? TEXT_QUANTITY((uint64_t)nearest_integer(
                                     1e9 / value_number(&finding->low)),
                                 "requests_per_second")
                 : "";
    put_cell(rows, finding,
             document_format(rows->document, "%s%s%s%s",
                             TEXT_QUANTITY((uint64_t)nearest_integer(1e9 / ns),
                                           "requests_per_second"),
                             is_range ? " to " : "", most, after));
}

static void put_rates(struct rows *rows)
{
    const struct finding *depth = said_of(rows, "read_parallelism");
    char queue[24], deep[32] = "";

    if (depth)
        snprintf(deep, sizeof(deep), " (%s)",
                 report_depth(depth, queue, sizeof(queue)));
    begin_row(rows, "read, random 4 KiB");
    put_value(rows, "", "random_read", "");
    if (depth || !said_of(rows, "random_read_rate"))
        put_iops(rows, "random_read", " (QD 1)");
    put_value(rows, "", "random_read_rate", deep);
    end_row(rows);
    begin_row(rows, "write, random 4 KiB");
    put_value(rows, "", "random_write", "");
    put_iops(rows, "steady_random_write", " steady");
    put_value(rows, "p99.9 ", "cleaning_stall", "");
    end_row(rows);
    begin_row(rows, "write, synced 4 KiB");
    put_value(rows, "", "fua_time", "");
    if (said_of(rows, "sync_write_p99"))
        put_value(rows, "p99 ", "sync_write_p99", "");
    else
        put_extra(rows, "fua_time", "p99");
    put_value(rows, "", "sync_write_rate", "");
    end_row(rows);
    begin_row(rows, "write, sequential");
    if (said_of(rows, "fast_write_rate")) {
        put_value(rows, "", "fast_write_rate", "");
        put_value(rows, "SLC cache ", "fast_cache", "");
        put_value(rows, "then ", "sustained_write_rate", "");
    } else {
        put_value(rows, "",
                  said_of(rows, "sustained_write_rate")
                      ? "sustained_write_rate"
                      : "sequential_write_rate",
                  "");
    }
    end_row(rows);
    begin_row(rows, "read, sequential");
    put_value(rows, "", "sequential_read_rate", "");
    end_row(rows);
    begin_row(rows, "read beside writes");
    put_value(rows, "", "read_slowdown", "");
    end_row(rows);
}

/* ---- what to do ---------------------------------------------------------- */

/* Those that matter most; others follow as they come. */
static int rank_of(const struct advice *advice)
{
    static const char *const topics[] = {
        "return this drive", "partition", "long writes", "random writes",
        "files at once",     "bursts",    "databases",   "request size"};
    enum { TOPICS = sizeof(topics) / sizeof(topics[0]) };

    for (int i = 0; i < TOPICS; i++)
        if (strcmp(topics[i], advice->topic) == 0)
            return i;
    return TOPICS;
}

static void put_advice(const struct contents *contents,
                       struct document *document, bool bad)
{
    struct advice_list list;
    size_t shown_count = 0;

    advice_make(contents->report->findings, contents->report->device, &list);
    for (int rank = 0; shown_count < ADVICE_BRIEF && rank < ADVICE_MAX; rank++)
        for (size_t i = 0; i < list.count; i++) {
            const struct advice *advice = &list.items[i];
            if (rank_of(advice) != rank || shown_count == ADVICE_BRIEF)
                continue;
            document_named(
                document, PART_ITEM, shown_count++ ? "" : "Do",
                document_format(document, "%s%s", advice->brief,
                                advice->command[0] && !bad && !contents->page
                                    ? " (command: report -v)"
                                    : ""));
            if (bad && advice->command[0])
                document_add(document, PART_CODE, LOOK_PLAIN, advice->command);
        }
}

/* ---- what is open -------------------------------------------------------- */

/* "spare area, hot/cold separation and 3 more" */
static void put_open(const struct contents *contents, struct document *document)
{
    const struct findings *findings = contents->report->findings;
    const struct finding *named[FINDINGS_MAX];
    size_t with_it[FINDINGS_MAX], left = 0, skipped_count = 0;
    const size_t count =
        report_of_verdict(findings, VERDICT_INCONCLUSIVE, named, with_it);
    char text[OPEN_BYTES + 64] = "";

    for (size_t i = 0; i < count; i++) {
        const char *name = parameter_label(named[i]->parameter);
        if (strlen(text) + strlen(name) + 2 > OPEN_BYTES) {
            left += 1 + with_it[i];
            continue;
        }
        text_add(text, sizeof(text), "%s%s", text[0] ? ", " : "", name);
        left += with_it[i];
    }
    for (size_t i = 0; i < findings->count; i++)
        skipped_count += findings->items[i].verdict == VERDICT_SKIPPED;
    if (left)
        text_add(text, sizeof(text), " and %zu more", left);
    if (skipped_count)
        text_add(text, sizeof(text), "%s%zu skipped", text[0] ? "; " : "",
                 skipped_count);
    if (!text[0])
        return;
    document->place = PLACE_FULL | PLACE_PAGE;
    document_named(document, PART_ITEM, "Open", text);
    document->place = PLACE_BRIEF;
    document_named(document, PART_ITEM, "Open",
                   text_add(text, sizeof(text), " (why: report -v)"));
    document->place = PLACE_ALL;
}

/* ---- what makes it doubtful ---------------------------------------------- */

/* In full, and on the last screen in two lines of it at most. */
static void put_doubt(struct document *document, const char *name,
                      const char *text, size_t *count)
{
    const bool fits = strlen(text) <= DOUBT_BYTES;

    document->place = PLACE_FULL | PLACE_PAGE;
    document_add(document, PART_TEXT, LOOK_WARNING, text)->name = name;
    document->place = PLACE_BRIEF;
    if ((*count)++ < DOUBTS_BRIEF)
        document_add(document, PART_TEXT, LOOK_WARNING,
                     document_format(document, "%.*s%s",
                                     fits ? DOUBT_BYTES : DOUBT_BYTES - 20,
                                     text, fits ? "" : " ... (report -v)"))
            ->name = name;
    document->place = PLACE_ALL;
}

/* Is there any? */
static bool put_doubts(const struct contents *contents,
                       struct document *document, bool bad)
{
    const struct report_warnings *warnings = contents->report->warnings;
    const struct conditions *conditions = contents->report->conditions;
    size_t count = bad ? DOUBTS_BRIEF : 0; /* they matter no more */
    for (size_t i = 0; conditions && i < conditions->count; i++) {
        const struct condition *item = &conditions->items[i];
        if (item->grade == CONDITION_GREEN)
            continue;
        put_doubt(document, item->grade == CONDITION_RED ? "Red" : "Yellow",
                  document_format(document, "%s is %s: %s", item->name,
                                  item->value, item->reason),
                  &count);
    }
    for (size_t i = 0; warnings && i < warnings->count; i++)
        put_doubt(document, "Warning", warnings->texts[i], &count);
    return !bad && count > 0;
}

/* ---- all of it ----------------------------------------------------------- */

/* What went over the whole drive: what else was asked is no row of rates. */
static void put_surveyed(const struct contents *contents,
                         struct document *document)
{
    static const struct {
        const char *parameter, *label;
    } rows[] = {{"bad_places", "Places"}, {"slow_places_share", "Speed"}};

    document->place = PLACE_BRIEF;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct finding *finding =
            findings_get(contents->report->findings, rows[i].parameter);
        if (finding && finding->verdict != VERDICT_SKIPPED)
            document_named(document, PART_ITEM, rows[i].label, finding->why);
    }
    document->place = PLACE_ALL;
}

/* Has it lines of its own? */
static bool is_surveyed(const struct findings *findings)
{
    return findings_get(findings, "bad_places") != NULL;
}

/* "TRIM time 1.2 ms": what a run of few probes found and neither sentences nor
 * rates have. */
static void put_found(const struct contents *contents,
                      struct document *document)
{
    const struct findings *findings = contents->report->findings;
    char text[2 * OPEN_BYTES] = "", amount[64];

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        const char *label = parameter_label(finding->parameter);
        if (finding->verdict != VERDICT_FOUND || finding_assumed(finding))
            continue;
        report_amount(&finding->value, report_unit(finding),
                      contents->plain_bytes, amount, sizeof(amount));
        if (!amount[0])
            report_interval(finding, contents->plain_bytes, amount,
                            sizeof(amount));
        if (strlen(text) + strlen(label) + strlen(amount) + 4 > sizeof(text))
            break;
        text_add(text, sizeof(text), "%s%s %s", text[0] ? ", " : "", label,
                 amount);
    }
    if (!text[0])
        return;
    document->place = PLACE_BRIEF;
    document_named(document, PART_ITEM, "Found", text);
    document->place = PLACE_ALL;
}

/* "ssdprobe-MODEL-TIME/report.html" */
static void put_kept(const struct contents *contents, struct document *document)
{
    if (!contents->report->kept)
        return;
    document->place = PLACE_BRIEF;
    document_named(document, PART_ITEM, "Report",
                   document_format(document, "%s (exit %d)",
                                   contents->report->kept,
                                   contents->report->exit_status));
    document->place = PLACE_ALL;
}

void contents_brief(const struct contents *contents, struct document *document)
{
    const struct report *report = contents->report;
    const enum drive_state state = whole_verdict(report->findings).state;
    const bool bad = state == DRIVE_FAKE || state == DRIVE_BROKEN;
    const struct device_info *device = report->device;
    char texts[REPORT_SENTENCES][REPORT_SUMMARY_BYTES];
    char banner[REPORT_BANNER_BYTES], line[200];

    document->place = PLACE_ALL;
    if (report_banner(report, contents->plain_bytes, banner)[0])
        document_add(document, PART_TEXT, LOOK_BANNER, banner);
    document_add(document, PART_TITLE, LOOK_PLAIN,
                 device && device->model[0] ? device->model
                 : device && device->path[0] && !contents->shared
                     ? device->path
                     : "A recording");
    const size_t count = report_sentences(report, contents->plain_bytes, texts);
    for (size_t i = 0; i < count; i++)
        document_add(document, PART_TEXT, LOOK_LEAD, texts[i]);
    const bool doubtful = put_doubts(contents, document, bad);
    if (!report->findings)
        return;
    if (report->findings->count == 0) {
        document_add(document, PART_TEXT, LOOK_PLAIN, "There is no finding.");
        return;
    }
    struct rows rows = {.contents = contents,
                        .document = document,
                        .most = doubtful ? ROWS_DOUBTFUL : ROWS_BRIEF,
                        .part = document_add(document, PART_TABLE, LOOK_PLAIN,
                                             "Latency and throughput")};
    put_rates(&rows);
    if (count <= 1 && !bad && rows.part->table.rows_count == 0 &&
        !is_surveyed(report->findings))
        put_found(contents, document);
    put_surveyed(contents, document);
    document->place = PLACE_BRIEF | PLACE_PAGE;
    put_advice(contents, document, bad);
    document->place = PLACE_ALL;
    put_open(contents, document);
    if (!doubtful && known_sentence(report->known, line, sizeof(line))[0])
        document_named(document, PART_ITEM, "Like", line);
    put_kept(contents, document);
}
