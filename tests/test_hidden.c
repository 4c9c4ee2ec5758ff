/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each limit of probes/clustered_block/hidden.c, from both sides: walks behind
 * a pause in which a cache takes some writes, and then copies a block of its
 * own every so many. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "probes/clustered_block/clustered_block.h"
#include "tests/suite_run.h"

enum {
    LENGTH = 10,
    QUIET = 100,
    COPIES = 16,
    WRITES = QUIET + COPIES * LENGTH
};

static const double write_ns = 1e6, copy_ns = 2e7;
static double values[2 * WRITES], residuals[2 * WRITES];
static struct block_copying copying;

/* Writes of which some take `beyond_ns` more, every LENGTH of them from `first`
 * on. */
static void make(size_t count, size_t first, double beyond_ns)
{
    for (size_t i = 0; i < count; i++) {
        const bool slow = i >= first && i % LENGTH == 0;
        values[i] = log(write_ns + (slow ? beyond_ns : 0));
        residuals[i] = values[i] - log(write_ns);
    }
}

/* Of a cache whose copies took `copy_ns` when they were found. */
static bool judged(size_t count)
{
    const struct block_spikes spikes = {
        .rule = {.threshold = 0.1},
        .period = {.length = LENGTH, .excess = log1p(copy_ns / write_ns)}};
    const struct block_costs costs = {values, residuals, count};

    return block_judge_copies(&costs, &spikes, &copying);
}

START_TEST(copies_and_what_comes_before_them_are_measured)
{
    make(WRITES, QUIET, copy_ns);
    ck_assert(judged(WRITES));
    ck_assert_double_eq_tol(copying.ns, copy_ns, 1);
    ck_assert_uint_eq(copying.quiet_writes, QUIET);
}
END_TEST

START_TEST(a_few_copies_are_not_enough)
{
    make(WRITES, QUIET, copy_ns);
    ck_assert(!judged(WRITES - LENGTH));
}
END_TEST

START_TEST(an_emptied_cache_takes_a_block)
{
    make(WRITES, LENGTH, copy_ns);
    ck_assert(judged(WRITES));
    make(WRITES, 0, copy_ns);
    ck_assert(!judged(WRITES));
}
END_TEST

START_TEST(a_cache_must_be_full_by_the_middle)
{
    make(2 * WRITES, WRITES, copy_ns);
    ck_assert(judged(2 * WRITES));
    make(2 * WRITES, WRITES + LENGTH, copy_ns);
    ck_assert(!judged(2 * WRITES));
}
END_TEST

/* What it takes to begin a block of the cache is no copy. */
START_TEST(slow_writes_far_below_a_copy_are_none)
{
    make(WRITES, QUIET, 0.45 * copy_ns);
    ck_assert(!judged(WRITES));
    make(WRITES, QUIET, 0.55 * copy_ns);
    ck_assert(judged(WRITES));
}
END_TEST

static bool hidden(double times, size_t order_quiet, size_t anywhere_quiet)
{
    const struct block_copying in_order = {copy_ns, order_quiet};
    const struct block_copying anywhere = {times * copy_ns, anywhere_quiet};

    return block_judge_hidden(&in_order, &anywhere, LENGTH);
}

START_TEST(pages_from_anywhere_take_longer_where_logs_are_behind)
{
    ck_assert(!hidden(1, QUIET, QUIET));
    ck_assert(!hidden(4.9, QUIET, QUIET));
    ck_assert(hidden(5.1, QUIET, QUIET));
}
END_TEST

/* One write of a merge is enough, where none of those in order is near. */
START_TEST(one_write_may_show_a_merge)
{
    const struct block_copying in_order = {copy_ns, QUIET};
    const struct block_costs costs = {values, residuals, WRITES};

    make(WRITES, WRITES - LENGTH, 19 * copy_ns);
    ck_assert(!block_merges_for_sure(&costs, &in_order));
    make(WRITES, WRITES - LENGTH, 21 * copy_ns);
    ck_assert(block_merges_for_sure(&costs, &in_order));
}
END_TEST

/* Then what was copied may be what came before. */
START_TEST(nothing_is_told_of_a_cache_that_a_pause_does_not_empty)
{
    ck_assert(!hidden(1, QUIET, QUIET * 5 / 4 + LENGTH));
    ck_assert(hidden(1, QUIET, QUIET * 5 / 4 + LENGTH + 1));
    ck_assert(!hidden(1, QUIET * 5 / 4 + LENGTH, QUIET));
    ck_assert(hidden(1, QUIET * 5 / 4 + LENGTH + 1, QUIET));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hidden");
    TCase *tests = tcase_create("hidden");

    tcase_add_test(tests, copies_and_what_comes_before_them_are_measured);
    tcase_add_test(tests, a_few_copies_are_not_enough);
    tcase_add_test(tests, an_emptied_cache_takes_a_block);
    tcase_add_test(tests, a_cache_must_be_full_by_the_middle);
    tcase_add_test(tests, slow_writes_far_below_a_copy_are_none);
    tcase_add_test(tests,
                   pages_from_anywhere_take_longer_where_logs_are_behind);
    tcase_add_test(tests, one_write_may_show_a_merge);
    tcase_add_test(tests,
                   nothing_is_told_of_a_cache_that_a_pause_does_not_empty);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
