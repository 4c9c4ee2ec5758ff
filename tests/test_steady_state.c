/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steady-state: the rate of random writes once the drive cleans, and what the
 * longest of them take, are those of the model; where it cannot be known that
 * the drive cleans, nothing is said. */
#include "lib/oracle/bench.h"
#include "probes/probes.h"
#include "probes/steady_state/steady_state.h"
#include "tests/probing.h"
#include "tests/suite_run.h"

static struct probing probe_drive(const char *spec, unsigned seed)
{
    struct probing run = {.spec = spec,
                          .probe = &probe_steady_state,
                          .seed = seed,
                          .write_budget_bytes = 8 * GIB};

    probing_run(&run);
    return run;
}

/* ---- the model ---------------------------------------------------------- */

enum { WRITES = 60000 };

/* What a write takes, in ns. So small a drive soon uses up its spare flash:
 * twice that and more is written, and then as much again, which counts. */
static double write_ns_of(const char *spec)
{
    static struct bench_request requests[WRITES];
    struct drive drive;
    struct bench bench;
    struct fault why = {FAULT_NONE, ""};
    uint64_t begin_ns = 0;

    ck_assert_msg(drive_load(spec, &drive, &why) == 0, "%s", why.text);
    drive.contents = 0;
    ck_assert_int_eq(bench_open(&bench, &drive, &why), 0);
    const uint64_t places = drive.capacity_bytes / 8 / 4096;
    for (int pass = 0; pass < 3; pass++) {
        begin_ns = bench.now_ns;
        for (size_t i = 0; i < WRITES; i++)
            requests[i] = (struct bench_request){
                .operation = FLASH_WRITE,
                .depth = LOAD_DEPTH,
                .offset_bytes = random_below(&bench.random, places) * 4096,
                .length_bytes = 4096};
        bench_together(&bench, requests, WRITES);
    }
    bench_close(&bench);
    return (double)(bench.now_ns - begin_ns) / WRITES;
}

static const char *const cleaning[] = {
    "ssd-c,capacity_bytes=1GiB,noise=none",
    "ssd-c,capacity_bytes=1GiB,noise=realistic", /* its outliers are in it */
    "kasi-two-level,capacity_bytes=1GiB,noise=none",
};

START_TEST(the_rate_is_that_of_the_model)
{
    const double write_ns = write_ns_of(cleaning[_i]);
    char spec[160];

    snprintf(spec, sizeof(spec), "sim:%s", cleaning[_i]);
    const struct probing run = probe_drive(spec, 1);
    const struct finding *rate = probing_get(&run, "steady_random_write");
    ck_assert_int_eq(rate->verdict, VERDICT_FOUND);
    ck_assert_msg((double)rate->low.integer <= 1.05 * write_ns &&
                      (double)rate->high.integer >= 0.95 * write_ns &&
                      rate->high.integer <= 2 * rate->low.integer,
                  "%s: %.0f is not %lld to %lld", spec, write_ns,
                  (long long)rate->low.integer, (long long)rate->high.integer);
    ck_assert_int_eq(probing_get(&run, "spare_share")->verdict,
                     VERDICT_INCONCLUSIVE);
}
END_TEST

/* ---- nothing is known --------------------------------------------------- */

static const struct open_case {
    const char *spec, *why;
    uint64_t budget_bytes; /* 0: as is usual */
} open_cases[] = {
    /* What it writes at once is not known, so a million writes may all be
     * in spare flash. */
    {"sim:bench-64g,noise=none", "too small", 0},
    {"sim:ssd-c,capacity_bytes=1GiB,noise=none", "budget", 256 * MIB},
    /* As slow as it is fast: nothing is cleaned. */
    {"sim:ram-disk,capacity_bytes=4GiB,noise=none", "may not be used up", GIB},
    {"sim:plain-disk,noise=none", "would need", 0},
    /* It is slower because it is hot. */
    {"sim:ssd-c,capacity_bytes=1GiB,throttle_heat_ns=2s,throttle_factor=2,"
     "noise=none",
     "hot", 8 * GIB},
};

START_TEST(what_need_not_last_is_no_rate)
{
    const struct open_case *row = &open_cases[_i];
    struct probing run = {.spec = row->spec,
                          .probe = &probe_steady_state,
                          .seed = 2,
                          .write_budget_bytes = row->budget_bytes};

    probing_run(&run);
    const struct finding *rate = probing_get(&run, "steady_random_write");
    ck_assert_msg(rate->verdict == VERDICT_INCONCLUSIVE &&
                      strstr(rate->why, row->why),
                  "%s: %s", row->spec, rate->why);
    ck_assert_int_eq(probing_get(&run, "cleaning_stall")->verdict,
                     VERDICT_INCONCLUSIVE);
}
END_TEST

