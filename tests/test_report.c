/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings as a person and as a program sees them. */
#include <check.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "lib/infer/finding.h"
#include "lib/infer/sample.h"
#include "lib/report/report.h"
#include "tests/suite_run.h"

enum { TEXT_MAX = 32768 };

static struct device_info example_device(void)
{
    return (struct device_info){.path = "sim:ssd-a",
                                .model = "Example \"SSD\"",
                                .serial = "S3CR3T",
                                .bus = "virtual",
                                .capacity_bytes = UINT64_C(8) << 30,
                                .logical_block_bytes = 512,
                                .request_limit_bytes = 131072,
                                .virtual_clock = true,
                                .engine = "virtual time",
                                .flush = "virtual"};
}

static void example_findings(struct findings *findings)
{
    struct finding *f;

    findings->count = 0;
    f = findings_add(findings, "clustered-page", "clustered_page");
    f->verdict = VERDICT_FOUND;
    f->value = f->low = f->high = value_integer(16384);
    f->confidence = 0.9997;
    finding_why(f,
                "Writes of %d KiB are the smallest without a penalty, and "
                "every larger multiple agrees, at all of the phases that "
                "were tried.",
                16);
    f = findings_add(findings, "write-buffer", "write_buffer");
    f->verdict = VERDICT_FOUND;
    f->value = value_integer(UINT64_C(32) << 20);
    f->low = value_integer(UINT64_C(31) << 20);
    f->high = value_integer(UINT64_C(33) << 20);
    f->confidence = 0.95;
    finding_why(f, "The first %d MiB are absorbed.", 32);
    struct value levels = {.kind = VALUE_LIST,
                           .list = {.items = {4 << 20, 32 << 20}, .count = 2}};
    finding_extra(f, "levels", levels);
    f = findings_add(findings, "basic", "random_read");
    f->verdict = VERDICT_FOUND;
    f->value = value_real(117499.6);
    f->confidence = 1;
    finding_extra(f, "p95", value_integer(131000));
    finding_why(f, "%s", "The median of 1000 reads.");
    f = findings_add(findings, "read-buffer", "read_buffer");
    f->verdict = VERDICT_ABSENT;
    f->confidence = 0.99;
    finding_why(f, "%s", "No reread is faster than a first read.");
    f = findings_add(findings, "nand-type", "nand_type");
    finding_why(f, "%s", "The drive was too noisy.");
    f = findings_add(findings, "log-list", "log_list");
    f->verdict = VERDICT_SKIPPED;
    finding_why(f, "%s", "--read-only: this probe writes.");
}

static const struct cost_total example_cost = {.bytes_written = 1 << 20,
                                               .bytes_read = 1000000,
                                               .requests_count = 1234,
                                               .device_seconds = 1.5,
                                               .wall_seconds = -1};

static void render(char text[TEXT_MAX], const struct report_style *style,
                   bool hide_serial)
{
    struct device_info device = example_device();
    static struct findings findings;
    struct report report = {.device = &device,
                            .findings = &findings,
                            .cost = &example_cost,
                            .hide_serial = hide_serial};
    FILE *out = fmemopen(text, TEXT_MAX, "w");

    example_findings(&findings);
    ck_assert_int_eq(report_text(out, &report, style), 0);
    ck_assert_int_eq(fclose(out), 0);
}

START_TEST(text_says_what_how_sure_and_why)
{
    static const char *const words[] = {"Example \"SSD\"",
                                        "sim:ssd-a",
                                        "8.59 GB (8 GiB) in blocks of 512 B",
                                        "requests up to 128 KiB",
                                        "virtual time",
                                        "1234, none of them split",
                                        "clustered_page",
                                        "+-0",
                                        "99.9 %",
                                        "found",
                                        "without a penalty",
                                        "levels 4 MiB, 32 MiB",
                                        "118 us",
                                        "p95 131 us",
                                        "absent",
                                        "inconclusive",
                                        "Skipped: log_list",
                                        "S3CR3T",
                                        "Written             1 MiB",
                                        "Device time         1.50 s"};
    struct report_style style = {.verbose = true};
    char text[TEXT_MAX];

    render(text, &style, false);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        ck_assert_msg(strstr(text, words[i]), "'%s' is missing in\n%s",
                      words[i], text);
    ck_assert_ptr_null(strchr(text, '\033'));
}
END_TEST

