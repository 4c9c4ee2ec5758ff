/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Published experiments: what the papers say must come out does, in the very
 * tables that flashemu study prints. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/study/experiment.h"
#include "tests/suite_run.h"

/* With sanitizers every experiment runs, but not as long as its bounds need. */
static const double part = SUITE_SANITIZED ? 0.1 : 1;

/* Claims that one seed decides are run with eight only when there is time. */
static bool is_long(void)
{
    return getenv("SSDPROBE_TEST_LONG") != NULL;
}

static struct experiment_table *table_of(const struct experiment *experiment)
{
    struct experiment_table *table = calloc(1, sizeof(*table));
    struct experiment_settings settings = {
        .seed = 1, .scale = 1, .one_seed = !is_long()};
    struct fault why = {FAULT_NONE, ""};

    ck_assert_ptr_nonnull(table);
    if (experiment->test_scale > 0)
        settings.scale = experiment->test_scale;
    settings.scale *= part;
    ck_assert_msg(experiment_run(experiment, &settings, table, &why) == 0,
                  "%s: %s", experiment->name, why.text);
    return table;
}

static void judge_verdict(const struct experiment *experiment,
                          const struct experiment_trend *trend,
                          enum experiment_verdict verdict)
{
    bool told = trend->by_seed || verdict == EXPERIMENT_CANNOT_FOLLOW;
    bool inside = trend->ours >= trend->low && trend->ours <= trend->high;

    ck_assert_int_ne(verdict, EXPERIMENT_MISSED);
    ck_assert(verdict != EXPERIMENT_CANNOT_FOLLOW || trend->reason);
    /* A reason for what does hold would be wrong. */
    ck_assert_msg(told || inside == !trend->reason,
                  "%s: %s: %g %s, must %s in %g .. %g", experiment->name,
                  trend->claim, trend->ours, trend->unit,
                  trend->reason ? "not be" : "be", trend->low, trend->high);
    /* Were it always or never so, no seed would decide; and what one decides
     * is to be said. */
    bool some = trend->held_count > 0 && trend->held_count < trend->seeds_count;
    ck_assert_msg(!is_long() || trend->seeds_count == 1 ||
                      trend->cannot_follow || some == trend->by_seed,
                  "%s: %s: with %u of %u seeds", experiment->name, trend->claim,
                  trend->held_count, trend->seeds_count);
}

START_TEST(what_the_paper_says_comes_out)
{
    const struct experiment *experiment = experiments[_i];
    struct experiment_table *table = table_of(experiment);

    ck_assert_uint_gt(table->trends_count, 0);
    ck_assert_uint_gt(table->values_count, 0);
    for (size_t i = 0; i < table->trends_count; i++) {
        const struct experiment_trend *trend = &table->trends[i];
        enum experiment_verdict verdict = experiment_judge(trend);
        if (part == 1)
            judge_verdict(experiment, trend, verdict);
        /* The bound is the paper's own. */
        ck_assert_msg(isnan(trend->paper) || (trend->paper >= trend->low &&
                                              trend->paper <= trend->high),
                      "%s: %s: the paper's %g is not in %g .. %g",
                      experiment->name, trend->claim, trend->paper, trend->low,
                      trend->high);
    }
    free(table);
}
END_TEST

START_TEST(every_experiment_says_what_it_is)
{
    const struct experiment *experiment = experiments[_i];
    size_t length = strlen(experiment->question);

    ck_assert_ptr_eq(experiment_find(experiment->name), experiment);
    ck_assert_int_eq(experiment->question[length - 1], '?');
    ck_assert_uint_gt(strlen(experiment->source), 0);
    ck_assert_uint_gt(strlen(experiment->setting), 0);
    ck_assert(experiment->test_scale >= 0 && experiment->test_scale <= 1);
}
END_TEST

START_TEST(a_trend_is_judged_by_its_bound)
{
    struct experiment_trend trend = {
        .ours = 5, .low = 5, .high = 6, .reason = NULL};

    ck_assert_int_eq(experiment_judge(&trend), EXPERIMENT_HOLDS);
    trend.ours = 6.001;
    ck_assert_int_eq(experiment_judge(&trend), EXPERIMENT_MISSED);
    trend.reason = "it cannot";
    ck_assert_int_eq(experiment_judge(&trend), EXPERIMENT_DOES_NOT_HOLD);
    trend.ours = NAN;
    ck_assert_int_eq(experiment_judge(&trend), EXPERIMENT_DOES_NOT_HOLD);
    trend.by_seed = true;
    ck_assert_int_eq(experiment_judge(&trend), EXPERIMENT_BY_SEED);
    trend.cannot_follow = true;
    ck_assert_int_eq(experiment_judge(&trend), EXPERIMENT_CANNOT_FOLLOW);
    trend = (struct experiment_trend){.ours = 5, .high = 6, .calibrated = true};
    ck_assert_int_eq(experiment_judge(&trend), EXPERIMENT_CALIBRATED);
    trend.ours = 7;
    ck_assert_int_eq(experiment_judge(&trend), EXPERIMENT_MISSED);
    trend.by_seed = true;
    ck_assert_int_eq(experiment_judge(&trend), EXPERIMENT_CALIBRATED);
    ck_assert_ptr_null(experiment_find("no-such-study"));
}
END_TEST

int main(void)
{
    int count = 0;
    while (experiments[count])
        count++;
    Suite *suite = suite_create("experiments");
    TCase *papers = tcase_create("papers");
    tcase_set_timeout(papers, 60);
    tcase_add_loop_test(papers, what_the_paper_says_comes_out, 0, count);
    tcase_add_loop_test(papers, every_experiment_says_what_it_is, 0, count);
    tcase_add_test(papers, a_trend_is_judged_by_its_bound);
    suite_add_tcase(suite, papers);
    return suite_run(suite);
}
