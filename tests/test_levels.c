/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How sure nand_judge() in probes/nand_type/levels.c is of the levels that it
 * counts in costs made for it; and which kinds read_kinds_judge() in
 * probes/read_kinds.c sees in times of reads. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "probes/read_kinds.h"
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
    const struct nand_given given = {16 * KIB, most, program_ns};
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

enum { READ_PLACES = 600, SWEEPS = 9 };

struct made_kinds {
    size_t count;
    double ratio; /* of one to the one before */
    double
        first;  /* share of the quickest; the others have equal ones; 0: too */
    bool moves; /* places change their kind */
    unsigned bits;
};

START_TEST(reads_tell_bits_by_kinds_of_equal_shares_that_stay)
{
    static const struct made_kinds rows[] = {
        {1, 1.2, 0, false, 0},    {2, 1.2, 0, false, 2},
        {3, 1.2, 0, false, 3},    {4, 1.2, 0, false, 4},
        {3, 1.06, 0, false, 3},   {3, 1.02, 0, false, 0},
        {2, 1.2, 0.65, false, 0}, {3, 1.2, 0.5, false, 0},
        {2, 1.2, 0, true, 0},     {3, 1.8, 0, false, 0},
        {2, 1.2, 0.06, false, 0}, {4, 1.2, 0.058, false, 3}};
    static double ns[SWEEPS * READ_PLACES], scratch[3 * READ_PLACES];
    const struct made_kinds *made = &rows[_i];
    struct read_kinds kinds;
    struct random random;

    random_seed(&random, (uint64_t)_i);
    for (size_t i = 0; i < SWEEPS * READ_PLACES; i++) {
        const size_t place =
            made->moves ? random_below(&random, READ_PLACES) : i % READ_PLACES;
        const double part = (double)(place * 7 % READ_PLACES) / READ_PLACES;
        const double first =
            made->first > 0 ? made->first : 1 / (double)made->count;
        const double kind = part < first
                                ? 0
                                : 1 + floor((part - first) / (1 - first) *
                                            (double)(made->count - 1));
        ns[i] =
            50e3 * pow(made->ratio, kind) * exp(0.02 * random_normal(&random));
    }
    read_kinds_judge(ns, READ_PLACES, SWEEPS, scratch, &kinds);
    ck_assert_uint_eq(kinds.bits, made->bits);
    for (size_t i = 0; i + 1 < kinds.bits; i++)
        ck_assert_double_eq_tol(kinds.ns[i + 1] / kinds.ns[i], made->ratio,
                                0.01);
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
    tcase_add_loop_test(
        tests, reads_tell_bits_by_kinds_of_equal_shares_that_stay, 0, 12);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
