/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forms of a report that are made to be shared. */
#include <check.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "lib/infer/parameter.h"
#include "lib/report/card/card.h"
#include "lib/report/markdown.h"
#include "lib/report/report.h"
#include "lib/report/summary.h"
#include "tests/suite_run.h"

enum { TEXT_MAX = 32768 };

static const struct {
    const char *text, *mark;
} marks[] = {
    {"plain, 16 KiB (99.9 %)", "plain, 16 KiB (99.9 %)"},
    {"log_list", "log_list"},
    {"_so_", "\\_so\\_"},
    {"a|b", "a\\|b"},
    {"*x* `y` [z](w)", "\\*x\\* \\`y\\` \\[z\\](w)"},
    {"<img> & \\", "&lt;img> &amp; \\\\"},
    {"@me #1", "&#64;me &#35;1"},
    {"a\nb", "a b"},
};

START_TEST(words_of_others_are_no_marks)
{
    char text[64] = "";
    FILE *out = fmemopen(text, sizeof(text), "w");

    markdown_text(out, marks[_i].text);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_str_eq(text, marks[_i].mark);
}
END_TEST

static void found(struct findings *findings, const char *parameter,
                  struct value value, double confidence)
{
    struct finding *f = findings_add(findings, "a-probe", parameter);

    finding_found(f, value, confidence);
    f->low = f->high = value;
    finding_why(f, "seen on the drive S3CR3T|1");
}

static void render(char text[TEXT_MAX], const struct report *report)
{
    const struct report_style style = {.markdown = true};
    FILE *out = fmemopen(text, TEXT_MAX, "w");

    ck_assert_int_eq(report_text(out, report, &style), 0);
    ck_assert_int_eq(fclose(out), 0);
}

static struct device_info example_device(void)
{
    return (struct device_info){.path = "/dev/disk/by-id/x-S3CR3T",
                                .model = "Example|*SSD*",
                                .serial = "S3CR3T",
                                .capacity_bytes = UINT64_C(64000000000),
                                .logical_block_bytes = 512};
}

START_TEST(markdown_is_a_table_without_the_serial_number)
{
    const struct device_info device = example_device();
    static struct findings findings;
    const struct report_warnings warnings = {
        .texts = {"the drive S3CR3T was interrupted"}, .count = 1};
    const struct report report = {
        .device = &device, .findings = &findings, .warnings = &warnings};
    char text[TEXT_MAX];
    size_t rows_count = 0;

    findings.count = 0;
    found(&findings, "clustered_page", value_integer(16384), 0.75);
    findings_add(&findings, "nand-type", "nand_type");
    render(text, &report);
    ck_assert_ptr_null(strstr(text, "S3CR3T"));
    ck_assert_ptr_null(strstr(text, "by-id"));
    ck_assert_ptr_nonnull(strstr(text, "## Example\\|\\*SSD\\*\n"));
    ck_assert_ptr_nonnull(strstr(text, "| 16 KiB | +-0 | 75.0 % | perhaps |"));
    ck_assert_ptr_nonnull(strstr(text, "|  |  |  | inconclusive |"));
    ck_assert_ptr_nonnull(strstr(text, "> **Warning**: the drive ..."));
    ck_assert(strstr(text, "> **Warning**") < strstr(text, "| Parameter"));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t bars_count = 0;
        if (line[0] != '|')
            continue;
        for (const char *c = line; *c != '\n'; c++)
            bars_count += *c == '|' && c[-1] != '\\';
        ck_assert_uint_eq(bars_count, 6);
        rows_count++;
    }
    ck_assert_uint_eq(rows_count, 5); /* with one that heads the others */
}
END_TEST

/* "open units, SLC cache and 3 more": what a report calls open. */
static char *names_of(const struct findings *findings, enum verdict verdict,
                      char *text, size_t size)
{
    const struct finding *named[FINDINGS_MAX];
    size_t with_it[FINDINGS_MAX];
    const size_t count = report_of_verdict(findings, verdict, named, with_it);
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        const char *parameter = named[i]->parameter;
        snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                 parameter_label(parameter));
        used = strlen(text);
        if (with_it[i])
            snprintf(text + used, size - used, " and %zu more", with_it[i]);
        used = strlen(text);
    }
    return text;
}

/* More than two that are open for one reason, and what waits for them, stand
 * by the first; two have their names. */
