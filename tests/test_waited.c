/* SPDX-License-Identifier: GPL-3.0-or-later */
/* content_longer() in probes/content/blocks.c: how many writes must have waited
 * for a block to be moved. */
#include <check.h>
#include <math.h>

#include "probes/content/content.h"
#include "tests/suite_run.h"

enum { WRITES = 32 };

static double moving[WRITES], staying[WRITES];

/* Of the writes that should wait, all but the first `fast` take four times as
 * long. */
static double longer(size_t fast)
{
    for (size_t i = 0; i < WRITES; i++) {
        moving[WRITES - 1 - i] = i < fast ? 1e6 : 4e6;
        staying[i] = 1e6;
    }
    return content_longer(moving, WRITES, staying, WRITES);
}

START_TEST(three_quarters_have_waited)
{
    ck_assert_double_eq_tol(longer(0), log(4), 1e-9);
    ck_assert_double_eq_tol(longer(WRITES / 4), log(4), 1e-9);
    ck_assert_double_eq_tol(longer(WRITES / 4 + 1), 0, 1e-9);
}
END_TEST

/* What a stall held up tells nothing of the others. */
START_TEST(what_is_held_up_counts_little)
{
    longer(0);
    for (size_t i = 0; i < WRITES / 2 - 1; i++)
        staying[i] = 1e9;
    ck_assert_double_eq_tol(content_longer(moving, WRITES, staying, WRITES),
                            log(4), 1e-9);
}
END_TEST

START_TEST(nothing_is_said_of_what_was_not_measured)
{
    longer(0);
    ck_assert_double_eq(content_longer(moving, 0, staying, WRITES), 0);
    ck_assert_double_eq(content_longer(moving, WRITES, staying, 0), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("waited");
    TCase *tests = tcase_create("waited");

    tcase_add_test(tests, three_quarters_have_waited);
    tcase_add_test(tests, what_is_held_up_counts_little);
    tcase_add_test(tests, nothing_is_said_of_what_was_not_measured);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