/* More was written than a drive has spare: it would have fallen. */
START_TEST(what_never_falls_lasts)
{
    const struct probing run =
        probe_drive("sim:ram-disk,capacity_bytes=2GiB,noise=none", 3);

    ck_assert_int_eq(probing_get(&run, "steady_random_write")->verdict,
                     VERDICT_FOUND);
    ck_assert(strstr(probing_get(&run, "spare_share")->why, "does not fall"));
    probing_says(&run, "cleaning_stall", "absent");
}
END_TEST

/* ---- rules -------------------------------------------------------------- */

enum { BLOCKS = 400 };

/* A write takes twice as long behind `fall` blocks, and until it has settled
 * another time; then it drifts. */
struct course {
    size_t fall;
    double settling, drift, written_share; /* of the capacity */
};

static struct steady_rate rate_of(const struct course *course)
{
    static double ns[BLOCKS];
    const struct steady_probe state = {
        .study.setting.capacity_bytes =
            (uint64_t)(BLOCKS * LOAD_BLOCK_WRITES * 4096 /
                       course->written_share),
        .unit_bytes = 4096,
        .memory_blocks = 90};

    for (size_t i = 0; i < BLOCKS; i++)
        ns[i] = i < course->fall ? 100
                : i < course->fall + 100
                    ? 200 * course->settling
                    : 200 * (1 + course->drift * (double)i / BLOCKS);
    return steady_rate(&state, ns, BLOCKS);
}

/* What settles at first does not count; what goes on changing is measured on;
 * and what fits in any drive's spare flash need not last. */
START_TEST(it_lasts_where_its_halves_agree)
{
    static const struct {
        struct course course;
        enum steady_reason reason;
        bool lasts;
    } rows[] = {{{100, 2, 0, 0.2}, STEADY_FELL, true},
                {{100, 1, 0.8, 0.2}, STEADY_FELL, false},
                {{200, 1, 0, 0.11}, STEADY_FELL, true},
                {{200, 1, 0, 0.09}, STEADY_UNUSED, true},
                /* too soon for any spare */
                {{100, 1, 0, 0.11}, STEADY_UNUSED, true},
                /* it was memory */
                {{80, 1, 0, 0.2}, STEADY_UNUSED, true},
                /* it has not lasted for long */
                {{300, 1, 0, 0.2}, STEADY_FELL, false}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct steady_rate rate = rate_of(&rows[i].course);
        ck_assert_msg(rate.reason == rows[i].reason &&
                          rate.lasts == rows[i].lasts,
                      "row %zu: %d, %d", i, (int)rate.reason, rate.lasts);
        if (rate.reason != STEADY_FELL || !rate.lasts)
            continue;
        ck_assert_double_eq_tol(rate.ns, 200.0 / LOAD_BLOCK_WRITES, 1e-9);
        ck_assert_uint_eq(rate.fell_at, rows[i].course.fall);
        ck_assert_double_eq_tol(rate.fresh_ns, 100.0 / LOAD_BLOCK_WRITES, 1e-9);
    }
}
END_TEST

/* What comes everywhere is known well; what comes in one place is not. */
START_TEST(one_in_a_thousand_is_longer)
{
    enum { COUNT = 30000 };
    static struct resample_item writes[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        writes[i].value = i % 400 == 0 ? 9000 : (double)(i % 100);
    struct steady_stall stall = steady_stall(writes, COUNT, 1);
    ck_assert_double_eq(stall.ns, 9000);
    ck_assert_double_eq(stall.range.low, 9000);
    for (size_t i = 0; i < COUNT; i++)
        writes[i].value = i < 100 ? 9000 : 1;
    stall = steady_stall(writes, COUNT, 1);
    ck_assert_double_eq(stall.range.low, 1);
    ck_assert_double_eq(stall.range.high, 9000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("steady-state");
    TCase *cases = tcase_create("steady-state");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, the_rate_is_that_of_the_model, 0,
                        suite_rows(sizeof(cleaning) / sizeof(cleaning[0])));
    tcase_add_loop_test(cases, what_need_not_last_is_no_rate, 0,
                        suite_rows(sizeof(open_cases) / sizeof(open_cases[0])));
    tcase_add_test(cases, what_never_falls_lasts);
    tcase_add_test(cases, it_lasts_where_its_halves_agree);
    tcase_add_test(cases, one_in_a_thousand_is_longer);
    return suite_run(suite);
}
