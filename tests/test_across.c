/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each limit of block_judge_counts() in probes/clustered_block_across.c, from both
 * sides. */
#include <check.h>
#include <stdlib.h>

#include "probes/clustered_block.h"
#include "tests/suite_run.h"

enum { COUNT = 2000, LENGTH = 10, DUE = COUNT / LENGTH };

/* Across pages so many percent more are slow than within. */
static enum claim judged(size_t within_count, size_t percent)
{
    const size_t due = within_count < DUE ? within_count : DUE;

    return block_judge_counts(within_count, within_count + due * percent / 100,
                              COUNT, LENGTH);
}

START_TEST(twice_as_many_are_slow_across_two_pages)
{
    static const struct {
        size_t percent;
        enum claim claim;
    } cases[] = {{0, CLAIM_FALLS},  {33, CLAIM_FALLS},  {50, CLAIM_FALLS},
                 {62, CLAIM_FALLS}, {68, CLAIM_OPEN},   {77, CLAIM_OPEN},
                 {83, CLAIM_HOLDS}, {100, CLAIM_HOLDS}, {117, CLAIM_HOLDS},
                 {123, CLAIM_OPEN}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        ck_assert_msg(judged(DUE, cases[i].percent) == cases[i].claim, "%zu %%",
                      cases[i].percent);
}
END_TEST

/* What noise makes slow is no sign of a page, nor need all be slow that are due. */
START_TEST(noise_is_left_out)
{
    ck_assert_int_eq(judged(2 * DUE, 100), CLAIM_HOLDS);
    ck_assert_int_eq(judged(2 * DUE, 50), CLAIM_FALLS);
    ck_assert_int_eq(judged(DUE / 2, 100), CLAIM_HOLDS);
    ck_assert_int_eq(block_judge_counts(0, DUE, COUNT, LENGTH), CLAIM_OPEN);
    ck_assert_int_eq(block_judge_counts(DUE, 0, COUNT, LENGTH), CLAIM_FALLS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("across");
    TCase *tests = tcase_create("across");

    tcase_add_test(tests, twice_as_many_are_slow_across_two_pages);
    tcase_add_test(tests, noise_is_left_out);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
