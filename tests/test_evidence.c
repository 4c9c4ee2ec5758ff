/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was counted of each kind of evidence, and what findings may state by it.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "lib/infer/evidence.h"
#include "lib/infer/parameter.h"
#include "tests/suite_run.h"

START_TEST(forms_are_sentences_without_numbers)
{
    static const char *const cases[][2] = {
        {"a 4 KiB read takes 1.25 ms", "a N read takes N"},
        {"from 12 MB/s on, 3 times", "from N/s on, N times"},
        {"2 sequential reads of 64.", "N sequential reads of N."},
        {"60 %, or 1,024 B, at QD 32: 3k", "N, or N, at QD N: Nk"},
        {"none", "none"}};
    char form[EVIDENCE_FORM_MAX];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_str_eq(evidence_form(cases[i][0], form), cases[i][1]);
}
END_TEST

/* Wilson's interval, one-sided: the lower end of 30 of 30 is 30 / 32.706. */
START_TEST(counts_carry_so_much)
{
    ck_assert_double_eq_tol(evidence_most(0, 0), 0.9, 1e-9);
    ck_assert_double_eq_tol(evidence_most(29, 29), 0.9, 1e-9);
    ck_assert_double_eq_tol(evidence_most(30, 30), 30 / 32.706, 1e-4);
    ck_assert_double_eq_tol(evidence_most(300, 300), 300 / 302.706, 1e-4);
    ck_assert_double_eq_tol(evidence_most(100, 50), 0.4189, 1e-3);
    ck_assert_double_eq_tol(evidence_most(5, 0), 2.706 / 7.706, 1e-3);
    ck_assert_double_eq_tol(evidence_most(100, 0), 0, 1e-9);
    ck_assert(!evidence_misleads(0, 0) && !evidence_misleads(1, 0));
    ck_assert(evidence_misleads(3, 0) && evidence_misleads(55, 20));
    ck_assert(!evidence_misleads(32, 15));
}
END_TEST

START_TEST(rows_are_what_a_finding_may_say)
{
    char form[EVIDENCE_FORM_MAX];

    ck_assert_uint_gt(evidence_rows_count, 50);
    for (size_t i = 0; i < evidence_rows_count; i++) {
        const struct evidence *row = &evidence_rows[i];
        ck_assert_msg(parameter_unit(row->parameter) ||
                          strcmp(row->parameter, "smallest_request") == 0,
                      "%s is no parameter", row->parameter);
        ck_assert(strcmp(row->verdict, "found") == 0 ||
                  strcmp(row->verdict, "absent") == 0);
        ck_assert_uint_gt(row->cases_count, 0);
        ck_assert_uint_le(row->right_count, row->cases_count);
        ck_assert_str_eq(evidence_form(row->form, form), row->form);
        for (size_t j = 0; j < i; j++)
            ck_assert(strcmp(row->parameter, evidence_rows[j].parameter) != 0 ||
                      strcmp(row->verdict, evidence_rows[j].verdict) != 0 ||
                      strcmp(row->form, evidence_rows[j].form) != 0);
    }
}
END_TEST

/* ---- a probe that says what a row has ----------------------------------- */

static const struct evidence *said;

static void say(void *state, struct findings *findings)
{
    struct finding *finding = findings_add(findings, "basic", said->parameter);

    (void)state;
    if (strcmp(said->verdict, "absent") == 0)
        finding_absent(finding, 0.999);
    else
        finding_found(finding, value_integer(7), 0.999);
    finding_why(finding, "%s", said->form);
}

static struct finding conclude(const struct evidence *row,
                               enum probe_method method)
{
    const struct probe probe = {.name = "basic", .conclude = say};
    const struct setting setting = {.method = method};
    struct findings findings = {.count = 0};

    said = row;
    evidence_conclude(&probe, NULL, &setting, &findings);
    return findings.items[0];
}

START_TEST(findings_state_no_more_than_was_counted)
{
    const struct evidence new_one = {"read_ahead", "found", 0, 0,
                                     "a sentence that nobody counted"};
    size_t capped = 0, withdrawn = 0;

    for (size_t i = 0; i < evidence_rows_count; i++) {
        const struct evidence *row = &evidence_rows[i];
        if (!parameter_unit(row->parameter))
            continue;
        const double most = evidence_most(row->cases_count, row->right_count);
        const struct finding finding = conclude(row, METHOD_ADAPTIVE);
        if (evidence_misleads(row->cases_count, row->right_count)) {
            ck_assert_int_eq(finding.verdict, VERDICT_INCONCLUSIVE);
            ck_assert_int_eq(finding.value.kind, VALUE_NONE);
            ck_assert_ptr_nonnull(strstr(finding.why, "were right"));
            withdrawn++;
        } else {
            ck_assert_double_le(finding.confidence, most + 1e-9);
            ck_assert_str_eq(finding.why, row->form);
            capped++;
        }
    }
    ck_assert_uint_gt(capped, 20);
    printf("%zu kinds are stated, %zu were wrong too often\n", capped,
           withdrawn);
    ck_assert_double_eq_tol(conclude(&new_one, METHOD_ADAPTIVE).confidence, 0.9,
                            1e-9);
    ck_assert_double_eq_tol(conclude(&new_one, METHOD_PAPER).confidence, 0.999,
                            1e-9);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("evidence");
    TCase *cases = tcase_create("evidence");

    tcase_add_test(cases, forms_are_sentences_without_numbers);
    tcase_add_test(cases, counts_carry_so_much);
    tcase_add_test(cases, rows_are_what_a_finding_may_say);
    tcase_add_test(cases, findings_state_no_more_than_was_counted);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