START_TEST(what_is_open_for_one_reason_stands_there_once)
{
    static const struct {
        const char *parameter, *why;
    } rows[] = {{"write_buffer", "too small"},
                {"nand_type", "pass --assume=clustered_block=SIZE"},
                {"content_dependence", "pass --assume=clustered_block=SIZE"},
                {"clustered_block", "no writes are slow"},
                {"fast_cache", "too few writes"},
                {"fast_write_rate", "too few writes"},
                {"sustained_write_rate", "too few writes"},
                {"stripe_unit", "no reads wait"},
                {"parallel_units", "no reads wait"}};
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    static struct findings findings;
    const struct finding *named[FINDINGS_MAX];
    size_t with_it[FINDINGS_MAX];
    char text[400];

    findings.count = 0;
    for (size_t i = 0; i < ROWS; i++)
        finding_why(findings_add(&findings, "probe", rows[i].parameter), "%s",
                    rows[i].why);
    ck_assert_str_eq(
        names_of(&findings, VERDICT_INCONCLUSIVE, text, sizeof(text)),
        "write buffer, erase unit and 2 more, SLC cache and 2 more, stripe "
        "unit, "
        "parallel units");
    ck_assert_uint_eq(
        report_of_verdict(&findings, VERDICT_INCONCLUSIVE, named, with_it), 5);
    /* What waits for a value that is known has its own place. */
    findings.items[3].verdict = VERDICT_ABSENT;
    names_of(&findings, VERDICT_INCONCLUSIVE, text, sizeof(text));
    ck_assert_ptr_nonnull(
        strstr(text, "write buffer, flash type, content dependence, SLC"));
}
END_TEST

/* A percentile is stated where a request is slower with a confidence of 95 %:
 * of 58 the slowest is quicker than the p95 more often than that. Earlier
 * documents do not have their number. */
START_TEST(a_percentile_takes_enough_requests)
{
    static const struct {
        uint64_t requests;
        const char *text;
    } cases[] = {{0, "p95 20.0 us; p99 30.0 us; slowest 40.0 us"},
                 {58, "slowest of 58: 40.0 us"},
                 {59, "p95 20.0 us; slowest of 59: 40.0 us"},
                 {298, "p95 20.0 us; slowest of 298: 40.0 us"},
                 {299, "p95 20.0 us; p99 30.0 us; slowest of 299: 40.0 us"}};
    static struct findings findings;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[200];
        findings.count = 0;
        struct finding *finding =
            findings_add(&findings, "basic", "random_read");
        finding_extra(finding, "p95", value_integer(20000));
        finding_extra(finding, "p99", value_integer(30000));
        finding_extra(finding, "slowest", value_integer(40000));
        if (cases[i].requests)
            finding_extra(finding, "requests",
                          value_integer(cases[i].requests));
        report_extras(finding, false, text, sizeof(text));
        ck_assert_str_eq(text, cases[i].text);
    }
}
END_TEST

START_TEST(a_reader_meets_what_to_do_before_the_values)
{
    static const char *const parts[] = {"A 64 GB drive.\n",
                                        "Probably write unit 16 KiB",
                                        "  read, random 4 KiB",
                                        "Open:    flash type",
                                        "What to do:",
                                        "Parameter",
                                        "\nSpeed\nrandom_read",
                                        "\nLayout\nclustered_page",
                                        "probably\nreal_capacity",
                                        "found\nnand_type",
                                        "Skipped: log_list",
                                        "\nWhy:\n  random_read",
                                        "\nDrive:\n"};
    const struct device_info device = example_device();
    static struct findings findings;
    const struct report report = {.device = &device, .findings = &findings};
    const struct report_style style = {.verbose = true};
    char text[TEXT_MAX];
    FILE *out = fmemopen(text, TEXT_MAX, "w");
    const char *at = text;

    findings.count = 0;
    findings_add(&findings, "nand-type", "nand_type");
    found(&findings, "clustered_page", value_integer(16384), 0.95);
    found(&findings, "real_capacity", value_integer(64000000000), 0.999);
    findings_add(&findings, "log-list", "log_list")->verdict = VERDICT_SKIPPED;
    found(&findings, "random_read", value_integer(100000), 0.999);
    ck_assert_int_eq(report_text(out, &report, &style), 0);
    ck_assert_int_eq(fclose(out), 0);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        at = strstr(at, parts[i]);
        ck_assert_msg(at != NULL, "'%s' is not next in\n%s", parts[i], text);
    }
}
END_TEST

