/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which figures lead a page, and in place of which a line of text may stand. */
#include <check.h>
#include <string.h>

#include "lib/report/figure.h"
#include "probes/probes.h"
#include "tests/suite_run.h"

static struct findings findings;

static void begin(void)
{
    memset(&findings, 0, sizeof(findings));
}

static void add(const char *probe, const char *parameter, enum verdict verdict)
{
    findings_add(&findings, probe, parameter)->verdict = verdict;
}

START_TEST(a_figure_folds_where_all_of_it_is_absent)
{
    add("read-buffer", "read_buffer", VERDICT_ABSENT);
    add("mapping-reach", "mapping_reach", VERDICT_ABSENT);
    add("mapping-reach", "mapping_miss", VERDICT_INCONCLUSIVE);
    add("log-list", "log_list", VERDICT_ABSENT);
    add("log-list", "log_block", VERDICT_SKIPPED);
    add("nand-type", "nand_type", VERDICT_SKIPPED);
    add("stripe", "stripe_unit", VERDICT_FOUND);
    add("stripe", "parallel_units", VERDICT_ABSENT);
    ck_assert(figure_folds(&findings, "read-buffer"));
    ck_assert(!figure_folds(&findings, "mapping-reach"));
    ck_assert(figure_folds(&findings, "log-list"));
    ck_assert(!figure_folds(&findings, "nand-type"));
    ck_assert(!figure_folds(&findings, "stripe"));
    ck_assert(!figure_folds(&findings, "flush"));
}
END_TEST

START_TEST(a_figure_with_one_subject_folds_with_it)
{
    add("sustained-write", "fast_cache", VERDICT_ABSENT);
    add("sustained-write", "sustained_write_rate", VERDICT_FOUND);
    add("throughput", "read_parallelism", VERDICT_ABSENT);
    add("throughput", "random_read_rate", VERDICT_FOUND);
    ck_assert(figure_folds(&findings, "sustained-write"));
    ck_assert(!figure_folds(&findings, "queue-depth"));
    ck_assert(!figure_folds(&findings, "throughput"));
}
END_TEST

START_TEST(each_figure_of_two_runs_shows_a_probe)
{
    size_t count = 0;

    for (; figure_compared[count]; count++) {
        size_t i = 0;
        while (probes_all[i] && strcmp(probes_all[i]->name,
                                       figure_probe(figure_compared[count])))
            i++;
        /* What other tools measured has rows of no probe. */
        ck_assert_msg(probes_all[i] ||
                          strcmp(figure_compared[count], "matrix") == 0,
                      "%s shows no probe", figure_compared[count]);
    }
    ck_assert_uint_le(count, 7);
}
END_TEST

START_TEST(each_kind_shows_a_probe_that_answers_its_subject)
{
    bool led = true;

    for (const struct figure_kind *kind = figure_kinds; kind->name; kind++) {
        bool answered = false;
        ck_assert_str_eq(figure_probe(kind->name), kind->probe);
        ck_assert_msg(led || !kind->leads, "%s leads too late", kind->name);
        led = kind->leads;
        for (size_t i = 0; probes_all[i]; i++)
            for (size_t j = 0; j < PROBE_NEEDS_MAX && probes_all[i]->answers[j];
                 j++)
                answered |=
                    strcmp(probes_all[i]->name, kind->probe) == 0 &&
                    strcmp(probes_all[i]->answers[j], kind->subject) == 0;
        ck_assert_msg(answered, "%s: no probe answers it", kind->name);
    }
    ck_assert(figure_kinds[0].leads);
    ck_assert_str_eq(figure_probe("read-buffer"), "read-buffer");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("figure");
    TCase *cases = tcase_create("figure");

    suite_add_tcase(suite, cases);
    tcase_add_checked_fixture(cases, begin, NULL);
    tcase_add_test(cases, a_figure_folds_where_all_of_it_is_absent);
    tcase_add_test(cases, a_figure_with_one_subject_folds_with_it);
    tcase_add_test(cases, each_figure_of_two_runs_shows_a_probe);
    tcase_add_test(cases, each_kind_shows_a_probe_that_answers_its_subject);
    return suite_run(suite);
}
