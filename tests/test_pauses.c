/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each limit of probes/clustered_block/pauses.c, from both sides: legs of a
 * walk with pauses between, flat but for the slow writes that a case is made
 * of. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/clustered_block/clustered_block.h"
#include "tests/suite_run.h"

enum {
    LENGTH = 40, /* no part of a leg: slow places go on across a pause */
    LEG = 130,   /* three and a quarter of them */
    LEGS = BLOCK_PAUSES_COUNT + 1,
    PLACE = 7,
    PLACES_SEEN = 2 /* behind each pause */
};

static double values[LEGS * LEG], residuals[LEGS * LEG];
static size_t quiet_count;

static enum block_pauses judged(size_t legs, size_t length, double excess)
{
    const struct block_spikes spikes = {
        .rule = {.threshold = 0.1},
        .period = {.length = length, .excess = excess}};

    quiet_count = 0;
    return block_judge_pauses(values, residuals, LEG, legs, &spikes,
                              &quiet_count);
}

static void clear(void)
{
    memset(values, 0, sizeof(values));
    memset(residuals, 0, sizeof(residuals));
}

/* Slow at the places of one leg, `most` of them at the most. */
static void slow(size_t leg, size_t most, double above)
{
    size_t at = PLACE;

    while (at < leg * LEG)
        at += LENGTH;
    for (; most > 0 && at < (leg + 1) * LEG; at += LENGTH, most--)
        residuals[at] = above;
}

static void slow_everywhere(double above)
{
    for (size_t leg = 0; leg < LEGS; leg++)
        slow(leg, LEG, above);
}

START_TEST(what_comes_after_one_pause_is_the_same)
{
    clear();
    ck_assert_int_eq(judged(2, LENGTH, 2), BLOCK_PAUSES_UNTOLD);
    slow_everywhere(2);
    ck_assert_int_eq(judged(2, LENGTH, 2), BLOCK_PAUSES_SAME);
    /* Of two places behind it one is not enough. */
    clear();
    slow(0, LEG, 2);
    slow(1, 1, 2);
    ck_assert_int_eq(judged(2, LENGTH, 2), BLOCK_PAUSES_MORE);
}
END_TEST

/* Half as far above the rest is slow, in logarithms; where they were more than
 * four times as slow, twice as slow is. */
START_TEST(slow_is_half_of_what_it_was_or_twice)
{
    static const struct {
        double before, behind;
        enum block_pauses pauses;
    } cases[] = {
        {1.2, 0.65, BLOCK_PAUSES_SAME},  {1.2, 0.55, BLOCK_PAUSES_MORE},
        {4.0, 0.75, BLOCK_PAUSES_SAME},  {4.0, 0.65, BLOCK_PAUSES_MORE},
        {0.15, 0.11, BLOCK_PAUSES_SAME}, /* nor less than the rule's */
        {0.15, 0.09, BLOCK_PAUSES_MORE}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        clear();
        slow(0, LEG, cases[i].before);
        slow(1, LEG, cases[i].behind);
        ck_assert_msg(judged(2, LENGTH, cases[i].before) == cases[i].pauses,
                      "case %zu", i);
    }
}
END_TEST

/* Noise that comes twice at one place is not taken for the place; and of many
 * writes at a place, fewer than three in four need to be slow. */
START_TEST(a_place_is_slow_as_a_rule)
{
    enum { SHORT = 10, AT_PLACE = LEG / SHORT };

    clear();
    slow_everywhere(2);
    residuals[20] = residuals[20 + LENGTH] = 5;
    ck_assert_int_eq(judged(2, LENGTH, 2), BLOCK_PAUSES_SAME);

    for (size_t fast = 3; fast <= 4; fast++) {
        clear();
        for (size_t at = PLACE; at < (size_t)2 * LEG; at += SHORT)
            residuals[at] = at < fast * SHORT ? 0 : 2;
        ck_assert_int_eq(judged(2, SHORT, 2),
                         fast == 3 ? BLOCK_PAUSES_SAME : BLOCK_PAUSES_UNTOLD);
    }
    ck_assert_int_eq(AT_PLACE, 13);
}
END_TEST

