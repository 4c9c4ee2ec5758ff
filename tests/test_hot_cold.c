/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hot-cold: a drive that keeps hot data apart is told from one that does not;
 * where both would look alike, nothing is said. */
#include <math.h>

#include "lib/base/units.h"
#include "probes/hot_cold/hot_cold.h"
#include "probes/probes.h"
#include "tests/probing.h"
#include "tests/suite_run.h"

/* So small that its spare flash is soon used up. */
#define SMALL "sim:ssd-c,capacity_bytes=1GiB,spare_permille=100,noise=none"
#define NO_MEMORY "write_buffer=4096"

static struct probing probe_drive(const char *spec, const char *assume,
                                  unsigned seed)
{
    struct probing run = {.spec = spec,
                          .probe = &probe_hot_cold,
                          .before = &probe_steady_state,
                          .assume = assume,
                          .seed = seed,
                          .write_budget_bytes = 16 * GIB};

    probing_run(&run);
    return run;
}

START_TEST(one_stream_is_not_apart)
{
    const struct probing run =
        probe_drive(SMALL ",cleaning_blocks=shared", NO_MEMORY, 4);

    probing_says(&run, "hot_cold_separation", "false");
}
END_TEST

START_TEST(a_list_of_hot_data_keeps_it_apart)
{
    const struct probing run = probe_drive(
        SMALL ",hotness=lru,lru_hot_count=4000,lru_candidate_count=8000",
        NO_MEMORY, 5);

    probing_says(&run, "hot_cold_separation", "true");
}
END_TEST

/* ---- nothing is known --------------------------------------------------- */

static const struct open_case {
    const char *spec, *assume, *why;
} open_cases[] = {
    {SMALL, NULL, "write_buffer"},
    {SMALL, "write_buffer=16777216", "memory"},
    {"sim:kasi-two-level,capacity_bytes=1GiB,noise=none", NO_MEMORY, "before"},
    {"sim:ram-disk,capacity_bytes=1GiB,noise=none", NO_MEMORY, "before"},
};

START_TEST(what_would_look_alike_stays_open)
{
    const struct open_case *row = &open_cases[_i];
    const struct probing run = probe_drive(row->spec, row->assume, 1);
    const struct finding *finding = probing_get(&run, "hot_cold_separation");

    ck_assert_msg(finding->verdict == VERDICT_INCONCLUSIVE &&
                      strstr(finding->why, row->why),
                  "%s: %s", row->spec, finding->why);
}
END_TEST

/* ---- the closed form ---------------------------------------------------- */

/* p = e^(-a (1 - p)) of a uniform load; the copies that the model makes of both
 * (kasi-two-level, shared blocks, 15 % spare: 0.17 and 0.58). */
START_TEST(copies_are_those_of_the_closed_form)
{
    static const double spares[] = {1.2, 1.5, 2, 3, 4};

    for (size_t i = 0; i < sizeof(spares) / sizeof(spares[0]); i++) {
        const double spare = spares[i];
        const double copies = copies_uniform(spare);
        const double share = copies / (1 + copies);
        ck_assert_double_eq_tol(share, exp(-spare * (1 - share)), 1e-6);
        ck_assert_double_gt(copies_skewed(spare), 1.4 * copies);
    }
    ck_assert_double_eq_tol(copies_uniform(2.2), 0.17, 0.03);
    ck_assert_double_eq_tol(copies_skewed(2.2), 0.58, 0.05);
}
END_TEST

START_TEST(both_must_be_far_apart)
{
    static const struct {
        double low, high, share;
        enum hot_cold expected;
    } rows[] = {
        {0.85, 0.95, 0.5, HOT_COLD_APART}, {0.97, 1.01, 0.5, HOT_COLD_OPEN},
        {1.1, 1.2, 0.5, HOT_COLD_OPEN},    {1.3, 1.4, 0.5, HOT_COLD_TOGETHER},
        {1.25, 1.65, 0.5, HOT_COLD_OPEN},  {0.8, 0.99, 0.2, HOT_COLD_OPEN}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_msg(hot_cold_judge(rows[i].low, rows[i].high,
                                     rows[i].share) == rows[i].expected,
                      "row %zu", i);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hot-cold");
    TCase *cases = tcase_create("hot-cold");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, one_stream_is_not_apart);
    tcase_add_test(cases, a_list_of_hot_data_keeps_it_apart);
    tcase_add_loop_test(cases, what_would_look_alike_stays_open, 0,
                        suite_rows(sizeof(open_cases) / sizeof(open_cases[0])));
    tcase_add_test(cases, copies_are_those_of_the_closed_form);
    tcase_add_test(cases, both_must_be_far_apart);
    return suite_run(suite);
}
