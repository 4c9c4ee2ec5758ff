/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completions that are seen at ticks only: noticed, and no reason for a wrong
 * finding. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "lib/device/device.h"
#include "lib/infer/finding.h"
#include "lib/session/state/clock_step.h"
#include "lib/session/run/session.h"
#include "probes/probes.h"
#include "tests/suite_run.h"

static struct device *open_drive(const char *spec)
{
    const struct device_options options = {.write = true,
                                           .queue_depth_count = 1};
    struct device *device = NULL;
    struct fault why = {FAULT_NONE, ""};

    ck_assert_msg(device_open(spec, &options, &device, &why) == 0, "%s",
                  why.text);
    return device;
}

/* Times after random pauses, late until the next tick and by up to `jitter_ns`.
 */
static uint64_t step_seen(uint64_t tick_ns, uint64_t jitter_ns, uint64_t seed)
{
    uint64_t times_ns[CLOCK_READS_COUNT], now_ns = 12345;
    struct random random;

    random_seed(&random, seed);
    for (int i = 0; i < CLOCK_READS_COUNT; i++) {
        now_ns += 70000 + random_below(&random, 2000000);
        if (tick_ns)
            now_ns = (now_ns + tick_ns - 1) / tick_ns * tick_ns;
        times_ns[i] = now_ns;
        if (jitter_ns)
            times_ns[i] += random_below(&random, jitter_ns);
    }
    return clock_step_of(times_ns, CLOCK_READS_COUNT);
}

START_TEST(a_tick_is_seen_and_no_tick_is_not)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        ck_assert_uint_eq(step_seen(0, 0, seed), 0);
        ck_assert_uint_eq(step_seen(125000, 0, seed), 125000);
        ck_assert_uint_eq(step_seen(1000000, 0, seed), 1000000);
        ck_assert_uint_eq(step_seen(4000000, 0, seed), 4000000);
        const uint64_t blurred = step_seen(125000, 4000, seed);
        ck_assert_uint_ge(blurred, 120000);
        ck_assert_uint_le(blurred, 130000);
    }
}
END_TEST

/* Reads that take longer than the pauses differ by lie between one and two of
 * the shortest, whatever the clock. */
START_TEST(slow_reads_make_no_tick)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        uint64_t times_ns[CLOCK_READS_COUNT], now_ns = 12345;
        struct random random;
        random_seed(&random, seed);
        for (int i = 0; i < CLOCK_READS_COUNT; i++) {
            now_ns += 3000000 + seed * 10000 + random_below(&random, 2000000);
            times_ns[i] = now_ns;
        }
        ck_assert_uint_eq(clock_step_of(times_ns, CLOCK_READS_COUNT), 0);
    }
}
END_TEST

START_TEST(a_drive_has_the_step_that_it_was_given)
{
    static const struct {
        const char *spec;
        uint64_t step_ns;
    } rows[] = {
        {"sim:ssd-a", 0},
        {"sim:ram-disk", 0},
        {"sim:ssd-a,noise=realistic", 0},
        {"sim:usb-pny-2g,interface_bytes_per_second=1000000", 0},
        {"sim:usb-pny-2g,clock_step_ns=10ms", 10000000},
        {"sim:ssd-a,clock_step_ns=125us", 125000},
        {"sim:usb-unknown-1g,noise=realistic,clock_step_ns=1ms", 1000000},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct device *device = open_drive(rows[i].spec);
        uint64_t step_ns;
        ck_assert_int_eq(clock_step_measure(device, 0, 64 << 20, &step_ns), 0);
        ck_assert_msg(step_ns == rows[i].step_ns, "%s: %llu", rows[i].spec,
                      (unsigned long long)step_ns);
        device_close(device);
    }
}
END_TEST

/* What a run finds of one parameter. */
static struct finding find(const char *spec, const char *probe_name,
                           const char *parameter)
{
    const struct probe *asked[] = {probe_find(probe_name), NULL};
    const struct session_options options = {.seed = 7};
    struct device *device = open_drive(spec);
    struct fault why = {FAULT_NONE, ""};
    struct session *session;

    ck_assert_int_eq(session_open(device, &options, &session, &why), 0);
    session_learn_clock(session);
    ck_assert_msg(session_run(session, asked, &why) == 0, "%s", why.text);
    const struct finding *found =
        findings_get(session_findings(session), parameter);
    ck_assert_ptr_nonnull(found);
    const struct finding result = *found;
    session_close(session);
    device_close(device);
    return result;
}

/* Before runs knew of ticks, the two clocks gave 21 KiB and 119 KiB, each with
 * 99.9 %. */
START_TEST(a_coarse_clock_makes_no_other_buffer)
{
    static const char *const clocks[] = {"100us", "1ms"};

    for (size_t i = 0; i < 2; i++) {
        char spec[64];
        snprintf(spec, sizeof(spec), "sim:ssd-b,clock_step_ns=%s", clocks[i]);
        const struct finding found = find(spec, "write-buffer", "write_buffer");
        ck_assert_int_ne(found.verdict, VERDICT_ABSENT);
        if (found.verdict == VERDICT_FOUND)
            ck_assert_int_eq(found.value.integer, 131072);
    }
}
END_TEST

/* What a tick of 1 ms hides is not absent: pages of 4 KiB, in requests of a
 * tenth of it. */
START_TEST(what_a_coarse_clock_hides_is_not_absent)
{
    const struct finding found =
        find("sim:ssd-c,clock_step_ns=1ms", "clustered-page", "clustered_page");

    ck_assert_int_eq(found.verdict, VERDICT_INCONCLUSIVE);
}
END_TEST

/* What the tick adds is not the drive's. */
START_TEST(the_tick_is_no_overhead_of_a_request)
{
    const struct finding without =
        find("sim:ssd-a", "large-request", "request_overhead");
    const struct finding with = find("sim:ssd-a,clock_step_ns=50us",
                                     "large-request", "request_overhead");

    ck_assert_int_eq(without.verdict, VERDICT_FOUND);
    ck_assert_int_eq(with.verdict, VERDICT_FOUND);
    ck_assert_int_le(llabs(with.value.integer - without.value.integer), 10000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("clock step");
    TCase *cases = tcase_create("clock step");

    tcase_set_timeout(cases, 120);
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, a_tick_is_seen_and_no_tick_is_not);
    tcase_add_test(cases, slow_reads_make_no_tick);
    tcase_add_test(cases, a_drive_has_the_step_that_it_was_given);
    tcase_add_loop_test(cases, a_coarse_clock_makes_no_other_buffer, 0,
                        suite_rows_more(1));
    tcase_add_loop_test(cases, what_a_coarse_clock_hides_is_not_absent, 0,
                        suite_rows_more(1));
    tcase_add_loop_test(cases, the_tick_is_no_overhead_of_a_request, 0,
                        suite_rows_more(1));
    return suite_run(suite);
}
