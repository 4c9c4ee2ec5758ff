/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each limit of block_judge_counts() in probes/clustered_block/compare.c, from
 * both sides, and of block_borders_alike() in
 * probes/clustered_block/borders.c. */
#include <check.h>
#include <stdlib.h>

#include "probes/clustered_block/clustered_block.h"
#include "tests/suite_run.h"

enum { COUNT = 2000, LENGTH = 10, DUE = COUNT / LENGTH };

static enum claim judge(size_t within_count, size_t across_count)
{
    const struct block_counted within = {.slow_count = within_count};
    const struct block_counted across = {.slow_count = across_count};

    return block_judge_counts(&within, &across, COUNT, LENGTH);
}

/* Across pages so many percent more are slow than within. */
static enum claim judged(size_t within_count, size_t percent)
{
    const size_t due = within_count < DUE ? within_count : DUE;

    return judge(within_count, within_count + due * percent / 100);
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

/* What noise makes slow is no sign of a page, nor need all be slow that are
 * due. */
START_TEST(noise_is_left_out)
{
    ck_assert_int_eq(judged(2 * DUE, 100), CLAIM_HOLDS);
    ck_assert_int_eq(judged(2 * DUE, 50), CLAIM_FALLS);
    ck_assert_int_eq(judged(DUE / 2, 100), CLAIM_HOLDS);
    ck_assert_int_eq(judge(0, DUE), CLAIM_OPEN);
    ck_assert_int_eq(judge(DUE, 0), CLAIM_FALLS);
}
END_TEST

/* Pieces across two pages cost more, and beside others that cost what those
 * within a page do they all look slow; where each costs more, or none, they
 * tell nothing (seed 780116: a page of 1 MiB was taken for one of 512 KiB). */
START_TEST(some_that_touch_one_page_show_beside_others)
{
    static const struct {
        double low, high;
        enum claim claim;
    } cases[] = {{0.02, 0.69, CLAIM_FALLS}, {0.08, 0.29, CLAIM_FALLS},
                 {0.13, 0.69, CLAIM_HOLDS}, {0.02, 0.24, CLAIM_HOLDS},
                 {0.69, 0.72, CLAIM_HOLDS}, {-0.05, 0, CLAIM_HOLDS}};
    const struct block_counted within = {DUE, 10, 10.02};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct block_counted across = {2 * DUE, 10 + cases[i].low,
                                             10.02 + cases[i].high};
        ck_assert_msg(block_judge_counts(&within, &across, COUNT, LENGTH) ==
                          cases[i].claim,
                      "case %zu", i);
    }
}
END_TEST

enum { BORDERS = 96 };

/* Of all borders in turn, each `every`th saves more than `higher` of 100
 * others. */
static bool alike(uint64_t every, uint32_t higher)
{
    double ratios[BORDERS];
    uint64_t indexes[BORDERS];

    for (uint32_t i = 0; i < BORDERS; i++) {
        const bool own = i % every == every - 1;
        indexes[i] = 1000 + i;
        /* Others are 0 to 99, as chance has it. */
        const uint32_t other = (i + 1) * UINT32_C(2654435761) / 65536 % 100;
        ratios[i] = own ? higher - 0.5 : other;
    }
    return block_borders_alike(ratios, indexes, BORDERS);
}

/* Rows of a block save something as well, but less than where it begins. */
START_TEST(rows_of_a_block_are_no_blocks)
{
    for (uint64_t every = 2; every <= 8; every++) {
        ck_assert_msg(!alike(every, 100), "every %u", (unsigned)every);
        ck_assert_msg(alike(every, 50), "every %u", (unsigned)every);
    }
    ck_assert(!alike(4, 95));
    ck_assert(alike(4, 70));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("across");
    TCase *tests = tcase_create("across");

    tcase_add_test(tests, twice_as_many_are_slow_across_two_pages);
    tcase_add_test(tests, noise_is_left_out);
    tcase_add_test(tests, some_that_touch_one_page_show_beside_others);
    tcase_add_test(tests, rows_of_a_block_are_no_blocks);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