START_TEST(text_fits_its_columns)
{
    static const unsigned columns[] = {0,  0,  24, 24,  40,  40,  79,
                                       79, 80, 80, 100, 100, 200, 200};
    char text[TEXT_MAX];

    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        struct report_style style = {.columns_count = columns[i],
                                     .verbose = i % 2 == 0};
        size_t most = columns[i] ? columns[i] : 80;
        render(text, &style, false);
        ck_assert_ptr_null(strstr(text, "\n\n\n"));
        for (char *line = text; *line; line += strcspn(line, "\n") + 1)
            ck_assert_msg(
                strcspn(line, "\n") <= most ||
                    strncmp(line, "    mkfs.", 9) == 0, /* a command */
                "%u: %.*s", columns[i], (int)strcspn(line, "\n"), line);
    }
}
END_TEST

/* An amount and its unit stay together, up to the very end of a text. */
START_TEST(text_wraps_between_words)
{
    char *text = strdup("a page of 16 KiB, in a block of 4 MiB, took 20 ms");
    char *wrapped = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&wrapped, &length);

    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_nonnull(out);
    report_wrap(out, text, 2, 14);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_str_eq(wrapped, "  a page of\n  16 KiB, in a\n  block of\n"
                              "  4 MiB, took\n  20 ms\n");
    free(wrapped);
    free(text);
}
END_TEST

START_TEST(bytes_can_be_plain_and_serials_hidden)
{
    struct report_style style = {.plain_bytes = true, .verbose = true};
    char text[TEXT_MAX];

    render(text, &style, true);
    ck_assert_ptr_nonnull(strstr(text, "16384 B"));
    ck_assert_ptr_nonnull(strstr(text, "levels 4194304 B, 33554432 B"));
    ck_assert_ptr_null(strstr(text, "KiB .."));
    ck_assert_ptr_null(strstr(text, "S3CR3T"));
}
END_TEST

START_TEST(colour_repeats_what_the_words_say)
{
    struct report_style plain = {.verbose = true};
    struct report_style coloured = {.verbose = true, .colour = true};
    char text[TEXT_MAX], colours[TEXT_MAX], stripped[TEXT_MAX];
    size_t used = 0;

    render(text, &plain, false);
    render(colours, &coloured, false);
    ck_assert_ptr_nonnull(strchr(colours, '\033'));
    for (const char *c = colours; *c; c++) {
        if (*c == '\033')
            c += strcspn(c, "m");
        else
            stripped[used++] = *c;
    }
    stripped[used] = '\0';
    ck_assert_str_eq(stripped, text);
}
END_TEST

START_TEST(a_full_disk_is_an_error)
{
    struct device_info device = example_device();
    struct report report = {.device = &device};
    struct report_style style = {.verbose = true};
    FILE *out = fopen("/dev/full", "w");

    ck_assert_int_eq(report_text(out, &report, &style), -ENOSPC);
    fclose(out);
}
END_TEST

static const char *json(struct json_object **document,
                        const struct report *report)
{
    *document = json_object_new_object();
    report_json(*document, report);
    return json_object_to_json_string_ext(*document, JSON_C_TO_STRING_SPACED);
}

START_TEST(json_has_every_key_when_nothing_is_known)
{
    struct json_object *document;
    struct report report = {0};

    ck_assert_str_eq(
        json(&document, &report),
        "{ \"run\": null, \"device\": null, \"conditions\": null, \"plan\": "
        "null, \"verdict\": null, \"summary\": null, \"findings\": [ ], "
        "\"advice\": [ ], "
        "\"cost\": "
        "null }");
    json_object_put(document);
}
END_TEST

