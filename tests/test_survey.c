/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scan and verify: bad and slow places are named, and nothing else is; an
 * interrupted survey goes on where it was. */
#include <errno.h>
#include <signal.h>

#include "lib/base/units.h"
#include "lib/infer/whole_verdict.h"
#include "probes/probes.h"
#include "tests/probing.h"
#include "tests/suite_run.h"

#define CARD "sim:sd-card,capacity_bytes=256MiB,"
#define AT ",bad_offset_bytes=100MiB,bad_length_bytes="

static const struct {
    const char *spec;
    const struct probe *probe;
    const char *bad, *slow; /* what is said */
    const char *why;        /* a part of the sentence on bad places */
} cases[] = {
    {CARD "noise=none", &probe_verify, "absent", NULL, "all 256 MiB give back"},
    {CARD "noise=heavy", &probe_verify, "absent", NULL,
     "all 256 MiB give back"},
    {CARD "noise=realistic" AT "64KiB", &probe_verify, "1", NULL,
     "64 KiB of 256 MiB do not give back what was written: 64 KiB at byte "
     "104857600"},
    {CARD "noise=none,bad_place=fails" AT "4KiB", &probe_verify, "1", NULL,
     "4 KiB at byte 104857600; requests to them fail"},
    {CARD "noise=none,real_capacity_bytes=64MiB", &probe_verify, "1", NULL,
     "192 MiB at byte 0"},
    {CARD "noise=none,real_capacity_bytes=64MiB,fake_capacity=drops",
     &probe_verify, "1", NULL, "192 MiB at byte 67108864; they read as zeros"},
    {CARD "noise=none,silent_after_bytes=128MiB", &probe_verify, "1", NULL,
     "128 MiB at byte 134217728"},
    {CARD "noise=none", &probe_scan, "absent", "absent", "all 256 MiB can be"},
    {CARD "noise=heavy", &probe_scan, "absent", "absent", "all 256 MiB can be"},
    {CARD "noise=none,bad_place=fails" AT "96KiB", &probe_scan, "1", "absent",
     "96 KiB of 256 MiB cannot be read: 96 KiB at byte 104857600"},
    {CARD "noise=none,bad_ns=100ms,bad_place=slow" AT "32MiB", &probe_scan,
     "absent", "125", ""},
    {CARD "noise=heavy,bad_ns=100ms,bad_place=slow" AT "32MiB", &probe_scan,
     "absent", "125", ""},
    {"sim:ram-disk", &probe_scan, "absent", "absent", ""},
};

START_TEST(places_are_named)
{
    struct probing run = {.spec = cases[_i].spec,
                          .probe = cases[_i].probe,
                          .seed = 3,
                          .read_only = cases[_i].probe == &probe_scan};

    probing_run(&run);
    probing_says(&run, "bad_places", cases[_i].bad);
    if (cases[_i].slow)
        probing_says(&run, "slow_places_share", cases[_i].slow);
    const struct finding *bad = probing_get(&run, "bad_places");
    ck_assert_msg(strstr(bad->why, cases[_i].why), "%s: %s", run.spec,
                  bad->why);
    ck_assert_int_eq(whole_verdict(&run.findings).state,
                     bad->verdict == VERDICT_FOUND ? DRIVE_BROKEN
                                                   : DRIVE_UNASKED);
}
END_TEST

/* ---- an interrupted one ------------------------------------------------- */

struct cut {
    struct probing run;
    size_t settled_count, stop_count;
    volatile sig_atomic_t interrupted;
};

static int cut_row(void *context, const char *probe,
                   const struct sample *sample)
{
    struct cut *cut = context;

    cut->interrupted = cut->run.rows.count + 1 >= cut->stop_count;
    return probing_row(&cut->run, probe, sample);
}

static int cut_turned(void *context, size_t count)
{
    struct cut *cut = context;

    if (count == 0)
        cut->settled_count = cut->run.rows.count;
    return 0;
}

static void cut_open(struct cut *cut, struct device *device,
                     struct session **session)
{
    const struct session_options options = {.seed = 1,
                                            .all = true,
                                            .row = cut_row,
                                            .turned = cut_turned,
                                            .interrupted = &cut->interrupted,
                                            .context = cut};
    struct fault why = {FAULT_NONE, ""};

    ck_assert_msg(session_open(device, &options, session, &why) == 0, "%s",
                  why.text);
    cut->run.rows.header.setting = *session_setting(*session);
    snprintf(cut->run.rows.header.probes, sizeof(cut->run.rows.header.probes),
             "verify");
}