START_TEST(a_doubtful_absence_is_called_probable)
{
    static struct findings findings;

    findings.count = 0;
    struct finding *f = findings_add(&findings, "a-probe", "log_list");
    finding_absent(f, 0.9);
    ck_assert_str_eq(report_verdict(f), "probably absent");
    finding_absent(f, report_sure);
    ck_assert_str_eq(report_verdict(f), "absent");
    finding_withdraw(f);
    ck_assert_str_eq(report_verdict(f), "inconclusive");
}
END_TEST

START_TEST(the_card_says_what_is_known_and_what_is_not)
{
    static const char *const words[] = {"erase unit: 4 MiB, 256 write units",
                                        "write unit: 16 KiB",
                                        "SLC (75 %)",
                                        "no limit seen (90 %)",
                                        ">not known<",
                                        ">not asked<",
                                        "64 GB",
                                        "conditions: red",
                                        "Example|*SSD*&lt;"};
    struct device_info device = example_device();
    static struct findings findings;
    static struct conditions conditions = {.count = 1};
    const struct report report = {
        .device = &device, .findings = &findings, .conditions = &conditions};
    char text[TEXT_MAX] = "";
    FILE *out = fmemopen(text, TEXT_MAX, "w");

    conditions.items[0].grade = CONDITION_RED;
    snprintf(device.model, sizeof(device.model), "Example|*SSD*<");
    findings.count = 0;
    found(&findings, "clustered_page", value_integer(16384), 0.999);
    found(&findings, "clustered_block", value_integer(4 << 20), 0.999);
    found(&findings, "nand_type", value_text("SLC"), 0.75);
    finding_absent(findings_add(&findings, "log-list", "log_list"), 0.9);
    findings_add(&findings, "write-buffer", "write_buffer");
    for (enum card_shape shape = CARD_NARROW + 1; shape-- > CARD_WIDE;) {
        ck_assert_int_eq(report_card(out, &report, shape), 0);
        ck_assert_int_eq(fclose(out), 0);
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            ck_assert_msg(strstr(text, words[i]) != NULL,
                          "'%s' is missing in\n%s", words[i], text);
        ck_assert_ptr_null(strstr(text, "S3CR3T"));
        out = fmemopen(text, TEXT_MAX, "w");
    }
    ck_assert_int_eq(fclose(out), 0);
    /* Where two probes contradict each other there is no erase unit. */
    found(&findings, "read_boundary", value_integer(2 << 20), 0.999);
    out = fmemopen(text, TEXT_MAX, "w");
    ck_assert_int_eq(report_card(out, &report, CARD_WIDE), 0);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_ptr_nonnull(strstr(text, "erase unit: not known"));
}
END_TEST

/* ---- the sentence ------------------------------------------------------ */

static const char *summary_of(const struct findings *findings)
{
    static char text[REPORT_SUMMARY_BYTES];
    const struct device_info device = example_device();
    const struct report report = {.device = &device, .findings = findings};

    return report_summary(&report, false, text);
}

START_TEST(the_sentence_is_made_of_what_was_found)
{
    static struct findings findings;

    findings.count = 0;
    found(&findings, "nand_type", value_text("SLC"), 0.999);
    found(&findings, "clustered_block", value_integer(4 << 20), 0.99);
    found(&findings, "sequential_read_rate", value_integer(113777778), 0.99);
    found(&findings, "write_buffer", value_integer(255 << 10), 0.99);
    ck_assert_str_eq(summary_of(&findings),
                     "A 64 GB drive. Reads 114 MB/s. SLC, erase unit 4 MiB, "
                     "write buffer 255 KiB.");
}
END_TEST

START_TEST(what_is_not_sure_is_not_stated_as_if_it_were)
{
    static struct findings findings;

    findings.count = 0;
    found(&findings, "nand_type", value_text("SLC"), 0.75);
    found(&findings, "clustered_page", value_integer(16384), 0.9899);
    found(&findings, "clustered_block", value_integer(4 << 20), 0.999);
    found(&findings, "log_list", value_integer(1), 0.999);
    found(&findings, "sequential_write_rate", value_integer(13000000), 0.8);
    found(&findings, "write_buffer", value_integer(255 << 10), 0.95);
    ck_assert_str_eq(
        summary_of(&findings),
        "A 64 GB drive. Perhaps writes 13 MB/s (80 %). Erase unit 4 MiB, 1 "
        "open unit; probably write unit 16 KiB (98 %), write buffer 255 KiB "
        "(95 %); perhaps SLC (75 %).");
    findings.count = 0;
    found(&findings, "nand_type", value_text("SLC"), 0.75);
    ck_assert_str_eq(summary_of(&findings),
                     "A 64 GB drive. Perhaps SLC (75 %).");
}
END_TEST