/* Slow from the third place on, as where what is in front is full again. */
static void slow_when_full(void)
{
    for (size_t leg = 0; leg < LEGS; leg++) {
        size_t at = PLACE, place = 0;
        while (at < leg * LEG)
            at += LENGTH;
        for (; at < (leg + 1) * LEG; at += LENGTH, place++)
            if (leg == 0 || place >= PLACES_SEEN)
                residuals[at] = 2;
    }
}

/* Behind four pauses eight places are looked at: the same from five on, and
 * room for half or less of those that come when the drive is kept busy: a pause
 * may leave time for one alone. */
START_TEST(more_than_half_come_as_before)
{
    static const enum block_pauses told[] = {
        BLOCK_PAUSES_ROOM, BLOCK_PAUSES_ROOM, BLOCK_PAUSES_SAME,
        BLOCK_PAUSES_SAME};

    for (size_t come = 3; come <= 6; come++) {
        size_t left = come;
        clear();
        slow_when_full();
        for (size_t leg = LEGS - 1; leg > 0; leg--) {
            const size_t here = left < PLACES_SEEN ? left : PLACES_SEEN;
            slow(leg, here, 2);
            left -= here;
        }
        ck_assert_msg(judged(LEGS, LENGTH, 2) == told[come - 3], "%zu of 8",
                      come);
    }
}
END_TEST

/* Three of eight places behind pauses are slow, and of those that follow none:
 * it is not that the drive was left alone. */
START_TEST(what_comes_and_goes_says_nothing_of_pauses)
{
    clear();
    slow(0, LEG, 2);
    for (size_t leg = 2; leg < LEGS; leg++)
        slow(leg, 1, 2);
    ck_assert_int_eq(judged(LEGS, LENGTH, 2), BLOCK_PAUSES_UNTOLD);
    slow_when_full();
    ck_assert_int_eq(judged(LEGS, LENGTH, 2), BLOCK_PAUSES_ROOM);
}
END_TEST

static void cost_after_pauses(double ratio)
{
    for (size_t i = LEG; i < sizeof(values) / sizeof(*values); i++)
        values[i] = log(ratio);
}

/* A cache with room takes writes in less than 85 % of the time. */
START_TEST(room_in_a_cache_makes_writes_faster)
{
    clear();
    slow(0, LEG, 2);
    cost_after_pauses(0.83);
    ck_assert_int_eq(judged(LEGS, LENGTH, 2), BLOCK_PAUSES_PASSED);
    cost_after_pauses(0.87);
    ck_assert_int_eq(judged(LEGS, LENGTH, 2), BLOCK_PAUSES_ROOM);
    /* After each pause. */
    cost_after_pauses(0.83);
    for (size_t i = 0; i < LEG; i++)
        values[2 * LEG + i] = 0;
    ck_assert_int_eq(judged(LEGS, LENGTH, 2), BLOCK_PAUSES_ROOM);
}
END_TEST

START_TEST(the_longest_quiet_is_told)
{
    clear();
    slow(0, LEG, 2);
    ck_assert_int_eq(judged(LEGS, LENGTH, 2), BLOCK_PAUSES_ROOM);
    ck_assert_uint_eq(quiet_count, LEG);
    for (size_t leg = 1; leg < LEGS; leg++)
        residuals[PLACE + (leg * LEG / LENGTH + 3) * LENGTH] = 2;
    ck_assert_int_eq(judged(LEGS, LENGTH, 2), BLOCK_PAUSES_ROOM);
    /* From the last pause, at 520, to 647: the others come sooner. */
    ck_assert_uint_eq(quiet_count, 127);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pauses");
    TCase *tests = tcase_create("pauses");

    tcase_add_test(tests, what_comes_after_one_pause_is_the_same);
    tcase_add_test(tests, slow_is_half_of_what_it_was_or_twice);
    tcase_add_test(tests, a_place_is_slow_as_a_rule);
    tcase_add_test(tests, more_than_half_come_as_before);
    tcase_add_test(tests, what_comes_and_goes_says_nothing_of_pauses);
    tcase_add_test(tests, room_in_a_cache_makes_writes_faster);
    tcase_add_test(tests, the_longest_quiet_is_told);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