START_TEST(json_numbers_are_exact)
{
    static struct findings findings;
    struct json_object *array;

    example_findings(&findings);
    array = report_json_findings(&findings);
    const char *text = json_object_to_json_string(array);
    static const char *const words[] = {
        "\"value\": 16384, \"unit\": \"bytes\", \"low\": 16384, \"high\": "
        "16384, \"confidence\": 0.9997,",
        "\"levels\": [ 4194304, 33554432 ]",
        "\"value\": 117500, \"unit\": \"ns\", \"low\": null, \"high\": null, "
        "\"confidence\": 1.0,",
        "\"p95\": 131000",
        "\"verdict\": \"skipped\", \"value\": null, \"unit\": \"count\"",
        "\"confidence\": 0.0"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        ck_assert_msg(strstr(text, words[i]), "'%s' is missing in\n%s",
                      words[i], text);
    json_object_put(array);
}
END_TEST

START_TEST(json_states_cost_without_wall_time_for_emulated_drives)
{
    struct json_object *document;
    struct cost_total cost = example_cost;
    struct report report = {.cost = &cost};

    ck_assert_ptr_nonnull(strstr(json(&document, &report),
                                 "\"device_seconds\": 1.5, "
                                 "\"wall_seconds\": null"));
    json_object_put(document);
    cost.wall_seconds = 2.0625;
    cost.device_seconds = 1e-9;
    ck_assert_ptr_nonnull(strstr(json(&document, &report),
                                 "\"device_seconds\": 0.000000001, "
                                 "\"wall_seconds\": 2.062"));
    json_object_put(document);
}
END_TEST

START_TEST(json_is_utf8_whatever_the_drive_says)
{
    struct device_info device = example_device();
    struct report report = {.device = &device, .hide_serial = true};
    struct json_object *document;

    memcpy(device.model, "a\xff\xc3\xa4\xc3", 6);
    const char *text = json(&document, &report);
    ck_assert_msg(strstr(text, "\"model\": \"a?\xc3\xa4?\""), "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "\"serial\": null"));
    ck_assert_ptr_nonnull(strstr(text, "\"physical_block_bytes\": null"));
    json_object_put(document);
}
END_TEST

static const struct {
    const char *text, *copy;
} utf8_table[] = {
    {"", ""},
    {"plain", "plain"},
    {"\xc3\xa4", "\xc3\xa4"},
    {"\xe2\x82\xac", "\xe2\x82\xac"},
    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
    {"\xc0\x80", "??"},           /* overlong */
    {"\xed\xa0\x80", "???"},      /* a surrogate */
    {"\xf4\x90\x80\x80", "????"}, /* beyond U+10FFFF */
    {"\xe2\x82", "??"},           /* cut off */
    {"a\x80z", "a?z"},
    {"\033[31m\a\x7f", "?[31m??"}, /* C0 and DEL */
    {"\xc2\x9b"
     "31m\xc2\x80\xc2\x9f",
     "?31m??"},                               /* C1 */
    {"\xc2\xa0", "\xc2\xa0"},                 /* the first after C1 */
    {"a\xe2\x80\xaeza\xe2\x81\xa6", "a?za?"}, /* direction */
    {"\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8", "???"},
    {"\xe2\x80\x93", "\xe2\x80\x93"}, /* a dash */
    {"a\tb\nc", "a b c"},
};

START_TEST(utf8_is_kept_and_other_bytes_replaced)
{
    char copy[32];

    ck_assert_str_eq(report_utf8(utf8_table[_i].text, copy, sizeof(copy)),
                     utf8_table[_i].copy);
    ck_assert_str_eq(report_utf8("\xc3\xa4\xc3\xa4", copy, 4), "\xc3\xa4");
}
END_TEST

START_TEST(wrapped_words_of_others_reach_no_terminal)
{
    char text[64] = "";
    FILE *out = fmemopen(text, sizeof(text), "w");

    report_wrap(out,
                "so \033]0;x\a \xc2\x9b"
                "2J it is",
                2, 40);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_str_eq(text, "  so ?]0;x? ?2J it is\n");
}
END_TEST