START_TEST(what_was_not_found_is_not_said)
{
    static struct findings findings;

    findings.count = 0;
    ck_assert_str_eq(summary_of(&findings), "");
    findings_add(&findings, "nand-type", "nand_type");
    findings_add(&findings, "a-probe", "read_buffer")->verdict =
        VERDICT_SKIPPED;
    found(&findings, "clustered_page", value_integer(4096), 0.5);
    finding_absent(findings_add(&findings, "write-buffer", "write_buffer"), 1);
    struct finding *f = findings_add(&findings, "assumed", "log_list");
    finding_found(f, value_integer(8), 0.999);
    ck_assert_str_eq(summary_of(&findings), "A 64 GB drive.");
    /* Two answers to one question are none. */
    found(&findings, "clustered_block", value_integer(4 << 20), 0.999);
    found(&findings, "read_boundary", value_integer(2 << 20), 0.99);
    ck_assert_ptr_null(strstr(summary_of(&findings), "erase"));
}
END_TEST

START_TEST(an_interval_is_not_hidden_by_its_middle)
{
    static struct findings findings;

    findings.count = 0;
    found(&findings, "sequential_read_rate", value_integer(110000000), 0.999);
    findings.items[0].low = value_integer(90000000);
    findings.items[0].high = value_integer(140000000);
    found(&findings, "write_buffer", value_integer(4 << 20), 0.999);
    findings.items[1].low = value_integer(3 << 20);
    findings.items[1].high = value_integer(5 << 20);
    ck_assert_str_eq(summary_of(&findings),
                     "A 64 GB drive. Reads 90 MB/s to 140 MB/s. Write buffer "
                     "3 MiB to 5 MiB.");
    findings.items[0].value = findings.items[0].high = value_none();
    ck_assert_ptr_nonnull(
        strstr(summary_of(&findings), "Reads at least 90 MB/s"));
}
END_TEST

/* What a cache takes is not what the drive writes. */
START_TEST(a_write_rate_that_does_not_last_is_not_the_drives)
{
    static struct findings findings;

    findings.count = 0;
    found(&findings, "sequential_write_rate", value_integer(450000000), 0.999);
    found(&findings, "sustained_write_rate", value_integer(80000000), 0.999);
    ck_assert_str_eq(summary_of(&findings), "A 64 GB drive. Writes 80 MB/s.");
    found(&findings, "fast_write_rate", value_integer(450000000), 0.999);
    found(&findings, "fast_cache", value_integer(UINT64_C(4) << 30), 0.999);
    ck_assert_str_eq(
        summary_of(&findings),
        "A 64 GB drive. Writes 450 MB/s for the first 4.29 GB, then "
        "80 MB/s.");
    findings.items[3].confidence = 0.9;
    ck_assert_str_eq(summary_of(&findings),
                     "A 64 GB drive. Probably writes 450 MB/s for the first "
                     "4.29 GB, then 80 MB/s (90 %).");
}
END_TEST

START_TEST(a_fake_drive_is_none_of_its_capacity)
{
    static struct findings findings;

    findings.count = 0;
    found(&findings, "capacity_kind", value_text("wraps"), 0.99);
    found(&findings, "real_capacity", value_integer(UINT64_C(8) << 30), 0.99);
    ck_assert_str_eq(summary_of(&findings),
                     "FAKE: sold as 64 GB, holds 8.59 GB; what is written "
                     "beyond overwrites the rest. Return it. A drive.");
    findings.items[1].confidence = 0.9;
    ck_assert_ptr_nonnull(strstr(summary_of(&findings),
                                 "sold as 64 GB, probably (90 %) holds 8.59"));
    /* Where it ends is not known, or nothing is kept. */
    findings.items[1].verdict = VERDICT_INCONCLUSIVE;
    ck_assert_ptr_eq(strstr(summary_of(&findings),
                            "FAKE: sold as 64 GB, holds less than it says; "),
                     summary_of(&findings));
    findings.items[1].verdict = VERDICT_FOUND;
    findings.items[0].value = value_text("drops");
    findings.items[1].value = value_integer(0);
    ck_assert_ptr_eq(strstr(summary_of(&findings), "BROKEN: "),
                     summary_of(&findings));
    findings.items[0].value = value_text("genuine");
    ck_assert_ptr_eq(strstr(summary_of(&findings), "A 64 GB drive"),
                     summary_of(&findings));
}
END_TEST

