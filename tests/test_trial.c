/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Experiments as rows: how cells are named after their numbers, in which order
 * arms are sent, and what becomes of their times. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/probes.h"
#include "probes/trial.h"
#include "tests/suite_run.h"

static void read_once(const struct trial *trial, char arm)
{
    trial_time(trial, arm, OPERATION_READ, trial_anywhere(trial, 4 * KIB),
               4 * KIB);
}

static void write_once(const struct trial *trial)
{
    trial_read(trial, 0, 4 * KIB);
    trial_write_flushed(trial, 'a', 0, 4 * KIB);
}

static bool of_writes(const struct trial *trial, double *ratio)
{
    double ns[1];

    if (!trial_flushed_ns(trial, 'a', 1, ns))
        return false;
    *ratio = log(ns[0]);
    return true;
}

static const struct trial_kind arms_kind =
                                   TRIAL_ARMS("gap{gap_kib}-{2far_mib}", 3, 1,
                                              read_once, stats_median),
                               round_kind =
                                   TRIAL_ROUND("once", write_once, of_writes);

static struct study *study_of(void)
{
    static const struct setting setting = {.region_length_bytes = 64 * MIB};
    static const struct study_ops ops = {.emit = trial_emit,
                                         .value = trial_value};
    static struct study study;

    study_init(&study, &probe_read_ahead, &ops, &setting);
    return &study;
}

/* Sends a round; an arm's requests take so long. */
static void measure(struct study *study, const struct contrast *contrast,
                    uint64_t a_ns, uint64_t b_ns, char sent[16])
{
    struct random random;
    struct step step;
    size_t count = 0;

    random_seed(&random, 7);
    trial_emit(study, "look", contrast, 0, &random);
    while (study_next(study, &step)) {
        const size_t length = strlen(step.label.cell);
        const char arm = length ? step.label.cell[length - 1] : '-';
        struct sample sample = {.operation = step.operation,
                                .label = step.label,
                                .length_bytes = (uint32_t)step.length_bytes,
                                .complete_ns = arm == 'a' ? a_ns : b_ns};
        sent[count++] = arm;
        ck_assert_int_eq(study_probe_feed(study, &sample), 0);
    }
    sent[count] = '\0';
}

START_TEST(names_have_the_numbers_in_their_units)
{
    const struct contrast contrast = trial_of(&arms_kind, 8 * KIB, 5, 3 * MIB);

    ck_assert_str_eq(contrast.name, "gap8-3");
    ck_assert_uint_eq(contrast.n[1], 5);
    ck_assert_ptr_eq(contrast.trial, &arms_kind);
    ck_assert_str_eq(trial_of(&round_kind, 4).name, "once");
}
END_TEST

START_TEST(arms_take_turns_and_their_times_are_compared)
{
    struct study *study = study_of();
    struct contrast contrast = trial_of(&arms_kind, 8 * KIB);
    char sent[16];
    double ratio;

    ck_assert(!trial_value(study, "look", &contrast, 0, NULL, &ratio));
    measure(study, &contrast, 1000, 3000, sent);
    ck_assert_uint_eq(strlen(sent), 6);
    for (size_t i = 0; i < 6; i += 2)
        ck_assert_int_ne(sent[i], sent[i + 1]);
    ck_assert(trial_value(study, "look", &contrast, 0, NULL, &ratio));
    ck_assert_double_eq_tol(ratio, log(3), 1e-12);
    contrast.predicted = log(3);
    ck_assert(trial_value(study, "look", &contrast, 0, NULL, &ratio));
    ck_assert_double_eq_tol(ratio, 0, 1e-12);
    study_free(study);
}
END_TEST

START_TEST(a_round_may_say_what_it_likes_of_its_rows)
{
    struct study *study = study_of();
    const struct contrast contrast = trial_of(&round_kind, 0);
    char sent[16];
    double ratio;

    measure(study, &contrast, 500, 0, sent);
    ck_assert_str_eq(sent, "-aa");
    ck_assert(trial_value(study, "look", &contrast, 0, NULL, &ratio));
    ck_assert_double_eq_tol(ratio, log(1000), 1e-12);
    study_free(study);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trial");
    TCase *tests = tcase_create("trial");

    tcase_add_test(tests, names_have_the_numbers_in_their_units);
    tcase_add_test(tests, arms_take_turns_and_their_times_are_compared);
    tcase_add_test(tests, a_round_may_say_what_it_likes_of_its_rows);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