START_TEST(an_assumed_value_is_called_so)
{
    static struct findings findings;
    struct report report = {.findings = &findings};
    struct report_style style = {0};
    char text[TEXT_MAX], words[64];
    struct json_object *document;
    FILE *out = fmemopen(text, sizeof(text), "w");

    findings.count = 0;
    struct finding *f = findings_add(&findings, "assumed", "clustered_page");
    f->verdict = VERDICT_FOUND;
    f->value = f->low = f->high = value_integer(16384);
    f->confidence = 1;
    finding_why(f, "assumed by the user, not measured");
    ck_assert_int_eq(report_text(out, &report, &style), 0);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_ptr_null(strstr(text, "+-"));
    ck_assert_ptr_null(strstr(text, "%"));
    ck_assert_ptr_null(strstr(text, "found"));
    ck_assert_str_eq(report_verdict(f), "assumed");
    ck_assert_str_eq(report_interval(f, false, words, sizeof(words)), "-");
    ck_assert_ptr_nonnull(
        strstr(json(&document, &report), "\"assumed\": true"));
    json_object_put(document);
}
END_TEST

START_TEST(names_and_words_of_findings)
{
    char text[40];
    struct value value = value_text("MLC");
    enum operation operation;

    ck_assert_str_eq(value_format(&value, text, sizeof(text)), "MLC");
    value = value_boolean(true);
    ck_assert_str_eq(value_format(&value, text, sizeof(text)), "true");
    value = value_none();
    ck_assert_str_eq(value_format(&value, text, sizeof(text)), "");
    value = value_real(0.5);
    ck_assert_str_eq(value_format(&value, text, sizeof(text)), "0.5");
    value = (struct value){.kind = VALUE_LIST,
                           .list = {.items = {1, 2}, .count = 2}};
    ck_assert_str_eq(value_format(&value, text, sizeof(text)), "[1, 2]");
    ck_assert_str_eq(value_format(&value, text, 4), "[1,");
    ck_assert_str_eq(verdict_name(VERDICT_INCONCLUSIVE), "inconclusive");
    ck_assert_int_eq(operation_parse("discard", &operation), 0);
    ck_assert_int_eq(operation, OPERATION_DISCARD);
    ck_assert_int_eq(operation_parse("Read", &operation), -EINVAL);
    ck_assert_ptr_null(operation_name((enum operation)9));
}
END_TEST

START_TEST(a_new_finding_is_inconclusive_and_can_be_looked_up)
{
    static struct findings findings;

    findings.count = 0;
    ck_assert_ptr_null(findings_get(&findings, "clustered_page"));
    struct finding *f =
        findings_add(&findings, "clustered-page", "clustered_page");
    ck_assert_int_eq(f->verdict, VERDICT_INCONCLUSIVE);
    ck_assert_int_eq(f->value.kind, VALUE_NONE);
    ck_assert_double_eq(f->confidence, 0.0);
    ck_assert_ptr_eq(findings_get(&findings, "clustered_page"), f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report");
    TCase *cases = tcase_create("report");

    suite_add_tcase(suite, cases);
    tcase_add_test(cases, text_says_what_how_sure_and_why);
    tcase_add_test(cases, text_fits_its_columns);
    tcase_add_test(cases, text_wraps_between_words);
    tcase_add_test(cases, bytes_can_be_plain_and_serials_hidden);
    tcase_add_test(cases, colour_repeats_what_the_words_say);
    tcase_add_test(cases, a_full_disk_is_an_error);
    tcase_add_test(cases, json_has_every_key_when_nothing_is_known);
    tcase_add_test(cases, json_numbers_are_exact);
    tcase_add_test(cases,
                   json_states_cost_without_wall_time_for_emulated_drives);
    tcase_add_test(cases, json_is_utf8_whatever_the_drive_says);
    tcase_add_loop_test(cases, utf8_is_kept_and_other_bytes_replaced, 0,
                        sizeof(utf8_table) / sizeof(utf8_table[0]));
    tcase_add_test(cases, wrapped_words_of_others_reach_no_terminal);
    tcase_add_test(cases, an_assumed_value_is_called_so);
    tcase_add_test(cases, names_and_words_of_findings);
    tcase_add_test(cases, a_new_finding_is_inconclusive_and_can_be_looked_up);
    return suite_run(suite);
}
