/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each limit of probes/clustered_block/folds.c, from both sides: walks in which
 * a cache copies a block of its own every so many writes, some copies
 * slower. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/clustered_block/clustered_block.h"
#include "tests/suite_run.h"

enum {
    LENGTH = 10,
    PLACE = 3,
    COPIES = 400,
    WRITES = COPIES * LENGTH,
    COPIED_MAX = 20
};

static double residuals[WRITES];
static struct block_folds folds;

static enum claim judged_of(size_t copies, size_t copied)
{
    static uint32_t scratch[BLOCK_COPIES_MAX * COPIED_MAX][2];

    ck_assert_uint_le(copied, COPIED_MAX);
    return block_judge_folds(residuals, copies * LENGTH, LENGTH, copied, 0.1,
                             scratch, &folds);
}

static enum claim judged(size_t copies)
{
    return judged_of(copies, LENGTH);
}

static double *copy(size_t i)
{
    return &residuals[i * LENGTH + PLACE];
}

/* Does a block of `units` begin with copy i? Which, if so, counted from one. */
static size_t begins(size_t i, size_t units)
{
    const size_t before = (i * LENGTH + units - 1) / units;
    const size_t behind = ((i + 1) * LENGTH + units - 1) / units;

    return behind > before ? behind : 0;
}

/* Copies cost `low`, and `above` more where a block begins. */
static void make(size_t units, double low, double above)
{
    memset(residuals, 0, sizeof(residuals));
    for (size_t i = 0; i < COPIES; i++)
        *copy(i) = low + (begins(i, units) ? above : 0);
}

START_TEST(what_slower_copies_are_apart_is_a_block)
{
    static const size_t units[] = {20, 23, 29, 30, 31, 33, 47, 79};

    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        make(units[i], 2, 1);
        ck_assert_msg(judged(COPIES) == CLAIM_HOLDS, "%zu", units[i]);
        ck_assert_uint_eq(folds.units, units[i]);
        ck_assert_double_eq_tol(folds.excess, 1, 1e-9);
    }
}
END_TEST

/* A page more or less shows in what comes later. */
START_TEST(few_blocks_do_not_tell_to_the_page)
{
    make(30, 2, 1);
    ck_assert_int_eq(judged(32), CLAIM_OPEN);
    ck_assert_int_eq(judged(45), CLAIM_OPEN);
    ck_assert_int_eq(judged(120), CLAIM_HOLDS);
    /* Of twenty blocks of three copies of twenty, one page more changes none;
     * of 23 it does for three, which may be noise; of 26 for too many. */
    ck_assert_int_eq(judged_of(61, 20), CLAIM_OPEN);
    ck_assert_int_eq(judged_of(69, 20), CLAIM_OPEN);
    ck_assert_int_eq(judged_of(78, 20), CLAIM_HOLDS);
    ck_assert_uint_eq(folds.units, 60);
    make(31, 2, 1);
    ck_assert_int_eq(judged(45), CLAIM_OPEN);
    ck_assert_int_eq(judged(120), CLAIM_HOLDS);
    ck_assert_uint_eq(folds.units, 31);
}
END_TEST

/* The first copies of a walk may be missing; a cache takes in what was
 * written. */
START_TEST(a_cache_may_have_to_fill_first)
{
    make(30, 2, 1);
    memset(residuals, 0, 230 * LENGTH * sizeof(*residuals));
    ck_assert_int_eq(judged(COPIES), CLAIM_HOLDS);
    ck_assert_uint_eq(folds.units, 30);
    memset(residuals, 0, sizeof(residuals));
    ck_assert_int_eq(judged(COPIES), CLAIM_OPEN);
}
END_TEST

/* Of ten blocks, six must show; where every second does, the block is twice as
 * long, or what is left of the other half of them would do. */
START_TEST(most_blocks_show)
{
    for (size_t shown = 5; shown <= 6; shown++) {
        make(30, 2, 1);
        for (size_t i = 0; i < COPIES; i++)
            if (begins(i, 30) * 7 % 10 >= shown)
                *copy(i) = 2;
        ck_assert_msg(judged(COPIES) == (shown == 6 ? CLAIM_HOLDS : CLAIM_OPEN),
                      "%zu of 10", shown);
    }
}
END_TEST

/* Copies that are slower as well, for each twenty at the begin of a block. */
START_TEST(few_other_copies_are_as_slow)
{
    for (size_t others = 2; others <= 3; others++) {
        make(30, 2, 1);
        for (size_t i = 0; i + 2 < COPIES; i++)
            if (begins(i, 30) * 7 % 20 < others && begins(i, 30))
                *copy(i + 1 + i % 2) = 3;
        ck_assert_msg(judged(COPIES) ==
                          (others == 2 ? CLAIM_HOLDS : CLAIM_OPEN),
                      "%zu of 20", others);
    }
}
END_TEST

/* Some are on one chip with the block behind and take longer as well, in ways
 * that differ by less than half of what blocks cost. */
START_TEST(what_copies_cost_besides_is_less)
{
    for (int wide = 0; wide < 2; wide++) {
        make(30, 2, 1);
        for (size_t i = 0; i < COPIES; i++)
            if (!begins(i, 30))
                *copy(i) +=
                    i % 2 ? -1
                          : (wide ? 0.035 : 0.028) * (int)(i * 7 % 19) - 0.3;
        ck_assert_int_eq(judged(COPIES), wide ? CLAIM_OPEN : CLAIM_HOLDS);
    }
    make(30, 2, 0.22);
    ck_assert_int_eq(judged(COPIES), CLAIM_HOLDS);
    make(30, 2, 0.18);
    ck_assert_int_eq(judged(COPIES), CLAIM_OPEN);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("folds");
    TCase *tests = tcase_create("folds");

    tcase_add_test(tests, what_slower_copies_are_apart_is_a_block);
    tcase_add_test(tests, few_blocks_do_not_tell_to_the_page);
    tcase_add_test(tests, a_cache_may_have_to_fill_first);
    tcase_add_test(tests, most_blocks_show);
    tcase_add_test(tests, few_other_copies_are_as_slow);
    tcase_add_test(tests, what_copies_cost_besides_is_less);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
