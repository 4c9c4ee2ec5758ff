/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What noise does to the emulated drive's times: as much, as often and as long
 * as the drive file says. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "tests/flash_bench.h"
#include "tests/suite_run.h"

/* ssd-a, by hand from its file: command, sense, 16 KiB over a bus of 64 bits at
 * 40 MHz, controller, and over a link of 250 MB/s. */
enum {
    PAGE_BYTES = 16384,
    QUIET_NS = 145000 + 25000 + 51200 + 144000 + 65536,
    NOISY_READS = 20000
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Times of single reads over what they would be without noise, sorted. */
static void noisy_reads(const char *spec, double ratios[NOISY_READS])
{
    struct bench bench = bench_on(spec);

    for (uint64_t i = 0; i < NOISY_READS; i++)
        ratios[i] = (double)bench_read(&bench, i * 3 * PAGE_BYTES, PAGE_BYTES) /
                    (double)QUIET_NS;
    qsort(ratios, NOISY_READS, sizeof(ratios[0]), compare);
    bench_close(&bench);
}

START_TEST(without_noise_every_read_is_exact)
{
    static double ratios[NOISY_READS];

    noisy_reads("ssd-a,noise=none", ratios);
    ck_assert_double_eq(ratios[0], 1);
    ck_assert_double_eq(ratios[NOISY_READS - 1], 1);
}
END_TEST

START_TEST(jitter_is_log_normal_about_one)
{
    static double ratios[NOISY_READS];

    noisy_reads("ssd-a,jitter_sigma=0.1", ratios);
    /* Median 1, quartiles at exp(+-0.6745 sigma); a standard error of either
     * is below 0.1 % x 1.4. */
    ck_assert_double_eq_tol(ratios[NOISY_READS / 2], 1, 0.005);
    ck_assert_double_eq_tol(ratios[NOISY_READS / 4], 0.93478, 0.005);
    ck_assert_double_eq_tol(ratios[NOISY_READS / 4 * 3], 1.06977, 0.005);
}
END_TEST

START_TEST(outliers_are_as_many_and_as_long_as_set)
{
    static double ratios[NOISY_READS];
    const double share = 0.05;
    size_t quiet = 0;

    noisy_reads("ssd-a,outlier_share=0.05,outlier_factor_low=10,"
                "outlier_factor_high=50",
                ratios);
    while (quiet < NOISY_READS && ratios[quiet] < 2)
        quiet++;
    /* 1,000 expected, with a deviation of 31. */
    ck_assert_double_eq_tol((double)(NOISY_READS - quiet), share * NOISY_READS,
                            125);
    ck_assert_double_eq(ratios[quiet - 1], 1);
    ck_assert_double_ge(ratios[quiet], 9.999);
    ck_assert_double_le(ratios[NOISY_READS - 1], 50.001);
    /* Log-uniform: the middle one is at sqrt(10 x 50). */
    ck_assert_double_eq_tol(ratios[(quiet + NOISY_READS) / 2], 22.36, 2.5);
}
END_TEST

START_TEST(drift_swings_by_its_share)
{
    static double ratios[NOISY_READS];

    noisy_reads("ssd-a,drift_share=0.2,drift_period_ns=1s", ratios);
    ck_assert_double_eq_tol(ratios[0], 0.8187, 0.002);
    ck_assert_double_eq_tol(ratios[NOISY_READS - 1], 1.2214, 0.002);
}
END_TEST

START_TEST(paces_last_as_long_as_set_whatever_is_asked_meanwhile)
{
    /* Reads in a row, and one each 10 ms: runs of 1 s hold either. */
    static const uint64_t idle_ns[] = {0, 10000000};

    for (size_t i = 0; i < 2; i++) {
        struct bench bench =
            bench_on("ssd-a,pace_run_ns=1s,pace_factor=2,seed=4");
        uint64_t changes = 0, slow_reads = 0, reads = 0;
        bool was_slow = false;
        while (bench.now_ns < UINT64_C(1000000000) * 400) {
            uint64_t ns =
                bench_read(&bench, reads++ % 5000 * 3 * PAGE_BYTES, PAGE_BYTES);
            bool slow = ns > QUIET_NS * 5 / 4;
            /* Either the one pace or the other. */
            ck_assert(slow ? ns > QUIET_NS * 3 / 2 : ns == QUIET_NS);
            changes += slow != was_slow;
            slow_reads += slow;
            was_slow = slow;
            bench_idle(&bench, idle_ns[i]);
        }
        /* 400 expected, with a deviation of 20. */
        ck_assert_uint_ge(changes, 320);
        ck_assert_uint_le(changes, 480);
        ck_assert_uint_ge(slow_reads, reads / 5);
        ck_assert_uint_le(slow_reads, reads * 3 / 5);
        bench_close(&bench);
    }
}
END_TEST

START_TEST(pauses_come_on_time_and_nothing_is_served_in_them)
{
    const uint64_t every_ns = 20000000, pause_ns = 3000000;
    const uint64_t far_bytes = 32 * 1024 * BENCH_MIB;
    struct bench bench = bench_on("ssd-a,pause_every_ns=20ms,pause_ns=3ms");
    uint64_t held_count = 0, first_ns = 0, begin_ns = 0;

    for (uint64_t i = 0; i < NOISY_READS; i++) {
        begin_ns = bench.now_ns;
        uint64_t ns = bench_read(&bench, i * 3 * PAGE_BYTES, PAGE_BYTES);
        /* The first may come in the middle of one. */
        if (ns == QUIET_NS || i == 0)
            continue;
        /* Whole pauses, for those that go on through one. */
        ck_assert_uint_eq(ns, QUIET_NS + pause_ns);
        if (held_count++ == 0)
            first_ns = begin_ns;
        ck_assert_uint_le((begin_ns - first_ns + QUIET_NS) % every_ns,
                          2 * QUIET_NS);
    }
    ck_assert_uint_eq(held_count, (bench.now_ns - first_ns) / every_ns + 1);
    /* Whoever comes in the middle of one waits for its end. */
    bench_read(&bench, 0, PAGE_BYTES);
    bench_idle(&bench, first_ns + QUIET_NS + (held_count + 5) * every_ns +
                           pause_ns / 2 - bench.now_ns);
    uint64_t ns = bench_read(&bench, 3 * PAGE_BYTES, PAGE_BYTES);
    ck_assert_uint_gt(ns, QUIET_NS);
    ck_assert_uint_lt(ns, QUIET_NS + pause_ns);
    /* One longer than some periods is held once for each. */
    uint64_t long_ns = bench_read(&bench, far_bytes, 64 * BENCH_MIB);
    struct bench quiet = bench_on("ssd-a");
    uint64_t least_ns = bench_read(&quiet, far_bytes, 64 * BENCH_MIB);
    ck_assert_uint_gt(least_ns, every_ns);
    uint64_t pauses = (long_ns - least_ns + pause_ns / 2) / pause_ns;
    ck_assert_double_eq_tol((double)(long_ns - least_ns),
                            (double)(pauses * pause_ns), 100);
    ck_assert_uint_ge(pauses, long_ns / every_ns);
    ck_assert_uint_le(pauses, long_ns / every_ns + 1);
    bench_close(&bench);
    bench_close(&quiet);
}
END_TEST

/* The mean time of reads of one page after the other. */
static double mean_read_ns(const char *spec, uint64_t idle_ns)
{
    struct bench bench = bench_on(spec);
    uint64_t sum_ns = 0;

    for (uint64_t i = 0; i < NOISY_READS; i++) {
        sum_ns += bench_read(&bench, i * 3 * PAGE_BYTES, PAGE_BYTES);
        bench_idle(&bench, idle_ns);
    }
    bench_close(&bench);
    return (double)sum_ns / NOISY_READS;
}

START_TEST(a_neighbour_takes_time_only_where_both_ask)
{
    const char *const reader =
        "ssd-a,queue_depth_count=1,neighbour_every_ns=2ms,"
        "neighbour_write_share=0";
    double alone_ns = mean_read_ns("ssd-a,queue_depth_count=1", 0);
    double together_ns = mean_read_ns(reader, 0);

    /* One page of its own for about each 2.4 ms: in a sixth of the time. */
    ck_assert_double_gt(together_ns, 1.05 * alone_ns);
    ck_assert_double_lt(together_ns, 1.25 * alone_ns);
    /* It does not wait for the host, which finds the drive free then. */
    ck_assert_double_lt(mean_read_ns(reader, 10000000), together_ns);
    ck_assert_double_lt(mean_read_ns("ssd-a,queue_depth_count=1,"
                                     "neighbour_every_ns=1s",
                                     0),
                        1.05 * alone_ns);
    /* Banks work side by side: less of it where there is a queue. */
    ck_assert_double_lt(mean_read_ns("ssd-a,neighbour_every_ns=2ms,"
                                     "neighbour_write_share=0",
                                     0),
                        together_ns);
    /* Writes take longer. */
    ck_assert_double_gt(mean_read_ns("ssd-a,queue_depth_count=1,"
                                     "neighbour_every_ns=2ms,"
                                     "neighbour_write_share=1",
                                     0),
                        1.5 * together_ns);
}
END_TEST

START_TEST(a_neighbour_evicts_what_was_read_and_leaves_what_was_written)
{
    struct bench bench = bench_on("ssd-a,neighbour_every_ns=1ms");
    unsigned char written[4096], back[4096];

    bench_read(&bench, 0, PAGE_BYTES);
    uint64_t hit_ns = bench_read(&bench, 0, PAGE_BYTES);
    memset(written, 0x5a, sizeof(written));
    for (uint64_t i = 0; i < 64; i++)
        bench_do(&bench, FLASH_WRITE, i * 4096, 4096, written);
    bench_read(&bench, 0, PAGE_BYTES);
    bench_idle(&bench, UINT64_C(1000000000));
    ck_assert_uint_gt(bench_read(&bench, 0, PAGE_BYTES), hit_ns);
    for (uint64_t i = 0; i < 64; i++) {
        bench_do(&bench, FLASH_READ, i * 4096, 4096, back);
        ck_assert_mem_eq(back, written, sizeof(back));
    }
    struct flash_statistics statistics;
    flash_statistics(bench.flash, &statistics);
    /* The host's own requests are what is counted. */
    ck_assert_uint_eq(statistics.writes_count, 64);
    bench_close(&bench);
}
END_TEST

/* How many times longer than without noise the next read takes. */
static uint64_t slowness(struct bench *bench, uint64_t *heat_ns)
{
    static uint64_t next;
    const uint64_t ns = bench_read(bench, next++ * 3 * PAGE_BYTES, PAGE_BYTES);

    *heat_ns += ns;
    ck_assert_uint_eq(ns % QUIET_NS, 0);
    return ns / QUIET_NS;
}

static void rest_until(struct bench *bench, uint64_t *heat_ns, uint64_t left_ns)
{
    bench_idle(bench, *heat_ns - left_ns);
    *heat_ns = left_ns;
}

/* Heat is the time worked, less the time of rest. A stage begins beyond its
 * heat and ends below half of it, whatever the other does. */
START_TEST(throttling_goes_by_stages)
{
    enum { FIRST_NS = 10000000, SECOND_NS = 30000000, END_NS = 60000000 };
    struct bench bench =
        bench_on("ssd-a,throttle_heat_ns=10ms,throttle_factor=2,"
                 "throttle_second_heat_ns=30ms,throttle_second_factor=4");
    uint64_t heat_ns = 0, counts[5] = {0};

    while (heat_ns < END_NS) {
        const uint64_t expected = heat_ns > SECOND_NS  ? 4
                                  : heat_ns > FIRST_NS ? 2
                                                       : 1;
        ck_assert_uint_eq(slowness(&bench, &heat_ns), expected);
        counts[expected]++;
    }
    ck_assert_uint_gt(counts[1], 10);
    ck_assert_uint_gt(counts[2], 10);
    ck_assert_uint_gt(counts[4], 10);
    rest_until(&bench, &heat_ns, SECOND_NS / 2);
    ck_assert_uint_eq(slowness(&bench, &heat_ns), 4);
    rest_until(&bench, &heat_ns, SECOND_NS / 2 - 1);
    ck_assert_uint_eq(slowness(&bench, &heat_ns), 2);
    rest_until(&bench, &heat_ns, FIRST_NS / 2);
    ck_assert_uint_eq(slowness(&bench, &heat_ns), 2);
    rest_until(&bench, &heat_ns, FIRST_NS / 2 - 1);
    ck_assert_uint_eq(slowness(&bench, &heat_ns), 1);
    bench_close(&bench);
}
END_TEST

START_TEST(stages_grow_hotter)
{
    static const char *const refused[] = {
        "throttle_second_heat_ns=1s",
        "throttle_heat_ns=2s,throttle_second_heat_ns=2s"};
    struct drive drive = drive_of("ssd-a");
    struct fault why = {FAULT_NONE, ""};

    ck_assert_int_eq(drive_set(&drive, refused[_i], &why), 0);
    ck_assert_int_eq(drive_check(&drive, &why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.text, "throttle_second_heat_ns"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_noise");
    TCase *cases = tcase_create("flash_noise");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, without_noise_every_read_is_exact);
    tcase_add_test(cases, jitter_is_log_normal_about_one);
    tcase_add_test(cases, outliers_are_as_many_and_as_long_as_set);
    tcase_add_test(cases, drift_swings_by_its_share);
    tcase_add_test(cases,
                   paces_last_as_long_as_set_whatever_is_asked_meanwhile);
    tcase_add_test(cases, pauses_come_on_time_and_nothing_is_served_in_them);
    tcase_add_test(cases, throttling_goes_by_stages);
    tcase_add_loop_test(cases, stages_grow_hotter, 0, 2);
    tcase_add_test(cases, a_neighbour_takes_time_only_where_both_ask);
    tcase_add_test(
        cases, a_neighbour_evicts_what_was_read_and_leaves_what_was_written);
    return suite_run(suite);
}
