/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A course that recurs without any value that stands out: its length, what
 * recurs in it, its pause, and what must not count as one. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "lib/infer/statistics/recurrence.h"
#include "tests/suite_run.h"

enum { COUNT = 16384, LENGTH = 60, PART = 12, ROUND = 4095 };

static double values[COUNT];

/* Log costs around that of 100 us. */
static void noise(double sigma)
{
    struct random random;

    random_seed(&random, 1);
    for (size_t i = 0; i < COUNT; i++)
        values[i] = log(1e5) + sigma * random_normal(&random);
}

/* Each write at places first, first + length, ... takes so many times as
 * long. */
static void slow(size_t first, size_t length, double times)
{
    for (size_t i = first; i < COUNT; i += length)
        values[i] += log(times);
}

static struct recurrence found(void)
{
    struct recurrence found;
    const int error = recurrence_find(values, COUNT, ROUND, &found);

    ck_assert(error == 0 || error == -ENOENT);
    ck_assert_int_eq(error == 0, found.length > 0);
    return found;
}

/* An eighth of the course takes a twentieth longer, a fifth of the noise. */
START_TEST(a_course_needs_no_slow_write)
{
    noise(0.25);
    for (size_t i = 20; i < 28; i++)
        slow(i, LENGTH, 1.2);
    const struct recurrence one = found();
    ck_assert_uint_eq(one.length, LENGTH);
    ck_assert_uint_eq(one.part, 1);
}
END_TEST

START_TEST(noise_has_no_course)
{
    noise(0.25);
    ck_assert_uint_eq(found().length, 0);
}
END_TEST

/* Programs pause each twelfth write, and one in five of them for longer. */
START_TEST(a_pause_is_told_from_what_recurs_in_parts)
{
    noise(0.02);
    slow(7, PART, 20);
    slow(31, LENGTH, 2);
    const struct recurrence one = found();
    ck_assert_uint_eq(one.length, LENGTH);
    ck_assert(one.part > 1 && PART % one.part == 0);
    ck_assert_double_eq_tol(one.pause, 20e5, 1e5);
    ck_assert_double_eq_tol(one.course, 60e5 + 5 * 19e5 + 20e5, 2e5);
}
END_TEST

/* Parts alone are the course. */
START_TEST(the_shortest_length_is_the_course)
{
    noise(0.02);
    slow(7, PART, 20);
    ck_assert_uint_eq(found().length, PART);
}
END_TEST

/* What comes at one place of each round does not: places are elsewhere in the
 * next. */
START_TEST(places_in_a_round_are_no_course)
{
    noise(0.02);
    for (size_t i = 0; i < COUNT; i++)
        if (i % ROUND % 16 == 3)
            values[i] += 1;
    ck_assert_uint_eq(found().length, 0);
}
END_TEST

START_TEST(both_halves_must_agree)
{
    noise(0.02);
    for (size_t i = 0; i < COUNT / 2; i++)
        values[i] += i % LENGTH == 5;
    for (size_t i = COUNT / 2; i < COUNT; i++)
        values[i] += i % 56 == 5;
    ck_assert_uint_eq(found().length, 0);
}
END_TEST

/* Of writes that are a tenth as long it takes ten times as many to the same
 * bytes; where each uses up as much as a longer one, it takes as many. */
START_TEST(shorter_writes_tell_bytes_from_requests)
{
    noise(0.02);
    slow(5, 10 * LENGTH, 3);
    ck_assert(recurrence_is_at(values, COUNT, 10 * LENGTH));
    ck_assert(!recurrence_is_at(values, 10 * 10 * LENGTH, 10 * LENGTH));
    slow(5, LENGTH, 3);
    ck_assert(recurrence_is_at(values, COUNT, 10 * LENGTH));
    noise(0.02);
    slow(5, LENGTH, 3);
    ck_assert(!recurrence_is_at(values, COUNT, 10 * LENGTH));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recurrence");
    TCase *tests = tcase_create("courses");

    tcase_add_test(tests, a_course_needs_no_slow_write);
    tcase_add_test(tests, noise_has_no_course);
    tcase_add_test(tests, a_pause_is_told_from_what_recurs_in_parts);
    tcase_add_test(tests, the_shortest_length_is_the_course);
    tcase_add_test(tests, places_in_a_round_are_no_course);
    tcase_add_test(tests, both_halves_must_agree);
    tcase_add_test(tests, shorter_writes_tell_bytes_from_requests);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
