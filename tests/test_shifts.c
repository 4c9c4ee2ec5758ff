/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each limit of page_judge_size() in probes/clustered_page/certify.c, from both
 * sides. */
#include <check.h>
#include <math.h>

#include "probes/clustered_page/clustered_page.h"
#include "tests/suite_run.h"

/* A page that costs twice as much where it is in two. */
static const struct contrast of_page = {
    .n = {[PAGE_SIZE] = 64 * KIB}, .side = SIDE_ABOVE, .median = M_LN2};

START_TEST(each_part_of_a_page_costs_about_as_much)
{
    static const struct {
        double times;
        bool in_order;
        enum claim claim;
    } cases[] = {{1.25, false, CLAIM_FALLS}, {1.3, false, CLAIM_FALLS},
                 {1.4, false, CLAIM_HOLDS},  {2, false, CLAIM_HOLDS},
                 {4, false, CLAIM_HOLDS},    {5, false, CLAIM_FALLS},
                 {4, true, CLAIM_FALLS},     {5, true, CLAIM_HOLDS}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct contrast part = of_page;
        part.median = log(cases[i].times);
        ck_assert_msg(page_judge_size(&of_page, &part, cases[i].in_order) ==
                          cases[i].claim,
                      "%.2f", cases[i].times);
    }
}
END_TEST

/* Of eight pages: what one more costs them is an eighth of it, and twice that
 * is the most that any foreign page can explain (seed 800089: a page of 64 KiB
 * was refused where blocks had eight, and one of 192 KiB was stated). */
START_TEST(what_saves_more_than_a_page_says_nothing)
{
    static const struct {
        double median, high; /* of the interval */
        enum claim claim;
    } cases[] = {{0, 0.1, CLAIM_HOLDS},       {-0.2, -0.05, CLAIM_HOLDS},
                 {-1.05, -0.05, CLAIM_HOLDS}, {-0.1, -0.07, CLAIM_FALLS},
                 {-0.21, -0.19, CLAIM_FALLS}, {-0.24, -0.07, CLAIM_OPEN},
                 {-1.047, -0.065, CLAIM_OPEN}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct contrast longer = {
            .n = {[PAGE_SIZE] = 8 * of_page.n[PAGE_SIZE]},
            .side = SIDE_BELOW,
            .median = cases[i].median,
            .interval.high = cases[i].high};
        ck_assert_msg(page_judge_size(&of_page, &longer, false) ==
                          cases[i].claim,
                      "%.3f", cases[i].median);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shifts");
    TCase *tests = tcase_create("shifts");

    tcase_add_test(tests, each_part_of_a_page_costs_about_as_much);
    tcase_add_test(tests, what_saves_more_than_a_page_says_nothing);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
