/* SPDX-License-Identifier: GPL-3.0-or-later */
/* throughput: rates and the depth that pays are those of the model. */
#include <inttypes.h>
#include <string.h>

#include "lib/oracle/seen.h"
#include "probes/probes.h"
#include "tests/probing.h"
#include "tests/suite_run.h"

/* A drive, the depth beyond which more random reads do not pay, and whether its
 * rate of writes does not depend on what it cleans meanwhile. */
static const struct expected {
    const char *drive, *parallelism;
    bool even_writes;
} table[] = {
    {"bench-64g", "32", false},    {"ssd-c", "4", true},
    {"ssd-b", "2", true},          {"plain-disk", "absent", true},
    {"dirik-32g", "absent", true}, {"tlc-pseudo-slc", "8", true},
};
enum { DRIVES = sizeof(table) / sizeof(table[0]) };

static struct probing probe_drive(const char *drive, const char *noise,
                                  unsigned seed)
{
    static char spec[120];

    snprintf(spec, sizeof(spec), "sim:%s,noise=%s,seed=%u", drive, noise, seed);
    struct probing run = {
        .spec = spec, .probe = &probe_throughput, .seed = seed};
    probing_run(&run);
    return run;
}

static double least_of(const double values[], size_t count)
{
    double least = values[0];

    for (size_t i = 1; i < count; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

START_TEST(rates_are_those_of_the_model)
{
    const struct probing run = probe_drive(table[_i].drive, "none", 1);
    struct together together;
    struct drive drive;
    struct fault why = {FAULT_NONE, ""};

    ck_assert_msg(drive_load(table[_i].drive, &drive, &why) == 0, "%s",
                  why.text);
    ck_assert_int_eq(oracle_together(&drive, &together, &why), 0);
    const double bytes =
        (double)pace_order_bytes(drive.request_limit_bytes, 512);
    probing_near(&run, "random_read_rate",
                 1e9 / least_of(together.random_ns, PACE_DEPTHS), 0.08);
    probing_near(&run, "sequential_read_rate",
                 1e9 / least_of(together.order_ns, PACE_ORDER_DEPTHS) * bytes,
                 0.08);
    if (table[_i].even_writes && together.write_ns > 0)
        probing_near(&run, "sequential_write_rate",
                     1e9 / together.write_ns * bytes, 0.1);
    probing_says(&run, "read_parallelism", table[_i].parallelism);
}
END_TEST

/* A card of a phone is as small, and its budget. */
START_TEST(small_drives_have_a_rate)
{
    const struct probing run =
        probe_drive("plain-disk,capacity_bytes=240MiB", "none", 1);
    const struct finding *rate = probing_get(&run, "sequential_write_rate");

    ck_assert_msg(rate->verdict == VERDICT_FOUND, "%s", rate->why);
}
END_TEST

/* Nothing wrong is said with confidence, and the depth is told: with outliers
 * more requests may pay than without, since one that takes long takes the place
 * of others. */
START_TEST(noise_hides_little)
{
    const struct probing run =
        probe_drive(table[_i].drive, "realistic", 11 + (unsigned)_i);
    const struct finding *depth = probing_get(&run, "read_parallelism");
    struct together together;
    struct drive drive;
    struct fault why = {FAULT_NONE, ""};

    ck_assert_int_eq(drive_load(run.spec + strlen("sim:"), &drive, &why), 0);
    ck_assert_int_eq(oracle_together(&drive, &together, &why), 0);
    const struct depths pays = oracle_read_parallelism(&together);
    if (depth->verdict == VERDICT_FOUND)
        ck_assert_msg(pays.most == 0 || (depth->low.integer <= pays.most &&
                                         depth->high.integer >= pays.least),
                      "%s: %u to %u pay, not %" PRIu64, run.spec, pays.least,
                      pays.most, depth->low.integer);
    if (depth->verdict == VERDICT_ABSENT)
        ck_assert_msg(pays.least <= 1, "%s: %u pay", run.spec, pays.least);
    ck_assert_int_eq(probing_get(&run, "sequential_read_rate")->verdict,
                     VERDICT_FOUND);
}
END_TEST

/* A gain near the limit, or gains that are far from it, but vary much: one of
 * two depths. */
START_TEST(near_the_limit_a_range_is_told)
{
    static const struct {
        const char *spec;
        int64_t low;
    } drives[] = {{"sim:nvme-980-pro,noise=realistic", 32},
                  {"sim:nvme-dramless,noise=realistic", 8}};
    struct probing run = {.spec = drives[_i].spec,
                          .probe = &probe_throughput,
                          .seed = 1,
                          .read_only = true};

    probing_run(&run);
    const struct finding *depth = probing_get(&run, "read_parallelism");
    ck_assert_int_eq(depth->verdict, VERDICT_FOUND);
    ck_assert_int_eq(depth->value.kind, VALUE_NONE);
    ck_assert_int_eq(depth->low.integer, drives[_i].low);
    ck_assert_int_eq(depth->high.integer, 2 * drives[_i].low);
}
END_TEST

/* A host that holds many requests up widens the interval of a rate; it does not
 * take the answer away. */
START_TEST(a_disturbed_host_leaves_a_range)
{
    struct probing run = {.spec = "sim:emmc,noise=heavy",
                          .probe = &probe_throughput,
                          .seed = 1,
                          .read_only = true};

    probing_run(&run);
    const struct finding *rate = probing_get(&run, "random_read_rate");
    ck_assert_int_eq(rate->verdict, VERDICT_FOUND);
    ck_assert_int_eq(rate->value.kind, VALUE_NONE);
    ck_assert_int_ge(rate->low.integer, 800);
    ck_assert_int_le(rate->low.integer, 950); /* 1008 without what holds up */
    ck_assert_int_le(rate->high.integer, 2 * rate->low.integer);
}
END_TEST

START_TEST(a_run_that_only_reads_says_the_rest)
{
    struct probing run = {.spec = "sim:ssd-c",
                          .probe = &probe_throughput,
                          .seed = 3,
                          .read_only = true};

    probing_run(&run);
    ck_assert_uint_eq(run.cost.bytes_written, 0);
    probing_says(&run, "read_parallelism", "4");
    probing_says(&run, "sequential_write_rate", "skipped");
}
END_TEST

/* What waits for the ticks of a clock says nothing of the drive. */
START_TEST(ticks_leave_the_depth_open)
{
    struct probing run = {.spec = "sim:ssd-c,clock_step_ns=1ms",
                          .probe = &probe_throughput,
                          .seed = 3};
    struct step step = {.depth = 1};
    struct setting setting = {.capacity_bytes = GIB,
                              .region_length_bytes = GIB,
                              .logical_block_bytes = 512,
                              .request_limit_bytes = 1 << 20,
                              .write_budget_bytes = GIB,
                              .read_only = true,
                              .clock_step_ns = 1000000};
    void *state;
    uint64_t now_ns = 0;

    /* By hand: each request of any depth ends at the next tick. */
    ck_assert_int_eq(
        probe_start(&probe_throughput, &setting, &run.findings, &state), 0);
    while (probe_throughput.next(state, &step) == PROBE_STEP) {
        const uint32_t depth = step.depth > 1 ? step.depth : 1;
        struct sample sample = {.operation = step.operation,
                                .offset_bytes = step.offset_bytes,
                                .length_bytes = step.length_bytes,
                                .label = step.label,
                                .depth = depth,
                                .parts_count = 1,
                                .submit_ns = now_ns};
        now_ns += setting.clock_step_ns / depth;
        sample.complete_ns = sample.submit_ns + setting.clock_step_ns;
        ck_assert_int_eq(probe_throughput.feed(state, &sample), 0);
    }
    probe_throughput.conclude(state, &run.findings);
    probe_throughput.finish(state);
    probing_says(&run, "read_parallelism", "inconclusive");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("throughput");
    TCase *cases = tcase_create("throughput");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, rates_are_those_of_the_model, 0,
                        suite_rows(DRIVES));
    tcase_add_test(cases, small_drives_have_a_rate);
    tcase_add_loop_test(cases, noise_hides_little, 0, suite_rows_more(DRIVES));
    tcase_add_loop_test(cases, near_the_limit_a_range_is_told, 0, 2);
    tcase_add_test(cases, a_disturbed_host_leaves_a_range);
    tcase_add_test(cases, a_run_that_only_reads_says_the_rest);
    tcase_add_test(cases, ticks_leave_the_depth_open);
    return suite_run(suite);
}
