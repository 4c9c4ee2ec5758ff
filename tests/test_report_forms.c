/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forms of a report that are made to be shared. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/report/markdown.h"
#include "lib/report/report.h"
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
    ck_assert_ptr_nonnull(strstr(text, "| 16 KiB | exactly | 75.0 % | found"));
    ck_assert_ptr_nonnull(strstr(text, "|  |  |  | inconclusive |"));
    ck_assert(strstr(text, "**Warning:**") < strstr(text, "| Parameter"));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t bars_count = 0;
        if (line[0] != '|')
            continue;
        for (const char *c = line; *c != '\n'; c++)
            bars_count += *c == '|' && c[-1] != '\\';
        ck_assert_uint_eq(bars_count, 7);
        rows_count++;
    }
    ck_assert_uint_eq(rows_count, 4);
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
    return suite_run(suite);
}