/* Cut in the second half's writes, and in the reads. */
START_TEST(an_interrupted_survey_goes_on)
{
    static const size_t stops[] = {900, 1900};
    const struct probe *const asked[] = {&probe_verify, NULL};
    const struct device_options device_options = {.write = true,
                                                  .queue_depth_count = 1};
    struct cut cut = {.stop_count = stops[_i]};
    struct session *session;
    struct device *device;
    struct fault why = {FAULT_NONE, ""};

    ck_assert_int_eq(device_open("sim:sd-card,capacity_bytes=512MiB,"
                                 "bad_offset_bytes=100MiB,bad_length_bytes="
                                 "64KiB",
                                 &device_options, &device, &why),
                     0);
    cut_open(&cut, device, &session);
    ck_assert_int_eq(session_run(session, asked, &why), -EINTR);
    session_close(session);
    ck_assert_uint_gt(cut.settled_count, 500);
    ck_assert_uint_lt(cut.settled_count, stops[_i]);

    /* Rows that were not settled are gone, and only they are measured again. */
    cut.run.rows.count = cut.settled_count;
    struct csv_rows before = cut.run.rows;
    before.items = malloc(before.count * sizeof(*before.items));
    ck_assert_ptr_nonnull(before.items);
    memcpy(before.items, cut.run.rows.items,
           before.count * sizeof(*before.items));
    cut.interrupted = 0;
    cut.stop_count = SIZE_MAX;
    cut_open(&cut, device, &session);
    ck_assert_msg(session_resume(session, &before, asked, 0, &why) == 0, "%s",
                  why.text);
    ck_assert_msg(session_run(session, asked, &why) == 0, "%s", why.text);
    cut.run.findings = *session_findings(session);
    cut.run.spec = "resumed";
    probing_says(&cut.run, "bad_places", "1");
    session_close(session);
    device_close(device);
    size_t writes = 0;
    for (size_t i = 0; i < cut.run.rows.count; i++)
        writes += cut.run.rows.items[i].sample.operation == OPERATION_WRITE;
    ck_assert_uint_eq(writes, 1024);
    cut.run.probe = &probe_verify;
    probing_infer(&cut.run);
    free(before.items);
    free(cut.run.rows.items);
}
END_TEST

/* Marks of a survey before prove nothing: a drive that takes no writes any more
 * does not pass the second time. */
START_TEST(marks_of_before_prove_nothing)
{
    const struct probe *const asked[] = {&probe_verify, NULL};
    const struct device_options device_options = {.write = true,
                                                  .queue_depth_count = 1};
    struct cut cut = {.stop_count = SIZE_MAX};
    struct session *session;
    struct device *device;
    struct fault why = {FAULT_NONE, ""};

    ck_assert_int_eq(device_open(CARD "silent_after_bytes=256MiB",
                                 &device_options, &device, &why),
                     0);
    for (int turn = 0; turn < 2; turn++) {
        cut_open(&cut, device, &session);
        ck_assert_msg(session_run(session, asked, &why) == 0, "%s", why.text);
        cut.run.findings = *session_findings(session);
        cut.run.spec = turn ? "again" : "first";
        probing_says(&cut.run, "bad_places", turn ? "1" : "absent");
        session_close(session);
    }
    device_close(device);
    free(cut.run.rows.items);
}
END_TEST

/* All of the region, and twice as much where many places stand out. */
START_TEST(what_a_survey_costs_follows_from_the_region)
{
    const struct setting setting = {.region_length_bytes = 64 * GIB,
                                    .logical_block_bytes = 512,
                                    .write_budget_bytes = 64 * GIB};
    const struct probe_plan scan = probe_planned(&probe_scan, &setting);
    const struct probe_plan verify = probe_planned(&probe_verify, &setting);

    ck_assert_uint_eq(scan.bytes_read, 64 * GIB);
    ck_assert_uint_eq(scan.bytes_written_max, 0);
    ck_assert_uint_ge(scan.requests, 64 * KIB);
    ck_assert_uint_ge(scan.requests_max, 3 * 64 * KIB);
    ck_assert_uint_eq(verify.bytes_written, 64 * GIB);
    ck_assert_uint_ge(verify.requests, 2 * 64 * KIB);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("survey");
    TCase *tcase = tcase_create("survey");

    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, places_are_named, 0,
                        sizeof(cases) / sizeof(cases[0]));
    tcase_add_loop_test(tcase, an_interrupted_survey_goes_on, 0, 2);
    tcase_add_test(tcase, marks_of_before_prove_nothing);
    tcase_add_test(tcase, what_a_survey_costs_follows_from_the_region);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
