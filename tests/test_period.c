/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each limit of lib/infer/statistics/period.c, from both sides: costs that are
 * flat but for the slow places that a case is made of. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/infer/statistics/period.h"
#include "tests/suite_run.h"

enum { LENGTH = 64, PERIODS_MAX = 20, VALUES_MAX = LENGTH * PERIODS_MAX };

static double values[VALUES_MAX];

/* Slow at `phase` in the first `count` periods. */
static void slow(size_t phase, size_t count, double cost)
{
    for (size_t i = 0; i < count; i++)
        values[i * LENGTH + phase] = cost;
}

static bool is_certified(size_t periods, size_t phase, double threshold)
{
    const struct period_rule rule = {
        .lag = 1, .ceiling = INFINITY, .threshold = threshold, .share = 0.001};
    struct period period = {.length = LENGTH, .phase = phase};
    bool certified;

    ck_assert_int_eq(
        period_certify(values, periods * LENGTH, 0, &rule, &period, &certified),
        0);
    return certified;
}

static bool is_found(size_t periods)
{
    const struct period_dead dead = {.count = 0};
    struct period_rule rule;
    struct period period;
    int error = period_search(values, periods * LENGTH, &dead, &rule, &period);

    ck_assert(error == 0 || error == -ENOENT);
    if (error == 0)
        ck_assert_uint_eq(period.length, LENGTH);
    return error == 0;
}

static void clear(void)
{
    memset(values, 0, sizeof(values));
}

/* Six in ten of the predicted places must be slow. */
START_TEST(hits_are_most_of_the_places)
{
    clear();
    slow(5, 13, 1);
    ck_assert(is_certified(20, 5, 0.3));
    clear();
    slow(5, 11, 1);
    ck_assert(!is_certified(20, 5, 0.3));
}
END_TEST

/* Another place may be slow half as often. */
START_TEST(other_places_are_slow_less_often)
{
    clear();
    slow(5, 14, 1);
    slow(37, 6, 1);
    ck_assert(is_certified(20, 5, 0.3));
    slow(37, 9, 1);
    ck_assert(!is_certified(20, 5, 0.3));
}
END_TEST

/* Chance would show three such places once in 1e5 continuations, and four once
 * in 7e6: one in a million will do. */
START_TEST(few_places_are_chance)
{
    clear();
    slow(5, 20, 1);
    ck_assert(!is_certified(3, 5, 0.3));
    ck_assert(is_certified(4, 5, 0.3));
}
END_TEST

/* No other part of the period comes nearer than three tenths, be it below what
 * counts as slow. */
START_TEST(the_place_stands_alone)
{
    clear();
    slow(5, 20, 1);
    slow(37, 20, 0.65);
    ck_assert(is_certified(20, 5, 0.85));
    slow(37, 20, 0.8);
    ck_assert(!is_certified(20, 5, 0.85));
}
END_TEST

/* Half of what the slow places have above their neighbours. */
START_TEST(a_slower_page_is_no_place)
{
    clear();
    slow(5, 20, 1);
    slow(37, 20, 0.45);
    ck_assert(is_certified(20, 5, 0.3));
    slow(37, 20, 0.55);
    ck_assert(!is_certified(20, 5, 0.3));
}
END_TEST

/* A drive catches up over a sixteenth of the period, on either side. */
START_TEST(what_follows_belongs_to_the_place)
{
    static const size_t belonging[] = {7, 61}, others[] = {8, 60};

    for (int i = 0; i < 2; i++) {
        clear();
        slow(2, 20, 1);
        slow(belonging[i], 20, 1);
        ck_assert_msg(is_certified(20, 2, 0.3), "%zu", belonging[i]);
        clear();
        slow(2, 20, 1);
        slow(others[i], 20, 1);
        ck_assert_msg(!is_certified(20, 2, 0.3), "%zu", others[i]);
    }
}
END_TEST

/* What is in the continuation counts, not what came before it. */
START_TEST(the_search_proves_nothing)
{
    const struct period_rule rule = {
        .lag = 1, .ceiling = INFINITY, .threshold = 0.3, .share = 0.01};
    struct period period = {.length = LENGTH, .phase = 5};
    bool certified;

    clear();
    slow(5, 10, 1);
    ck_assert_int_eq(period_certify(values, VALUES_MAX, 10 * LENGTH, &rule,
                                    &period, &certified),
                     0);
    ck_assert(!certified);
    ck_assert_uint_eq(period.hits, 0);
    ck_assert_uint_eq(period.trials, 10);
}
END_TEST

/* Half of the places, and a chance of one in 1e4 searches. */
START_TEST(proposals_are_likely)
{
    clear();
    slow(5, 10, 1);
    ck_assert(is_found(16));
    clear();
    slow(5, 7, 1);
    ck_assert(!is_found(16));
    clear();
    slow(5, 5, 1);
    ck_assert(is_found(8));
    clear();
    slow(5, 4, 1);
    ck_assert(!is_found(8));
}
END_TEST

/* A twentieth more is slow, where nothing else varies. */
START_TEST(less_than_a_twentieth_is_not_slow)
{
    clear();
    slow(5, 16, 0.06);
    ck_assert(is_found(16));
    clear();
    slow(5, 16, 0.04);
    ck_assert(!is_found(16));
}
END_TEST

/* Three levels in turn, from the first again with each period: they repeat best
 * a period apart, where the slow places are as well. */
START_TEST(a_pattern_that_begins_anew_hides_no_period)
{
    for (size_t i = 0; i < VALUES_MAX; i++)
        values[i] = 0.4 * (double)(i % LENGTH % 3);
    ck_assert(!is_found(20));
    slow(5, 20, 3);
    ck_assert(is_found(20));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("period");
    TCase *tests = tcase_create("limits");

    tcase_add_test(tests, hits_are_most_of_the_places);
    tcase_add_test(tests, other_places_are_slow_less_often);
    tcase_add_test(tests, few_places_are_chance);
    tcase_add_test(tests, a_pattern_that_begins_anew_hides_no_period);
    tcase_add_test(tests, the_place_stands_alone);
    tcase_add_test(tests, a_slower_page_is_no_place);
    tcase_add_test(tests, what_follows_belongs_to_the_place);
    tcase_add_test(tests, the_search_proves_nothing);
    tcase_add_test(tests, proposals_are_likely);
    tcase_add_test(tests, less_than_a_twentieth_is_not_slow);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