START_TEST(red_conditions_are_in_the_sentence)
{
    static struct findings findings;
    static struct conditions conditions = {.count = 1};
    const struct report report = {.findings = &findings,
                                  .conditions = &conditions};
    char text[REPORT_SUMMARY_BYTES];

    findings.count = 0;
    found(&findings, "random_read", value_integer(100000), 0.999);
    conditions.items[0].grade = CONDITION_YELLOW;
    ck_assert_str_eq(report_summary(&report, false, text),
                     "A drive. A random 4 KiB read takes 100 us.");
    conditions.items[0].grade = CONDITION_RED;
    ck_assert_ptr_nonnull(
        strstr(report_summary(&report, false, text), "Conditions were red"));
}
END_TEST

/* The first line in each form; what was skipped has no row of its own. */
START_TEST(every_form_begins_with_it)
{
    static struct findings findings;
    const struct report report = {.findings = &findings};
    const struct report_style plain = {0};
    static char text[TEXT_MAX];
    struct json_object *document = json_object_new_object(), *summary;
    FILE *out = fmemopen(text, sizeof(text), "w");

    findings.count = 0;
    found(&findings, "random_read", value_integer(100000), 0.999);
    struct finding *f = findings_add(&findings, "log-list", "log_list");
    f->verdict = VERDICT_SKIPPED;
    finding_why(f, "only reads");
    ck_assert_int_eq(report_text(out, &report, &plain), 0);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_ptr_eq(strstr(text, "A drive.\nA random 4 KiB read takes"), text);
    ck_assert_ptr_nonnull(
        strstr(text, "\nOpen:    1 skipped (why: report -v)\n"));
    ck_assert_ptr_null(strstr(text, "log_list"));
    render(text, &report);
    ck_assert_ptr_nonnull(strstr(text, "\nA drive.\n\nA random 4 KiB read"));
    ck_assert_ptr_nonnull(strstr(text, "\nSkipped: log_list.\n"));
    report_json(document, &report);
    ck_assert(json_object_object_get_ex(document, "summary", &summary));
    ck_assert_str_eq(json_object_get_string(summary),
                     "A drive. A random 4 KiB read takes 100 us.");
    json_object_put(document);
}
END_TEST

/* With every finding, each in its longest words, and many doubts, the last
 * screen still has at most 22 lines of 80 columns. */
START_TEST(the_last_screen_fits_a_terminal)
{
    static const char *const parameters[] = {"random_read",
                                             "random_read_rate",
                                             "read_parallelism",
                                             "random_write",
                                             "steady_random_write",
                                             "cleaning_stall",
                                             "fua_time",
                                             "sequential_read_rate",
                                             "fast_write_rate",
                                             "sustained_write_rate",
                                             "fast_cache",
                                             "read_slowdown",
                                             "clustered_page",
                                             "clustered_block",
                                             "log_list",
                                             "parallel_units",
                                             "write_buffer",
                                             "request_overhead"};
    static struct findings findings;
    static struct conditions conditions;
    static struct report_warnings warnings;
    const struct device_info device = example_device();
    const struct report report = {.device = &device,
                                  .findings = &findings,
                                  .conditions = &conditions,
                                  .warnings = &warnings,
                                  .kept = "ssdprobe-Example-2026/report.html"};
    const struct report_style style = {0};
    static char text[TEXT_MAX];
    size_t lines_count = 0;
    FILE *out = fmemopen(text, sizeof(text), "w");

    findings.count = 0;
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
        found(&findings, parameters[i], value_integer(123456), 0.95);
    finding_extra(&findings.items[6], "p99", value_integer(1234567));
    found(&findings, "nand_type", value_text("MLC"), 0.95);
    while (findings.count < 40)
        finding_why(findings_add(&findings, "a-probe", "hot_cold_separation"),
                    "%zu", findings.count);
    findings_add(&findings, "a-probe", "read_boundary")->verdict =
        VERDICT_SKIPPED;
    for (conditions.count = 0; conditions.count < 4; conditions.count++) {
        struct condition *item = &conditions.items[conditions.count];
        item->grade = CONDITION_RED;
        snprintf(item->reason, sizeof(item->reason), "%s",
                 "this is a reason that goes on and on, far beyond the end of "
                 "the line, and of the next, up to the end of all that a "
                 "condition can hold");
    }
    for (warnings.count = 0; warnings.count < 3; warnings.count++)
        snprintf(warnings.texts[warnings.count], sizeof(warnings.texts[0]),
                 "the run was interrupted");
    ck_assert_int_eq(report_text(out, &report, &style), 0);
    ck_assert_int_eq(fclose(out), 0);
    for (char *line = text; *line; line += strcspn(line, "\n") + 1) {
        ck_assert_msg(strcspn(line, "\n") <= 80, "%s", text);
        lines_count++;
    }
    ck_assert_msg(lines_count <= 22, "%zu lines:\n%s", lines_count, text);
    ck_assert_ptr_nonnull(strstr(text, "\nReport:  ssdprobe-Example-2026/"));
}
END_TEST

