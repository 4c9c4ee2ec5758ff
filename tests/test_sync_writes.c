/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sync-writes: the times and rates of commits are those of the model; where a
 * drive is too slow for enough of them, nothing is said of the longest. */
#include "lib/flash/drive/drive.h"
#include "lib/oracle/seen.h"
#include "probes/probes.h"
#include "tests/probing.h"
#include "tests/suite_run.h"

static const char *const parameters[] = {"sync_write_p99", "sync_write_p999",
                                         "sync_write_rate",
                                         "sync_write_rate_16"};

static struct probing probe_drive(const char *spec)
{
    struct probing run = {.spec = spec, .probe = &probe_sync_writes, .seed = 2};

    probing_run(&run);
    return run;
}

/* ---- what the files state ------------------------------------------------ */

static const char *const drives[] = {"sim:nvme-p4510",    "sim:sata-pm883",
                                     "sim:nvme-980-pro",  "sim:sata-mlc",
                                     "sim:nvme-dramless", "sim:card-evo-plus",
                                     "sim:stick-dt-max"};

/* A rate wanders by so much. */
static const double near_share = 0.2;

START_TEST(it_is_what_the_file_states)
{
    const struct probing run = probe_drive(drives[_i]);
    struct drive drive;
    struct fault why;
    int found = 0;

    ck_assert_int_eq(drive_load(drives[_i] + strlen("sim:"), &drive, &why), 0);
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
        const struct finding *finding = probing_get(&run, parameters[i]);
        const char *truth = drive_truth(&drive, parameters[i]);
        ck_assert_ptr_nonnull(truth);
        const double value = strtod(truth, NULL);
        if (finding->verdict != VERDICT_FOUND || value <= 0)
            continue;
        found++;
        ck_assert_msg(
            (1 - near_share) * value_number(&finding->low) <= value &&
                value <= (1 + near_share) * value_number(&finding->high),
            "%s: %s is %s, not %.0f to %.0f", run.spec, parameters[i], truth,
            value_number(&finding->low), value_number(&finding->high));
    }
    ck_assert_int_ge(found, 3);
}
END_TEST

/* ---- what cannot be told ------------------------------------------------- */

/* Chance holds up as many commits as p99 counts: no run can tell it, and the
 * model does not state it. */
START_TEST(a_percentile_on_a_cliff_is_not_stated)
{
    static const char *const specs[] = {"sata-mlc,noise=none",
                                        "sata-mlc,noise=realistic"};
    struct sync_seen seen[2];
    struct drive drive;
    struct fault why;

    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(drive_load(specs[i], &drive, &why), 0);
        ck_assert_int_eq(oracle_sync(&drive, &seen[i], &why), 0);
    }
    ck_assert(seen[0].p99_ns.seen && !seen[1].p99_ns.seen);
    ck_assert(seen[1].rate.seen);
}
END_TEST

/* An SLC cache that fills takes its commits faster than what is behind it. */
START_TEST(a_rate_that_falls_is_a_range)
{
    const struct probing run = probe_drive("sim:qlc,noise=none");
    const struct finding *rate = probing_get(&run, "sync_write_rate");

    ck_assert_int_eq(rate->verdict, VERDICT_FOUND);
    ck_assert_int_eq(rate->value.kind, VALUE_NONE);
    ck_assert(1.3 * value_number(&rate->low) < value_number(&rate->high));
}
END_TEST

START_TEST(a_slow_drive_has_no_longest_of_a_thousand)
{
    const struct probing run = probe_drive("sim:card-evo-plus,program_ns=9ms");
    const struct finding *rare = probing_get(&run, "sync_write_p999");

    ck_assert_int_eq(rare->verdict, VERDICT_INCONCLUSIVE);
    ck_assert_msg(strstr(rare->why, "too few"), "%s", rare->why);
    ck_assert_int_eq(probing_get(&run, "sync_write_p99")->verdict,
                     VERDICT_FOUND);
}
END_TEST

/* One commit in 80 waits 10 ms: p99 is that, and the median is not. */
START_TEST(one_in_eighty_waits)
{
    const struct probing run = probe_drive(
        "sim:nvme-p4510,stall_every_count=160,stall_ns=10ms,noise=none");

    probing_near(&run, "sync_write_p99", 10e6, 0.05);
}
END_TEST

/* One in 300 does: p99 is not, but the longest of a thousand is. */
START_TEST(one_in_three_hundred_waits)
{
    const struct probing run = probe_drive(
        "sim:nvme-p4510,stall_every_count=600,stall_ns=10ms,noise=none");

    probing_near(&run, "sync_write_p99", 17780, 0.05);
    probing_near(&run, "sync_write_p999", 10e6, 0.05);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sync-writes");
    TCase *cases = tcase_create("sync-writes");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, it_is_what_the_file_states, 0,
                        suite_rows(sizeof(drives) / sizeof(drives[0])));
    tcase_add_test(cases, a_percentile_on_a_cliff_is_not_stated);
    tcase_add_test(cases, a_rate_that_falls_is_a_range);
    tcase_add_test(cases, a_slow_drive_has_no_longest_of_a_thousand);
    tcase_add_test(cases, one_in_eighty_waits);
    tcase_add_test(cases, one_in_three_hundred_waits);
    return suite_run(suite);
}
