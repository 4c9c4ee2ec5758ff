/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does the drive keep what is written to it, in one word? */
#include <check.h>

#include "lib/infer/whole_verdict.h"
#include "tests/suite_run.h"

static const struct {
    const char *kind;   /* NULL: no such finding */
    int64_t real_bytes; /* below 0: inconclusive */
    enum drive_state state;
    uint64_t holds_bytes;
    bool overwrites;
} cases[] = {
    {NULL, -1, DRIVE_UNASKED, 0, false},
    {"genuine", 64000000000, DRIVE_OK, 0, false},
    {"wraps", 8589934592, DRIVE_FAKE, 8589934592, true},
    {"wraps", -1, DRIVE_FAKE, 0, true},
    {"drops", 8589934592, DRIVE_FAKE, 8589934592, false},
    {"drops", 0, DRIVE_BROKEN, 0, false},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

START_TEST(a_drive_has_one_verdict)
{
    static struct findings findings;

    findings.count = 0;
    struct finding *real = findings_add(&findings, "capacity", "real_capacity");
    if (cases[_i].real_bytes >= 0)
        finding_found(real, value_integer((uint64_t)cases[_i].real_bytes),
                      0.75);
    struct finding *kind = findings_add(&findings, "capacity", "capacity_kind");
    if (cases[_i].kind)
        finding_found(kind, value_text(cases[_i].kind), 0.999);
    const struct whole_verdict verdict = whole_verdict(&findings);
    ck_assert_int_eq(verdict.state, cases[_i].state);
    ck_assert_uint_eq(verdict.holds_bytes, cases[_i].holds_bytes);
    ck_assert_int_eq(verdict.overwrites, cases[_i].overwrites);
    /* Of a fake both are said, so the less certain one counts. */
    if (verdict.state == DRIVE_FAKE && cases[_i].real_bytes >= 0)
        ck_assert_double_eq(verdict.confidence, 0.75);
}
END_TEST

START_TEST(a_report_without_findings_has_none)
{
    ck_assert_int_eq(whole_verdict(NULL).state, DRIVE_UNASKED);
    ck_assert_ptr_null(drive_state_name(DRIVE_UNASKED));
    ck_assert_str_eq(drive_state_name(DRIVE_FAKE), "fake");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("verdict");

    tcase_add_loop_test(tcase, a_drive_has_one_verdict, 0, CASES);
    tcase_add_test(tcase, a_report_without_findings_has_none);
    Suite *suite = suite_create("whole_verdict");
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