/* The verdicts on the erase unit by writes and by reads, and what is named as
 * not known. */
static const struct {
    enum verdict by_writes, by_reads;
    const char *names;
} erase_units[] = {
    {VERDICT_FOUND, VERDICT_INCONCLUSIVE, "flash type"},
    {VERDICT_INCONCLUSIVE, VERDICT_FOUND, "flash type"},
    {VERDICT_INCONCLUSIVE, VERDICT_INCONCLUSIVE, "erase unit, flash type"},
    {VERDICT_INCONCLUSIVE, VERDICT_ABSENT, "erase unit, flash type"},
    {VERDICT_SKIPPED, VERDICT_INCONCLUSIVE, "read boundary, flash type"},
};

START_TEST(one_question_is_open_once_and_only_if_nobody_answered)
{
    static const char *const parameters[] = {"clustered_block",
                                             "read_boundary"};
    const enum verdict verdicts[] = {erase_units[_i].by_writes,
                                     erase_units[_i].by_reads};
    static struct findings findings;
    char text[200];

    findings.count = 0;
    for (size_t i = 0; i < 2; i++) {
        found(&findings, parameters[i], value_integer(1 << 22), 0.999);
        findings.items[i].verdict = verdicts[i];
    }
    findings_add(&findings, "nand-type", "nand_type");
    ck_assert_str_eq(
        names_of(&findings, VERDICT_INCONCLUSIVE, text, sizeof(text)),
        erase_units[_i].names);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report_forms");
    TCase *cases = tcase_create("report_forms");

    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, words_of_others_are_no_marks, 0,
                        sizeof(marks) / sizeof(marks[0]));
    tcase_add_test(cases, markdown_is_a_table_without_the_serial_number);
    tcase_add_test(cases, what_is_open_for_one_reason_stands_there_once);
    tcase_add_test(cases, a_percentile_takes_enough_requests);
    tcase_add_test(cases, a_reader_meets_what_to_do_before_the_values);
    tcase_add_test(cases, the_card_says_what_is_known_and_what_is_not);
    tcase_add_test(cases, a_doubtful_absence_is_called_probable);
    tcase_add_test(cases, the_sentence_is_made_of_what_was_found);
    tcase_add_test(cases, what_is_not_sure_is_not_stated_as_if_it_were);
    tcase_add_test(cases, what_was_not_found_is_not_said);
    tcase_add_test(cases, an_interval_is_not_hidden_by_its_middle);
    tcase_add_test(cases, a_write_rate_that_does_not_last_is_not_the_drives);
    tcase_add_test(cases, a_fake_drive_is_none_of_its_capacity);
    tcase_add_test(cases, red_conditions_are_in_the_sentence);
    tcase_add_test(cases, every_form_begins_with_it);
    tcase_add_test(cases, the_last_screen_fits_a_terminal);
    tcase_add_loop_test(cases,
                        one_question_is_open_once_and_only_if_nobody_answered,
                        0, sizeof(erase_units) / sizeof(erase_units[0]));
    return suite_run(suite);
}
