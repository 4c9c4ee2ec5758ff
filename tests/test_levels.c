/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How sure nand_judge() in probes/nand_type/levels.c is of the levels that it
 * counts in costs made for it. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "probes/nand_type/levels.h"
#include "tests/suite_run.h"

enum { BLOCKS = 24, PLACES = 96 };

/* What is said of blocks whose places take `levels` times in turn, each twice
 * as long as the one before. */
static enum nand_answer judge(size_t levels, double most, double program_ns,
                              struct findings *findings)
{
    static double costs[BLOCKS * PLACES], memory[4 * PLACES];
    struct nand_profile profile;
    struct random random;

    *findings = (struct findings){.count = 0};
    random_seed(&random, levels);
    for (size_t i = 0; i < BLOCKS * PLACES; i++)
        costs[i] = 13 + (double)(i % PLACES % levels) * M_LN2 +
                   0.02 * random_normal(&random);
    ck_assert_uint_le(nand_profile_bytes(BLOCKS, PLACES), sizeof(memory));
    nand_profile_make(costs, BLOCKS, PLACES, memory, &profile);
    const struct nand_given given = {16 * KIB, most, false, program_ns};
    return nand_judge(&given, costs, BLOCKS, &profile, findings);
}

static void check_stated(size_t levels, double most, struct findings *findings)
{
    ck_assert_int_eq(judge(levels, most, 300e3, findings), NAND_SAID);
    ck_assert_uint_eq(findings->count, 1);
    ck_assert_int_eq(findings->items[0].verdict, VERDICT_FOUND);
}

static const struct {
    const char *type;
    double confidence;
} of_levels[] = {{"SLC", 0.75}, {"MLC", 0.8}, {"TLC", 0.97}, {"QLC", 0.97}};

START_TEST(levels_are_counted_and_stated_as_often_as_they_are_right)
{
    static struct findings findings;

    check_stated((size_t)_i + 1, 1, &findings);
    ck_assert_str_eq(findings.items[0].value.text, of_levels[_i].type);
    ck_assert_double_eq_tol(findings.items[0].confidence,
                            of_levels[_i].confidence, 1e-9);
}
END_TEST

START_TEST(they_are_no_surer_than_what_they_rest_on)
{
    static struct findings findings;

    check_stated((size_t)_i + 1, 0.6, &findings);
    ck_assert_double_eq_tol(findings.items[0].confidence, 0.6, 1e-9);
}
END_TEST

/* A page with one bit a cell takes 0.7 ms at most: what takes longer is several
 * pages in one. That some levels are slow says nothing of that. */
START_TEST(one_level_is_one_bit_only_where_it_is_quick)
{
    static struct findings findings;

    ck_assert_int_eq(judge(1, 1, 700e3, &findings), NAND_SAID);
    ck_assert_int_eq(judge(1, 1, 900e3, &findings), NAND_LONG);
    ck_assert_uint_eq(findings.count, 0);
    ck_assert_int_eq(judge(2, 1, 900e3, &findings), NAND_SAID);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("levels");
    TCase *tests = tcase_create("levels");

    tcase_add_loop_test(
        tests, levels_are_counted_and_stated_as_often_as_they_are_right, 0, 4);
    tcase_add_loop_test(tests, they_are_no_surer_than_what_they_rest_on, 0, 4);
    tcase_add_test(tests, one_level_is_one_bit_only_where_it_is_quick);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
